package analyze_test

import (
	"fmt"
	"testing"

	"assay/summary"
)

// TestHandOver: a thread launches what another one hands over to it. What kept it from launching earlier is what the other
// thread did until it handed the task over, and its own work from then on.
//
//	time       0         10        20        30        40   45   50  53
//	thread 1             [aten::a                      ]h
//	thread 2                                                [task L ]
//	device     [k1       ]                                          [k2
func TestHandOver(t *testing.T) {
	op := func(name string, tid int, ts, dur float64) string {
		return fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":%q,"pid":1,"tid":%d,"ts":%.3f,"dur":%.3f}`, name, tid, ts, dur)
	}
	arrow := func(ph string, tid int, ts float64) string {
		return fmt.Sprintf(`{"ph":%q,"cat":"hand-over","name":"task","id":5,"pid":1,"tid":%d,"ts":%.3f}`, ph, tid, ts)
	}
	for _, tc := range []struct {
		name   string
		handed float64
		want   map[string]int64 // ns of idle time by what a thread was in
	}{
		{"handed over in the gap", 40, map[string]int64{"aten::a": 30_000, "task": 5_000}},
		{"handed over before the gap", 5, map[string]int64{"task": 5_000}},
	} {
		s := measured(t, list(arrow("s", 1, tc.handed), arrow("f", 2, 45), op("aten::a", 1, 0, 40), op("task", 2, 45, 15),
			apiRow("cudaLaunchKernel", 2, 1, -5, 2), kernelRow(1, 0, 10), apiRow("cudaLaunchKernel", 2, 2, 50, 2), kernelRow(2, 53, 7)))
		got := map[string]int64{}
		for _, r := range s.Idle {
			if r.State == summary.StateOp {
				got[r.Name] += r.NS
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(tc.want) {
			t.Errorf("%s: %v, want %v; all: %+v", tc.name, got, tc.want, s.Idle)
		}
	}
}
