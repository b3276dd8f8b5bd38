package launches

import (
	"cmp"
	"slices"

	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/internal/interval"
	"assay/trace"
)

// Uncertain returns for how long, in ns, a device has no compute in its window although lost work
// may have run. A stream runs its work in launch order, so lost work ran between the work that was
// launched before it and after it on its stream, and not before its launch. The device of lost work
// is unknown, so it counts for every device of the trace. Its stream is one on which the same
// operator launched other work: see likely.
func (o *Losses) Uncertain(tl *gpu.Timeline, d *gpu.Device, l *Links) int64 {
	if len(o.calls) == 0 || limits.Implausible(d.Window) {
		return 0
	}
	var may []interval.Span
	for track, calls := range o.likely(tl, d, l) {
		may = append(may, between(tl, d, l, track, calls)...)
	}
	return interval.Of(may...).Clip(d.Window).Sub(d.Layers[gpu.ComputeLayer]).Len()
}

// between returns the times of a stream in which the work of lost calls, sorted by start, can have
// run.
func between(tl *gpu.Timeline, d *gpu.Device, l *Links, track trace.TrackID, calls []*trace.Call) (out []interval.Span) {
	see := func(free interval.Span, from, to int64) {
		if from > to {
			from, to = to, from
		}
		i, _ := slices.BinarySearchFunc(calls, from, func(c *trace.Call, t int64) int { return cmp.Compare(c.Start, t) })
		if i == len(calls) || calls[i].Start >= to {
			return
		}
		if free.Start = max(free.Start, calls[i].Start); !free.Empty() {
			out = append(out, free)
		}
	}
	end, before := d.Window.Start, min(d.Window.Start, calls[0].Start) // last end of work, and its launch
	for _, w := range d.Work {
		if tl.Activity(w).Track != track {
			continue
		}
		launched := w.Start
		if i := l.Of[w.Number]; i >= 0 {
			launched = l.Start(i)
		}
		see(interval.Span{Start: end, End: w.Start}, before, launched)
		if w.End() >= end {
			end, before = w.End(), launched
		}
	}
	see(interval.Span{Start: end, End: d.Window.End}, before, calls[len(calls)-1].Start+1)
	return out
}

// likely returns the lost calls by the streams of a device on which their work can have run: those on
// which calls of the same name in the same operator launched work. If there is none, it can be any
// stream with kernels.
func (o *Losses) likely(tl *gpu.Timeline, d *gpu.Device, l *Links) map[trace.TrackID][]*trace.Call {
	owners := ownersOf(tl.Trace, o.calls)
	wanted := make(map[trace.Sym]bool)
	for _, name := range owners {
		wanted[name] = true
	}
	within := opsNamed(tl.Trace, wanted)
	type source struct{ op, call trace.Sym }
	streams, of := make(map[trace.TrackID]bool), make(map[source]map[trace.TrackID]bool)
	for _, w := range d.Work {
		a := tl.Activity(w)
		if a.Kind == trace.Kernel {
			streams[a.Track] = true
		}
		k := l.Of[w.Number]
		if k < 0 || !l.HasCall(k) {
			continue
		}
		if call := l.Call(k); len(wanted) > 0 {
			for _, op := range within.at(call) {
				key := source{op, call.Name}
				if of[key] == nil {
					of[key] = make(map[trace.TrackID]bool)
				}
				of[key][a.Track] = true
			}
		}
	}
	out := make(map[trace.TrackID][]*trace.Call)
	for i, c := range o.calls {
		list := of[source{owners[i], c.Name}]
		if owners[i] == 0 || len(list) == 0 {
			list = streams
		}
		for track := range list {
			out[track] = append(out[track], c)
		}
	}
	return out
}

// ownersOf returns the name of the innermost operator of each call, or 0. calls are sorted by start.
func ownersOf(t *trace.Trace, calls []*trace.Call) []trace.Sym {
	names, starts := make([]trace.Sym, len(calls)), make([]int64, len(calls))
	for o := range t.Ops.All() {
		i, _ := slices.BinarySearchFunc(calls, o.Start, func(c *trace.Call, t int64) int { return cmp.Compare(c.Start, t) })
		for ; i < len(calls) && calls[i].Start < o.Start+o.Dur; i++ {
			if calls[i].Track == o.Track && (names[i] == 0 || o.Start >= starts[i]) {
				names[i], starts[i] = o.Name, o.Start
			}
		}
	}
	return names
}

// named are operators of some names, by thread and start.
type named map[trace.TrackID][]*trace.Op

func opsNamed(t *trace.Trace, names map[trace.Sym]bool) named {
	out := make(named)
	for o := range t.Ops.All() {
		if names[o.Name] {
			out[o.Track] = append(out[o.Track], o)
		}
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b *trace.Op) int { return cmp.Compare(a.Start, b.Start) })
	}
	return out
}

// at returns the name of the innermost of the operators that a call is in, as a list of at most one.
func (n named) at(c *trace.Call) (names []trace.Sym) {
	list := n[c.Track]
	i, _ := slices.BinarySearchFunc(list, c.Start+1, func(o *trace.Op, t int64) int { return cmp.Compare(o.Start, t) })
	const near = 8 // operators of these names that start later in the same call, at most
	for j := i - 1; j >= 0 && j >= i-near; j-- {
		if list[j].Start+list[j].Dur >= c.Start+c.Dur {
			return append(names, list[j].Name)
		}
	}
	return nil
}
