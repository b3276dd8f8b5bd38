package attribute

import (
	"iter"

	"assay/analyze/calls"
	"assay/internal/interval"
)

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
