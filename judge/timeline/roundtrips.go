package timeline

import (
	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// hostRoundTrips judges the time of copies to the CPU that the same number of bytes follows back, while no kernel runs. If most copies are
// others, results and inputs may happen to have one size.
func hostRoundTrips(c *Evaluator) []tree.Reading {
	part, pairs, bytes := int64(0), int64(0), int64(0)
	for _, s := range c.Efficiency.Savings {
		if s.Kind == summary.SavingHost && s.Bytes != nil {
			part, pairs, bytes = summary.Plus(part, s.GainNS), summary.Plus(pairs, s.Count), summary.Plus(bytes, *s.Bytes)
		}
	}
	window := c.Total.Window()
	if part == 0 || window == 0 || 4*part < 3*c.Total.ExposedCopy() {
		return nil
	}
	r, ok := c.Evaluate(tree.Measured{Rule: rule.HostRoundTrips, Part: min(part, window), Of: window,
		Words: map[string]string{"pairs": label.Plural(pairs, "pair"), "bytes": unit.Bytes(bytes)}})
	if !ok {
		return nil
	}
	r.Explains = map[string]int64{rule.ExposedCopies: min(part, window)}
	return []tree.Reading{r}
}
