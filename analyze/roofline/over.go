package roofline

import (
	"assay/diag"
	"assay/summary"
)

// NoteOver adds one issue with the number of rows, transfers and shares of a summary that are
// over a peak of the hardware.
func NoteOver(s *summary.Summary, issues *diag.Ledger) {
	n := int64(0)
	count := func(over bool) {
		if over {
			n++
		}
	}
	e := &s.Efficiency
	for i := range e.Rows {
		count(summary.IsOver(e.Rows[i].Over))
	}
	for i := range e.Transfers {
		count(summary.IsOver(e.Transfers[i].Over))
	}
	for i := range e.Devices {
		count(e.Devices[i].MFUFrom == summary.MFUOver)
	}
	for i := range e.Steps {
		count(e.Steps[i].MFUFrom == summary.MFUOver)
	}
	if n > 0 {
		issues.AddN(diag.Issue{Code: "over-peak", Severity: diag.Info}, n)
	}
}
