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

// judgedJob returns the longest job if its time is judged as a whole, or nil. Rules on single logs then leave its time
// to it.
func (e *Evaluator) judgedJob() *goodput.Job {
	if len(e.jobs) == 0 || e.logged.Issue(summary.StepsTooLong) != nil {
		return nil
	}
	j := e.jobs[0]
	if j.Steps+j.Lost == 0 || j.WallNS < restartedJob || len(j.Attempts) < 2 && j.WallNS < longJob {
		return nil
	}
	return j
}

// jobsByInput returns the jobs that have attempts in each input.
func jobsByInput(jobs []*goodput.Job) map[int][]*goodput.Job {
	of := map[int][]*goodput.Job{}
	for _, j := range jobs {
		for _, a := range j.Attempts {
			if list := of[a.Input]; len(list) == 0 || list[len(list)-1] != j {
				of[a.Input] = append(list, j)
			}
		}
	}
	return of
}

// mostlyLost reports whether a finding says that so much of the time of a job was lost that no part of a step is what
// limits it.
func mostlyLost(c *tree.Context, f finding.Finding) bool {
	return (f.Rule == rule.JobTimeLost || f.Rule == rule.Restarts) && f.Value >= c.Limits[rule.JobTimeLost].Critical
}

// JobSentence says how much of the time of the job is lost, if that is most of it, for a verdict on a trace of it.
func (e *Evaluator) JobSentence(list []finding.Finding) string {
	for _, f := range list {
		if mostlyLost(e.Context, f) {
			return fmt.Sprintf(". This is the trace; over all starts of the job, %s of its time is in no step that counts", percent(f.Value))
		}
	}
	return ""
}

// jobTimeLost reports the time of the longest job in which no step was done that counts.
func (e *Evaluator) jobTimeLost() (finding.Finding, bool) {
	j := e.judgedJob()
	if j == nil {
		return finding.Finding{}, false
	}
	rows := map[string]int64{}
	for _, p := range j.Losses() {
		rows[p.Name] = p.NS
	}
	a := j.Attempts[0]
	return findingOf(e.Evaluate(tree.Measured{Rule: rule.JobTimeLost, Part: j.WallNS - j.Goodput(), Of: j.WallNS,
		Words: map[string]string{"attempts": label.Plural(int64(len(j.Attempts)), "attempt")},
		Rows:  map[string]tree.Sums{"parts": {NS: rows, Of: j.WallNS}}, Lists: map[string][]string{"ended": endings(j)},
		Where: []finding.Place{{Input: a.Input, Rank: e.logged.Inputs[a.Input].Rank}}}))
}

// endings says after which step attempts of a job ended, and why.
func endings(j *goodput.Job) (out []string) {
	for _, a := range j.Attempts {
		if a.End != "" && a.End != summary.EndFinished && len(out) < finding.MostPlaces {
			text := "ended without a logged step"
			if a.Steps > 0 {
				text = "ended after step " + unit.Count(a.LastStep)
			}
			text += ": " + label.Clip(label.Clean(a.Reason), 60)
			if a.Rank != nil {
				text += fmt.Sprintf(", rank %d", *a.Rank)
			}
			out = append(out, text)
		}
	}
	return out
}

// restarts reports the steps that a job did again, if its time is not judged as a whole.
func (e *Evaluator) restarts() (best finding.Finding, found bool) {
	for _, j := range e.jobs {
		again := j.Part(summary.PartLost)
		f, limit, ok := rule.Measured(e.Limits[rule.Restarts], again, again+j.Goodput())
		if len(j.Attempts) < 2 || again+j.Goodput() <= 0 || j == e.judgedJob() || found && f.Value <= best.Value {
			continue
		}
		if !ok {
			f.Level = finding.Info
		}
		f.Title = fmt.Sprintf("Restarts: %d starts; steps done again take %s of step time (%s)", len(j.Attempts),
			unit.Share(again, again+j.Goodput()), unit.DurationOf(again, again+j.Goodput()))
		if ok && f.Level > finding.Info {
			f.Title += rule.Over(limit)
		}
		var starts []string
		for n, a := range j.Attempts[1:] {
			if len(starts) < finding.MostPlaces && a.Steps > 0 && j.Attempts[n].Steps > 0 {
				starts = append(starts, fmt.Sprintf("step %d after %d", a.LastStep-a.Steps+1, j.Attempts[n].LastStep))
			}
		}
		f.Evidence = []string{label.Plural(j.Lost, "step") + " done again"}
		if len(starts) > 0 {
			f.Evidence = append([]string{"starts at " + joined(starts)}, f.Evidence...)
		}
		f.Evidence = append(f.Evidence, endings(j)...)
		f.Next = []finding.Step{finding.Advise("find-why-it-ended"), finding.Advise("checkpoint-more-often")}
		f.Gain(again, again+j.Goodput(), "all steps")
		a := j.Attempts[0]
		f.Where = []finding.Place{{Input: a.Input, Rank: e.logged.Inputs[a.Input].Rank}}
		best, found = f, true
	}
	return best, found
}

// stalled judges the time between the steps of the attempts of a log, stalls included.
func (e *Evaluator) stalled(in *input) (finding.Finding, bool) {
	limits := e.Limits[rule.StalledSteps]
	s := in.longest(max(3, limits.MinEvents))
	if s == nil {
		return finding.Finding{}, false
	}
	var out, all int64
	for _, j := range e.jobsOf[in.index] {
		if j == e.judgedJob() {
			return finding.Finding{}, false
		}
		for _, a := range j.Attempts {
			if a.Input != in.index || a.StartNS == nil {
				continue
			}
			between := a.Part(summary.PartBetween) + a.Part(summary.PartStall)
			out, all = summary.Plus(out, between), summary.Plus(all, between+a.Part(summary.PartSteps)+
				a.Part(summary.PartEvaluation)+a.Part(summary.PartCheckpoint))
		}
	}
	for _, i := range s.starts { // a first record that stands for several steps has the time of the last
		first := &s.steps[i]
		all = summary.Plus(all, -times(first.WallNS, first.Covers()-1))
	}
	f, limit, ok := rule.Measured(limits, out, all)
	if !ok || out <= 0 {
		return f, false
	}
	f.Title = fmt.Sprintf("Between steps: %s of the time from the first step to the last (%s)", unit.Share(out, all),
		unit.DurationOf(out, all)) + rule.Over(limit)
	if largest, after := s.longestGap(); after >= 0 {
		f.Evidence = []string{fmt.Sprintf("longest: %s after %s; median step %s", unit.Duration(largest),
			s.steps[after].Name, duration(s.median))}
	}
	f.Next = []finding.Step{finding.Advise("read-the-log-there")}
	f.Gain(out, all, "the time from the first step to the last")
	return f, true
}
