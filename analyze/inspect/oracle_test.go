package inspect_test

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/analyze"
	"assay/analyze/inspect"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

// An event is one of a trace as it is written.
type event struct {
	Ph, Cat, Name string
	PID, TID      json.RawMessage
	TS, Dur       json.RawMessage
	Args          struct {
		Device, Stream, Correlation json.RawMessage
	}
	start, end int64
}

// nanos reads a time in µs, digit by digit.
func nanos(t *testing.T, raw json.RawMessage) int64 {
	t.Helper()
	whole, part, _ := strings.Cut(strings.Trim(string(raw), `"`), ".")
	part = (part + "000")[:3]
	n, err := strconv.ParseInt(whole+part, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// An oracle has the complete events of a trace, by start.
type oracle struct {
	work, calls, host []event
}

// read returns the events of a trace, by start.
func read(t *testing.T, text []byte) (o oracle) {
	t.Helper()
	var doc struct{ TraceEvents []event }
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	for _, e := range doc.TraceEvents {
		if e.Ph != "X" {
			continue
		}
		e.start = nanos(t, e.TS)
		e.end = e.start + nanos(t, e.Dur)
		switch strings.ToLower(e.Cat) {
		case "kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset":
			o.work = append(o.work, e)
		case "cuda_runtime", "cuda_driver", "runtime":
			o.calls, o.host = append(o.calls, e), append(o.host, e)
		case "cpu_op", "operator", "user_annotation", "python_function":
			if path, function, ok := strings.Cut(e.Name, "): "); ok { // "demo/train.py(52): train_step"
				file, line, _ := strings.Cut(path[strings.LastIndexByte(path, '/')+1:], "(")
				e.Name = function + " (" + file + ":" + line + ")"
			}
			o.host = append(o.host, e)
		}
	}
	// Work of one stream that seems to start at the same time ran one after the other; of the
	// events of a thread the longer one is around the other.
	slices.SortStableFunc(o.work, func(a, b event) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	for _, list := range [][]event{o.calls, o.host} {
		slices.SortStableFunc(list, func(a, b event) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end)) })
	}
	return o
}

// call returns the call that launched some work.
func (o *oracle) call(w event) (event, bool) {
	id := string(w.Args.Correlation)
	i := slices.IndexFunc(o.calls, func(c event) bool { return id != "" && id != "0" && string(c.Args.Correlation) == id })
	if i < 0 {
		return event{}, false
	}
	return o.calls[i], true
}

func number(raw json.RawMessage) int64 {
	n, _ := strconv.ParseInt(strings.Trim(string(raw), `"`), 10, 64)
	return n
}

// made returns a generated trace as JSON and as it is read.
func made(t *testing.T, sc tracegen.Scenario) ([]byte, *trace.Trace, tracegen.Truth) {
	t.Helper()
	var b bytes.Buffer
	truth, err := tracegen.Generate(&b, sc, 0)
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Clone(b.Bytes())
	tr, err := trace.Read(&b, sc.Name, analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	return text, tr, truth
}

// capture prepares a whole trace.
func capture(tr *trace.Trace) *inspect.Capture {
	return inspect.New(tr, tr, inspect.Input{}, analyze.DefaultOptions())
}

func measured(tr *trace.Trace) *summary.Summary {
	return analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
}

// presets runs a test for every preset.
func presets(t *testing.T, f func(t *testing.T, sc tracegen.Scenario)) {
	for _, p := range tracegen.Presets() {
		t.Run(p.Name, func(t *testing.T) { f(t, p.Make()) })
	}
}

// all is how many rows the tables of the tests have at most.
const all = 1 << 20

// stories runs a test for every story whose JSON is as its truth.
func stories(t *testing.T, f func(t *testing.T, text []byte, tr *trace.Trace, truth tracegen.Attribution)) {
	for _, p := range tracegen.Stories() {
		st := p.Make()
		if st.Damaged {
			continue
		}
		t.Run(p.Name, func(t *testing.T) {
			tr, err := trace.Read(bytes.NewReader(st.JSON), p.Name, analyze.Needs())
			if err != nil {
				t.Fatal(err)
			}
			f(t, st.JSON, tr, st.Truth)
		})
	}
}
