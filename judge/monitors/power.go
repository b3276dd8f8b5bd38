package monitors

import (
	"fmt"
	"slices"

	"assay/internal/stat"
	"assay/judge/tree"
)

const (
	mostlyCapped = 0.5  // share of the samples in use
	fullClock    = 0.95 // share of the highest clock from which on the clock counts as full
	inUse        = 0.5  // share of a sample
)

// PowerLimit says how far the power limit reduces the clock of a GPU while that is in use, or returns "" if it
// does so in less than half of this time. It is no fault: a GPU at its limit runs as it is built to. But kernels
// that compute on it then stay below the peaks, which assume the full clock.
func PowerLimit(c *tree.Context) string {
	e := &Evaluator{Context: c}
	for _, g := range e.gpus() {
		reduced, clocks := g.like("gpu.slowed_by_power_limit"), g.like("gpu.clock")
		if reduced == nil {
			reduced = g.like("gpu.throttled")
		}
		if clocks == nil {
			continue
		}
		share, used := g.inUse(inUse, func(i int) bool { return at(reduced, i) > 0 && at(g.like("gpu.slowed_by_heat"), i) == 0 })
		highest := slices.Max(clocks)
		if most := g.rows["gpu.clock_max"]; most != nil {
			highest = *most.Max
		}
		var loaded []float64
		for i, u := range g.use.Strip.Values {
			if u >= inUse {
				loaded = append(loaded, clocks[i])
			}
		}
		if used < minCapped || share < mostlyCapped || stat.Median(slices.Clone(loaded)) >= fullClock*highest {
			continue
		}
		return fmt.Sprintf("limited by power: GPU %s runs at %.0f of %.0f MHz (median in use) in %q, and its rates stay below the peaks accordingly",
			g.number(), stat.Median(loaded)/1e6, highest/1e6, e.Inputs[g.input].Path)
	}
	return ""
}

// minCapped is the least number of samples in use that show a limit.
const minCapped = 3
