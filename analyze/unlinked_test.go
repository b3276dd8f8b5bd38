package analyze_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/summary"
)

// launchesAndKernels writes calls to launch 20 kernels, 100 µs apart from a time in µs on, and those kernels. correlation and
// kernel return the correlation and the start of a kernel in µs, or false to leave it out.
func launchesAndKernels(pid, from int, correlation func(i int) int, kernel func(i int) (int, bool)) string {
	var out []string
	for i := range 20 {
		out = append(out, fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":%d,"tid":1,"ts":%d,"dur":5,"args":{"correlation":%d}}`,
			pid, from+100*i, i+1))
		if ts, ok := kernel(i); ok {
			out = append(out, fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":3,"ts":%d,"dur":50,"args":{"device":0,"stream":3,"correlation":%d}}`,
				ts, correlation(i)))
		}
	}
	return strings.Join(out, ",")
}

func TestKernelsWithoutCorrelation(t *testing.T) {
	everyFifth := func(i int) int {
		if i%5 == 0 {
			return 0
		}
		return i + 1
	}
	after := func(i int) (int, bool) { return 100*i + 20, true }
	for _, tc := range []struct {
		name   string
		kernel func(i int) (int, bool)
		lost   int64
	}{
		{"four kernels lack only their link", after, 0},
		{"one of the four is really lost", func(i int) (int, bool) { return 100*i + 20, i != 10 }, 1},
		// The unlinked work ran before any call, so the work of the four calls is lost.
		{"four ran before the capture", func(i int) (int, bool) {
			if i%5 == 0 {
				return -5000 + 100*i, true
			}
			return 100*i + 20, true
		}, 4},
	} {
		s := measured(t, "["+launchesAndKernels(7, 0, everyFifth, tc.kernel)+"]")
		if n, _ := missingOf(s, summary.LossKernel); n != tc.lost {
			t.Errorf("%s: %d launches are lost, want %d", tc.name, n, tc.lost)
		}
	}
}

func TestCapturesMixed(t *testing.T) {
	ids := func(i int) int { return i + 1 }
	at := func(start int) func(i int) (int, bool) {
		return func(i int) (int, bool) { return start + 100*i, true }
	}
	one := launchesAndKernels(7, 0, ids, at(20))
	if s := measured(t, "["+one+","+launchesAndKernels(7, 25, ids, at(45))+"]"); issue(s, summary.CapturesMixed).Count != 40 ||
		len(s.LaunchLosses) != 0 {
		t.Errorf("two captures of one process: %+v, lost %+v; want 40 operations and nothing lost", s.Issues, s.LaunchLosses)
	}
	for name, other := range map[string]string{
		"one capture":          `{"ph":"M","name":"process_name","pid":7}`,
		"two processes":        launchesAndKernels(8, 25, ids, at(45)),
		"captures in sequence": strings.ReplaceAll(launchesAndKernels(7, 0, ids, at(20)), `"ts":`, `"ts":1000000`),
	} {
		if s := measured(t, "["+one+","+other+"]"); issue(s, summary.CapturesMixed).Count != 0 {
			t.Errorf("%s: %+v, want no mixed captures", name, s.Issues)
		}
	}
}
