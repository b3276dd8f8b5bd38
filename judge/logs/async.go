package logs

import (
	"fmt"
	"strings"

	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// In asynchronous reinforcement learning two sides run in parallel: rollouts make samples, and the trainer
// takes them. The log of the trainer has its waiting instead of a generation; some programs log how long each side
// was idle, how old samples are and how many are ready.

// waits returns the ns of steps in which the trainer waited, with what it did during that, such as a weight sync.
func (in *input) waits() (ns int64) {
	for _, p := range in.phases {
		up, name := "", p.Path
		if i := strings.LastIndexByte(p.Path, '/'); i >= 0 {
			up, name = p.Path[:i], p.Path[i+1:]
		}
		if name == "wait" && kindOf(up) != "wait" {
			ns += inSteps(p)
		}
	}
	return min(in.stepNS, max(in.timeOf([]string{"wait"}), ns-in.overlapNS))
}

// inSteps returns the time of a phase, with nested phases, in the steps with which it is compared.
func inSteps(p summary.Phase) int64 {
	if p.InSteps != nil {
		return p.InSteps.NS
	}
	return max(0, p.HostNS-p.OutsideNS)
}

// sides describes the two sides by what the program logged about them.
func (in *input) sides() (out []string) {
	for _, t := range []struct{ metric, text string }{
		{"trainer.idle", "trainer idle: median %s of its time"}, {"rollout.idle", "rollouts idle: median %s of their time"},
		{"rollout.time", "rollout: median %s"}, {"rollout.staleness", "staleness of samples: median %s steps"},
		{"rollout.queue", "samples ready for the trainer: median %s"},
	} {
		if r := in.metric(t.metric, ""); len(r) > 0 && r[0].Median != nil {
			out = append(out, fmt.Sprintf(t.text, unit.Value(*r[0].Median, r[0].Unit)))
		}
	}
	return out
}

// rolloutsWait judges how long rollouts wait for the trainer.
func (e *Evaluator) rolloutsWait(in *input) (finding.Finding, bool) {
	limits := e.Limits[rule.RolloutsWait]
	rows := in.metric("rollout.idle", "")
	if len(rows) == 0 || rows[0].N < max(2, limits.MinEvents) || *rows[0].Median > 1 {
		return finding.Finding{}, false
	}
	f, limit, ok := e.measured(rule.RolloutsWait, *rows[0].Median)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("Rollouts wait for the trainer: %s of their time (median of %s values)", percent(f.Value),
		unit.Count(rows[0].N)) + rule.Over(limit)
	f.Evidence = in.sides()
	f.Next = []finding.Step{finding.Advise("speed-up-the-trainer"), finding.Advise("loosen-both-sides")}
	return f, true
}
