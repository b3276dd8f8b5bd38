package attribute

import (
	"cmp"
	"math"
	"slices"

	"assay/internal/interval"
	"assay/summary"
)

// A stepIdle is one of the first steps of a device, with its idle time by row number. Only the
// first steps are kept: they show what warm-up costs.
type stepIdle struct {
	span interval.Span
	rows map[int32]*summary.StepIdle
}

// firstSteps returns the first markers that overlap the window of a device, at most
// [summary.MaxIdleSteps].
func firstSteps(a *Attribution, device int) (out []stepIdle) {
	window := a.tl.Devices[device].Window
	for _, m := range a.marks {
		if len(out) == summary.MaxIdleSteps || m.Span.Start >= window.End {
			break
		}
		if m.Span.End > window.Start {
			out = append(out, stepIdle{m.Span, map[int32]*summary.StepIdle{}})
		}
	}
	return out
}

// nextBorder returns the first start or end of a step after a time, or math.MaxInt64.
func nextBorder(first []stepIdle, after int64) int64 {
	next := int64(math.MaxInt64)
	for i := range first {
		for _, at := range []int64{first[i].span.Start, first[i].span.End} {
			if at > after {
				next = min(next, at)
			}
		}
	}
	return next
}

// addToSteps adds parts of a gap to the steps that they are in. A single part may cross the
// border of a step; then each side counts in its step.
func addToSteps(first []stepIdle, mark gapMark, s interval.Span, number int32, p parts) {
	for i := range first {
		in := interval.Span{Start: max(s.Start, first[i].span.Start), End: min(s.End, first[i].span.End)}
		if in.Len() <= 0 {
			continue
		}
		ns, short := p.ns, int64(0)
		if in != s {
			ns = in.Len()
		}
		if mark.short() {
			short = ns
		}
		first[i].add(number, summary.StepIdle{NS: ns, Count: p.count, ShortGapsNS: short})
	}
}

// add adds idle time for the cause of a row.
func (s *stepIdle) add(number int32, idle summary.StepIdle) {
	r := s.rows[number]
	if r == nil {
		r = new(summary.StepIdle)
		s.rows[number] = r
	}
	r.NS += idle.NS
	r.Count += idle.Count
	r.ShortGapsNS += idle.ShortGapsNS
}

// idleOfSteps sets the causes of the idle time of the first steps of a device. Steps that are
// longer or shorter than their marker get none, because the questions were about the marker.
func (x *idleness) idleOfSteps(device int, list []summary.Step) {
	for i := range list {
		st := &list[i]
		if st.Device != x.a.tl.Devices[device].Ordinal || st.Cut != "" {
			continue
		}
		at := slices.IndexFunc(x.first[device],
			func(f stepIdle) bool { return f.span.Start == st.StartNS && f.span.Len() == st.WallNS })
		if at < 0 {
			continue
		}
		for number, r := range x.first[device][at].rows {
			cause := x.rows[device].rows[number]
			r.Owner, r.State, r.Name = cause.Owner, cause.State, cause.Name
			st.Idle = append(st.Idle, *r)
		}
		slices.SortFunc(st.Idle, func(a, b summary.StepIdle) int {
			return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.State, b.State),
				cmp.Compare(a.Name, b.Name))
		})
	}
}
