package efficiency

import (
	"cmp"
	"slices"
	"strings"

	"assay/summary"
	"assay/summary/view"
)

// A Save is work that could be fused or removed, over all GPUs.
type Save struct {
	summary.Saving // of the first GPU; Count, TotalNS and GainNS are sums
	// Forecast says that GainNS is that of a replay of the steps with the change.
	Forecast bool
}

// minSave is the share of the kernel time that a row must save at most, to be worth its place.
const minSave = 0.005

// SavingComm is the kind of a row that is made of forecasts: communication that could run beside compute.
const SavingComm = "communication"

// Savings returns the work that could be fused or removed, what saves most first, and the kernel time of all GPUs.
func Savings(s *summary.Summary) (list []Save, total int64) {
	key := func(r *summary.Saving) string {
		return strings.Join([]string{r.Kind, strings.Join(r.Names, " "), string(r.Dims), string(r.Types), r.GainFrom}, "\x00")
	}
	all := view.Group(s.Efficiency.Savings, key, func(r *summary.Saving) Save {
		first := Save{Saving: *r}
		first.Count, first.TotalNS, first.GainNS = 0, 0, 0
		return first
	}, func(sum *Save, r *summary.Saving) {
		sum.Count, sum.TotalNS, sum.GainNS = sum.Count+r.Count, summary.Plus(sum.TotalNS, r.TotalNS), summary.Plus(sum.GainNS, r.GainNS)
	})
	for i := range s.Kernels {
		total = summary.Plus(total, s.Kernels[i].TotalNS)
	}
	if c := hidden(s); c.GainNS > 0 {
		all = append(all, c)
	}
	for _, r := range all {
		if r.GainNS > 0 && float64(r.GainNS) >= minSave*float64(total) {
			list = append(list, r)
		}
	}
	slices.SortStableFunc(list, func(a, b Save) int { return cmp.Compare(b.GainNS, a.GainNS) })
	return list, total
}

// hidden returns what the steps gain if no communication delays them, by the forecasts.
func hidden(s *summary.Summary) Save {
	out := Save{Saving: summary.Saving{Kind: SavingComm, Names: []string{"communication beside compute"}}, Forecast: true}
	for i := range s.Forecasts {
		if f := &s.Forecasts[i]; f.Change == "--hide-comm" && f.Gain() > 0 {
			out.Count, out.GainNS = out.Count+1, summary.Plus(out.GainNS, f.Gain())
			out.TotalNS = out.GainNS
		}
	}
	return out
}

// Compiled reports whether kernels of torch.compile ran.
func Compiled(s *summary.Summary) bool {
	return slices.ContainsFunc(s.Kernels, func(k summary.Kernel) bool { return k.Category == "triton-fused" })
}
