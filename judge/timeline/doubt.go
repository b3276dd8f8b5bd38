package timeline

import (
	"cmp"
	"fmt"

	"assay/internal/unit"
	"assay/judge/capture"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// doubtful is the share of the window from which wrong or missing records make a verdict doubtful.
const doubtful = 0.1

// doubt says why the verdict on a timeline may be another one, or returns nil. The verdict is not
// withheld, because what was measured is true.
func doubt(c *Evaluator, v finding.Verdict) *finding.Doubt {
	for _, of := range []func(*Evaluator, finding.Verdict) *finding.Doubt{clippedRecords, lostWork, silentOperators, joinedCaptures, unknownCauses} {
		if d := of(c, v); d != nil {
			return d
		}
	}
	return nil
}

// clippedRecords doubts a verdict if records were made shorter by much of the window: nobody knows
// how long they ran.
func clippedRecords(c *Evaluator, _ finding.Verdict) *finding.Doubt {
	ns := int64(0)
	for _, in := range c.Inputs {
		ns = summary.Plus(ns, in.ClippedNS)
	}
	if float64(ns) < doubtful*float64(c.Total.Window()) {
		return nil
	}
	return &finding.Doubt{Code: "duration-overruns", Reason: fmt.Sprintf("Shares are uncertain: %s of impossible durations was cut off, in windows of %s",
		unit.Duration(ns), unit.Duration(c.Total.Window()))}
}

// lostWork doubts a verdict if so many kernels are missing that it is a finding, and they can have run
// during much of the window. A few copies are short.
func lostWork(c *Evaluator, _ finding.Verdict) *finding.Doubt {
	l := capture.LossOf(c.Summary)
	if l.OfKernels < c.Limits[rule.RecordsMissing].Warn || float64(l.Uncertain) < doubtful*float64(c.Judged.Window()) {
		return nil
	}
	return &finding.Doubt{Code: rule.RecordsMissing, Reason: fmt.Sprintf("Shares are uncertain: GPU work that was not recorded can have run during %s",
		c.OfWindow(l.Uncertain))}
}

// silentOperators doubts a verdict if operators that launch work elsewhere made no call for much of
// the window.
func silentOperators(c *Evaluator, _ finding.Verdict) *finding.Doubt {
	is := c.Issue(summary.OperatorsWithoutCalls)
	if is == nil {
		return nil
	}
	return &finding.Doubt{Code: is.Code, Reason: "Shares are uncertain: for a part of the window, operators have no CUDA or HIP call although they launch GPU work elsewhere"}
}

// joinedCaptures doubts a verdict on idle time if nearly every launch has the id of another one of its
// process: the file holds several captures, one after the other, and the time between them is idle time.
func joinedCaptures(c *Evaluator, v finding.Verdict) *finding.Doubt {
	if !capture.Joined(c.Summary) || 2*c.Judged.Idle() < c.Judged.Window() {
		return nil
	}
	return &finding.Doubt{Code: "correlation-ambiguous", Reason: "The time between several captures may count as idle: the numbers of launches begin again in the file"}
}

// unknownCauses doubts a verdict if the GPU is idle for unknown reasons for so long that the cost of
// launches, or another cause, may be over its limit: then the run is host-bound, although its idle time
// is within its own limit.
func unknownCauses(c *Evaluator, v finding.Verdict) *finding.Doubt {
	unknown, decided := int64(0), int64(0)
	for _, r := range c.Idle {
		if r.Owner == summary.OwnerUnknown {
			unknown = summary.Plus(unknown, r.NS)
		}
	}
	effect := "the run may be host-bound"
	switch {
	case v.Rule == rule.GPUIdle || v.Bound == finding.BoundUnknown:
		return nil
	case partOf(rule.GPUIdle).boundOf(c) == v.Bound:
		effect = "the share may be larger"
	case v.Bound == finding.BoundCommunication:
		decided = c.Judged.ExposedComm()
	case v.Bound == finding.BoundCopies:
		decided = c.Judged.ExposedCopy()
	}
	limit := int64(c.Limits[rule.LaunchBound].Warn * float64(c.Judged.Window()))
	idle := c.Judged.Idle()
	decides := v.Rule == "" && idle >= limit && idle-unknown < limit
	if unknown <= 0 || unknown < limit && !decides || idle < decided {
		return nil
	}
	d := &finding.Doubt{Code: summary.OwnerUnknown, OfCauses: true}
	why := ""
	if is := cmp.Or(c.Issue(summary.ClocksDiffer), c.Issue("launches-missing"), c.Issue("kernels-without-launch")); is != nil {
		d.Code, why = is.Code, " ("+is.Code+")"
	}
	d.Reason = fmt.Sprintf("Why the GPU is idle for %s is not known%s, so %s", c.OfWindow(unknown), why, effect)
	return d
}
