package operators

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"testing"

	"assay/internal/test"
)

// A knownCall is a call of testdata/known_work.json.gz with its label: FLOPs and bytes that
// testdata/capture/known_work.py took from the tensors themselves.
type knownCall struct {
	args struct {
		Dims    json.RawMessage `json:"Input Dims"`
		Types   json.RawMessage `json:"Input type"`
		Strides json.RawMessage `json:"Input Strides"`
		Values  json.RawMessage `json:"Concrete Inputs"`
	}
	Op           string   `json:"op"`
	FLOPs        *int64   `json:"flops"`
	Bytes        *int64   `json:"bytes"`
	Dense        *int64   `json:"bytes_without_strides"`
	FLOPsUnknown string   `json:"flops_unknown"`
	BytesUnknown string   `json:"bytes_unknown"`
	Needs        []string `json:"needs_values"`
	Kernel       string   `json:"kernel"`
}

func knownCalls(t *testing.T) []knownCall {
	t.Helper()
	read := func(name string, to any) {
		if err := json.Unmarshal(test.Unpacked(t, filepath.Join("..", "..", "..", "testdata", name)), to); err != nil {
			t.Fatal(err)
		}
	}
	var calls []knownCall
	read("known_work.labels.json.gz", &calls)
	var recorded struct {
		TraceEvents []struct {
			Name string
			Args json.RawMessage
		}
	}
	read("known_work.json.gz", &recorded)
	if len(recorded.TraceEvents) != len(calls) || len(calls) < 500 {
		t.Fatalf("%d calls, %d labels", len(recorded.TraceEvents), len(calls))
	}
	for i, e := range recorded.TraceEvents {
		if e.Name != calls[i].Op {
			t.Fatalf("call %d is %s, its label is of %s", i, e.Name, calls[i].Op)
		}
		if err := json.Unmarshal(e.Args, &calls[i].args); err != nil {
			t.Fatal(err)
		}
	}
	return calls
}

// workOf returns the work of a call, without a formula that of no known number.
func workOf(c *Call) Work {
	m := Lookup(c.Op)
	if m == nil {
		return unknownWork(UnknownUnit, NoFormula)
	}
	w, _ := m.Work(c)
	return w
}

// check compares a count with its label: a number, or the reason why there is none.
func (k *knownCall) check(t *testing.T, what string, got Count, want *int64, why string) {
	t.Helper()
	if want == nil {
		if got.Why.String() != why {
			t.Errorf("%s: %s: got %+v (%s), want unknown: %s\n%s %s %s", k.Op, what, got, got.Why, why, k.args.Dims, k.args.Types, k.args.Values)
		}
		return
	}
	if got != (Count{N: *want}) {
		t.Errorf("%s: %s: got %+v (%s), want %d\n%s %s %s %s", k.Op, what, got, got.Why, *want, k.args.Dims, k.args.Types, k.args.Values, k.args.Strides)
	}
}

// TestKnownWork: FLOPs and bytes of every recorded call are those of its label. What is
// unknown has the reason that the label expects.
func TestKnownWork(t *testing.T) {
	known := 0
	for _, k := range knownCalls(t) {
		c := ParseCall(k.Op, string(k.args.Dims), string(k.args.Types), string(k.args.Strides), string(k.args.Values))
		c.Kernel = k.Kernel
		w := workOf(&c)
		k.check(t, "FLOPs", w.FLOPs, k.FLOPs, k.FLOPsUnknown)
		k.check(t, "bytes", w.Bytes, k.Bytes, k.BytesUnknown)
		if w.FLOPs.Why == Known && w.Bytes.Why == Known {
			known++
		}
	}
	t.Logf("FLOPs and bytes of %d calls are known", known)
}

// TestKnownWorkOfOldCaptures: PyTorch wrote neither values nor strides until 2024. What
// follows from values is then unknown, and expanded tensors count with all elements.
func TestKnownWorkOfOldCaptures(t *testing.T) {
	for _, k := range knownCalls(t) {
		c := ParseCall(k.Op, string(k.args.Dims), string(k.args.Types), "", "")
		c.Kernel = k.Kernel
		w := workOf(&c)
		if slices.Contains(k.Needs, "beta") { // the bias counts as read
			continue
		}
		if slices.Contains(k.Needs, "mask") || slices.Contains(k.Needs, "type") {
			if w.Bytes.Why != Known || !w.BytesEstimated || w.Bytes.N < *k.Dense {
				t.Errorf("%s: %+v, want an estimate of %d or more", k.Op, w, *k.Dense)
			}
			continue
		}
		flops, bytes := k.FLOPs, k.Dense
		flopsWhy, bytesWhy := k.FLOPsUnknown, k.BytesUnknown
		if slices.Contains(k.Needs, "flops") {
			flops, flopsWhy = nil, NoConcrete.String()
		}
		if slices.Contains(k.Needs, "bytes") {
			bytes, bytesWhy = nil, NoConcrete.String()
		}
		k.check(t, "FLOPs", w.FLOPs, flops, flopsWhy)
		k.check(t, "bytes", w.Bytes, bytes, bytesWhy)
	}
}

// TestKnownWorkOfRanges: NVTX ranges have neither types nor values. FLOPs are then those of
// the label or unknown, and bytes are unknown.
func TestKnownWorkOfRanges(t *testing.T) {
	known := 0
	for _, k := range knownCalls(t) {
		c := ParseCall(k.Op, sizesOf(t, string(k.args.Dims)), "", "", "")
		w := workOf(&c)
		if w.Bytes.Why == Known {
			t.Errorf("%s %s: %d bytes without types", k.Op, k.args.Dims, w.Bytes.N)
		}
		if w.FLOPs.Why != Known || slices.Contains(k.Needs, "beta") {
			continue
		}
		known++
		k.check(t, "FLOPs without types", w.FLOPs, k.FLOPs, k.FLOPsUnknown)
	}
	if known < 200 {
		t.Errorf("FLOPs of %d calls are known", known)
	}
}

// TestSoftmaxToFloat: a softmax that reads 16 bits and writes 32 has a backward pass that
// does the opposite. Only GPUs do it.
func TestSoftmaxToFloat(t *testing.T) {
	for _, x := range []struct {
		op, types, values string
		bytes             int64
	}{
		{"aten::_log_softmax", `["c10::Half","Scalar","Scalar"]`, `["","1","True"]`, 12 * (2 + 4)},
		{"aten::_log_softmax_backward_data", `["float","float","Scalar","Scalar"]`, `["","","1","5"]`, 12 * (4 + 4 + 2)},
	} {
		dims := "[[3,4],[],[]]"
		if x.bytes > 100 {
			dims = "[[3,4],[3,4],[],[]]"
		}
		c := ParseCall(x.op, dims, x.types, "", x.values)
		if w := workOf(&c); w.Bytes != (Count{N: x.bytes}) {
			t.Errorf("%s: %+v bytes, want %d", x.op, w.Bytes, x.bytes)
		}
	}
}
