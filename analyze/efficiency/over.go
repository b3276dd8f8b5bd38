package efficiency

import (
	"assay/internal/diag"
	"assay/summary"
)

// NoteOver adds an issue that counts the rows, transfers and shares of a summary that exceed a peak
// of the hardware.
func NoteOver(s *summary.Summary, issues *diag.Ledger) {
	if n := CountOver(&s.Efficiency); n > 0 {
		issues.AddN(overPeak(), n)
	}
}

// overPeak returns the issue, without a number.
func overPeak() diag.Issue { return diag.Issue{Code: "over-peak", Severity: diag.Info} }

// NoteMoreOver adds a number to the issue of a summary that [NoteOver] counts in.
func NoteMoreOver(s *summary.Summary, n int64) {
	if n <= 0 {
		return
	}
	is := overPeak()
	if s.Issue(is.Code) == nil {
		s.Issues = append(s.Issues, summary.IssueOf(is))
	}
	have := s.Issue(is.Code)
	have.Count = summary.Plus(have.Count, n)
	s.Sort()
}

// CountOver returns the number of rows, transfers and shares that exceed a peak.
func CountOver(e *summary.Efficiency) (n int64) {
	count := func(over bool) {
		if over {
			n++
		}
	}
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
	for i := range e.Decode {
		count(e.Decode[i].Unknown == summary.DecodeOver)
	}
	return n
}
