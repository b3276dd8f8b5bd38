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
	MinMFU, MaxMFU float64 // of the GPUs whose MFU is known

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

// A Transfer is one kind of copy or collective, over all GPUs.
type Transfer struct {
	Kind, Name, Link string
	Group            int
	Count, NS, Bytes int64
	Lower            bool // the time includes waiting

	bus, peak float64 // time × bandwidth, for the means
	noBus     bool
	noPeak    bool
}

// Transfers returns the kinds of copies and collectives, those with the most time first.
func Transfers(s *summary.Summary) []Transfer {
	type key struct {
		kind, name, link string
		group            int
	}
	out := view.Group(s.Efficiency.Transfers, func(r *summary.EfficiencyTransfer) key { return key{r.Kind, r.Name, r.Link, r.Group} }, func(r *summary.EfficiencyTransfer) Transfer {
		return Transfer{Kind: r.Kind, Name: r.Name, Link: r.Link, Group: r.Group}
	}, func(sum *Transfer, r *summary.EfficiencyTransfer) {
		sum.Count, sum.NS, sum.Bytes = summary.Plus(sum.Count, r.Count), summary.Plus(sum.NS, r.NS), summary.Plus(sum.Bytes, r.Bytes)
		sum.Lower = sum.Lower || r.Lower
		sum.bus, sum.noBus = weigh(sum.bus, sum.noBus, r.BusGBPS, r.NS)
		sum.peak, sum.noPeak = weigh(sum.peak, sum.noPeak, r.PeakGBPS, r.NS)
	})
	slices.SortStableFunc(out, func(a, b Transfer) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Link, b.Link), cmp.Compare(a.Group, b.Group))
	})
	return out
}

func weigh(sum float64, unknown bool, v *float64, ns int64) (float64, bool) {
	if v == nil {
		return sum, true
	}
	return sum + float64(*v*float64(ns)), unknown
}

// AlgGBPS returns size over time.
func (t *Transfer) AlgGBPS() (float64, bool) { return rate(&t.Bytes, t.NS, 1) }

// Bus returns the bus bandwidth in GB/s.
func (t *Transfer) Bus() (float64, bool) { return t.mean(t.bus, t.noBus) }

// Peak returns the peak of the link in GB/s.
func (t *Transfer) Peak() (float64, bool) { return t.mean(t.peak, t.noPeak) }

func (t *Transfer) mean(sum float64, unknown bool) (float64, bool) {
	if unknown || t.NS <= 0 {
		return 0, false
	}
	return sum / float64(t.NS), true
}

// OfPeak returns the share of the link's peak: of the bus bandwidth for collectives, of
// size over time for copies. A copy within one GPU reads and writes its memory.
func (t *Transfer) OfPeak() (float64, bool) {
	peak, ok := t.Peak()
	if !ok || peak <= 0 {
		return 0, false
	}
	got, ok := t.AlgGBPS()
	switch {
	case t.Kind == "collective":
		got, ok = t.Bus()
	case t.Link == "hbm":
		got *= 2
	}
	return got / peak, ok
}
