package proton_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/profile"
	"assay/internal/test"
	"assay/trace"
	"assay/trace/proton"
)

// node returns a node of a tree as Proton writes it.
func node(name, metrics string, children ...string) string {
	return fmt.Sprintf(`{"children":[%s],"frame":{"name":%q,"type":"function"},"metrics":{%s}}`, strings.Join(children, ","), name, metrics)
}

func kernel(name string, count, ns int, more string) string {
	return node(name, fmt.Sprintf(`"count":%d,"device_id":"0","device_type":"HIP","time (ns)":%d%s`, count, ns, more))
}

func read(t *testing.T, text string) *profile.Tables {
	t.Helper()
	out, err := proton.ReadTree(strings.NewReader(text), "x.hatchet", proton.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range out.List {
		if err := table.Check(); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// cells returns the known values of a row by column.
func cells(t *testing.T, table *profile.Table, name string) map[string]int64 {
	t.Helper()
	for _, r := range table.Rows {
		if r.Name != name {
			continue
		}
		out := map[string]int64{}
		for i, c := range r.Cells {
			if c.Known {
				out[table.Columns[i].Name] = c.Value
			}
		}
		return out
	}
	t.Fatalf("%s has no row %q", table.Name, name)
	return nil
}

func same(t *testing.T, what string, got, want map[string]int64) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// device has memory with a bus of 1,024 bits at 1 GHz: 256 bytes in a ns.
const device = `{"HIP":{"0":{"arch":"gfx942","bus_width":1024,"clock_rate":2000000,"memory_clock_rate":1000000,"num_sms":304}}}`

// TestTree: kernels are added up by name, scopes have what is below them, and amounts that authors state become rates
// where they cover all the time. Steps are one scope.
func TestTree(t *testing.T) {
	step := func(n int) string {
		return node(fmt.Sprint("step ", n), "",
			node("attention", `"flops16":4000000,"bytes":64000`, kernel("qk", 2, 1000, ""), kernel("softmax", 1, 500, "")),
			kernel("rope", 1, 500, `,"bytes":32000`),
			kernel("qk", 1, 500, ""))
	}
	out := read(t, "["+node("ROOT", `"count":0,"time (ns)":0`, step(0), step(1), step(2), node("lonely_1", "", kernel("end", 1, 100, "")))+","+device+"]")
	if len(out.List) != 2 || out.Records != 1+3*6+2 || !out.Complete || len(out.Issues) > 0 {
		t.Fatalf("%+v", out)
	}
	kernels, scopes := out.List[0], out.List[1]
	same(t, "a kernel of two scopes", cells(t, kernels, "qk"), map[string]int64{"total": 4500, "count": 9, "mean": 500})
	same(t, "a kernel with bytes", cells(t, kernels, "rope"), map[string]int64{"total": 1500, "count": 3, "mean": 500,
		"stated bytes": 96000, "byte rate": 64, "of memory peak": 25})
	same(t, "steps", cells(t, scopes, "step *"), map[string]int64{"total": 7500, "count": 3, "mean": 2500,
		"stated FLOPs": 12000000, "stated bytes": 288000})
	same(t, "a scope with FLOPs", cells(t, scopes, "step * / attention"), map[string]int64{"total": 4500, "count": 3, "mean": 1500,
		"stated FLOPs": 12000000, "FLOP rate": 2667, "stated bytes": 192000, "byte rate": 43, "of memory peak": 17})
	same(t, "one of a number", cells(t, scopes, "lonely_1"), map[string]int64{"total": 100, "count": 1, "mean": 100})
	if label := kernels.Rows[0].Labels; len(label) != 1 || label[0].Text != "HIP 0" {
		t.Errorf("labels are %v", label)
	}
}

// TestMetrics: units of times, times that include those of children, and numbers that cannot be true.
func TestMetrics(t *testing.T) {
	out := read(t, "["+node("ROOT", "",
		node("inclusive", `"time (us) (inc)":5,"count":1`, node("k", `"count":1,"time (us)":2.5`)),
		node("seconds", `"count":1,"time (s)":0.000002`), node("bad", `"count":1,"time (ns)":-7`), node("text", `"count":1,"time (ns)":"x"`))+"]")
	same(t, "a kernel", cells(t, out.List[0], "k"), map[string]int64{"total": 2500, "count": 1, "mean": 2500})
	same(t, "seconds", cells(t, out.List[0], "seconds"), map[string]int64{"total": 2000, "count": 1, "mean": 2000})
	same(t, "a scope", cells(t, out.List[1], "inclusive"), map[string]int64{"total": 5000, "count": 1, "mean": 5000})
	if len(out.Issues) != 1 || out.Issues[0].Code != "value-malformed" || out.Issues[0].Count != 2 {
		t.Errorf("issues are %v", out.Issues)
	}
}

// TestBrokenTrees: what precedes the end of a cut file counts, and nothing that is not a profile is read.
func TestBrokenTrees(t *testing.T) {
	whole := "[" + node("ROOT", "", node("a", "", kernel("k", 1, 10, ""), kernel("m", 1, 20, "")), kernel("n", 1, 30, "")) + "]"
	out := read(t, whole[:strings.Index(whole, `"m"`)])
	same(t, "a kernel before the end", cells(t, out.List[0], "k"), map[string]int64{"total": 10, "count": 1, "mean": 10})
	if out.Complete || len(out.Issues) != 1 || out.Issues[0].Code != "input-truncated" {
		t.Errorf("%+v", out)
	}
	for name, text := range map[string]string{
		"nothing":         "",
		"cut at once":     whole[:20],
		"without kernels": "[" + node("ROOT", `"count":0,"time (ns)":0`) + "]",
		"too deep":        "[" + strings.Repeat(`{"children":[`, 2000),
		"other JSON":      `[{"frame":3}]`,
	} {
		if out, err := proton.ReadTree(strings.NewReader(text), "x", proton.Limits{}); err == nil {
			t.Errorf("%s: %+v, want an error", name, out)
		}
	}
	pooled, err := proton.ReadTree(strings.NewReader(whole), "x", proton.Limits{Nodes: 3})
	if err != nil {
		t.Fatal(err)
	}
	if sum := pooled.List[0].Sum(0); sum.Value != 60 || len(pooled.Issues) != 1 {
		t.Errorf("with a limit of nodes the kernels take %d ns, want 60; %v", sum.Value, pooled.Issues)
	}
}

// chrome returns a trace as Proton writes it.
func chrome(events ...string) string {
	return `{"displayTimeUnit":"us","traceEvents":[` + strings.Join(events, ",") + "]}"
}

func event(name string, ts, dur float64, tid string, stack ...string) string {
	return fmt.Sprintf(`{"args":{"call_stack":["ROOT","%s"]},"cat":"kernel","dur":%g,"name":%q,"ph":"X","tid":%s,"ts":%g}`,
		strings.Join(append(stack, name), `","`), dur, name, tid, ts)
}

// TestTrace: kernels are on GPU 0 and on the stream of their lane, and scopes are totals.
func TestTrace(t *testing.T) {
	text := chrome(event("mm", 10.5, 2.25, "7", "fwd", "proj"), `{"ph":"M","name":"process_name","args":{"name":"Trace"}}`,
		event("act", 13, 0.125, `"GPU Stream 9"`, "fwd"), event("mm", 14, -1, "7", "fwd"))
	if !proton.SniffTrace([]byte(text)) || proton.SniffTree([]byte(text)) {
		t.Error("the trace is not recognized")
	}
	tr, tables, err := proton.ReadTrace(strings.NewReader(text), "x", trace.SelectAll(), proton.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for a := range tr.Activities.All() {
		track := tr.Tracks[a.Track]
		got = append(got, fmt.Sprintf("%s %d+%d gpu %d stream %d", tr.Name(a.Name), a.Start, a.Dur, track.Device, track.Stream))
	}
	if want := []string{"mm 10500+2250 gpu 0 stream 7", "act 13000+125 gpu 0 stream 9"}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("kernels are %q, want %q", got, want)
	}
	if tr.Meta.Tool != trace.ToolProton || len(tr.Issues) != 1 || tr.Issues[0].Code != "value-malformed" {
		t.Errorf("%q, %v", tr.Meta.Tool, tr.Issues)
	}
	same(t, "a scope", cells(t, tables.List[0], "fwd"), map[string]int64{"total": 2375, "count": 1, "mean": 2375})
	same(t, "a scope in it", cells(t, tables.List[0], "fwd / proj"), map[string]int64{"total": 2250, "count": 1, "mean": 2250})
	cut, _, err := proton.ReadTrace(strings.NewReader(text[:strings.LastIndex(text, `"ts"`)]), "x", trace.SelectAll(), proton.Limits{})
	if err != nil || cut.Complete || cut.Activities.Len() != 2 {
		t.Errorf("a cut trace: %v", err)
	}
}

// TestCapture: a tree and a trace of a real program, whose author states 2·4096³ operations of each product.
func TestCapture(t *testing.T) {
	b, err := os.ReadFile("../../testdata/h200/proton_profiles/proton_tree.hatchet")
	if err != nil {
		t.Fatal(err)
	}
	got := cells(t, read(t, string(b)).List[1], "step_* / product")
	if got["count"] != 5 || got["stated FLOPs"] != 5*2*4096*4096*4096 || got["total"] != 173599+175264+169120+168480+168607 {
		t.Errorf("products are %v", got)
	}
}

// TestCorpus: the sums of the README of the corpus.
func TestCorpus(t *testing.T) {
	dir := test.Corpus(t, "inputs", "proton")
	for name, want := range map[string][2]int64{"cuda": {614400, 12}, "hip": {614400, 3}, "triton": {5728, 2}, "frame": {409600, 2}, "leaf_nodes": {225873672, 2252}} {
		b, err := os.ReadFile(filepath.Join(dir, "triton_test_"+name+".hatchet"))
		if err != nil {
			t.Fatal(err)
		}
		if !proton.SniffTree(b) {
			t.Errorf("%s is not recognized", name)
		}
		kernels := read(t, string(b)).List[0]
		if got := [2]int64{kernels.Sum(0).Value, kernels.Sum(1).Value}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("[" + node("ROOT", "", node("s 1", `"flops":5`, kernel("k", 1, 10, ""))) + "," + device + "]"))
	f.Add([]byte(chrome(event("mm", 10.5, 2.25, "7", "fwd"))))
	f.Fuzz(func(t *testing.T, file []byte) {
		if out, err := proton.ReadTree(bytes.NewReader(file), "x", proton.Limits{Nodes: 100}); err == nil {
			for _, table := range out.List {
				if err := table.Check(); err != nil || table.Sum(0).Value < 0 {
					t.Errorf("%v, %v", table, err)
				}
			}
		}
		if tr, _, err := proton.ReadTrace(bytes.NewReader(file), "x", trace.SelectAll(), proton.Limits{Nodes: 100}); err == nil {
			for a := range tr.Activities.All() {
				if a.Dur < 0 || int(a.Track) >= len(tr.Tracks) {
					t.Errorf("%+v", a)
				}
			}
		}
	})
}
