package export

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/trace"
)

// same returns its text: nothing is masked.
func same(text string) string { return text }

// join returns the timeline of traces in JSON, as text and parsed.
func join(t *testing.T, limit int64, mask func(string) string, traces ...string) (text []byte, events []map[string]any, err error) {
	t.Helper()
	var out bytes.Buffer
	w := NewWriter(&out, Header{}, len(traces), limit, mask)
	for i, s := range traces {
		rd := trace.NewReader(strings.NewReader(s), "x.json", trace.SelectAll())
		if _, err := w.Add(Rank{Label: fmt.Sprintf("rank %d", i)}, rd); err != nil {
			return nil, nil, err
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var parsed struct {
		TraceEvents []map[string]any `json:"traceEvents"`
	}
	d := json.NewDecoder(bytes.NewReader(out.Bytes()))
	d.UseNumber()
	if err := d.Decode(&parsed); err != nil {
		t.Fatalf("%v in %s", err, out.Bytes())
	}
	return out.Bytes(), parsed.TraceEvents, nil
}

// TestModel: a trace that is written from its tables and read again has the same tables,
// for every capture of the repository whose spans have the categories of Kineto.
func TestModel(t *testing.T) {
	paths := test.Files(t, "../../testdata/gen/*.json.gz")
	if len(paths) < 5 {
		t.Fatal("no captures")
	}
	for _, path := range paths {
		want := read(t, path)
		var text bytes.Buffer
		if err := WriteModel(&text, want); err != nil {
			t.Fatal(err)
		}
		got, err := trace.Read(&text, path, trace.SelectAll())
		if err != nil {
			t.Fatal(path, err)
		}
		for _, is := range got.Issues {
			t.Errorf("%s: %s: %s", path, is.Code, is.Help)
		}
		a, b := rowsOf(want), rowsOf(got)
		for i := range max(len(a), len(b)) {
			x, y := at(a, i), at(b, i)
			if x != y {
				t.Errorf("%s: row %d is %s, want %s", filepath.Base(path), i, y, x)
				break
			}
		}
		if len(a) < 50 {
			t.Errorf("%s: %d rows, want many", path, len(a))
		}
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "(none)"
}

// rowsOf returns what a trace has, as text.
func rowsOf(t *trace.Trace) (out []string) {
	track := func(id trace.TrackID) string {
		tr := &t.Tracks[id]
		if tr.OnDevice {
			return fmt.Sprintf("GPU %d stream %d", tr.Device, tr.Stream)
		}
		return tr.PID + "/" + tr.TID
	}
	for a := range t.Activities.All() {
		d := *t.Detail(a.Detail)
		c := d.Collective
		d.Collective = trace.Collective{}
		out = append(out, fmt.Sprint(a.Kind, a.Start, a.Dur, a.Correlation, a.External, t.Name(a.Name), track(a.Track), d, t.Name(c.Name), t.Name(c.Dtype), t.Name(c.Group), c.In, c.Out, c.GroupSize))
	}
	for c := range t.Calls.All() {
		out = append(out, fmt.Sprint(c.Kind, c.Start, c.Dur, c.Correlation, c.External, t.Name(c.Name), track(c.Track)))
	}
	for o := range t.Ops.All() {
		out = append(out, fmt.Sprint("op", o.Start, o.Dur, o.External, o.Sequence, o.Forward, t.Name(o.Name), track(o.Track)))
	}
	for p := range t.Python.All() {
		out = append(out, fmt.Sprint("python", p.Start, p.Dur, p.ID, p.Parent, t.Name(p.Name), track(p.Track)))
	}
	for s := range t.Spans.All() {
		out = append(out, fmt.Sprint(s.Kind, s.Start, s.Dur, t.Name(s.Name), track(s.Track)))
	}
	for m := range t.Memory.All() {
		row := *m
		row.Track = 0
		out = append(out, fmt.Sprint("memory", row, track(m.Track)))
	}
	return out
}

// TestIDs: ids stay unique over ranks and equal within one, whatever they are: small, over
// 32 bits, negative, texts, in other bases, or as local and global parts.
func TestIDs(t *testing.T) {
	ids := []string{"0", "7", "4294967295", "4294967296", "9007199254740993", "-5", `"0xabc"`, `"7x"`, `"12"`, "1.5", `18446744073709551615`}
	var b strings.Builder
	b.WriteString("[")
	for i, id := range ids {
		for _, ph := range []string{"s", "f"} {
			fmt.Fprintf(&b, `{"ph": %q, "name": "%d", "cat": "c", "pid": 1, "tid": 1, "ts": 1, "id": %s},`, ph, i, id)
		}
	}
	b.WriteString(`{"ph": "b", "name": "global", "pid": 1, "ts": 1, "id2": {"global": "0x5"}}, {"ph": "b", "name": "local", "pid": 1, "ts": 1, "id2": {"local": "0x5"}}]`)
	_, events, err := join(t, 1<<20, same, b.String(), b.String(), b.String())
	if err != nil {
		t.Fatal(err)
	}
	of := map[string]string{} // the event's rank and name, by id
	count := map[string]int{}
	for _, e := range events {
		id, ok := e["id"].(json.Number)
		if !ok {
			continue
		}
		who := fmt.Sprint(e["pid"], " ", e["name"])
		if old := of[id.String()]; old != "" && old != who {
			t.Errorf("%s and %s have the id %s", old, who, id)
		}
		of[id.String()] = who
		count[who]++
	}
	if len(of) != 3*len(ids) {
		t.Errorf("%d ids, want %d", len(of), 3*len(ids))
	}
	for who, n := range count {
		if n != 2 {
			t.Errorf("%s: %d events, want both ends", who, n)
		}
	}
	global := map[string]bool{}
	for _, e := range events {
		if e["name"] == "global" {
			global[fmt.Sprint(e["id2"])] = true
		}
		if e["name"] == "local" && fmt.Sprint(e["id2"]) != "map[local:0x5]" {
			t.Errorf("a local id became %v", e["id2"])
		}
	}
	if len(global) != 3 {
		t.Errorf("global ids %v, want one for each rank", global)
	}
	if _, _, err := join(t, 300, same, b.String(), b.String()); err != errIDs {
		t.Errorf("more ids than memory: %v, want %v", err, errIDs)
	}
}

// TestManyProcesses: the numbers of ranks with more processes than a rank has numbers do
// not meet those of other ranks.
func TestManyProcesses(t *testing.T) {
	var b strings.Builder
	b.WriteString("[{}")
	const n = stride + 20
	for i := range n {
		fmt.Fprintf(&b, `,{"ph": "X", "name": "f", "pid": "p%d", "tid": "t", "ts": 1, "dur": 1}`, i)
	}
	b.WriteString("]")
	_, events, err := join(t, 1<<20, same, b.String(), b.String(), b.String())
	if err != nil {
		t.Fatal(err)
	}
	pids, names := map[string]bool{}, map[string]bool{}
	for _, e := range events {
		if e["ph"] == "X" {
			pids[fmt.Sprint(e["pid"])] = true
		}
		if e["name"] == "process_name" {
			names[fmt.Sprint(e["args"])] = true
		}
	}
	if len(pids) != 3*n || len(names) != 3*n {
		t.Errorf("%d processes and %d names, want %d", len(pids), len(names), 3*n)
	}
}

// TestRandomValues: whatever arguments the reader accepts, the timeline is JSON, and its
// texts are masked.
func TestRandomValues(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"{", "}", "[", "]", ",", ":", `"a"`, `"b": `, "1", "-0", "01", "1e5", "1.", "NaN", "-Infinity", "null", "true", `"\u00e9"`, `"\ud800"`, "\"\xff\"", "\"\x01\"", `"\q"`, " ", "+1", "tru"}
	read := 0
	for range 20_000 {
		var b strings.Builder
		for range rnd.IntN(9) {
			b.WriteString(pieces[rnd.IntN(len(pieces))])
		}
		value := b.String()
		if rnd.IntN(2) == 0 {
			value = `{"x": ` + value + `}`
		}
		text := `[{"ph": "X", "name": "secret", "pid": 1, "tid": 2, "ts": 1, "dur": 1, "args": ` + value + `}]`
		out, events, err := join(t, 1<<20, func(s string) string { return strings.ReplaceAll(s, "secret", "[masked]") }, text)
		if err != nil {
			continue // nothing in it is an event
		}
		if !json.Valid(out) || strings.Contains(string(out), "secret") {
			t.Fatalf("%s becomes %s", text, out)
		}
		for _, e := range events {
			if e["name"] == "[masked]" {
				read++
			}
		}
	}
	if read < 2000 {
		t.Errorf("%d events were read, want many", read)
	}
}

// TestMicros: times are decimal microseconds without a rounding.
func TestMicros(t *testing.T) {
	for ns, want := range map[int64]string{0: "0", 1: "0.001", 10: "0.01", 999: "0.999", 1000: "1", 1500: "1.5", -1: "-0.001", -1500: "-1.5", 1<<63 - 1: "9223372036854775.807", -1 << 63: "-9223372036854775.808"} {
		if got := string(appendMicros(nil, ns)); got != want {
			t.Errorf("%d ns are %s, want %s", ns, got, want)
		}
	}
}

// read reads a trace that is compressed.
func read(t *testing.T, path string) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(bytes.NewReader(test.Unpacked(t, path)), path, trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestHeaderGPUs: the properties of GPUs that a timeline states are those that are read again.
func TestHeaderGPUs(t *testing.T) {
	var out bytes.Buffer
	want := trace.Hardware{SMs: 40, Major: 7, Minor: 5, ClockHz: 1590e6, Bandwidth: 320064e6, Cache: 4 << 20}
	w := NewWriter(&out, Header{Kineto: true, GPUs: []GPU{{ID: 2, Name: "Tesla T4", Capacity: 16e9, Hardware: want}, {ID: 3, Name: "GPU"}}}, 1, 0, same)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := trace.Read(&out, "x.json", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Meta.Hardware) != 1 || got.Meta.Hardware[2] != want || got.Meta.Capacity[2] != 16e9 || got.Meta.Devices[3] != "GPU" {
		t.Errorf("%+v", got.Meta)
	}
}
