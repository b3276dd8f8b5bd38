package export_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/analyze"
	"assay/ingest/export"
	"assay/internal/test"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

// indexed reads a trace so that parts of it can be cut.
func indexed(t testing.TB, text []byte, name string) *trace.Trace {
	t.Helper()
	sel := analyze.Needs()
	sel.FlowsIfNeeded, sel.Index = false, true
	tr, err := trace.Read(bytes.NewReader(text), name, sel)
	if err != nil {
		t.Skip(err)
	}
	return tr
}

// cut returns the part of a trace from one time to before another.
func cut(t testing.TB, tr *trace.Trace, text []byte, keep trace.Keeping) []byte {
	t.Helper()
	c := trace.NewCut(tr, keep)
	p := export.Part{Cut: c, Hide: export.NewHiding(false), Excerpt: trace.Excerpt{Window: *c.Window, Complete: tr.Complete, Issues: tr.Issues}}
	var out bytes.Buffer
	if _, err := p.Write(&out, bytes.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// measured returns the measurements of a trace as JSON, without the description of its file.
func measured(t testing.TB, tr *trace.Trace) string {
	t.Helper()
	s := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
	s.Inputs[0].Events = 0
	for i := range s.Issues {
		s.Issues[i].First = ""
	}
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// checkPart compares the measurements of a part that was cut out with those of the window
// of the whole.
func checkPart(t *testing.T, tr *trace.Trace, text []byte, start, end int64) {
	t.Helper()
	small := cut(t, tr, text, trace.Keeping{Start: start, End: end})
	if json.Valid(text) && !json.Valid(small) {
		t.Errorf("from %d to %d: the part is not JSON", start, end)
	}
	got, err := trace.Read(bytes.NewReader(small), "part", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	whole, err := trace.Read(bytes.NewReader(text), "whole", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	want := measured(t, whole.Within(start, end))
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(measured(t, got), "\n")); diff != "" {
		t.Errorf("from %d to %d: window of the whole(-) part(+)\n%.3000s", start, end, diff)
	}
}

// windowsOf returns windows of a trace: the first quarter, the middle, and each step.
func windowsOf(tr *trace.Trace) (out [][2]int64) {
	all := analyze.Extent(tr)
	n := all.End - all.Start
	out = append(out, [2]int64{all.Start, all.End + 1}, [2]int64{all.Start, all.Start + n/4}, [2]int64{all.Start + n/3, all.Start + n/2}, [2]int64{all.Start + n*3/5, all.Start + n*4/5})
	s := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
	for i, st := range s.Steps {
		if i < 2 {
			out = append(out, [2]int64{st.StartNS, st.StartNS + st.WallNS})
		}
	}
	for i, p := range analyze.PhaseRuns(tr, analyze.DefaultOptions()) {
		if i == 1 {
			out = append(out, [2]int64{p.Start, p.End})
		}
	}
	return out
}

func checkTrace(t *testing.T, text []byte) {
	tr := indexed(t, text, "whole")
	for i, w := range windowsOf(tr) {
		if i >= 2 && !test.Long() && i%2 == 0 {
			continue
		}
		if w[0] < w[1] {
			checkPart(t, tr, text, w[0], w[1])
		}
	}
}

// TestGenerated cuts parts out of generated traces.
func TestGenerated(t *testing.T) {
	for _, p := range tracegen.Presets() {
		t.Run(p.Name, func(t *testing.T) {
			var b bytes.Buffer
			if _, err := tracegen.Generate(&b, p.Make(), 0); err != nil {
				t.Fatal(err)
			}
			checkTrace(t, b.Bytes())
		})
	}
	for _, p := range tracegen.Stories() {
		t.Run(p.Name, func(t *testing.T) { checkTrace(t, p.Make().JSON) })
	}
}

// TestCorpus cuts parts out of real traces.
func TestCorpus(t *testing.T) {
	for _, dir := range []string{"kineto", "formats", "inputs", "ranks"} {
		root := test.Corpus(t, dir)
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			name := strings.TrimSuffix(path, ".gz")
			if err != nil || d.IsDir() || !strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, ".trace") && !strings.HasSuffix(name, ".json_trace") {
				return nil
			}
			text := content(t, path)
			if len(text) > 1<<20 && !test.Long() || !bytes.Contains(text, []byte(`"ph"`)) {
				return nil
			}
			rel, _ := filepath.Rel(root, path)
			t.Run(filepath.Join(dir, rel), func(t *testing.T) { checkTrace(t, text) })
			return nil
		})
	}
}

// content returns the text of a file, decompressed.
func content(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Skip(err)
		}
	}
	text, err := io.ReadAll(in)
	if err != nil {
		t.Log(err)
	}
	return text
}

