package export

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"

	"assay/ingest/partial"
	"assay/internal/outfile"

	"assay/internal/unit"
	"assay/trace"
	"assay/trace/window"
)

// A Wish has the options of a user for the part to keep of each input.
type Wish struct {
	Work              trace.Work
	GPUOnly, NoPython bool
	Redact            bool   // hide names of users
	Most              int64  // maximum size of a file in bytes; 0 for no limit
	Limit             string // Most as the user wrote it
}

// A Source is an input, with the options for writing its part.
type Source struct {
	Path, Format string
	Trace        *trace.Trace
	Common       *window.Span // the time to which several ranks are cut; nil for that of the part
	Output       string       // the file to write; the extension selects the compression

	Open func(use func(io.Reader) error) error // calls use with the text of the input
}

// A Choice is the part of one input that is kept.
type Choice struct {
	Part Part
	Sum  PartSum
	Rows int64    // events of the input
	Left []string // descriptions of what was left out because of the size limit

	wish    Wish
	from    Source
	keep    trace.Keeping
	stretch partial.Stretch
	model   *trace.Trace // of an input that is not Chrome JSON; nil else
	head    Header
}

// Texts returns nothing: the texts of a part are masked while they are written.
func (c *Choice) Texts() []any { return nil }

// Choose decides what is kept of an input, so that the written file is within the size limit.
func Choose(wish Wish, stretch partial.Stretch, from Source) (*Choice, error) {
	t := from.Trace
	c := &Choice{wish: wish, from: from, stretch: stretch, Rows: t.Events, head: headOf(t.Meta)}
	c.keep = trace.Keeping{Start: stretch.Start, End: stretch.End, Work: wish.Work, GPUOnly: wish.GPUOnly, NoPython: wish.NoPython}
	if stretch.Whole { // keep also what is outside the span of all events
		c.keep.Start, c.keep.End = math.MinInt64, math.MaxInt64
	} else if all := from.Common; all != nil {
		c.keep.Measured = &trace.Window{Start: stretch.Start, End: stretch.End}
		c.keep.Start, c.keep.End = min(all.Start, stretch.Start), max(all.End, stretch.End)
	}
	c.Part.Hide = NewHiding(wish.Redact)
	c.Part.Excerpt = trace.Excerpt{Capture: trace.Extent(stretch.Capture), Asked: wish.request(stretch), Whole: stretch.Whole, From: from.Format, Complete: t.Complete, Issues: t.Issues}
	if t.Indexed() {
		c.Part.Excerpt.From = "" // the trace is copied unchanged
	}
	c.cut()
	if err := c.fit(); err != nil {
		return nil, err
	}
	c.from.Trace = nil // no longer needed: free its memory
	return c, nil
}

// request returns the part in the words of the flags, with what is left out of it.
func (w Wish) request(stretch partial.Stretch) string {
	var words []string
	if stretch.Asked != "" {
		words = append(words, stretch.Asked)
	}
	switch {
	case w.GPUOnly:
		words = append(words, "GPU work only")
	case w.NoPython:
		words = append(words, "without Python calls")
	}
	return strings.Join(words, ", ")
}

// headOf returns the header of a trace that is converted to Chrome JSON.
func headOf(m trace.Meta) Header {
	h := Header{Kineto: true, BaseTime: m.BaseTime, Rank: m.Rank, WorldSize: m.WorldSize}
	for _, id := range slices.Sorted(maps.Keys(m.Devices)) {
		h.GPUs = append(h.GPUs, GPU{ID: id, Name: m.Devices[id], Capacity: m.Capacity[id], Hardware: m.Hardware[id]})
	}
	return h
}

// cut finds the events to keep.
func (c *Choice) cut() {
	if c.from.Trace.Indexed() {
		c.Part.Cut = trace.NewCut(c.from.Trace, c.keep)
		c.Part.Excerpt.Window = *c.Part.Cut.Window
		return
	}
	c.model = c.from.Trace.Only(c.keep.Work).Within(c.keep.Start, c.keep.End)
	c.Part.Excerpt.Window = *c.model.Window
	if m := c.keep.Measured; m != nil {
		c.Part.Excerpt.Window = *c.from.Trace.Only(c.keep.Work).Within(m.Start, m.End).Window
	}
	c.model = c.model.Without(c.keep.GPUOnly, c.keep.NoPython)
}

