package analyze_test

import (
	"strings"
	"testing"

	"assay/analyze"
	"assay/summary"
	"assay/trace"
)

// TestIdleTimeAddsUp: all idle time has one cause where what the main thread did last ends with
// a question that another thread passes on to it.
func TestIdleTimeAddsUp(t *testing.T) {
	s := measuredInGroups(t, `[
		{"ph":"X","cat":"cuda_runtime","name":"cudaMemcpyAsync","pid":100,"tid":100,"ts":17.5,"dur":50,"args":{"correlation":1}},
		{"ph":"X","cat":"cuda_runtime","name":"cudaMemsetAsync","pid":100,"tid":102,"ts":1096,"dur":4,"args":{"correlation":11}},
		{"ph":"X","cat":"gpu_memset","name":"Memset (Device)","pid":0,"tid":20,"ts":1106,"dur":20,"args":{"device":0,"stream":20,"correlation":11}},
		{"ph":"X","cat":"kernel","name":"gemm18","pid":0,"tid":20,"ts":33.5,"dur":0.5,"args":{"device":0,"stream":20,"correlation":3}},
		{"ph":"X","cat":"cpu_op","name":"aten::op16","pid":100,"tid":100,"ts":1076,"dur":20}]`)
	const idle = 1_072_000 // between 34 and 1106 µs
	sum, operator := int64(0), int64(0)
	for _, r := range s.Idle {
		if sum += r.NS; r.State == summary.StateOp {
			operator += r.NS
		}
	}
	if sum != idle || operator != 20_000 {
		t.Errorf("causes sum to %d ns, want %d; operators to %d, want 20000: %+v", sum, idle, operator, s.Idle)
	}
}

// TestModuleByKind: a name that is a module's where it is called from Python is one, although
// another thread has an event of another kind with this name.
func TestModuleByKind(t *testing.T) {
	s := measuredInGroups(t, `[
		{"ph":"X","name":"nn.Module: A_1","pid":100,"tid":7,"ts":47,"dur":5},
		{"ph":"X","cat":"python_function","name":"train.py(1): step","pid":100,"tid":102,"ts":1703,"dur":1,"args":{"Python id":123}},
		{"ph":"X","cat":"python_function","name":"nn.Module: A_1","pid":100,"tid":102,"ts":1684,"dur":5,"args":{"Python id":115,"Python module id":0}},
		{"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD (Pageable -> Device)","pid":0,"tid":20,"ts":3580,"dur":5,"args":{"device":0,"stream":20,"correlation":37}}]`)
	if len(s.Modules) != 1 || s.Modules[0].Path != "A_1" || s.Modules[0].Count != 1 || s.Modules[0].CPUTotalNS != 5000 {
		t.Errorf("modules are %+v, want one call of A_1 of 5 µs", s.Modules)
	}
}

// measuredInGroups returns the measurements of a trace with the given events.
func measuredInGroups(t *testing.T, events string) *summary.Summary {
	t.Helper()
	tr, err := trace.Read(strings.NewReader(events), "in", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	opt := analyze.DefaultOptions()
	opt.Without = analyze.Efficiency // which would have one group after the other
	return analyze.Trace(tr, summary.Input{}, opt)
}
