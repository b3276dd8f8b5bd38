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

// TestOneStepOfAHostAhead: the only step of a capture is as long as its own work if its marker also has a wait for
// earlier work, or ends long before its work. If it leaves as much as it found, both are equal.
func TestOneStepOfAHostAhead(t *testing.T) {
	const us = 1000
	for _, tc := range []struct {
		name                 string
		queued, marker, work int64 // µs: earlier work after the start of the marker, the marker, its own work
		cut                  string
		wall                 int64 // ns
	}{
		{"waits for earlier work", 14_000, 47_000, 35_000, "work", 35_000 * us}, // 14 + 35 is 2 ms past the marker
		{"ends before its work", 0, 2000, 9000, "work", 9000 * us},
		{"ends with its work", 0, 10_000, 9900, "", 10_000 * us},
		{"a little is left over", 1000, 10_000, 9500, "", 10_000 * us},
	} {
		event := func(cat, name string, tid, ts, dur, corr int64) string {
			return fmt.Sprintf(`{"ph": "X", "cat": %q, "name": %q, "pid": 1, "tid": %d, "ts": %d, "dur": %d, "args": {"device": 0, "stream": 7, "correlation": %d}}`, cat, name, tid, ts, dur, corr)
		}
		const start = 20_000
		begin := start + max(tc.queued, 1)
		events := []string{
			event("user_annotation", "ProfilerStep#3", 1, start, tc.marker, 0),
			event("cuda_runtime", "cudaLaunchKernel", 1, start+1, 1, 2),
			event("kernel", "own", 7, begin, tc.work, 2),
		}
		if tc.queued > 0 {
			events = append(events, event("kernel", "earlier", 7, start-500, tc.queued+500, 1))
		}
		s := summed(t, []byte(`{"traceEvents": [`+strings.Join(events, ",")+`]}`))
		if len(s.Steps) != 1 || s.Steps[0].Cut != tc.cut || s.Steps[0].WallNS > tc.wall || s.Steps[0].WallNS < tc.wall-2*us {
			t.Errorf("%s: %+v, want %d ns by %q", tc.name, s.Steps, tc.wall, tc.cut)
		}
	}
}
