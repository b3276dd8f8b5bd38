package ingest

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"assay/internal/diag"
	"assay/logs"
	"assay/logs/forms"
	"assay/trace"
)

// seriesLimits returns the part of the memory for the values of one log. Their analysis
// needs as much again.
func seriesLimits(sel trace.Select) logs.Limits {
	return logs.Limits{Memory: sel.Limits.Memory / 4}
}

// forms returns the forms of lines with which f is read.
func (f *File) forms() *forms.Set { return cmp.Or(f.Forms, forms.Default()) }

// loadLines reads a file in which every line is a record of a log.
func loadLines(f *File, sel trace.Select, in *Input) error {
	log, err := forms.Read(f, f.Path, f.forms(), seriesLimits(sel))
	return in.takeSeries(f, log, err)
}

// loadDocument returns a loader for the formats of one reader. If an input breaks off, the
// log read so far has an issue with the reason.
func loadDocument(read func(io.Reader, string, logs.Limits) (*logs.Log, error)) func(*File, trace.Select, *Input) error {
	return func(f *File, sel trace.Select, in *Input) error {
		log, err := read(f, f.Path, seriesLimits(sel))
		return in.takeSeries(f, log, err)
	}
}

// takeSeries makes log the content of the input, with an issue for the error that ended it.
// It returns an error if the log has no values.
func (in *Input) takeSeries(f *File, log *logs.Log, err error) error {
	switch {
	case log != nil && !log.Empty():
		noteSeries(log, f.Path, err)
		in.Series = log
		return nil
	case err != nil:
		return fmt.Errorf("%s: no value in it: %w", f.Path, pathError(err))
	}
	return &Refusal{f.Path, "has no line with values", "give the log of a run that has finished at least one step"}
}

// noteSeries adds an issue for the error that ended a log early.
func noteSeries(log *logs.Log, path string, err error) {
	if err == nil {
		return
	}
	is := diag.Issue{Code: "input-truncated", Severity: diag.DataLoss, Count: 1, First: diag.Pos{File: path, Line: int(max(1, log.Lines))}}
	limit, tail := (*trace.LimitError)(nil), interface{ Harmless() bool }(nil)
	switch {
	case errors.As(err, &limit):
		is.Code, is.Help = limit.Code(), limit.Error()+"; values after this position are missing"
	case errors.As(err, &tail) && tail.Harmless():
		is.Code, is.Severity = "trailing-data", diag.Info
		is.Help = fmt.Sprintf("The data after the compressed data cannot be read (%v). The text is complete.", err)
	default:
		is.Help = fmt.Sprintf("The input ends early (%v). Values after this position are missing. Copy the file again.", reason(err))
	}
	log.Complete = log.Complete && is.Severity == diag.Info
	log.Issues = append(log.Issues, is)
}

// isLines reports whether a file consists of records of a log in JSON.
func isLines(_ string, head []byte) bool        { return forms.SniffLines(head) }
func isTrainerState(_ string, head []byte) bool { return forms.SniffTrainerState(head) }

// isWandbSummary reports whether a file is a summary of Weights & Biases, by its content or by
// its name: the members that identify the content may come after many others.
func isWandbSummary(path string, head []byte) bool {
	named := filepath.Base(path) == "wandb-summary.json" && bytes.HasPrefix(bytes.TrimSpace(head), []byte("{"))
	return named || forms.SniffWandbSummary(head)
}

func isMetricsJSONL(_ string, head []byte) bool { return forms.SniffMetricsJSONL(head) }
func isMetricsCSV(_ string, head []byte) bool   { return forms.SniffMetricsCSV(head) }
