package analyze_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestUncertainStream: lost work ran on the stream of its operator, between the work launched before it
// and after it there, and not before its launch.
func TestUncertainStream(t *testing.T) {
	op := func(name string, ts float64) string {
		return fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":%q,"pid":1,"tid":1,"ts":%.3f,"dur":5}`, name, ts)
	}
	launch := func(corr int, ts float64) string { return calledAt("cudaLaunchKernel", corr, ts, 2) }
	// Compute on stream 7 from 20 to 120, 400 to 500 and 900 to 1000 µs; communication on stream 20 from
	// 200 to 250 and 800 to 850 µs.
	recorded := []string{
		launch(1, 10), ranAt(7, 1, 20, 100, ""), launch(2, 20), ranAt(7, 2, 400, 100, ""), launch(3, 30), ranAt(7, 3, 900, 100, ""),
		launch(4, 102), strings.ReplaceAll(ranAt(20, 4, 200, 50, ""), `"k"`, `"ncclDevKernel_AllReduce"`),
		launch(5, 502), strings.ReplaceAll(ranAt(20, 5, 800, 50, ""), `"k"`, `"ncclDevKernel_AllReduce"`),
	}
	ops := []string{op("aten::mm", 9), op("aten::mm", 19), op("aten::mm", 29), op("c10d::allreduce_", 100), op("c10d::allreduce_", 500)}
	for _, tc := range []struct {
		name string
		lost []string
		want int64 // µs
	}{
		{"nothing", nil, 0},
		// From its launch at 302 to the next communication at 800, without the compute at 400 to 500.
		{"a collective", append([]string{op("c10d::allreduce_", 300), launch(9, 302)}, ops...), 398},
		{"a collective, without operators", []string{launch(9, 302)}, 398},
		// On stream 7 from 500 to 900.
		{"a product of matrices", append([]string{op("aten::mm", 24), launch(9, 25)}, ops...), 400},
		// There, or on stream 20 before 200: without the compute to 120 that is 80 more.
		{"an operator without other work", append([]string{op("aten::x", 24), launch(9, 25)}, ops...), 480},
	} {
		s := measured(t, list(append(tc.lost, recorded...)...))
		if got := s.Devices[0].UncertainNS / 1000; got != tc.want {
			t.Errorf("%s: %d µs are uncertain, want %d; %+v", tc.name, got, tc.want, s.LaunchLosses)
		}
	}
}
