package gpu

import (
	"slices"

	"assay/internal/interval"
	"assay/trace"
)

// A trace may be limited to a window: see [trace.Window]. Busy time is clipped to it. Counts and
// sums of durations are of the events that start in it, in full.

// narrow clips the windows of the devices to the window of the trace. A device without work in it
// is idle all the time.
func (tl *Timeline) narrow(byOrdinal map[int64]*Device) {
	w := tl.Trace.Window
	if w == nil {
		return
	}
	for ordinal, e := range w.Extent {
		span := interval.Span{Start: max(e.Start, w.Start), End: min(e.End, w.End)}
		d := byOrdinal[ordinal]
		switch {
		case d == nil && (span.Empty() || ordinal > tl.Last):
			continue
		case d == nil:
			d = &Device{Ordinal: ordinal}
			tl.Devices = append(tl.Devices, d)
		}
		d.Window = span
	}
}

// clip clips the work to a window and reports whether anything is left. Work without duration is
// left if it starts in the window.
func (w *Work) clip(in *trace.Window) bool {
	if !in.Overlaps(w.Start, w.Dur) {
		return false
	}
	end := min(w.End(), in.End)
	w.Start = max(w.Start, in.Start)
	w.Dur = end - w.Start
	return true
}

// InWindow clips a span to the window of the trace.
func InWindow(t *trace.Trace, s interval.Span) interval.Span {
	if t.Window == nil {
		return s
	}
	return s.And(interval.Span{Start: t.Window.Start, End: t.Window.End})
}

// Starts reports whether w started in the window of the trace.
func (tl *Timeline) Starts(w Work) bool {
	return tl.Trace.Window == nil || tl.Trace.Window.Starts(tl.Activity(w).Start)
}

// An Edge describes the work of a device just outside the window of a trace.
type Edge struct {
	Before Work   // the work that ended last before the window
	Known  bool   // whether there is such work
	After  []Work // the work with a duration that starts first at or after the end, sorted

	window             *trace.Window
	cutsStart, cutsEnd bool // no work starts at the start of the window, or at its end
}

// EdgeOf returns the edge of a device. It is empty if the trace has no window.
func (tl *Timeline) EdgeOf(d *Device) (e Edge) {
	w := tl.Trace.Window
	if w == nil {
		return e
	}
	e.window = w
	for _, k := range tl.outside[d.Ordinal] {
		switch {
		case k.End() <= w.Start && (!e.Known || k.End() > e.Before.End() || k.End() == e.Before.End() &&
			tl.order(k, e.Before) > 0):
			e.Before, e.Known = k, true
		case k.Start >= w.End && k.Dur > 0 && (len(e.After) == 0 || k.Start < e.After[0].Start):
			e.After = append(e.After[:0], k)
		}
	}
	if len(e.After) > 0 {
		start := e.After[0].Start
		e.After = e.After[:0]
		for _, k := range tl.outside[d.Ordinal] {
			if k.Start == start {
				e.After = append(e.After, k)
			}
		}
		slices.SortStableFunc(e.After, tl.order)
	}
	extent := w.Extent[d.Ordinal]
	e.cutsStart = w.Start > extent.Start && !slices.ContainsFunc(d.Work,
		func(k Work) bool { return tl.Activity(k).Start == w.Start })
	e.cutsEnd = w.End < extent.End && (len(e.After) == 0 || e.After[0].Start != w.End)
	return e
}

// Whole extends a gap at the edge of the window by its part outside the window.
func (e *Edge) Whole(d *Device, gap interval.Span) interval.Span {
	if e.window == nil {
		return gap
	}
	if gap.Start == d.Window.Start && e.Known {
		gap.Start = e.Before.End()
	}
	if gap.End == d.Window.End && len(e.After) > 0 {
		gap.End = e.After[0].Start
	}
	return gap
}

// Cuts reports whether a step extends beyond the window. byWork says that the step reaches from
// the first to the last of its work, of which only the part in the window is known.
func (e *Edge) Cuts(step interval.Span, byWork bool) bool {
	w := e.window
	return w != nil && (step.Start < w.Start || step.End > w.End ||
		byWork && (step.Start == w.Start && e.cutsStart || step.End == w.End && e.cutsEnd))
}

// Later returns the work that was read although it starts after the window.
func (tl *Timeline) Later(d *Device) (out []Work) {
	for _, k := range tl.outside[d.Ordinal] {
		if k.Start >= tl.Trace.Window.End {
			out = append(out, k)
		}
	}
	return out
}

// Whole returns all work of a device that was read, sorted and not clipped, including the work
// outside the window.
func (tl *Timeline) Whole(d *Device) []Work {
	if tl.Trace.Window == nil {
		return d.Work
	}
	out := slices.Concat(d.Work, tl.outside[d.Ordinal])
	for i := range out {
		a := tl.Activity(out[i])
		out[i].Start, out[i].Dur = a.Start, a.Dur
	}
	slices.SortStableFunc(out, tl.order)
	return out
}
