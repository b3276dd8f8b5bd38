package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strings"

	"assay/internal/ingest"
	"assay/internal/outfile"
	"assay/internal/partial"
	"assay/internal/timeline"
	"assay/internal/trim"
	"assay/summary"
	"assay/trace"
	"assay/unit"
	"assay/window"
)

// A common is the stretch in which several ranks are cut, on the clock of one of them.
type common struct {
	window.Span
	aligned bool
}

// A trimmedPart is what is kept of one input.
type trimmedPart struct {
	j      *trimJob
	path   string // as it is opened again
	output string
	t      *trace.Trace // nil once it is decided what is kept
	keep   trace.Keeping
	part   partial.Stretch
	out    trim.Part
	sum    trim.Sum
	rows   int64 // events of the input

	model *trace.Trace // of an input that is not Chrome JSON; nil else
	head  timeline.Header
	left  []string // what was left out to stay within the size
}

// Texts returns nothing: the texts of a part are masked while they are written.
func (p *trimmedPart) Texts() []any { return nil }

// part decides what is kept of an input.
func (j *trimJob) part(i int, in *ingest.Input) (*trimmedPart, error) {
	t := in.Trace
	from := summary.Input{Path: in.Path, Rank: in.Rank}
	part, err := j.r.options(in).StretchOf(t, from)
	if err != nil {
		return nil, err
	}
	p := &trimmedPart{j: j, path: j.r.paths[i], t: t, part: part, rows: t.Events}
	p.keep = trace.Keeping{Start: part.Start, End: part.End, Work: j.r.choice.work, GPUOnly: j.gpuOnly, NoPython: j.noPython}
	if part.Whole { // also what lies outside the span of all events
		p.keep.Start, p.keep.End = math.MinInt64, math.MaxInt64
	} else if c := j.common[i]; c != nil {
		p.keep.Measured = &trace.Window{Start: part.Start, End: part.End}
		p.keep.Start, p.keep.End = min(c.Start, part.Start), max(c.End, part.End)
	}
	p.out.Hide = trim.NewHiding(j.redact)
	p.out.Excerpt = trace.Excerpt{Capture: trace.Extent(part.Capture), Asked: j.asked(part), Whole: part.Whole, From: in.Format, Complete: t.Complete, Issues: t.Issues}
	if t.Indexed() {
		p.out.Excerpt.From = "" // it is copied as it is
	}
	p.head = headOf(in)
	p.cut()
	return p, nil
}

// asked returns the part in the words of the flags, with what is left out of it.
func (j *trimJob) asked(part partial.Stretch) string {
	var words []string
	if part.Asked != "" {
		words = append(words, part.Asked)
	}
	switch {
	case j.gpuOnly:
		words = append(words, "GPU work only")
	case j.noPython:
		words = append(words, "without Python calls")
	}
	return strings.Join(words, ", ")
}

// headOf returns what a trace that is written anew states before its events.
func headOf(in *ingest.Input) timeline.Header {
	m := in.Trace.Meta
	h := timeline.Header{Kineto: true, BaseTime: m.BaseTime, Rank: m.Rank, WorldSize: m.WorldSize}
	for _, id := range slices.Sorted(maps.Keys(m.Devices)) {
		h.GPUs = append(h.GPUs, timeline.GPU{ID: id, Name: m.Devices[id], Capacity: m.Capacity[id], Hardware: m.Hardware[id]})
	}
	return h
}

// cut finds the events to keep.
func (p *trimmedPart) cut() {
	if p.t.Indexed() {
		p.out.Cut = trace.NewCut(p.t, p.keep)
		p.out.Excerpt.Window = *p.out.Cut.Window
		return
	}
	p.model = p.t.Only(p.keep.Work).Within(p.keep.Start, p.keep.End)
	p.out.Excerpt.Window = *p.model.Window
	if m := p.keep.Measured; m != nil {
		p.out.Excerpt.Window = *p.t.Only(p.keep.Work).Within(m.Start, m.End).Window
	}
	p.model = p.model.Without(p.keep.GPUOnly, p.keep.NoPython)
}

// open calls use with the text of the input.
func (p *trimmedPart) open(use func(io.Reader) error) error {
	return p.j.r.again(p.path, func(f *ingest.File) error { return use(f) })
}

// write writes the part.
func (p *trimmedPart) write(w io.Writer) error {
	if p.model != nil {
		return p.writeModel(w)
	}
	return p.open(func(in io.Reader) (err error) {
		p.sum, err = p.out.Write(w, in)
		return err
	})
}

// writeModel writes a trace of another format as Chrome JSON.
func (p *trimmedPart) writeModel(w io.Writer) error {
	p.head.Excerpt = p.out.Excerpt.Member(p.out.Hide.Text)
	out := timeline.NewWriter(w, p.head, 1, math.MaxInt64, p.out.Hide.Text)
	err := piped(func(w io.Writer) error { return timeline.WriteModel(w, p.model) }, p.path, trace.SelectAll(), func(rd *trace.Reader) error {
		sum, err := out.Add(timeline.Rank{}, rd)
		p.sum = trim.Sum{Events: sum.Copied}
		return err
	})
	return errors.Join(err, out.Close())
}

