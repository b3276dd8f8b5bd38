package samples

import (
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
	Process int // GPUs with the same number are of one process
	Window  interval.Span
	Cell    int64    // length of a cell, ns
	States  []uint16 // what the thread did in the middle of each cell, by number; 0 if unknown
	Causes  []Cause
	Waits   []Wait
}

// A Cause is a state of the thread: see [summary.Idle].
type Cause struct{ State, Name string }

// A Wait is idle time of the GPU in which the thread ran code that the trace does not record.
type Wait struct {
	interval.Span
	Cause int
}

// A Recorder collects a Capture during the attribution of a trace. A nil Recorder collects nothing.
type Recorder struct{ rows []recorded }

type recorded struct {
	GPU
	numbers map[attribute.ThreadState]uint16
	causes  map[attribute.ThreadState]int
	states  []attribute.ThreadState // of Causes
}

// NewRecorder returns a Recorder for the GPUs of a trace.
func NewRecorder(tl *gpu.Timeline) *Recorder {
	r := &Recorder{make([]recorded, len(tl.Devices))}
	for i, d := range tl.Devices {
		g := &r.rows[i]
		g.Device, g.Window = d.Ordinal, d.Window
		g.numbers, g.causes = map[attribute.ThreadState]uint16{}, map[attribute.ThreadState]int{}
		if d.Window.Empty() || limits.Implausible(d.Window) {
			continue
		}
		g.Cell = max(cellNS, d.Window.Len()/maxCells+1)
		g.States = make([]uint16, d.Window.Len()/g.Cell)
	}
	return r
}

// Host returns a function for attribute.Options.Host that also calls next, which may be nil.
func (r *Recorder) Host(next func(int, interval.Span, attribute.ThreadState)) func(int, interval.Span, attribute.ThreadState) {
	if r == nil {
		return next
	}
	return func(device int, s interval.Span, state attribute.ThreadState) {
		r.rows[device].see(s, state)
		if next != nil {
			next(device, s, state)
		}
	}
}

// see sets the cells whose middle is in a span.
func (g *recorded) see(s interval.Span, state attribute.ThreadState) {
	if s = s.And(g.Window); s.Empty() || g.Cell == 0 {
		return
	}
	const most = 1<<16 - 1
	from := (s.Start - g.Window.Start + g.Cell/2) / g.Cell
	to := min((s.End-g.Window.Start+g.Cell/2)/g.Cell, int64(len(g.States)))
	if from >= to {
		return
	}
	n, ok := g.numbers[state]
	if !ok {
		if n = uint16(min(len(g.numbers)+1, most)); n < most {
			g.numbers[state] = n
		}
	}
	for i := from; i < to; i++ {
		g.States[i] = n
	}
}

// Waits returns a function for attribute.Options.Waits.
func (r *Recorder) Waits() func(int, interval.Span, attribute.ThreadState) {
	if r == nil {
		return nil
	}
	var named [attribute.States]bool
	for i := range named {
		named[i] = slices.Contains([]string{summary.StateUnrecorded, summary.StateAnnotation}, attribute.StateName(i))
	}
	return func(device int, s interval.Span, state attribute.ThreadState) {
		g := &r.rows[device]
		if !named[state.State()] || s.Len() < leastNS || len(g.Waits) >= maxWaits {
			return
		}
		at, ok := g.causes[state]
		if !ok {
			at = len(g.states)
			g.causes[state], g.states = at, append(g.states, state)
		}
		g.Waits = append(g.Waits, Wait{s, at})
	}
}

// Capture returns what was collected. It keeps no memory of the trace alive.
func (r *Recorder) Capture(a *attribute.Attribution, devices []summary.Device, python bool) *Capture {
	c := &Capture{Python: python}
	for i := range r.rows {
		g := r.rows[i].GPU
		for _, s := range r.rows[i].states {
			g.Causes = append(g.Causes, Cause{attribute.StateName(s.State()), strings.Clone(a.NameOf(s))})
		}
		g.Process = devices[i].Process
		slices.SortFunc(g.Waits, func(a, b Wait) int { return int(min(1, max(-1, a.Start-b.Start))) })
		c.GPUs = append(c.GPUs, g)
	}
	return c
}
