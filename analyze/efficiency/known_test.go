package efficiency_test

import (
	"bytes"
	"encoding/json"
	"testing"

	"assay/analyze"
	"assay/analyze/efficiency/hardware"
	"assay/internal/test"
	"assay/summary"
	"assay/trace"
)

// A knownSum is what the labels of one row sum to.
type knownSum struct{ calls, flops, bytes int64 }

// TestKnownRows: rows have the calls, FLOPs and bytes of the labels of testdata/known_work, if
// each call launches one kernel. See package efficiency for the single calls.
func TestKnownRows(t *testing.T) {
	read := func(name string, to any) {
		if err := json.Unmarshal(test.Unpacked(t, "../../testdata/"+name), to); err != nil {
			t.Fatal(err)
		}
	}
	var labels []struct {
		FLOPs, Bytes *int64
		Kernel       string
	}
	read("known_work.labels.json.gz", &labels)
	var recorded struct {
		TraceEvents []struct {
			Name string
			Args map[string]json.RawMessage
		}
	}
	read("known_work.json.gz", &recorded)
	s, want, all := new(script), map[string]knownSum{}, int64(0)
	for i, e := range recorded.TraceEvents {
		args, err := json.Marshal(e.Args)
		if err != nil {
			t.Fatal(err)
		}
		s.host("cpu_op", e.Name, 10*i, 8, string(bytes.Trim(args, "{}")))
		kernel := labels[i].Kernel
		if kernel == "" {
			kernel = "kernel"
		}
		s.kernel(kernel, 10*i+1, 10*i+3, 5, 7)
		all++
		if labels[i].FLOPs != nil && labels[i].Bytes != nil {
			key := e.Name + string(e.Args["Input Dims"]) + string(e.Args["Input type"])
			k := want[key]
			want[key] = knownSum{k.calls + 1, k.flops + *labels[i].FLOPs, k.bytes + *labels[i].Bytes}
		}
	}
	e := s.measure(t, hardware.ModelFLOPs{}).Efficiency
	got, counted := map[string]knownSum{}, int64(0)
	for _, r := range e.Rows {
		counted += r.Count
		if r.FLOPs == nil || r.Bytes == nil {
			if r.Unknown == "" {
				t.Errorf("%s %s: no FLOPs or bytes and no reason", r.Op, r.Dims)
			}
			continue
		}
		key := r.Op + string(r.Dims) + string(r.Types)
		k := got[key]
		got[key] = knownSum{k.calls + r.Count, k.flops + *r.FLOPs, k.bytes + *r.Bytes}
	}
	if counted != all {
		t.Errorf("rows have %d calls of %d", counted, all)
	}
	for key, w := range want {
		if got[key] != w {
			t.Errorf("%s: got %+v, want %+v", key, got[key], w)
		}
		delete(got, key)
	}
	for key, g := range got {
		t.Errorf("%s: got %+v, want none", key, g)
	}
	checkTotals(t, e, all)
}

// checkTotals: all GPU time has an operator, 5 µs for each call.
func checkTotals(t *testing.T, e summary.Efficiency, calls int64) {
	t.Helper()
	if total := e.Total(); total.GPUNS != calls*5000 || total.NoOperatorNS != 0 {
		t.Errorf("GPU time %d, without an operator %d", total.GPUNS, total.NoOperatorNS)
	}
}

// TestOnlyCPU: a capture without GPU work has no efficiency.
func TestOnlyCPU(t *testing.T) {
	tr, err := trace.Read(bytes.NewReader(test.Unpacked(t, "../../testdata/known_work.json.gz")), "known_work.json", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	s := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
	if !s.Efficiency.IsZero() || len(s.Devices) > 0 || len(s.Spans) < 100 {
		t.Errorf("efficiency %+v, %d devices, %d operators", s.Efficiency, len(s.Devices), len(s.Spans))
	}
}
