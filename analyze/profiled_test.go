package analyze_test

import (
	"fmt"
	"slices"
	"testing"
)

// TestProfiledEvents counts what the profiler recorded on the thread that launches: operators, calls and
// annotations between the first and the last GPU operation. Another thread launches nothing.
func TestProfiledEvents(t *testing.T) {
	op := func(thread int, ts, dur float64) string {
		return fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":"aten::add","pid":1,"tid":%d,"ts":%.3f,"dur":%v}`, thread, ts, dur)
	}
	step := func(n int, ts, dur float64) string {
		return fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":1,"tid":1,"ts":%.3f,"dur":%v}`, n, ts, dur)
	}
	events := []string{step(1, 0, 1000), step(2, 1000, 1000), op(1, 5, 2)} // the operator is before the window
	for i := range 8 {
		at := 10 + 250*float64(i)
		events = append(events, op(1, at, 20), calledAt("cudaLaunchKernel", i+1, at+1, 5), ranAt(7, i+1, at+8, 50, ""))
		if i > 3 {
			events = append(events, op(1, at+30, 3)) // the second step has an operator more for each kernel
		}
		events = append(events, op(2, at+2, 3), op(2, at+40, 3))
	}
	// The window is from 18 to 1818 us. In the first step it has 3 operators and 3 calls; in the second 4 of
	// each, 4 operators more (the last begins in the window, at 1790), and the marker of the step.
	for _, tc := range []struct {
		name, trace string
		all         int64
		perStep     []int64
	}{
		{"PyTorch", `{"schemaVersion":1,"deviceProperties":[],"traceEvents":` + list(events...) + `}`, 19, []int64{6, 13}},
		{"another program", list(events...), 0, nil},
	} {
		l := measured(t, tc.trace).Launches[0]
		if l.HostEvents != tc.all || !slices.Equal(l.HostEventsPerStep, tc.perStep) {
			t.Errorf("%s: %d events, in steps %d; want %d, %d", tc.name, l.HostEvents, l.HostEventsPerStep, tc.all, tc.perStep)
		}
	}
}
