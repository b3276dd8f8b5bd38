package timeline

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/unit"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// fewBlocks judges how much of the window kernels would save at most whose blocks do not reach all multiprocessors. Other work ran
// with none of the launches that count, and where the GPU waits for something else, shorter kernels would only let it wait longer.
// A last wave of blocks that is not full is no reason: how long each block takes needs hardware counters.
func fewBlocks(c *Evaluator) []tree.Reading {
	window := c.Total.Window()
	if window == 0 || float64(c.Total.Idle()) >= c.Limits[rule.GPUIdle].Warn*float64(window) {
		return nil
	}
	var rows []summary.Occupancy
	saved, time := int64(0), int64(0)
	for i := range c.Efficiency.Occupancy {
		o := &c.Efficiency.Occupancy[i]
		if o.Loss == summary.LossFewSMs && o.GainNS > 0 && blockKind(o) != "" {
			rows = append(rows, *o)
			saved, time = summary.Plus(saved, o.GainNS), summary.Plus(time, o.AloneNS)
		}
	}
	if len(rows) == 0 {
		return nil
	}
	slices.SortStableFunc(rows, func(a, b summary.Occupancy) int { return cmp.Compare(b.GainNS, a.GainNS) })
	const most = 3 // kernels in the evidence
	var lines []string
	for i := range rows[:min(most, len(rows))] {
		o := &rows[i]
		lines = append(lines, fmt.Sprintf("%q: %d of %d multiprocessors, %s × %s, saves at most %s", o.Name, o.Blocks, o.SMs,
			unit.Count(o.Count), unit.Duration(o.TotalNS/max(1, o.Count)), unit.Duration(o.GainNS)))
	}
	r, ok := c.Evaluate(tree.Measured{Rule: rule.FewBlocks, Part: min(saved, window), Of: window,
		Words: map[string]string{"top": blockKind(&rows[0])}, Lists: map[string][]string{"kernels": lines}, Where: kernelPlaces(c, rows[0].Name)})
	if !ok {
		return nil
	}
	r.Explains = map[string]int64{rule.ComputeBound: min(time, window)}
	return []tree.Reading{r}
}

// blockKind returns what kernels of a row do, as far as the advice depends on it; "" if more blocks may not help them. A quarter of
// the multiprocessors moves far less than the memory could; more of them may already be at its limit, unless they compute.
func blockKind(o *summary.Occupancy) string {
	switch o.Category {
	case "gemm", "moe", "convolution":
		return "product"
	case "attention":
		return "attention"
	case "runtime", "fill", "copy", summary.WholeGraph: // waits on purpose, or no kernel of its own
		return ""
	}
	if 4*o.Blocks > o.SMs {
		return ""
	}
	return "other"
}
