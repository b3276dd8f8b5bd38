package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"assay/analyze/nsysstats"
	"assay/ingest"
	"assay/internal/diag"
	"assay/report/nsystables"
	"assay/trace"
)

// A tabulation prints the reports of nsys stats.
type tabulation struct {
	names  []string
	format string // "text", "csv" or "md"
}

// newTabulation checks the flags. It returns a message if they are wrong.
func newTabulation(names []string, format string) (tab tabulation, wrong string) {
	tab.format = format
	switch format {
	case "text", "csv", "md":
	default:
		return tab, fmt.Sprintf("--format is %q, want text, csv or md with --table", format)
	}
	for _, name := range names {
		current, ok := nsysstats.Find(strings.TrimSpace(name))
		if !ok {
			return tab, fmt.Sprintf("--table is %q, want one or more of %s", name, strings.Join(nsysstats.Names(), ", "))
		}
		tab.names = append(tab.names, current)
	}
	if len(tab.names) == 0 {
		return tab, "--table is empty, want one or more of " + strings.Join(nsysstats.Names(), ", ")
	}
	return tab, ""
}

// run reads the inputs and prints the reports on each, in their order.
func (tab *tabulation) run(e env, c *command, src *source, args []string) error {
	r, err := src.open(e, c, args)
	if err != nil {
		return err
	}
	r.needs = func() trace.Select { return nsysstats.Needs(tab.names) }
	tables := make([][]nsysstats.Table, len(r.paths))
	issues := make([][]diag.Issue, len(r.paths))
	strangers := make([]error, len(r.paths))
	failed := r.all(func(i int, in *ingest.Input) {
		if in.Trace == nil {
			strangers[i] = fmt.Errorf("%s: --table needs a trace, but this is %s; run without --table", in.Path, in.Format)
			return
		}
		t, err := r.narrowed(in)
		if strangers[i] = err; err != nil {
			return
		}
		issues[i] = t.Issues
		tables[i] = nsysstats.Tables(t.Starting(), tab.names, r.limits.memory.Rows())
	})
	failed = append(failed, strangers...)
	all := nsystables.Output{Paths: slices.Clone(r.paths), Tables: tables, Issues: issues}
	src.hidden(&all)
	say := func(line string) { e.say("assay %s: %s", c.name, line) }
	err = e.print(mask(all).as(func(all nsystables.Output, w io.Writer) error { return all.Write(w, tab.format, len(tab.names), say) }))
	return errors.Join(append(failed, err)...)
}
