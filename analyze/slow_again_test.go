package analyze_test

import "testing"

// TestSlowAgain counts slow launch calls, and those of kernels that had been launched before.
func TestSlowAgain(t *testing.T) {
	for _, tc := range []struct {
		name        string
		slow        func(i int) bool
		count, more int64
	}{
		{"the first launch", func(i int) bool { return i == 0 }, 1, 0},
		{"every fifth", func(i int) bool { return i%5 == 0 }, 4, 3},
		{"none", func(int) bool { return false }, 0, 0},
	} {
		var events []string
		for i := range 20 {
			at, dur := 5000*float64(i), 999.0
			if tc.slow(i) {
				dur = 1000
			}
			events = append(events, calledAt("hipLaunchKernel", i+1, at, dur), ranAt(7, i+1, at+1100, 60, ""))
		}
		if l := measured(t, list(events...)).Launches[0]; l.Slow != tc.count || l.SlowAgain != tc.more {
			t.Errorf("%s: %d slow, %d of them again; want %d, %d", tc.name, l.Slow, l.SlowAgain, tc.count, tc.more)
		}
	}
}