// TestWork: what is measured of a part with the work of one stream or GPU is the same as of
// the whole.
func TestWork(t *testing.T) {
	for _, p := range tracegen.Presets() {
		var b bytes.Buffer
		if _, err := tracegen.Generate(&b, p.Make(), 0); err != nil {
			t.Fatal(err)
		}
		text := b.Bytes()
		tr := indexed(t, text, "whole")
		works := map[string]trace.Work{}
		for i := range tr.Tracks {
			if k := &tr.Tracks[i]; k.OnDevice {
				works[fmt.Sprint("stream ", k.Stream)] = trace.Work{Streams: []int64{k.Stream}}
				works[fmt.Sprint("device ", k.Device)] = trace.Work{Devices: []int64{k.Device}}
			}
		}
		all := analyze.Extent(tr)
		start, end := all.Start+(all.End-all.Start)/3, all.End-(all.End-all.Start)/4
		for name, work := range works {
			got, err := trace.Read(bytes.NewReader(cut(t, tr, text, trace.Keeping{Start: start, End: end, Work: work})), "part", analyze.Needs())
			if err != nil {
				t.Fatal(err)
			}
			for a := range got.Activities.All() {
				if k := got.Tracks[a.Track]; len(work.Streams) > 0 && k.Stream != work.Streams[0] || len(work.Devices) > 0 && k.Device != work.Devices[0] {
					t.Fatalf("%s, %s: there is work of %+v", p.Name, name, k)
				}
			}
			whole, err := trace.Read(bytes.NewReader(text), "whole", analyze.Needs())
			if err != nil {
				t.Fatal(err)
			}
			want := measured(t, whole.Only(work).Within(start, end))
			if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(measured(t, got), "\n")); diff != "" {
				t.Errorf("%s, %s: window of the whole(-) part(+)\n%.3000s", p.Name, name, diff)
			}
		}
	}
}

