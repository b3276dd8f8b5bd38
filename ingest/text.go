package ingest

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"assay/internal/diag"
	"assay/internal/profile"
	"assay/internal/textscan"
	"assay/logs/bars"
	"assay/logs/forms"
	"assay/nsys/stats"
	"assay/torchprof"
	"assay/torchprof/flops"
	"assay/trace"
)

// A tableFinder finds the tables of one tool in a text.
type tableFinder interface {
	textscan.Finder
	Tables() *profile.Tables
}

// isPlainText reports whether a file is text that may contain tables. The first bytes of
// a log do not show what follows, so it accepts all text that is not known to be something
// else.
func isPlainText(path string, head []byte) bool {
	return refuseKnown(path, head) == nil
}

// beginsWithTable reports whether a text file in a directory is read. Reading every text to
// its end would take too long, so it must begin with a table or a record of a log, or be
// named like a trace.
func beginsWithTable(path string, head []byte) bool {
	return torchprof.Sniff(head) || namedLikeTrace(path) && !isOtherJSON(head) || beginsWithRecord(path, head)
}

// loadText finds the tables of all tools and the values of logs in a text, in one pass.
func loadText(f *File, sel trace.Select, in *Input) error {
	values := forms.NewReader(f.Path, f.forms(), seriesLimits(sel))
	rows, text := rowLimit(sel),
		&sampledText{r: f, head: f.sample(textSample), next: textSample, values: newAsyncWriter(values)}
	finders := []tableFinder{
		torchprof.NewFinder(f.Path, torchprof.Limits{Rows: rows}), stats.NewFinder(f.Path, stats.Limits{Rows: rows}),
		flops.NewFinder(f.Path, flops.Limits{Rows: rows}),
	}
	var scanned []textscan.Finder
	for _, finder := range finders {
		scanned = append(scanned, finder)
	}
	found := logFinders(f, sel)
	for _, finder := range found {
		scanned = append(scanned, finder)
	}
	passed, err := textscan.Scan(text, scanned...)
	text.values.wait()
	names := map[string]string{"torch": "torch-tables", "nsys": "nsys-stats", "deepspeed": "deepspeed-flops"}
	for _, finder := range finders {
		t := finder.Tables()
		if len(t.List) == 0 {
			continue
		}
		if in.Tables == nil {
			in.Tables, in.Format = t, names[t.Tool]
			continue
		}
		in.Tables, in.Format = joined(in.Tables, t), "text"
	}
	if log := joinedLog(values.Close(err == nil), found, in.Tables != nil); !log.Empty() {
		noteSeries(log, f.Path, err)
		in.Series = log
	}
	switch {
	case in.Tables == nil && in.Series != nil:
		in.Format = "log"
		return nil
	case in.Tables == nil && err != nil:
		return fmt.Errorf("%s: no table of a profiler in %d lines: %w", f.Path, passed.Lines, pathError(err))
	case in.Tables == nil:
		return namedOr(f.Path, text.sample(), guessed(f.Path, text.sample()))
	}
	noteText(in.Tables, f.Path, passed, err)
	return nil
}

// A sampledText keeps parts of a text that passes through it: the head, further parts at growing distances,
// and the end. Records that identify a log may begin far behind its head.
type sampledText struct {
	r          io.Reader
	head, last []byte
	n, next    int64
	values     *asyncWriter // receives the whole text
}

const (
	samplePart = 16 << 10
	sampleGap  = 64 << 10 // between two parts, near the head
)

func (s *sampledText) Read(p []byte) (int, error) {
	n, err := s.r.Read(p)
	if n == 0 {
		return n, err
	}
	s.values.write(p[:n])
	s.last = append(s.last[:0], p[max(0, n-samplePart):n]...)
	if s.n += int64(n); s.n > s.next {
		s.head = append(append(s.head, '\n'), p[:min(n, samplePart)]...)
		s.next += max(sampleGap, s.next/8)
	}
	return n, err
}

// sample returns what was kept.
func (s *sampledText) sample() []byte { return append(append(s.head, '\n'), s.last...) }

// joined returns the tables of two tools in one input.
func joined(a, b *profile.Tables) *profile.Tables {
	out := &profile.Tables{Tool: a.Tool, Records: a.Records + b.Records, Complete: true}
	for _, from := range []*profile.Tables{a, b} {
		for _, t := range from.List {
			t.Tool = from.Tool
			out.List = append(out.List, t)
		}
		out.Issues = append(out.Issues, from.Issues...)
	}
	return out
}

// noteText adds the issues for the parts of a text that were not read.
func noteText(t *profile.Tables, path string, passed textscan.Result, err error) {
	at := func(line int) diag.Pos { return diag.Pos{File: path, Line: max(1, line)} }
	if passed.Cut > 0 {
		t.Issues = append(t.Issues, diag.Issue{Code: "line-too-long", Severity: diag.DataLoss, Count: int64(passed.Cut), First: at(passed.First),
			Help: fmt.Sprintf("Lines of more than %d bytes were shortened to that length.", textscan.MaxLine)})
	}
	is := diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, Count: 1, First: at(passed.Lines)}
	limit, tail := (*trace.LimitError)(nil), interface{ Harmless() bool }(nil)
	switch {
	case err == nil:
		return
	case errors.As(err, &limit):
		is.Code, is.Help = limit.Code(), limit.Error()+"; tables after this position are missing"
	case errors.As(err, &tail) && tail.Harmless():
		is.Code, is.Severity = "trailing-data", diag.Info
		is.Help = fmt.Sprintf("The data after the compressed data cannot be read (%v). The text is complete.", err)
	default:
		is.Help = fmt.Sprintf("The input ends early (%v). Tables after this position are missing. Copy the file again.", reason(err))
	}
	t.Complete = is.Severity == diag.Info
	t.Issues = append(t.Issues, is)
}

// guessed refuses a text, and shows the form by which it would be read if it is a log of
// an unknown program.
func guessed(path string, sample []byte) *Refusal {
	form := forms.Guess(sample)
	if names := bars.Names(sample); form == "" && len(names) > 0 {
		return &Refusal{path, "has progress bars (" + strings.Join(names, ", ") + "), of which none certainly counts training steps, and no values that assay knows",
			"give the log of the training or of the server; a bar counts its steps if its text names them, as tqdm(desc=\"Training\") does"}
	}
	if form == "" {
		return noTables(path)
	}
	return &Refusal{path, "is a text with values in lines of an unknown form",
		"write this line to forms.yaml and add --series-forms forms.yaml (see assay help series): " + form}
}

// noTables refuses a text.
func noTables(path string) *Refusal {
	return &Refusal{path, "is text and has no trace and no profiler table",
		`give an input that assay knows (assay help formats), or for the lines of your own log, ` +
			`--series-forms FILE with forms: [{id: my-log, anchor: ["loss="], fields: {dt: step.time s}}]`}
}
