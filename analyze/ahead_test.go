package analyze_test

import (
	"fmt"
	"strings"
	"testing"
)

// runningAhead is a program of some steps whose host launches a kernel in each and waits
// for nothing: its markers are 2 ms long and its kernels as long as given. If it waits at
// the end of each step, a marker ends with its kernel.
func runningAhead(steps int, kernelUS int, waits bool) string {
	var events []string
	at, free := 1000, 0
	for i := range steps {
		free = max(free, at+20)
		end := at + 2000
		if waits {
			end = max(end, free+kernelUS+10)
		}
		events = append(events,
			fmt.Sprintf(`{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", "pid": 1, "tid": 1, "ts": %d, "dur": %d}`, i, at, end-at),
			fmt.Sprintf(`{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": %d, "dur": 5, "args": {"correlation": %d}}`, at+10, i+1),
			fmt.Sprintf(`{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": %d, "dur": %d, "args": {"device": 0, "stream": 7, "correlation": %d}}`, free, kernelUS, i+1))
		free += kernelUS
		at = end
	}
	return `{"traceEvents": [` + strings.Join(events, ",") + `]}`
}

// TestStepsOfAHostAhead: the steps of a host that runs ahead are as long as their work on
// the GPU, and sum to the window. Where the host waits for each step, or the GPU is
// faster, they are as long as their markers.
func TestStepsOfAHostAhead(t *testing.T) {
	for _, tc := range []struct {
		name   string
		kernel int
		waits  bool
		cut    string
		wall   int64 // ns
	}{
		{"kernels of 10 ms", 10_000, false, "work", 10_000_000},
		{"kernels of 3 ms", 3000, false, "work", 3_000_000},
		{"kernels of 10 ms, and waits", 10_000, true, "", 10_030_000},
		{"kernels of 1 ms", 1000, false, "", 2_000_000},
		{"kernels of 2.1 ms", 2100, false, "", 2_000_000},
	} {
		s := summed(t, []byte(runningAhead(6, tc.kernel, tc.waits)))
		if len(s.Steps) != 6 {
			t.Fatalf("%s: %d steps", tc.name, len(s.Steps))
		}
		sum := int64(0)
		for i, st := range s.Steps {
			sum += st.WallNS
			if st.Cut != tc.cut || i > 0 && st.WallNS != tc.wall {
				t.Errorf("%s: step %d is %d ns by %q, want %d by %q", tc.name, i, st.WallNS, st.Cut, tc.wall, tc.cut)
			}
		}
		if window := s.Devices[0].Activity.Window(); tc.cut == "work" && sum != window {
			t.Errorf("%s: the steps sum to %d, the window is %d", tc.name, sum, window)
		}
	}
}

// TestStepsAfterQueuedWork: work of earlier steps that was queued when the capture began belongs to no step, and does
// not hide that the host runs ahead. Without it the first step would be long, and the others as short as their
// markers.
func TestStepsAfterQueuedWork(t *testing.T) {
	var events []string
	for i := range 8 { // 8 kernels of earlier steps end at 41 ms; their launches are not in the capture
		events = append(events, fmt.Sprintf(`{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": %d, "dur": 5000, "args": {"device": 0, "stream": 7, "correlation": %d}}`, 1000+5000*i, 900+i))
	}
	for i := range 6 {
		at := 1000 + 2000*i
		events = append(events,
			fmt.Sprintf(`{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", "pid": 1, "tid": 1, "ts": %d, "dur": 2000}`, i, at),
			fmt.Sprintf(`{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": %d, "dur": 5, "args": {"correlation": %d}}`, at+10, i+1),
			fmt.Sprintf(`{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": %d, "dur": 5000, "args": {"device": 0, "stream": 7, "correlation": %d}}`, 41_000+5000*i, i+1))
	}
	s := summed(t, []byte(`{"traceEvents": [`+strings.Join(events, ",")+`]}`))
	if len(s.Steps) != 6 {
		t.Fatalf("%d steps", len(s.Steps))
	}
	for i, st := range s.Steps {
		if st.Cut != "work" || st.WallNS != 5_000_000 || st.StartNS != 41_000_000+5_000_000*int64(i) {
			t.Errorf("step %d is %d ns from %d by %q, want 5 ms from %d ms", i, st.WallNS, st.StartNS, st.Cut, 41+5*i)
		}
	}
}