// TestBytes: an event that is kept has the bytes of the input, with members that assay does
// not know; metadata, counters and what belongs to the capture stay; an event far outside is
// left out. A part of a part is the part.
func TestBytes(t *testing.T) {
	events := map[string]string{
		"in":       `{"ph": "X",  "name":"a\u00e9", "cat": "kernel", "pid": 0, "tid": 7, "ts": 2000.0010, "dur": 5.0, "unknown": [1, {"x": 1e3}], "args": {"correlation": 9, "what":  null}}`,
		"launch":   `{"ph":"X","name":"cudaLaunchKernel","cat":"cuda_runtime","pid":1,"tid":1,"ts":20,"dur":1,"args":{"correlation":9,"z":"z"}}`,
		"far":      `{"ph":"X","name":"f","cat":"cpu_op","pid":1,"tid":1,"ts":9000000,"dur":1}`,
		"far work": `{"ph":"X","name":"k","cat":"kernel","pid":0,"tid":7,"ts":10000,"dur":1,"args":{"correlation":10}}`,
		"farther":  `{"ph":"X","name":"k","cat":"kernel","pid":0,"tid":7,"ts":20000,"dur":1,"args":{"correlation":11}}`,
		"counter":  `{"ph":"C","name":"mem","pid":1,"ts":2001,"args":{"bytes":5}}`,
		"counter2": `{"ph":"C","name":"mem","pid":1,"ts":50001,"args":{"bytes":5}}`,
		"name":     `{"ph":"M","name":"thread_name","pid":1,"tid":1,"args":{"name":"main"}}`,
		"arrow":    `{"ph":"s","id":9,"pid":1,"tid":1,"ts":20,"cat":"ac2g","name":"ac2g"}`,
		"arrow2":   `{"ph":"f","id":9,"pid":0,"tid":7,"ts":2000.001,"cat":"ac2g","name":"ac2g","bp":"e"}`,
		"arrow3":   `{"ph":"s","id":9,"pid":1,"tid":1,"ts":7,"cat":"fwdbwd","name":"fwdbwd"}`,
		"untimed":  `{"ph":"i","name":"note","pid":1,"s":"g"}`,
		"begin":    `{"ph":"B","name":"b","pid":1,"tid":2,"ts":1999}`,
		"end":      `{"ph":"E","pid":1,"tid":2,"ts":2400}`,
		"begin2":   `{"ph":"B","name":"b","pid":1,"tid":2,"ts":4000}`,
		"end2":     `{"ph":"E","pid":1,"tid":2,"ts":4001}`,
	}
	order := []string{"name", "launch", "arrow", "arrow3", "in", "arrow2", "far", "far work", "farther", "counter", "counter2", "untimed", "begin", "end", "begin2", "end2"}
	var all []string
	for _, name := range order {
		all = append(all, events[name])
	}
	const head, tail = `"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "H100"}], "baseTimeNanoseconds": 1700000000000000000`, `"stackFrames": {"5": {"name": "f"}}, "mine": [1,  2]`
	for _, text := range []string{
		"{" + head + `, "traceEvents": [` + strings.Join(all, ",\n  ") + "],\n" + tail + "}",
		"[" + strings.Join(all, ", ") + "]",
		"[" + strings.Join(all, ",\n") + ",",
		strings.Join(all, "\n"),
	} {
		tr := indexed(t, []byte(text), "x")
		keep := trace.Keeping{Start: 1_900_000, End: 3_000_000}
		small := cut(t, tr, []byte(text), keep)
		var parsed struct {
			TraceEvents []json.RawMessage `json:"traceEvents"`
		}
		if err := json.Unmarshal(small, &parsed); err != nil {
			t.Fatalf("%v in %s", err, small)
		}
		got := map[string]bool{}
		for _, raw := range parsed.TraceEvents {
			got[string(raw)] = true
		}
		want := map[string]bool{"in": true, "launch": true, "counter": true, "name": true, "arrow": true, "arrow2": true, "untimed": true, "begin": true, "end": true, "far work": true}
		for name, raw := range events {
			if got[raw] != want[name] {
				t.Errorf("%s is kept: %v, want %v, in %s", name, got[raw], want[name], small)
			}
		}
		if len(parsed.TraceEvents) != len(want) {
			t.Errorf("%d events, want %d", len(parsed.TraceEvents), len(want))
		}
		if strings.Contains(text, head) {
			for _, member := range append(strings.Split(head, ", \"b"), `"stackFrames": {"5": {"name": "f"}}`, `"mine": [1,  2]`) {
				if member = strings.TrimPrefix(member, "aseTime"); !bytes.Contains(small, []byte(strings.Split(member, ", \"")[0])) {
					t.Errorf("%s is lost in %s", member, small)
				}
			}
		}
		again := indexed(t, small, "part")
		x := again.Meta.Excerpt
		if x == nil || x.Window.Start != keep.Start || x.Window.End != keep.End {
			t.Fatalf("the part says of itself %+v", x)
		}
		if once := cut(t, again, small, trace.Keeping{Start: x.Window.Start, End: x.Window.End}); !bytes.Equal(once, small) {
			t.Errorf("the part of the part is %s, want %s", once, small)
		}
	}
}

// TestSecrets: secrets of kept events and of members are masked, and what is not secret stays.
func TestSecrets(t *testing.T) {
	const secret = "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH"
	text := `{"cmd": "python --api-key ` + secret + ` train.py", "traceEvents": [
		{"ph": "X", "name": "login(token=\"` + secret + `\") at x.py", "cat": "python_function", "pid": 1, "tid": 1, "ts": 1, "dur": 5, "args": {"env": {"name": "HF_TOKEN", "value": "correct-Horse-battery"}, "n": NaN}},
		{"ph": "X", "name": "k",   "cat": "kernel", "pid": 0, "tid": 7, "ts": 2, "dur": 5}], "last": {"note": "` + secret + `"}}`
	tr := indexed(t, []byte(text), "x")
	small := string(cut(t, tr, []byte(text), trace.Keeping{Start: 0, End: 1 << 40}))
	for _, lost := range []string{secret, "correct-Horse"} {
		if strings.Contains(small, lost) {
			t.Errorf("%s is in %s", lost, small)
		}
	}
	for _, kept := range []string{"train.py", "at x.py", `"name": "k",   "cat"`, `"ts": 1, "dur": 5`, `"last": {"note": `} {
		if !strings.Contains(small, kept) {
			t.Errorf("%s is lost in %s", kept, small)
		}
	}
}

