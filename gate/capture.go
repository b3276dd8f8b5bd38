package gate

import (
	"cmp"
	"fmt"
	"strings"

	"assay/gate/metric"
	"assay/internal/unit"
	"assay/judge"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view/comparability"
)

// A capture is the quality of a run's captures, which limits the results of gates.
type capture struct {
	doubt string // why numbers may be wrong or too low, or ""
	empty string // why there is too little device work to judge, or ""
	lost  bool   // numbers can only be too low
	peak  string // why metrics of efficiency may be wrong, or ""
	cause string // why causes of idle time may have more of it, or ""
}

// small reports whether an issue is the loss of at most one record in a thousand, which cannot
// change the result of a gate.
func small(is summary.Issue, events int64) bool {
	single := strings.HasPrefix(is.Code, "event-") || is.Code == "spans-not-paired"
	return single && is.Count <= events/1000
}

// repeated is the issue of inputs with equal ranks that are pooled. A gate treats them as separate
// runs.
const repeated = "rank-repeated"

// overPeak is the issue of operators that were faster than the peaks of their GPU. Either their
// work or the peaks are wrong; other metrics are not affected.
const overPeak = "over-peak"

// captureOf judges the quality of a run's captures.
func captureOf(s *summary.Summary, th rule.Thresholds) capture {
	var c capture
	var events int64
	for _, in := range s.Inputs {
		events += in.Events
	}
	c.lost = true
	for _, is := range s.Issues {
		if is.Code == overPeak {
			c.peak = fmt.Sprintf("%s (%s, %s)", is.Code, is.Severity, times(is.Count))
			continue
		}
		if is.Severity == "info" || small(is, events) || is.Code == repeated || is.Code == metric.WithoutKernels ||
			is.Code == metric.StepsMissing {
			continue
		}
		if is.Severity != "data-loss" {
			c.lost = false
		}
		if c.doubt == "" {
			c.doubt = fmt.Sprintf("%s (%s, %s)", is.Code, is.Severity, times(is.Count))
			if is.First != "" {
				c.doubt += " at " + is.First
			}
		}
	}
	for _, in := range s.Inputs {
		if !in.Complete && c.doubt == "" {
			c.doubt = in.Path + " ends early"
		}
	}
	r := judge.Judge(s, th)
	for _, f := range r.Findings {
		if f.Rule == rule.TooLittleWork || f.Rule == rule.NoGPUTime {
			c.empty = f.Title
		}
	}
	if a := r.Unusable(); a != nil {
		c.empty = a.Reason
	}
	switch d := r.Verdict.Doubt; {
	case d == nil:
	case d.OfCauses:
		c.cause = d.Reason
	case c.doubt == "":
		c.doubt, c.lost = d.Reason+" ("+d.Code+")", false
	}
	if c.empty == "" {
		c.empty = missing(s)
	}
	return c
}

// mostLost is the largest share of lost launches with which a capture is checked. It includes
// launches at the end of the capture that are overdue.
const mostLost = 0.05

// missing describes the launches without GPU work, or returns "" if they are at most one in a
// thousand of their kind. Launches at the end of a capture do not count, because their work ran
// after the measured windows.
func missing(s *summary.Summary) string {
	for _, r := range s.LaunchLosses {
		few := !r.OfKernels() && r.Missing < summary.FewCopies
		within, _ := r.InWindow()
		lost, calls := r.Lost()
		if !few && (within > r.Calls/1000 || float64(lost) > mostLost*float64(calls)) {
			return fmt.Sprintf("rank %d: %s have no device work (%s)", r.Rank, r.Text(), metric.WithoutKernels)
		}
	}
	return ""
}

func times(n int64) string {
	if n == 1 {
		return "once"
	}
	return unit.Count(n) + " times"
}

// parts returns the runs of a side.
func (s *side) parts() (list []comparability.Part) {
	for _, r := range s.runs {
		list = append(list, comparability.Part{Summary: r.Summary})
	}
	return list
}

// incomparable returns the reasons, or "", why runs of the two sides cannot be compared, why their
// sums cannot (the captures have different numbers of steps), and why their steps cannot (on one
// side they are ranges of the CPU).
func incomparable(reasons []comparability.Reason) (refusal, sums, defined string) {
	for _, r := range reasons {
		switch {
		case r.Level == comparability.Refuse || r.Code == comparability.OtherFormat || r.Code == comparability.HardwareUnknown:
			refusal = cmp.Or(refusal, r.Text())
		case r.Code == comparability.StepCount:
			sums = cmp.Or(sums, r.Text())
		case r.Code == comparability.StepDefinition:
			defined = cmp.Or(defined, r.Text())
		}
	}
	return refusal, sums, defined
}