// Write writes the part.
func (c *Choice) Write(w io.Writer) error {
	if c.model != nil {
		return c.writeModel(w)
	}
	return c.from.Open(func(in io.Reader) (err error) {
		c.Sum, err = c.Part.Write(w, in)
		return err
	})
}

// writeModel writes a trace of another format as Chrome JSON.
func (c *Choice) writeModel(w io.Writer) error {
	c.head.Excerpt = c.Part.Excerpt.Member(c.Part.Hide.Text)
	out := NewWriter(w, c.head, 1, math.MaxInt64, c.Part.Hide.Text)
	err := Piped(func(w io.Writer) error { return WriteModel(w, c.model) }, c.from.Path, trace.SelectAll(), func(rd *trace.Reader) error {
		sum, err := out.Add(Rank{}, rd)
		c.Sum = PartSum{Events: sum.Copied}
		return err
	})
	return errors.Join(err, out.Close())
}

// Learn collects the names of users that will be hidden. It must run before Write.
func (c *Choice) Learn() error {
	switch {
	case !c.wish.Redact:
		return nil
	case c.model != nil:
		for s := range c.model.Names() {
			c.Part.Hide.Learn(c.model.Name(trace.Sym(s)))
		}
		return nil
	}
	return c.from.Open(c.Part.Learn)
}

// WriteEvents writes the events of the part, with the data that assay needs of the input.
func (c *Choice) WriteEvents(w io.Writer) error {
	if c.model != nil {
		return WriteModel(w, c.model)
	}
	return c.Write(w)
}

// fit shrinks the part to the size limit: it first drops the calls of Python functions, then
// shortens the part at its end.
func (c *Choice) fit() error {
	if c.wish.Most == 0 {
		return nil
	}
	if err := c.Learn(); err != nil {
		return err
	}
	fits, err := c.fits()
	if fits || err != nil {
		return err
	}
	if c.from.Trace.Python.Len() > 0 && !c.keep.NoPython && !c.keep.GPUOnly {
		c.keep.NoPython = true
		c.Left = append(c.Left, "calls of Python functions")
		c.Part.Excerpt.Asked = strings.TrimPrefix(c.Part.Excerpt.Asked+", without Python calls", ", ")
		c.cut()
		if fits, err = c.fits(); fits || err != nil {
			return err
		}
	}
	c.keep.Start, c.keep.End = max(c.keep.Start, c.stretch.Capture.Start), min(c.keep.End, unit.Plus(c.stretch.Capture.End, 1))
	start, end, whole := c.keep.Start, c.keep.End, c.stretch.End
	c.Part.Excerpt.Whole = false
	low, high := start, end // a part up to low fits, one up to high does not
	for range 10 {
		c.endAt(low+(high-low)/2, whole)
		if fits, err = c.fits(); err != nil {
			return err
		}
		if fits {
			low = c.keep.End
		} else {
			high = c.keep.End
		}
		if high-low < (end-start)/200 {
			break
		}
	}
	if low == start {
		return fmt.Errorf("%s: the part does not fit into %s even if it is very short; raise --max-size, or leave more out (--gpu-only)", c.from.Path, c.wish.Limit)
	}
	c.endAt(low, whole)
	c.Left = append(c.Left, fmt.Sprintf("everything after its first %s", unit.Duration(low-start)))
	c.Part.Excerpt.Asked = strings.TrimPrefix(c.Part.Excerpt.Asked+fmt.Sprintf(", cut to %s", c.wish.Limit), ", ")
	return nil
}

// endAt cuts the part at an earlier time.
func (c *Choice) endAt(at, whole int64) {
	c.keep.End = at
	if m := c.keep.Measured; m != nil {
		m.End = max(m.Start, min(whole, at))
	}
	c.cut()
}

// errTooLarge ends the writing of a part that does not fit.
var errTooLarge = errors.New("too large")

// fits reports whether the part fits into the limit of a file.
func (c *Choice) fits() (bool, error) {
	err := outfile.Compressed(c.from.Output, &sizeLimit{left: c.wish.Most}, c.Write)
	if errors.Is(err, errTooLarge) {
		return false, nil
	}
	return err == nil, err
}

// A sizeLimit is a writer of a limited number of bytes.
type sizeLimit struct{ left int64 }

func (l *sizeLimit) Write(b []byte) (int, error) {
	if l.left -= int64(len(b)); l.left < 0 {
		return 0, errTooLarge
	}
	return len(b), nil
}
