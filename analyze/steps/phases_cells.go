package steps

import (
	"cmp"
	"sort"

	"assay/analyze/gpu"
	"assay/internal/interval"
	"assay/internal/runsort"
	"assay/summary"
)

// An owner is the launch time of GPU work and the phase at that time. Work with an unknown launch
// belongs to no phase, because it may have been launched long before, in another phase or before
// the capture; its start replaces the launch. If no launch of the trace is known, work
// belongs to the phase in which it started.
type owner struct {
	at   int64
	node int32
}

// phaseCells assigns all time of a device's window to phases. Busy time counts for the phase that
// launched the work. If several activities run, compute counts first, then communication, then
// copies; of one class the latest launch counts. Idle time counts for the phase of the host,
// mapped to the device: see [Completion].
type phaseCells struct {
	p      *Phases
	d      *gpu.Device
	s      *Completion
	rows   []summary.Phase
	owners []owner // by index of d.Work

	next int // index of the part of the host in which the last gap ended
}

// A running is GPU work that has started. The first in the order of before owns the time.
type running struct {
	rank int8 // see classRank
	at   int64
	end  int64
	node int32
}

// before reports whether a owns the time in which both run.
func (a *running) before(b *running) bool {
	switch {
	case a.rank != b.rank:
		return a.rank < b.rank
	case a.at != b.at:
		return a.at > b.at
	}
	return a.node < b.node
}

// A runningHeap is a heap with the owner of the time first. container/heap would allocate each
// element.
type runningHeap []running

func (h *runningHeap) push(r running) {
	*h = append(*h, r)
	s := *h
	for i := len(s) - 1; i > 0 && s[i].before(&s[(i-1)/2]); i = (i - 1) / 2 {
		s[i], s[(i-1)/2] = s[(i-1)/2], s[i]
	}
}

// keep removes all work that has ended by now. Otherwise ended work would stay in the heap while
// it is not the first, possibly until the end of the trace.
func (h *runningHeap) keep(now int64) {
	all := *h
	*h = all[:0]
	for _, r := range all {
		if r.end > now {
			h.push(r)
		}
	}
}

// pop removes the first element.
func (h *runningHeap) pop() {
	n := len(*h) - 1
	(*h)[0] = (*h)[n]
	s := (*h)[:n]
	*h = s
	for i := 0; ; {
		least := i
		for kid := 2*i + 1; kid <= 2*i+2 && kid < n; kid++ {
			if s[kid].before(&s[least]) {
				least = kid
			}
		}
		if least == i {
			return
		}
		s[i], s[least] = s[least], s[i]
		i = least
	}
}

// classRank is the precedence of the classes when several run, by index in summary.Singles.
var classRank = [4]int8{1, 0, 2, 2}

// busy assigns the time during which anything ran.
func (c *phaseCells) busy(tl *gpu.Timeline) {
	type ending struct {
		at    int64
		layer int8
	}
	ends := make([]ending, 0, len(c.d.Work))
	for _, w := range c.d.Work {
		if w.Dur > 0 {
			ends = append(ends, ending{w.End(), int8(tl.Layer(tl.Activity(w)))})
		}
	}
	runsort.Sort(ends, func(a, b ending) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(a.layer, b.layer)
	})
	var (
		open  runningHeap
		runs  int // number of its activities that run
		count [4]int64
		mask  int
		begun int
	)
	now := c.d.Window.Start
	change := func(layer int8, by int64) {
		if count[layer] += by; count[layer] > 0 {
			mask |= 1 << layer
		} else {
			mask &^= 1 << layer
		}
	}
	for _, e := range ends {
		for ; begun < len(c.d.Work) && c.d.Work[begun].Start < e.at; begun++ {
			w := c.d.Work[begun]
			if w.Dur <= 0 {
				continue
			}
			now = c.give(&open, now, w.Start, mask)
			layer := int8(tl.Layer(tl.Activity(w)))
			change(layer, 1)
			if len(open) > 2*runs {
				open.keep(now)
			}
			runs++
			open.push(running{classRank[layer], c.owners[begun].at, w.End(), c.owners[begun].node})
		}
		now = c.give(&open, now, e.at, mask)
		change(e.layer, -1)
		runs--
	}
}

// give assigns the time from now to to, in which nothing starts or ends.
func (c *phaseCells) give(open *runningHeap, now, to int64, mask int) int64 {
	if mask == 0 || to <= now {
		return max(now, to)
	}
	for len(*open) > 0 && (*open)[0].end <= now {
		open.pop()
	}
	c.rows[(*open)[0].node].Activity[mask] += to - now
	return to
}

// idle assigns a gap to the phases in which the host was during it.
func (c *phaseCells) idle(gap interval.Span) {
	parts := c.p.parts
	at := gap.Start
	i := c.next
	if i < len(parts) && c.s.at(parts[i].End) <= gap.Start {
		i += sort.Search(len(parts)-i, func(k int) bool { return c.s.at(parts[i+k].End) > gap.Start })
	}
	c.next = i
	for ; i < len(parts) && at < gap.End; i++ {
		part := c.s.cut(parts[i].Span).And(gap)
		if part.Empty() {
			if c.s.at(parts[i].Start) >= gap.End {
				break
			}
			continue
		}
		c.rows[0].Activity[0] += part.Start - at
		c.rows[parts[i].node].Activity[0] += part.Len()
		at = part.End
	}
	c.rows[0].Activity[0] += gap.End - at
}
