package summary

import (
	"math"
	"slices"
)

// MaxFullDetails is the number of GPUs of a run above which the cells of each are fewer: a
// quarter.
const MaxFullDetails = 16

// LimitDetails brings the details of a run that was measured in several places to what the
// details of one run may have. Each was measured with the room of fewer GPUs.
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

// halve joins each two bins.
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

// limit keeps at most so many operations: those of the focus windows that have room in half
// of it, and the longest of the others. Other focus windows are no longer complete, so they
// are removed.
func (d *Detail) limit(most int) {
	if d.spans() <= most {
		return
	}
	inside := func(s DetailSpan, f DetailFocus) bool {
		return s.AtNS < f.AtNS+f.NS && (s.AtNS+s.NS > f.AtNS || s.AtNS >= f.AtNS)
	}
	var focus []DetailFocus
	room := most / 2
	for _, f := range d.Focus {
		n := 0
		for _, l := range d.Lanes {
			for _, s := range l.Spans {
				if inside(s, f) {
					n++
				}
			}
		}
		if n <= room {
			room -= n
			focus = append(focus, f)
		}
	}
	d.Focus = focus
	kept := func(s DetailSpan) bool {
		return slices.ContainsFunc(focus, func(f DetailFocus) bool { return inside(s, f) })
	}
	d.keepLongest(most, kept)
}

// keepLongest keeps the operations that kept says, and the longest others, of equal ones
// the first.
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
	least, equal := int64(math.MaxInt64), 0 // equal is how many of that length have room
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
