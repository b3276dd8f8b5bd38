package main

import (
	"errors"
	"slices"

	"assay/ingest/partial"
	"assay/internal/unit"
	"assay/trace/window"
)

// align finds the range in which all ranks are cut: on a common clock, from the first start of the
// part on any rank to its last end. It measures the inputs first, because clocks are aligned by the
// ends of matched collectives. An input whose clock is unknown keeps its own range.
func (j *trimJob) align() error {
	all, failed := j.r.parts()
	list := slices.DeleteFunc(slices.Clone(all), func(p partial.Part) bool { return p.Summary == nil })
	if len(list) == 0 {
		return errors.Join(failed...)
	}
	base := map[string]int64{} // Unix time in ns of time 0 of each input
	for _, p := range list {
		if in := &p.Summary.Inputs[0]; in.BaseTimeNS != nil {
			base[in.Path] = *in.BaseTimeNS
		}
	}
	s := partial.Join(list)
	shift := map[string]int64{} // ns, added to the times of an input
	worst := int64(0)
	for _, row := range s.Ranks {
		path := s.Inputs[row.Input].Path
		if _, ok := shift[path]; !ok && row.OffsetNS != nil {
			shift[path] = base[path] - *row.OffsetNS
			worst = max(worst, *row.ResidualNS)
		}
	}
	if len(shift) < 2 {
		j.r.e.say("assay %s: the ranks share no matched collective in the part, so each is cut on its own clock", j.name)
		return nil
	}
	var span window.Span
	first := true
	for i := range s.Inputs {
		in := &s.Inputs[i]
		by, ok := shift[in.Path]
		if !ok || in.Window == nil {
			continue
		}
		a, b := unit.Plus(in.Window.StartNS, by), unit.Plus(in.Window.EndNS, by)
		if first {
			span, first = window.Span{Start: a, End: b}, false
		}
		span = window.Span{Start: min(span.Start, a), End: max(span.End, b)}
	}
	if first {
		return nil // no part was selected, so nothing is cut
	}
	for i, path := range j.r.paths {
		if by, ok := shift[path]; ok {
			j.common[i] = &window.Span{Start: unit.Plus(span.Start, -by), End: unit.Plus(span.End, -by)}
		}
	}
	j.r.e.say("assay %s: %d ranks are cut on one clock, aligned by the ends of matched collectives; residual at most %s", j.name, len(shift), unit.Duration(worst))
	return nil
}