// TestExcerpt: what a file says about itself may be anything.
func TestExcerpt(t *testing.T) {
	for _, member := range []string{`5`, `null`, `{}`, `{"start_ns": 5}`, `{"start_ns": "x", "end_ns": 7}`, `{"start_ns": 9e99, "end_ns": -1}`, `{"start_ns": 2000, "end_ns": 1000}`,
		`{"start_ns": -9223372036854775808, "end_ns": 9223372036854775807, "capture": {"start_ns": -9223372036854775808, "end_ns": 9223372036854775807}}`,
		`{"start_ns": 1, "end_ns": 9000, "devices": [{"device": 0, "start_ns": -9223372036854775808, "end_ns": 9223372036854775807}, 5, null, {"device": 1e99}], "issues": [{"code": "input-truncated", "count": -5}, {"code": "no-such-code"}, 7]}`,
		`{"whole": true, "start_ns": 1, "end_ns": 9000}`} {
		text := `{"assay_window": ` + member + `, "traceEvents": [{"ph": "X", "name": "k", "cat": "kernel", "pid": 0, "tid": 7, "ts": 2, "dur": 5}, {"ph": "X", "name": "f", "cat": "cpu_op", "pid": 1, "tid": 7, "ts": 2, "dur": 5}]}`
		tr, err := trace.Read(strings.NewReader(text), "x", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		s := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
		for _, is := range s.Issues {
			if is.Code == "no-such-code" || is.Count <= 0 {
				t.Errorf("%s: issue %+v", member, is)
			}
		}
		checkPart(t, indexed(t, []byte(text), "x"), []byte(text), 0, 5000)
	}
}

// FuzzTrim: a part of any input is cut without a panic and can be read, and what is measured
// of it is what is measured of the window.
func FuzzTrim(f *testing.F) {
	f.Add([]byte(`{"traceEvents": [{"ph":"X","name":"k","cat":"kernel","pid":0,"tid":7,"ts":1,"dur":5,"args":{"correlation":1}},{"ph":"X","name":"l","cat":"cuda_runtime","pid":1,"tid":1,"ts":0,"dur":1,"args":{"correlation":1}}]}`), int64(0), int64(3000))
	f.Add([]byte(`[{"ph":"B","name":"a","pid":1,"tid":1,"ts":1},{"ph":"E","pid":1,"tid":1,"ts":3},{"ph":"b","id":1,"name":"x","pid":1,"ts":1},{"ph":"e","id":1,"name":"x","pid":1,"ts":9},`), int64(2000), int64(4000))
	f.Add([]byte(`{"traceEvents": [{"ph":"X","name":"a "b"","cat":"cpu_op","pid":0,"tid":7,"ts":1,"dur":5},{"ph":"C","ts":2,"name":"c"}], "x": 1}`), int64(0), int64(9000))
	f.Fuzz(func(t *testing.T, text []byte, start, n int64) {
		if n <= 0 || start+n < start {
			return
		}
		sel := analyze.Needs()
		sel.FlowsIfNeeded, sel.Index = false, true
		tr, err := trace.Read(bytes.NewReader(text), "x", sel)
		if err != nil {
			return
		}
		checkPart(t, tr, text, start, start+n)
	})
}

// TestWhole: nothing is lost of the cases with which Perfetto tests its importer if all of
// their time is kept: the usable events are the same, in order.
func TestWhole(t *testing.T) {
	paths := test.Files(t, filepath.Join(test.Corpus(t, "formats", "perfetto_json_cases"), "*.json"))
	if len(paths) < 20 {
		t.Fatalf("%d cases", len(paths))
	}
	all := 0
	for _, path := range paths {
		text := content(t, path)
		tr := indexed(t, text, path)
		small := cut(t, tr, text, trace.Keeping{Start: math.MinInt64, End: math.MaxInt64})
		want, got := events(t, text), events(t, small)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %d events, want %d\n%s", filepath.Base(path), len(got), len(want), diff)
		}
		all += len(got)
	}
	if all < 120 {
		t.Errorf("%d events in all", all)
	}
}

// events returns the usable events of a trace, without white space.
func events(t *testing.T, text []byte) (out []string) {
	t.Helper()
	rd := trace.NewReader(bytes.NewReader(text), "x", trace.SelectAll())
	for rd.Scan() {
		if e, ok := rd.Record().(*trace.Event); ok {
			out = append(out, strings.Join(strings.Fields(string(e.Raw())), " "))
		}
	}
	if rd.Err() != nil {
		t.Fatal(rd.Err())
	}
	return out
}
