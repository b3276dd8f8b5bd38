package summary

import (
	"math"
	"slices"
)

// MaxFullDetails is the number of GPUs of a run above which each has a quarter of MaxDetailCells.
const MaxFullDetails = 16

// LimitDetails reduces the details to the limits of one run. It is needed when partials are joined: each
// was measured alone, with the limits of a run of fewer GPUs.
func (s *Summary) LimitDetails() {
	n, spans := len(s.Details), 0
	for i := range s.Details {
		spans += s.Details[i].spans()
	}
	for i := range s.Details {
		d := &s.Details[i]
		for n > MaxFullDetails && len(d.Cells.Compute) > MaxDetailCells/4 && d.Cells.BinNS <= math.MaxInt64/2 {
			d.Cells.halve()
		}
		if spans > MaxRunSpans {
			d.limit(MaxRunSpans / n)
		}
	}
}

// spans returns the number of operations of a detail.
func (d *Detail) spans() (n int) {
	for _, l := range d.Lanes {
		n += len(l.Spans)
	}
	return n
}

// halve joins pairs of bins.
func (c *Cells) halve() {
	c.BinNS *= 2
	c.Compute, c.Comm, c.Copy, c.Hidden = halved(c.Compute), halved(c.Comm), halved(c.Copy), halved(c.Hidden)
	c.Queue = halved(c.Queue)
	for i := range c.Queue {
		c.Queue[i] /= 2 // a mean
	}
	if c.MemoryBytes == nil {
		return
	}
	most := make([]int64, (len(c.MemoryBytes)+1)/2)
	for i, n := range c.MemoryBytes {
		most[i/2] = max(most[i/2], n)
	}
	c.MemoryBytes = most
}

// limit keeps at most the given number of operations. Focus windows are kept whole while they fit into half
// of the limit; the longest of the other operations fill the rest. Focus windows that do not fit are
// removed from the list, because they are no longer complete.
func (d *Detail) limit(most int) {
	if d.spans() <= most {
		return
	}
	inside := func(s DetailSpan, f DetailFocus) bool {
		return s.AtNS < f.AtNS+f.NS && (s.AtNS+s.NS > f.AtNS || s.AtNS >= f.AtNS)
	}
	var focus []DetailFocus
	quota := most / 2
	for _, f := range d.Focus {
		n := 0
		for _, l := range d.Lanes {
			for _, s := range l.Spans {
				if inside(s, f) {
					n++
				}
			}
		}
		if n <= quota {
			quota -= n
			focus = append(focus, f)
		}
	}
	d.Focus = focus
	kept := func(s DetailSpan) bool {
		return slices.ContainsFunc(focus, func(f DetailFocus) bool { return inside(s, f) })
	}
	d.keepLongest(most, kept)
}

// keepLongest keeps the operations that kept selects and, up to the limit, the longest others. Among
// operations of equal length the first ones are kept.
func (d *Detail) keepLongest(most int, kept func(DetailSpan) bool) {
	var others []int64
	for _, l := range d.Lanes {
		for _, s := range l.Spans {
			if kept(s) {
				most--
			} else {
				others = append(others, s.NS)
			}
		}
	}
	slices.Sort(others)
	slices.Reverse(others)
	least, equal := int64(math.MaxInt64), 0 // equal is how many operations of that length still fit
	if most > 0 && len(others) > 0 {
		least = others[min(most, len(others))-1]
		for _, ns := range others[:min(most, len(others))] {
			if ns == least {
				equal++
			}
		}
	}
	for i := range d.Lanes {
		d.Lanes[i].Spans = slices.DeleteFunc(d.Lanes[i].Spans, func(s DetailSpan) bool {
			switch {
			case kept(s) || s.NS > least:
				return false
			case s.NS == least && equal > 0:
				equal--
				return false
			}
			d.SpansLeft++
			d.SpansLeftNS = Plus(d.SpansLeftNS, s.NS)
			return true
		})
	}
	d.Lanes = slices.DeleteFunc(d.Lanes, func(l Lane) bool { return len(l.Spans) == 0 })
}
