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

// A loss is kernels that do not use the multiprocessors, with what they save at most if they do.
type loss struct {
	*summary.Occupancy
	ns  int64
	top string // what the advice depends on
}

// unfilled judges how much of the window kernels would save at most that do not use the multiprocessors. Other work ran with none of
// the launches that count, and where the GPU waits for something else, shorter kernels would only let it wait longer.
func unfilled(c *Evaluator, id string, of func(o *summary.Occupancy) (ns int64, top string), why func(o *summary.Occupancy) string) []tree.Reading {
	window := c.Total.Window()
	if window == 0 || float64(c.Total.Idle()) >= c.Limits[rule.GPUIdle].Warn*float64(window) {
		return nil
	}
	var rows []loss
	saved, time := int64(0), int64(0)
	for i := range c.Efficiency.Occupancy {
		o := &c.Efficiency.Occupancy[i]
		if ns, top := of(o); ns > 0 && top != "" {
			rows = append(rows, loss{o, ns, top})
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
		lines = append(lines, fmt.Sprintf("%q: %s %s × %s, saves at most %s", o.Name, why(o.Occupancy), unit.Count(o.Count),
			unit.Duration(o.TotalNS/max(1, o.Count)), unit.Duration(o.ns)))
	}
	r, ok := c.Evaluate(tree.Measured{Rule: id, Part: min(saved, window), Of: window,
		Words: map[string]string{"top": rows[0].top}, Lists: map[string][]string{"kernels": lines}, Where: kernelPlaces(c, rows[0].Name)})
	if !ok {
		return nil
	}
	r.Explains = map[string]int64{rule.ComputeBound: min(time, window)}
	return []tree.Reading{r}
}

// fewBlocks judges kernels whose blocks do not reach all multiprocessors. A last wave of blocks that is not full is no reason: how long
// each block takes needs hardware counters.
func fewBlocks(c *Evaluator) []tree.Reading {
	return unfilled(c, rule.FewBlocks, func(o *summary.Occupancy) (int64, string) {
		if o.Loss != summary.LossFewSMs {
			return 0, ""
		}
		return o.GainNS, blockKind(o)
	}, func(o *summary.Occupancy) string { return fmt.Sprintf("%d of %d multiprocessors,", o.Blocks, o.SMs) })
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

// fewWarps judges memory-bound kernels whose registers or shared memory let few threads run on a multiprocessor. Kernels that compute
// choose few threads on purpose, and those with few blocks are in fewBlocks.
func fewWarps(c *Evaluator) []tree.Reading {
	words := map[string]string{"registers": "registers", "shared memory": "shared"}
	return unfilled(c, rule.FewWarps, func(o *summary.Occupancy) (int64, string) { return efficiency.Scarce(o), words[o.Limiter] },
		func(o *summary.Occupancy) string {
			return fmt.Sprintf("%s of the threads that fit, limited by %s;", unit.Percent(*o.Theoretical), o.Limiter)
		})
}
