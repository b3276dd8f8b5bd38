package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"assay/analyze/nsysstats"
	"assay/ingest"
	"assay/internal/diag"
	"assay/report/nsystables"
	"assay/trace"
)

// tabulation prints the reports of nsys stats.
type tabulation struct {
	names  []string
	format string // a name in [tableFormats]
}

// choose sets the reports to print. It returns a message if a name is unknown.
func (tab *tabulation) choose(names []string) (wrong string) {
	for _, name := range names {
		current, ok := nsysstats.Find(strings.TrimSpace(name))
		if !ok {
			return fmt.Sprintf("--table is %q, want one or more of %s", name, strings.Join(nsysstats.Names(), ", "))
		}
		tab.names = append(tab.names, current)
	}
	if len(tab.names) == 0 {
		return "--table is empty, want one or more of " + strings.Join(nsysstats.Names(), ", ")
	}
	return ""
}

// run reads the inputs and prints the reports on each, in the order of the inputs.
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
	src.hideUsers(&all)
	say := func(line string) { e.say("assay %s: %s", c.name, line) }
	err = e.print(tableFormats(len(tab.names), say).named(tab.format).render(mask(all)))
	return errors.Join(append(failed, err)...)
}
