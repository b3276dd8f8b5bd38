package partial

import (
	"fmt"

	"assay/analyze"
	"assay/internal/ingest"
	"assay/summary"
	"assay/trace"
	"assay/window"
)

// narrowed measures the part of a trace that the window asks for.
func (o Options) narrowed(t *trace.Trace, from summary.Input) (*summary.Summary, error) {
	part, c, err := o.Narrow(t, from)
	if err != nil {
		return nil, err
	}
	s := analyze.Trace(part, from, o.Options)
	for i := range s.Inputs {
		if w := s.Inputs[i].Window; w != nil {
			w.Asked, w.CaptureNS = o.Window.String(), c.End-c.Start
		}
	}
	return s, nil
}

// Narrow returns the part of a trace that the window asks for, and what it was looked up
// in. Without a window that is the whole trace.
func (o Options) Narrow(t *trace.Trace, from summary.Input) (*trace.Trace, window.Capture, error) {
	c := CaptureOf(t, from.Path)
	if o.Window == nil {
		return t, c, nil
	}
	if o.Window.OfSteps() {
		all := o.Options
		all.Collectives, all.Detail = nil, nil
		c.Marks = o.stepsOf(analyze.Trace(t, from, all))
	}
	if o.Window.Phase != "" {
		for _, r := range analyze.PhaseRuns(t, o.Options) {
			c.Marks = append(c.Marks, window.Mark{Span: window.Span{Start: r.Start, End: r.End}, Phase: r.Path})
		}
	}
	part, err := o.Window.Of(c)
	if err != nil {
		return nil, c, err
	}
	return t.Within(part.Start, part.End), c, nil
}

// CaptureOf returns what times are looked up in. It has no steps and no phases.
func CaptureOf(t *trace.Trace, path string) window.Capture {
	return window.Capture{Span: window.Span(analyze.Extent(t)), BaseNS: t.Meta.BaseTime, Name: path}
}

// withoutFirst leaves the first steps out of a log, if that is all that is asked for.
func (o Options) withoutFirst(in *ingest.Input) error {
	switch {
	case in.Trace != nil || o.Window == nil:
		return nil
	case in.Summary != nil:
		for _, saved := range in.Summary.Inputs {
			if saved.Window == nil || saved.Window.Asked != o.Window.String() {
				return fmt.Errorf("%s: the saved measurements are not of the same part of the capture (%s); save them again with the same flags, or leave them out", in.Path, o.Window)
			}
		}
		return nil
	case in.Series == nil || in.Tables != nil || !o.Window.OnlySkips():
		return fmt.Errorf("%s: the input has no timeline to take a part of (%s); leave it out", in.Path, o.Window)
	}
	log, ok := in.Series.WithoutFirst(o.Window.Skip)
	if !ok {
		return fmt.Errorf("%s: the log has no more than %d steps, or its values have no steps; give a smaller --ignore-first, or leave the input out", in.Path, o.Window.Skip)
	}
	in.Series = log
	return nil
}

// stepsOf returns the steps of a whole capture.
func (o Options) stepsOf(s *summary.Summary) []window.Mark {
	steady := make([]bool, len(s.Steps))
	if o.Window.Steady && o.Steady != nil {
		copy(steady, o.Steady(s)) // which may say nothing of a capture that is not judged
	}
	out := make([]window.Mark, len(s.Steps))
	for i, st := range s.Steps {
		out[i] = window.Mark{Span: window.Span{Start: st.StartNS, End: st.StartNS + st.WallNS}, Number: st.Number, Steady: steady[i]}
	}
	return out
}
