package efficiency

import (
	"cmp"
	"slices"

	"assay/summary"
	"assay/summary/view"
)

// A Step is one step over all GPUs that have it. Its sums are those of all GPUs.
type Step struct {
	summary.EfficiencySums
	Number         int64
	Name           string
	GPUs           int
	MinMFU, MaxMFU float64 // extremes over the GPUs with a known MFU

	known []summary.EfficiencySums
}

// Steps returns the steps by number, then by name.
func Steps(s *summary.Summary) []Step {
	type key struct {
		number int64
		name   string
	}
	out := view.Group(s.Efficiency.Steps, func(r *summary.EfficiencyStep) key { return key{r.Number, r.Name} }, func(r *summary.EfficiencyStep) Step {
		return Step{Number: r.Number, Name: r.Name}
	}, func(sum *Step, r *summary.EfficiencyStep) {
		if r.MFU != nil {
			if sum.MaxMFU == 0 && sum.MinMFU == 0 {
				sum.MinMFU = *r.MFU
			}
			sum.MinMFU, sum.MaxMFU = min(sum.MinMFU, *r.MFU), max(sum.MaxMFU, *r.MFU)
		}
		sum.GPUs++
		sum.known = append(sum.known, r.EfficiencySums)
	})
	for i := range out {
		out[i].EfficiencySums, out[i].known = add(out[i].known), nil
	}
	slices.SortStableFunc(out, func(a, b Step) int { return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Name, b.Name)) })
	return out
}
