package analyze_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/summary"
)

// TestCollector: a pause of the garbage collector is its own, with the finalizers that it calls, whatever
// function or operator it interrupts; a pause that nothing names stays with the function.
func TestCollector(t *testing.T) {
	slice := func(cat, name string, start, end int) string {
		return fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":7,"tid":7,"ts":%d,"dur":%d}`, cat, name, start, end-start)
	}
	launch := func(n, at, start int) string {
		return fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":%d,"dur":4,"args":{"correlation":%d}},`+
			`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":3,"ts":%d,"dur":100,"args":{"device":0,"stream":3,"correlation":%d}}`, at, n, start, n)
	}
	// One kernel ends at 110 µs; the launch of the next begins at 5,000 µs.
	run := func(inside ...string) map[[2]string]int64 {
		events := append([]string{launch(1, 2, 10), launch(2, 5000, 5010), slice("python_function", "serve.py(12): schedule", 0, 6000)}, inside...)
		got := map[[2]string]int64{}
		for _, r := range measured(t, "["+strings.Join(events, ",")+"]").Idle {
			if r.Owner == summary.OwnerHost {
				got[[2]string{r.State, r.Name}] += r.NS / 1000
			}
		}
		return got
	}
	const frame = "serve.py(12): schedule"
	for _, tc := range []struct {
		name   string
		inside []string
		want   map[[2]string]int64
	}{
		{"a call of gc.collect", []string{slice("python_function", "<built-in function collect>", 1000, 4000)},
			map[[2]string]int64{{summary.StateCollector, "<built-in function collect>"}: 3000, {summary.StatePython, frame}: 1890}},
		{"its finalizers", []string{slice("python_function", "<built-in function collect>", 1000, 4000),
			slice("python_function", "cache.py(9): __del__", 1500, 3500), slice("cpu_op", "aten::set_", 2000, 2500)},
			map[[2]string]int64{{summary.StateCollector, "<built-in function collect>"}: 3000, {summary.StatePython, frame}: 1890}},
		{"an annotation in an operator", []string{slice("cpu_op", "aten::empty", 500, 4500), slice("user_annotation", "Python GC", 1000, 4000)},
			map[[2]string]int64{{summary.StateCollector, "Python GC"}: 3000, {summary.StateOp, "aten::empty"}: 1000, {summary.StatePython, frame}: 890}},
		{"no record of it", nil, map[[2]string]int64{{summary.StatePython, frame}: 4890}},
		{"a frame with a similar name", []string{slice("python_function", "buffer.py(4): collect", 1000, 4000)},
			map[[2]string]int64{{summary.StatePython, "buffer.py(4): collect"}: 3000, {summary.StatePython, frame}: 1890}},
	} {
		got := run(tc.inside...)
		for k, ns := range tc.want {
			if got[k] != ns {
				t.Errorf("%s: %v is %d µs, want %d; all %v", tc.name, k, got[k], ns, got)
			}
		}
	}
}
