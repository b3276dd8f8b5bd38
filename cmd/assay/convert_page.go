package main

import (
	"errors"
	"fmt"

	"assay/ingest"
	"assay/internal/diag"
	"assay/internal/outfile"
	"assay/report"
)

// page writes the page of a report without the files that accompany it.
func (conv *conversion) page(e env, c *command, args []string) error {
	m := measure{source: conv.source}
	if err := outfile.CheckFile(conv.output, append(ingest.Paths(args).Files, m.settings()...)); errors.Is(err, outfile.ErrInput) {
		return inputKept(e, c, "page", err)
	} else if err != nil {
		return fmt.Errorf("cannot write the page: %w", diag.PathOnly(err))
	}
	m.own = []string{conv.output}
	m.outputs = []output{mdOutput, jsonOutput, pictureOutput, pathOutput, htmlOutput}
	v, failed := m.load(e, c, args)
	if v == nil {
		return failed
	}
	if err := e.output(conv.output, mask(report.Build(v.summary, v.result)).as(report.Report.HTML)); err != nil {
		return errors.Join(failed, fmt.Errorf("cannot write the page: %w", diag.PathOnly(err)))
	}
	return failed
}
