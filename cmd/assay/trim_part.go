package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"assay/ingest"
	"assay/ingest/export"
	"assay/internal/unit"
	"assay/summary"
	"assay/trace"
)

// part decides which events of an input are kept. from has the paths of the input and its output.
func (j *trimJob) part(in *ingest.Input, from export.Source) (*export.Choice, error) {
	stretch, err := j.r.options(in).StretchOf(in.Trace, summary.Input{Path: in.Path, Rank: in.Rank})
	if err != nil {
		return nil, err
	}
	from.Format, from.Trace = in.Format, in.Trace
	from.Open = func(use func(io.Reader) error) error {
		return j.r.again(from.Path, func(f *ingest.File) error { return use(f) })
	}
	wish := export.Wish{Work: j.r.choice.work, GPUOnly: j.gpuOnly, NoPython: j.noPython, Redact: j.redact, Most: j.maxSize.bytes, Limit: j.maxSize.text}
	return export.Choose(wish, stretch, from)
}

// describe returns message lines on what was written of a part.
func (t *trimming) describe(p *export.Choice, output string) (lines []string) {
	text := fmt.Sprintf("%s: %d of %d events", output, p.Sum.Events, p.Rows)
	x := &p.Part.Excerpt
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
	if len(p.Left) > 0 {
		text += fmt.Sprintf("; left out to stay within %s: %s", t.maxSize.text, strings.Join(p.Left, " and "))
	}
	lines = append(lines, text)
	if n := p.Part.Hide.Secrets(); n > 0 {
		lines = append(lines, fmt.Sprintf("%s masked in %s; the input still has them", plural(n, "possible secret is", "possible secrets are"), output))
	}
	if p.Part.Cut != nil {
		for _, key := range p.Part.Cut.LeftOut() {
			lines = append(lines, fmt.Sprintf("%s: the member %q is too long and was left out", output, p.Part.Hide.Text(key)))
		}
	}
	return lines
}
