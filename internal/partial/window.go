package partial

import (
	"assay/analyze"
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
	if o.Window.Steps || o.Window.Steady {
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
