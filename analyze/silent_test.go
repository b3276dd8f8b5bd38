package analyze_test

import (
	"fmt"
	"testing"
)

// TestOperatorsWithoutCalls: 40 operators of 50 us run every 100 us. Each launches a kernel, except
// those from the 11th to the 20th, for which lost says what the capture has.
func TestOperatorsWithoutCalls(t *testing.T) {
	op := func(name string, at float64) string {
		return fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":%q,"pid":1,"tid":1,"ts":%f,"dur":50,"args":{}}`, name, at)
	}
	for _, tc := range []struct {
		name string
		lost func(i int, at float64) []string
		want int64
	}{
		{"calls and kernels lost", func(_ int, at float64) []string { return []string{op("aten::bmm", at)} }, 10},
		{"other operators, as of a metric on the CPU", func(_ int, at float64) []string { return []string{op("aten::item", at)} }, 0},
		{"one in three, beside a longer loop of the CPU", func(i int, at float64) []string {
			return map[bool][]string{true: {op("aten::bmm", at)}}[i%3 == 0]
		}, 0},
		{"a call in each", func(i int, at float64) []string {
			return []string{op("aten::bmm", at), calledAt("hipStreamIsCapturing", 900+i, at+10, 1)}
		}, 0},
		{"one call that waits all the time", func(i int, at float64) []string {
			if i == 10 {
				return []string{op("aten::bmm", at), calledAt("hipDeviceSynchronize", 900, at, 1000)}
			}
			return []string{op("aten::bmm", at)}
		}, 0},
	} {
		var events []string
		for i := range 40 {
			at := 1000 + 100*float64(i)
			if i >= 10 && i < 20 {
				events = append(events, tc.lost(i, at)...)
				continue
			}
			events = append(events, op("aten::bmm", at), calledAt("hipExtModuleLaunchKernel", i+1, at+5, 8), ranAt(3, i+1, at+20, 40, ""))
		}
		if is := issue(measured(t, list(events...)), "operators-without-calls"); is.Count != tc.want {
			t.Errorf("%s: %d operators, want %d", tc.name, is.Count, tc.want)
		}
	}
}

// TestKernelsBeforeTheirTurn: kernels of 20 us start every 12 us on one stream, so that each overlaps the
// next by 8 us. A launch that can ask for programmatic dependent launch allows this.
func TestKernelsBeforeTheirTurn(t *testing.T) {
	for _, tc := range []struct {
		call  string
		every float64
		want  int64
	}{
		{"cudaLaunchKernel", 12, 29},
		{"cuLaunchKernel", 12, 29},
		{"cudaLaunchKernelExC", 12, 0},
		{"cuLaunchKernelEx", 12, 0},
		{"hipLaunchKernel", 12, 0},
		{"cudaLaunchKernel", 19, 0}, // 1 us is the precision of clocks
		{"cudaLaunchKernel", 20, 0},
	} {
		var events []string
		for i := range 30 {
			at := 1000 + tc.every*float64(i)
			events = append(events, calledAt(tc.call, i+1, at-10, 4), ranAt(5, i+1, at, 20, ""))
		}
		if is := issue(measured(t, list(events...)), "work-time-implausible"); is.Count != tc.want {
			t.Errorf("%s every %v us: %d, want %d", tc.call, tc.every, is.Count, tc.want)
		}
	}
}
