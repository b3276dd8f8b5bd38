package timeline

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/unit"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view/efficiency"
)

// fewWarps judges what memory-bound kernels would save at most whose registers, shared memory or blocks let few threads run on a
// multiprocessor. Kernels that compute choose few threads on purpose, and those with few blocks are in fewBlocks.
func fewWarps(c *Evaluator) []tree.Reading {
	window := c.Total.Window()
	if window == 0 || float64(c.Total.Idle()) >= c.Limits[rule.GPUIdle].Warn*float64(window) {
		return nil
	}
	type loss struct {
		*summary.Occupancy
		ns int64
	}
	var rows []loss
	saved, time := int64(0), int64(0)
	for i := range c.Efficiency.Occupancy {
		o := &c.Efficiency.Occupancy[i]
		if ns := efficiency.Scarce(o); ns > 0 {
			rows = append(rows, loss{o, ns})
			saved, time = summary.Plus(saved, ns), summary.Plus(time, o.AloneNS)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b loss) int { return cmp.Compare(b.ns, a.ns) })
	const most = 3 // kernels in the evidence
	var lines []string
	for _, o := range rows[:min(most, len(rows))] {
		lines = append(lines, fmt.Sprintf("%q: %s of the threads that fit, limited by %s; %s × %s, saves at most %s", o.Name, unit.Percent(*o.Theoretical), o.Limiter,
			unit.Count(o.Count), unit.Duration(o.TotalNS/max(1, o.Count)), unit.Duration(o.ns)))
	}
	r, ok := c.Evaluate(tree.Measured{Rule: rule.FewWarps, Part: min(saved, window), Of: window,
		Words: map[string]string{"top": limiters[rows[0].Limiter]}, Lists: map[string][]string{"kernels": lines}, Where: kernelPlaces(c, rows[0].Name)})
	if !ok {
		return nil
	}
	r.Explains = map[string]int64{rule.ComputeBound: min(time, window)}
	return []tree.Reading{r}
}

// limiters are the limits of occupancy that a change of the kernel can move, as words of the rule.
var limiters = map[string]string{"registers": "registers", "shared memory": "shared"}
