package partial

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"assay/analyze"
	"assay/ingest"
	"assay/internal/unit"
	"assay/summary"
	"assay/trace"
	"assay/trace/window"
)

// A Stretch is the part of a capture that a request selects.
type Stretch struct {
	window.Span
	Capture window.Span // the whole capture
	Whole   bool        // the part is the whole capture
	Asked   string
}

// requested returns the part that is measured, in the words of the flags, or "" if it is all.
func (o Options) requested() string {
	var parts []string
	if o.Window != nil {
		parts = append(parts, o.Window.String())
	}
	for _, list := range []struct {
		of      string
		numbers []int64
	}{{"GPU", o.Work.Devices}, {"stream", o.Work.Streams}} {
		for _, n := range list.numbers {
			parts = append(parts, fmt.Sprintf("%s %d", list.of, n))
		}
	}
	return strings.Join(parts, ", ")
}

// StretchOf finds the part of a trace that the options select. The trace may itself be a part
// of a capture.
func (o Options) StretchOf(t *trace.Trace, from summary.Input) (Stretch, error) {
	c, x := CaptureOf(t, from.Path), t.Meta.Excerpt
	out := Stretch{Asked: o.requested()}
	if x != nil && out.Asked == "" {
		out.Asked = x.Asked
	}
	if err := o.chosen(t, from); err != nil {
		return Stretch{}, err
	}
	t = t.Only(o.Work)
	out.Capture = c.Span
	if o.Window == nil {
		out.Span = window.Span{Start: c.Start, End: unit.Plus(c.End, 1)}
		if out.Whole = x == nil || x.Whole; !out.Whole {
			out.Span = window.Span{Start: x.Window.Start, End: x.Window.End}
		}
		return out, nil
	}
	if o.Window.OfSteps() {
		all := o.Options
		all.Collectives, all.Detail, all.Measured, all.Launching, all.Without = nil, nil, nil, nil, analyze.AllMeasures
		c.Marks = o.stepsOf(analyze.Trace(t, from, all))
	}
	if o.Window.Phase != "" {
		for _, r := range analyze.PhaseRuns(t, o.Options) {
			c.Marks = append(c.Marks, window.Mark{Span: window.Span{Start: r.Start, End: r.End}, Phase: r.Path})
		}
	}
	var err error
	if out.Span, err = o.Window.Of(c); err != nil {
		return Stretch{}, err
	}
	if x != nil && !x.Whole {
		if out.Start, out.End = max(out.Start, x.Window.Start), min(out.End, x.Window.End); out.Start >= out.End {
			return Stretch{}, fmt.Errorf("%s: the file has only a part of its capture (%s), from %s to %s, and nothing of it is in the window (%s)", from.Path, x.Asked,
				unit.Duration(x.Window.Start-c.Start), unit.Duration(x.Window.End-c.Start), o.Window)
		}
	}
	return out, nil
}

// chosen returns an error if the trace has none of the selected work.
func (o Options) chosen(t *trace.Trace, from summary.Input) error {
	if o.Work.All() {
		return nil
	}
	devices, streams := map[int64]bool{}, map[int64]bool{}
	for i := range t.Tracks {
		tr := &t.Tracks[i]
		if !tr.OnDevice {
			continue
		}
		devices[tr.Device] = true
		if len(o.Work.Devices) == 0 || slices.Contains(o.Work.Devices, tr.Device) {
			streams[tr.Stream] = true
		}
	}
	for _, of := range []struct {
		flag string
		want []int64
		have map[int64]bool
	}{{"--device", o.Work.Devices, devices}, {"--stream", o.Work.Streams, streams}} {
		if len(of.want) == 0 || slices.ContainsFunc(of.want, func(n int64) bool { return of.have[n] }) {
			continue
		}
		if len(of.have) == 0 {
			return fmt.Errorf("%s: the capture has no work of GPUs; leave %s out", from.Path, of.flag)
		}
		return fmt.Errorf("%s: the capture has no work for %s %s; it has %s", from.Path, of.flag, numbers(of.want), numbers(slices.Sorted(maps.Keys(of.have))))
	}
	return nil
}

// numbers returns the first numbers of a list as text.
func numbers(list []int64) string {
	const shown = 16
	var parts []string
	for _, n := range list[:min(shown, len(list))] {
		parts = append(parts, strconv.FormatInt(n, 10))
	}
	if len(list) > shown {
		parts = append(parts, "...")
	}
	return strings.Join(parts, ", ")
}

// timeline measures the selected part of a trace.
func (o Options) timeline(t *trace.Trace, from summary.Input) (*summary.Summary, error) {
	if o.Window == nil && o.Work.All() && t.Window == nil && t.Meta.Excerpt == nil {
		return analyze.Trace(t, from, o.Options), nil
	}
	part, err := o.StretchOf(t, from)
	if err != nil {
		return nil, err
	}
	s := analyze.Trace(o.narrowed(t, part), from, o.Options)
	for i := range s.Inputs {
		in := &s.Inputs[i]
		if in.Window == nil && part.Asked != "" {
			in.Window = &summary.Window{StartNS: part.Start, EndNS: part.End}
		}
		if in.Window != nil {
			in.Window.Asked, in.Window.CaptureNS = part.Asked, part.Capture.End-part.Capture.Start
		}
	}
	return s, nil
}

// Narrow returns the selected part of a trace, and the capture in which the request was
// resolved. Without a window, the part is the whole trace.
func (o Options) Narrow(t *trace.Trace, from summary.Input) (*trace.Trace, window.Capture, error) {
	c := CaptureOf(t, from.Path)
	part, err := o.StretchOf(t, from)
	if err != nil {
		return nil, c, err
	}
	return o.narrowed(t, part), c, nil
}

// CaptureOf returns the capture for requests of times. It has no steps and no phases.
func CaptureOf(t *trace.Trace, path string) window.Capture {
	c := window.Capture{Span: window.Span(analyze.Extent(t)), BaseNS: t.Meta.BaseTime, Name: path}
	if x := t.Meta.Excerpt; x != nil {
		c.Span = window.Span(x.Capture)
	}
	return c
}

func (o Options) narrowed(t *trace.Trace, part Stretch) *trace.Trace {
	if t = t.Only(o.Work); o.Window != nil {
		t = t.Within(part.Start, part.End)
	}
	return t
}

// withoutFirst drops the first steps of a log, if the request has no other condition.
func (o Options) withoutFirst(in *ingest.Input) error {
	requested := o.requested()
	switch {
	case in.Trace != nil || requested == "" || !o.Alone && in.Profile != nil && len(in.Profile.Threads) > 0: // samples name functions in the part
		return nil
	case in.Summary != nil:
		for _, saved := range in.Summary.Inputs {
			if saved.Window == nil || saved.Window.Asked != requested {
				return fmt.Errorf("%s: the saved measurements are not of the same part of the capture (%s); save them again with the same flags, or leave them out", in.Path, requested)
			}
		}
		return nil
	case in.Series == nil || in.Tables != nil || !o.Work.All() || !o.Window.OnlySkips():
		return fmt.Errorf("%s: the input has no timeline to take a part of (%s); leave it out", in.Path, requested)
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
		copy(steady, o.Steady(s)) // may be empty for a capture that cannot be judged
	}
	out := make([]window.Mark, len(s.Steps))
	for i, st := range s.Steps {
		out[i] = window.Mark{Span: window.Span{Start: st.StartNS, End: st.StartNS + st.WallNS}, Number: st.Number, Steady: steady[i]}
	}
	return out
}
