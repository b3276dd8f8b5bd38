package attribute

import (
	"iter"

	"assay/analyze/calls"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// waitingFor returns the cause of the last ns of a gap, in which the work that ends the gap had
// been launched already.
func (x *idleness) waitingFor(device int, g calls.Gap, ns int64) idleOwner {
	switch {
	case ns <= maxLaunchNS:
		return byBetween
	case ns >= summary.UnrecordedNS && x.beginsStream(device, g.After):
		return byNotRecorded
	}
	return byDependency
}

// beginsStream reports whether the work is the first of its stream. In a window that does not
// start with the device's first work this is unknown: false.
func (x *idleness) beginsStream(device int, work *trace.Activity) bool {
	if w := x.a.t.Window; w != nil && w.Start > w.Extent[x.a.tl.Devices[device].Ordinal].Start {
		return false
	}
	if x.begins == nil {
		x.begins = make([]map[trace.TrackID]int64, len(x.rows))
	}
	first := x.begins[device]
	if first == nil {
		first = make(map[trace.TrackID]int64)
		for _, w := range x.a.tl.Devices[device].Work {
			if track := x.a.tl.Activity(w).Track; first[track] == 0 {
				first[track] = w.Start
			}
		}
		x.begins[device] = first
	}
	return first[work.Track] == work.Start
}

// cutDark sets the cause of the parts of a gap in steps whose calls were not recorded, and returns
// the other parts.
func (x *idleness) cutDark(device int, g calls.Gap, mark gapMark) iter.Seq[calls.Gap] {
	return func(yield func(calls.Gap) bool) {
		rest := g.Span
		for _, s := range x.dark {
			part := s.And(rest)
			if part.Empty() {
				continue
			}
			x.add(device, mark, part, idleKeyOf(byNotRecorded, noState, 0))
			before := g
			before.Span = interval.Span{Start: rest.Start, End: part.Start}
			if rest.Start = part.End; !before.Span.Empty() && !yield(before) {
				return
			}
		}
		if g.Span = rest; !rest.Empty() {
			yield(g)
		}
	}
}
