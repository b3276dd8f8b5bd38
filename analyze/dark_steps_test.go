package analyze_test

import (
	"fmt"
	"testing"

	"assay/summary"
)

// TestStepsWithoutCalls: idle time in steps that have no call, and the operators that launch work in
// others, is not recorded. Six steps of 1 ms have ten operators of 50 us each, with a launch and a
// kernel of 60 us that ends with the operator's 90 us; other replaces the third step.
func TestStepsWithoutCalls(t *testing.T) {
	op := func(name string, at float64) string {
		return fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":%q,"pid":1,"tid":1,"ts":%f,"dur":50,"args":{}}`, name, at)
	}
	ops := func(name string, n int) func(float64) []string {
		return func(at float64) (out []string) {
			for i := range n {
				out = append(out, op(name, at+100*float64(i)))
			}
			return out
		}
	}
	for _, tc := range []struct {
		name  string
		other func(at float64) []string
		count int64
		ns    int64 // idle time that was not recorded
	}{
		{"collection off", ops("aten::linear", 10), 1, 1_000_000},
		{"half of the operators", ops("aten::linear", 5), 1, 1_000_000},
		{"an evaluation on the CPU", ops("aten::topk", 10), 0, 0},
		{"two operators only: a checkpoint", ops("aten::linear", 2), 0, 0},
		{"no operator", func(float64) []string { return nil }, 0, 0},
		{"a call that waits", func(at float64) []string {
			return append(ops("aten::linear", 10)(at), calledAt("hipDeviceSynchronize", 900, at+10, 5))
		}, 0, 0},
	} {
		var events []string
		for step := range 6 {
			at := 1000 * float64(step+1)
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":"ProfilerStep#%d","pid":1,"tid":1,"ts":%f,"dur":1000}`, step, at))
			if step == 2 {
				events = append(events, tc.other(at)...)
				continue
			}
			for i := range 10 {
				at, id := at+100*float64(i), 10*step+i+1
				events = append(events, op("aten::linear", at), calledAt("hipLaunchKernel", id, at+5, 8), ranAt(2, id, at+30, 60, ""))
			}
		}
		s := measured(t, list(events...))
		ns := int64(0)
		for _, r := range s.Idle {
			if r.Owner == summary.OwnerNotRecorded {
				ns += r.NS
			}
		}
		if is := issue(s, "steps-without-calls"); is.Count != tc.count || ns != tc.ns {
			t.Errorf("%s: %d steps, %d ns not recorded; want %d, %d", tc.name, is.Count, ns, tc.count, tc.ns)
		}
		all := int64(0)
		for _, r := range s.Idle {
			all += r.NS
		}
		if d := s.Devices[0]; all != d.Activity.Idle() {
			t.Errorf("%s: causes sum to %d ns, the idle time is %d ns", tc.name, all, d.Activity.Idle())
		}
	}
}
