package samples

import (
	"cmp"
	"slices"
	"strings"

	"assay/analyze/attribute"
	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/internal/interval"
	"assay/summary"
)

const (
	cellNS   = 100_000 // the shortest cell of a signal
	maxCells = 1 << 22 // of a GPU
	maxWaits = 1 << 18 // of a GPU
	leastNS  = summary.ShortGapNS
)

// A Capture has what the launching threads of a trace did, for a join with samples.
type Capture struct {
	GPUs   []GPU
	Python bool // the trace has Python functions of its own
}

// A GPU has the thread that launches the work of one GPU.
type GPU struct {
	Device  int64
	Process int // GPUs of one process have the same number
	Window  interval.Span
	Cell    int64    // length of a cell, ns
	States  []uint16 // what the thread did in the middle of each cell: index into Causes, plus 1; 0 if unknown
	Causes  []Cause
	Waits   []Wait // by time

	numbers map[attribute.ThreadState]uint16
	list    []attribute.ThreadState // of Causes
}

// A Cause is a state of the thread: see [summary.Idle].
type Cause struct{ State, Name string }

// A Wait is idle time of the GPU in which the thread ran code that the trace does not record.
type Wait struct {
	interval.Span
	Cause int
}

// NewCapture returns an empty Capture for the GPUs of a trace.
func NewCapture(tl *gpu.Timeline) *Capture {
	c := &Capture{}
	for _, d := range tl.Devices {
		g := GPU{Device: d.Ordinal, Window: d.Window, numbers: map[attribute.ThreadState]uint16{}}
		if !d.Window.Empty() && !limits.Implausible(d.Window) {
			g.Cell = max(cellNS, d.Window.Len()/maxCells+1)
			g.States = make([]uint16, d.Window.Len()/g.Cell)
		}
		c.GPUs = append(c.GPUs, g)
	}
	return c
}

// Collect sets the callbacks of the attribution that fill the Capture.
func (c *Capture) Collect(opts *attribute.Options) {
	next := opts.Host
	opts.Host = func(device int, s interval.Span, state attribute.ThreadState) {
		c.GPUs[device].see(s, state)
		if next != nil {
			next(device, s, state)
		}
	}
	opts.Waits = func(device int, s interval.Span, state attribute.ThreadState) {
		name := attribute.StateName(state.State())
		if g := &c.GPUs[device]; s.Len() >= leastNS && len(g.Waits) < maxWaits && (name == summary.StateUnrecorded || name == summary.StateAnnotation) {
			g.Waits = append(g.Waits, Wait{s, int(g.number(state)) - 1})
		}
	}
}

// see sets the cells whose middle is in a span.
func (g *GPU) see(s interval.Span, state attribute.ThreadState) {
	if g.Cell == 0 {
		return
	}
	s = s.And(g.Window)
	from, to := (s.Start-g.Window.Start+g.Cell/2)/g.Cell, min((s.End-g.Window.Start+g.Cell/2)/g.Cell, int64(len(g.States)))
	for i := from; i < to; i++ {
		g.States[i] = g.number(state)
	}
}

// number returns the number of a state. States beyond the limit have that of the last.
func (g *GPU) number(state attribute.ThreadState) uint16 {
	n, ok := g.numbers[state]
	if !ok {
		if len(g.list) < 1<<16-1 {
			g.list = append(g.list, state)
		}
		n = uint16(len(g.list))
		g.numbers[state] = n
	}
	return n
}

// Finish names the states. It keeps no memory of the trace alive.
func (c *Capture) Finish(a *attribute.Attribution, devices []summary.Device, python bool) *Capture {
	c.Python = python
	for i := range c.GPUs {
		g := &c.GPUs[i]
		for _, s := range g.list {
			g.Causes = append(g.Causes, Cause{attribute.StateName(s.State()), strings.Clone(a.NameOf(s))})
		}
		g.Process, g.numbers, g.list = devices[i].Process, nil, nil
		slices.SortFunc(g.Waits, func(a, b Wait) int { return cmp.Compare(a.Start, b.Start) })
	}
	return c
}
