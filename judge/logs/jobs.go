package logs

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view/goodput"
)

// Jobs that are judged: those of several attempts from the shorter time on, others from the longer one, because
// start-up and compilation are most of a short run.
const (
	restartedJob = 10 * 60 * 1_000_000_000
	longJob      = 3600 * 1_000_000_000
)

// restarted reports whether an input has several attempts of a job that is judged as a whole. Then rules on single logs,
// which know restarts only by steps that go back, do not report the same time again.
func (e *Evaluator) restarted(in *input) bool {
	for _, j := range goodput.Of(e.logged) {
		n := 0
		for _, a := range j.Attempts {
			if a.Input == in.index {
				n++
			}
		}
		if n > 1 && j.WallNS >= restartedJob {
			return true
		}
	}
	return false
}

// jobTimeLost reports the time of the longest job in which no step was done that counts.
func (e *Evaluator) jobTimeLost() (finding.Finding, bool) {
	jobs := goodput.Of(e.logged)
	if len(jobs) == 0 || e.logged.Issue(summary.StepsTooLong) != nil {
		return finding.Finding{}, false
	}
	j := jobs[0]
	if j.WallNS < restartedJob || len(j.Attempts) < 2 && j.WallNS < longJob {
		return finding.Finding{}, false
	}
	rows := map[string]int64{}
	for _, p := range j.Losses() {
		rows[p.Name] = p.NS
	}
	var ended []string
	for _, a := range j.Attempts {
		if a.End != "" && a.End != summary.EndFinished && len(ended) < finding.MostPlaces {
			text := fmt.Sprintf("ended after step %s: %s", unit.Count(a.LastStep), label.Clip(label.Clean(a.Reason), 60))
			if a.Rank != nil {
				text += fmt.Sprintf(", rank %d", *a.Rank)
			}
			ended = append(ended, text)
		}
	}
	a := j.Attempts[0]
	return findingOf(e.Evaluate(tree.Measured{Rule: rule.JobTimeLost, Part: j.WallNS - j.Goodput(), Of: j.WallNS,
		Words: map[string]string{"attempts": label.Plural(int64(len(j.Attempts)), "attempt")},
		Rows:  map[string]tree.Sums{"parts": {NS: rows, Of: j.WallNS}}, Lists: map[string][]string{"ended": ended},
		Where: []finding.Place{{Input: a.Input, Rank: e.logged.Inputs[a.Input].Rank}}}))
}
