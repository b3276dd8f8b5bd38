package analyze_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestDrift: five kernels run once in each of 30 steps of 1 ms, for 20 us in the first one; grow is the
// part of this by which they are longer in a step. If moving is set, the fifth one takes 16 times as long,
// with another grid in each third, so that most of the work is another one.
func TestDrift(t *testing.T) {
	for _, tc := range []struct {
		name    string
		grow    func(step int) float64
		moving  bool
		steady  bool
		expects bool // that the steps are compared at all
	}{
		{"the same all the time", func(int) float64 { return 0 }, false, false, true},
		{"0.5% more in each step", func(step int) float64 { return 0.005 * float64(step) }, false, true, true},
		{"faster at the end", func(step int) float64 { return 0.01 * float64(min(step, 30-step)) }, false, false, true},
		{"0.5% more in each step, while other kernels get larger grids", func(step int) float64 { return 0.005 * float64(step) }, true, false, false},
	} {
		var events []string
		for step := range 30 {
			for k := range 5 {
				at, dur, grid := 1000*float64(step)+100*float64(k), 20*(1+tc.grow(step)), 64
				if k == 4 && tc.moving {
					dur, grid = 16*dur, 64+step/10
				}
				e := ranAt(7, 100*step+k+1, 50_000+at, dur, fmt.Sprintf(`,"grid":[%d,1,1],"block":[128,1,1]`, grid))
				events = append(events, strings.Replace(e, `"name":"k"`, fmt.Sprintf(`"name":"gemm_%d"`, k), 1))
			}
		}
		d := measured(t, list(events...)).Devices[0].Drift
		if (d != nil) != tc.expects {
			t.Errorf("%s: %+v, want it to be compared: %v", tc.name, d, tc.expects)
			continue
		}
		if d != nil && (d.SteadyNS == d.NS) != tc.steady {
			t.Errorf("%s: %+v, want all steadily slower: %v", tc.name, d, tc.steady)
		}
	}
}
