package view

import (
	"assay/summary"
)

// MostMissing is the share of the launches of kernels or graphs without device work from
// which on the times of a capture are not used: the critical limit of the rule
// device-records-missing.
const MostMissing = 0.25

// MostAtEnd is the share of the launches of kernels or graphs at the end of a capture,
// without device work, from which on its times are not used although the work may have
// run later: the capture has the work of half of its launches at most.
const MostAtEnd = 0.5

// ImplausibleTimes returns the issues that say that the times of GPU work cannot be
// true: windows over 100 hours, work at impossible times, kernels without a duration,
// several records of one launch, and work before its launch if it is most of the work with a known launch.
func ImplausibleTimes(s *summary.Summary) (out []summary.Issue) {
	for _, is := range s.Issues {
		suspect := is.Severity == "suspect"
		switch is.Code {
		case summary.ClocksImplausible:
			out = append(out, is)
		case "work-time-implausible", "kernels-without-duration", "launches-with-several-kernels":
			if suspect {
				out = append(out, is)
			}
		case "work-before-launch":
			launched := int64(0)
			for _, l := range s.Launches {
				launched += l.Launched
			}
			if suspect && is.Count > launched/2 {
				out = append(out, is)
			}
		}
	}
	return out
}

// A Loss is a row of launches without device work that makes a capture unusable.
type Loss struct {
	Row   summary.LaunchLoss
	AtEnd bool // because of the launches at the end of the capture
}

// MostLost returns the first row by which too many GPU records are missing: Lost reaches
// the share most of its calls, or those at the end reach MostAtEnd.
func MostLost(rows []summary.LaunchLoss, most float64) (Loss, bool) {
	for _, r := range rows {
		if !r.OfKernels() {
			continue
		}
		if missing, calls := r.Lost(); missing > 0 && float64(missing) >= most*float64(calls) {
			return Loss{r, false}, true
		}
		if float64(r.AtEnd) >= MostAtEnd*float64(r.Calls) {
			return Loss{r, true}, true
		}
	}
	return Loss{}, false
}
