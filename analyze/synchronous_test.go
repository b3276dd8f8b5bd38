package analyze_test

import "testing"

// TestHeldKernels counts the kernels that run within their own launch call. Kernels start 6 us after
// their call began, every 100 us.
func TestHeldKernels(t *testing.T) {
	for _, tc := range []struct {
		name      string
		call, dur float64 // us
		long      int64
		held      int64
	}{
		{"asynchronous", 5, 40, 30, 0},
		{"the call waits", 60, 40, 30, 30},
		{"the call ends with the kernel", 46, 40, 30, 30},
		{"the call returns while the kernel runs", 45.9, 40, 30, 0},
		{"short kernels tell nothing", 20, 9.9, 0, 0},
	} {
		var events []string
		for i := range 30 {
			at := 1000 + 100*float64(i)
			events = append(events, calledAt("cudaLaunchKernelExC", i+1, at, tc.call), ranAt(7, i+1, at+6, tc.dur, ""))
		}
		// A graph, and a copy that its call waits for, are no such kernels.
		events = append(events, calledAt("cudaGraphLaunch", 100, 6000, 300), ranAt(7, 100, 6010, 50, ""), ranAt(7, 100, 6080, 50, ""))
		l := measured(t, list(events...)).Launches[0]
		if l.Long != tc.long || l.Held != tc.held {
			t.Errorf("%s: %d of %d kernels within their call, want %d of %d", tc.name, l.Held, l.Long, tc.held, tc.long)
		}
	}
	// Near miss: a full queue. A call of 100 us returns when the kernel before its own ends.
	var events []string
	for i := range 30 {
		at := 1000 + 100*float64(i)
		events = append(events, calledAt("cudaLaunchKernel", i+1, at, 99), ranAt(7, i+1, at+400, 100, ""))
	}
	if l := measured(t, list(events...)).Launches[0]; l.Long != 30 || l.Held != 0 {
		t.Errorf("of a full queue: %d of %d kernels within their call, want 0 of 30", l.Held, l.Long)
	}
}