// learn notes the names of users that are to be hidden.
func (j *trimJob) learn(p *trimmedPart) error {
	switch {
	case !j.redact:
		return nil
	case p.model != nil:
		for s := range p.model.Names() {
			p.out.Hide.Learn(p.model.Name(trace.Sym(s)))
		}
		return nil
	}
	return p.open(p.out.Learn)
}

// fit leaves out what does not fit into the limit of a file: first the calls of Python
// functions, then the end of the part.
func (j *trimJob) fit(p *trimmedPart) error {
	if j.most == 0 {
		return nil
	}
	if err := j.learn(p); err != nil {
		return err
	}
	fits, err := p.fits()
	if fits || err != nil {
		return err
	}
	if p.t.Python.Len() > 0 && !p.keep.NoPython && !p.keep.GPUOnly {
		p.keep.NoPython = true
		p.left = append(p.left, "calls of Python functions")
		p.out.Excerpt.Asked = strings.TrimPrefix(p.out.Excerpt.Asked+", without Python calls", ", ")
		p.cut()
		if fits, err = p.fits(); fits || err != nil {
			return err
		}
	}
	p.keep.Start, p.keep.End = max(p.keep.Start, p.part.Capture.Start), min(p.keep.End, unit.Plus(p.part.Capture.End, 1))
	start, end, whole := p.keep.Start, p.keep.End, p.part.End
	p.out.Excerpt.Whole = false
	low, high := start, end // a part up to low fits, one up to high does not
	for range 10 {
		p.endAt(low+(high-low)/2, whole)
		if fits, err = p.fits(); err != nil {
			return err
		}
		if fits {
			low = p.keep.End
		} else {
			high = p.keep.End
		}
		if high-low < (end-start)/200 {
			break
		}
	}
	if low == start {
		return fmt.Errorf("%s: the part does not fit into %s even if it is very short; raise --max-size, or leave more out (--gpu-only)", p.path, j.maxSize)
	}
	p.endAt(low, whole)
	p.left = append(p.left, fmt.Sprintf("everything after its first %s", unit.Duration(low-start)))
	p.out.Excerpt.Asked = strings.TrimPrefix(p.out.Excerpt.Asked+fmt.Sprintf(", cut to %s", j.maxSize), ", ")
	return nil
}

// endAt cuts the part at an earlier time.
func (p *trimmedPart) endAt(at, whole int64) {
	p.keep.End = at
	if m := p.keep.Measured; m != nil {
		m.End = max(m.Start, min(whole, at))
	}
	p.cut()
}

// errTooLarge ends the writing of a part that does not fit.
var errTooLarge = errors.New("too large")

// fits reports whether the part fits into the limit of a file.
func (p *trimmedPart) fits() (bool, error) {
	err := outfile.Compressed(p.output, &sizeLimit{left: p.j.most}, p.write)
	if errors.Is(err, errTooLarge) {
		return false, nil
	}
	return err == nil, err
}

// A sizeLimit is a writer of a limited number of bytes.
type sizeLimit struct{ left int64 }

func (c *sizeLimit) Write(b []byte) (int, error) {
	if c.left -= int64(len(b)); c.left < 0 {
		return 0, errTooLarge
	}
	return len(b), nil
}

// told returns what was written, in lines.
func (p *trimmedPart) told(output string) (lines []string) {
	text := fmt.Sprintf("%s: %d of %d events", output, p.sum.Events, p.rows)
	x := &p.out.Excerpt
	if n := x.Capture.End - x.Capture.Start; n > 0 {
		w := x.Window
		if x.Whole {
			w = trace.Window{Start: x.Capture.Start, End: x.Capture.End}
		}
		text += fmt.Sprintf(", %s of %s", unit.Duration(min(w.End, x.Capture.End)-max(w.Start, x.Capture.Start)), unit.Duration(n))
	}
	if info, err := os.Stat(output); err == nil && info.Mode().IsRegular() {
		text += ", " + unit.Bytes(info.Size())
	}
	if len(p.left) > 0 {
		text += fmt.Sprintf("; left out to stay within %s: %s", p.j.maxSize, strings.Join(p.left, " and "))
	}
	lines = append(lines, text)
	if n := p.out.Hide.Secrets(); n > 0 {
		lines = append(lines, fmt.Sprintf("%s masked in %s; the input still has them", plural(n, "possible secret is", "possible secrets are"), output))
	}
	if p.out.Cut != nil {
		for _, key := range p.out.Cut.LeftOut() {
			lines = append(lines, fmt.Sprintf("%s: the member %q is too long and was left out", output, p.out.Hide.Text(key)))
		}
	}
	return lines
}
