package attribute

import "assay/trace"

// An opStart identifies an operator by its thread and start, as the arrows of a trace do.
type opStart struct {
	track trace.TrackID
	start int64
}

// passArrows are the arrows from operators of the forward pass to operators of the backward
// pass, by both ends. They are nil if operators have sequence numbers, which say the same.
type passArrows map[opStart]passArrow

type passArrow struct {
	id       trace.ID
	backward bool // the arrow ends here
}

func passArrowsOf(t *trace.Trace) passArrows {
	if t.Flows.Len() == 0 {
		return nil
	}
	for o := range t.Ops.All() {
		if o.Sequence != 0 {
			return nil
		}
	}
	out := make(passArrows)
	for f := range t.Flows.All() {
		if t.Name(f.Category) == "fwdbwd" && f.ID != 0 {
			out[opStart{f.Track, f.Start}] = passArrow{f.ID, f.Phase == 'f'}
		}
	}
	return out
}

// sequence returns the number that an operator of the forward pass shares with its operators
// of the backward pass, or 0, and whether o is of the backward pass.
func (p passArrows) sequence(o *trace.Op) (id trace.ID, backward bool) {
	if p == nil {
		return o.Sequence, o.Forward != 0
	}
	a := p[opStart{o.Track, o.Start}]
	return a.id, a.backward
}
