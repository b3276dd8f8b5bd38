package gpu

import (
	"slices"

	"assay/internal/interval"
	"assay/trace"
)

// A trace may be measured in a window: see [trace.Window]. Work is clipped to it, and what
// is counted, with its whole duration, is what starts in it.

// narrow sets the windows of the devices to their parts of the trace's window. A device
// that does nothing in it is idle.
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

// clip cuts off what lies outside a window, and reports whether anything is left. Work
// without duration is left if it starts in the window.
func (w *Work) clip(in *trace.Window) bool {
	if !in.Overlaps(w.Start, w.Dur) {
		return false
	}
	end := min(w.End(), in.End)
	w.Start = max(w.Start, in.Start)
	w.Dur = end - w.Start
	return true
}

// InWindow clips a stretch to the window of the trace.
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

// An Edge is what lies next to the window of a trace on a device.
type Edge struct {
	Before Work   // what ended last before the window
	Known  bool   // there is such work
	After  []Work // what starts first at or after its end, in order, with a duration

	window             *trace.Window
	cutsStart, cutsEnd bool // the window begins or ends where no work does
}

// EdgeOf returns what lies next to the window. Without a window there is nothing.
func (tl *Timeline) EdgeOf(d *Device) (e Edge) {
	w := tl.Trace.Window
	if w == nil {
		return e
	}
	e.window = w
	for _, k := range tl.outside[d.Ordinal] {
		switch {
		case k.End() <= w.Start && (!e.Known || k.End() > e.Before.End() || k.End() == e.Before.End() && tl.order(k, e.Before) > 0):
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
	e.cutsStart = w.Start > extent.Start && !slices.ContainsFunc(d.Work, func(k Work) bool { return tl.Activity(k).Start == w.Start })
	e.cutsEnd = w.End < extent.End && (len(e.After) == 0 || e.After[0].Start != w.End)
	return e
}

// Whole returns a gap of the device with what of it lies outside the window.
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

// Cuts reports whether a step lies partly outside the window. A step that is cut by its
// work is known within the window only.
func (e *Edge) Cuts(step interval.Span, byWork bool) bool {
	w := e.window
	return w != nil && (step.Start < w.Start || step.End > w.End ||
		byWork && (step.Start == w.Start && e.cutsStart || step.End == w.End && e.cutsEnd))
}

// Later returns the work that was read and starts after the window.
func (tl *Timeline) Later(d *Device) (out []Work) {
	for _, k := range tl.outside[d.Ordinal] {
		if k.Start >= tl.Trace.Window.End {
			out = append(out, k)
		}
	}
	return out
}

// Whole returns the work of a device that was read, in order, also that outside of the
// window, with its whole duration.
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
