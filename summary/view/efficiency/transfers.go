package efficiency

import (
	"cmp"
	"slices"

	"assay/summary"
	"assay/summary/view"
)

// A Transfer is one kind of copy or collective, over all GPUs.
type Transfer struct {
	Kind, Name, Link string
	Group            int
	Count, NS        int64
	Bytes            summary.Sum
	Lower            bool // the time includes waiting
	// Matched says that the collectives of the ranks were matched. Count, NS and Bytes are then
	// those of the matched ones, each with the time of the rank that waited least.
	Matched bool
	Over    bool // faster than the link allows, which is impossible

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
		sum.Count, sum.NS, sum.Bytes = sum.Count+r.Count, sum.NS+r.NS, sum.Bytes.Plus(int64(r.Bytes))
		sum.Lower, sum.Over = sum.Lower || r.Lower, sum.Over || summary.IsOver(r.Over)
		sum.bus, sum.noBus = weigh(sum.bus, sum.noBus, r.BusGBPS, r.NS)
		sum.peak, sum.noPeak = weigh(sum.peak, sum.noPeak, r.PeakGBPS, r.NS)
	})
	matched(s, out)
	slices.SortStableFunc(out, func(a, b Transfer) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Link, b.Link), cmp.Compare(a.Group, b.Group))
	})
	return out
}

// matched replaces the figures of collectives by those of matched collectives if ranks were compared,
// because their time excludes waiting for other ranks.
func matched(s *summary.Summary, list []Transfer) {
	for i := range list {
		t := &list[i]
		if t.Kind != "collective" {
			continue
		}
		m := Transfer{Kind: t.Kind, Name: t.Name, Link: t.Link, Group: t.Group, Matched: true}
		for j := range s.Collectives {
			c := &s.Collectives[j]
			if c.Op != t.Name || c.GroupSize != t.Group || c.Count == 0 || c.Bytes == nil || c.TransferNS == nil || *c.TransferNS <= 0 || c.Partial || !sameLink(list, t, c) {
				continue
			}
			m.Count, m.NS = m.Count+c.Count, m.NS+*c.TransferNS
			m.Bytes = m.Bytes.Plus(int64(min(float64(*c.Bytes)*float64(c.Count), 1<<62)))
			m.bus, m.noBus = weigh(m.bus, m.noBus, c.BusBWGBps, *c.TransferNS)
		}
		if peak, ok := t.Peak(); ok {
			m.peak = peak * float64(m.NS)
		} else {
			m.noPeak = true
		}
		if m.Count > 0 {
			*t = m
			v, ok := t.OfPeak()
			t.Over = ok && v > 1 && !summary.MayReduceInSwitch(t.Name)
		}
	}
}

// sameLink reports whether a matched collective belongs to a row: both are within one machine or both are
// not, or the row is the only one with its operation and size.
func sameLink(list []Transfer, t *Transfer, c *summary.Collective) bool {
	for i := range list {
		if o := &list[i]; o.Kind == t.Kind && o.Name == t.Name && o.Group == t.Group && o.Link != t.Link {
			return c.Nodes > 0 && (c.Nodes == 1) == (t.Link != "")
		}
	}
	return true
}

func weigh(sum float64, unknown bool, v *float64, ns int64) (float64, bool) {
	if v == nil {
		return sum, true
	}
	return sum + float64(*v*float64(ns)), unknown
}

// AlgGBPS returns the algorithm bandwidth, bytes over time, in 10^9 bytes/s.
func (t *Transfer) AlgGBPS() (float64, bool) {
	n := int64(t.Bytes)
	if !t.Bytes.Fits() {
		return 0, false
	}
	return rate(&n, t.NS, 1)
}

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

// OfPeak returns the bandwidth as a share of the link's peak: the bus bandwidth of collectives, and size
// over time of copies. A copy within one GPU both reads and writes its memory. The share is unknown for
// transfers that exceed the peak.
func (t *Transfer) OfPeak() (float64, bool) {
	peak, ok := t.Peak()
	if !ok || peak <= 0 || t.Over {
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
