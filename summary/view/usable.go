package view

import (
	"assay/summary"
)

// MostMissing is the share of kernel and graph launches without GPU operations above which the times of a
// capture are not used. It is the critical limit of the rule device-records-missing.
const MostMissing = 0.25

// MostAtEnd is the share of kernel and graph launches without GPU operations at the end of a capture above
// which its times are not used, although the operations may have run later: the capture then has the
// operations of at most half of its launches.
const MostAtEnd = 0.5

// ImplausibleTimes returns the issues that show that the times of GPU work cannot be true: windows over 100
// hours, work at impossible times, kernels without a duration, work too short for any GPU, several records of one launch, several captures
// of one process at the same time, and work before its launch if that is most of the work with a known launch.
func ImplausibleTimes(s *summary.Summary) (out []summary.Issue) {
	for _, is := range s.Issues {
		suspect := is.Severity == "suspect"
		switch is.Code {
		case summary.ClocksImplausible:
			out = append(out, is)
		case "work-time-implausible", "kernels-without-duration", "durations-too-short", summary.CapturesMixed,
			"launches-with-several-kernels":
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

// RanksApart returns the issues that show that the traces of the ranks of a run cannot be compared, so that no
// sum over them has a meaning.
func RanksApart(s *summary.Summary) (out []summary.Issue) {
	for _, is := range s.Issues {
		switch is.Code {
		case summary.RanksIncomparable, "rank-copied", "world-sizes-differ":
			out = append(out, is)
		}
	}
	return out
}

// A Loss is a count of launches without GPU operations that makes a capture unusable.
type Loss struct {
	Row   summary.LaunchLoss
	AtEnd bool // because of the launches at the end of the capture
}

// MostLost returns the first row with too many missing GPU records: the lost launches reach the share most,
// or those at the end reach MostAtEnd.
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
