package logs

import (
	"fmt"

	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// roleSteps has the rules on the roles of a step.
type roleSteps struct{ *Evaluator }

// inTurn returns the steps of the first trainer whose roles work one after the other, and for how long each works. It
// returns nil if they overlap, or if the states of a role do not add up to the steps.
func (e roleSteps) inTurn() (st *summary.RoleStep, work map[string]int64) {
	for i := range e.logged.RoleSteps {
		if st = &e.logged.RoleSteps[i]; st.Critical != "" {
			break
		}
	}
	if st == nil || st.Critical == "" || st.Steps == 0 || st.OverlapNS >= st.StepNS/50 || e.logged.Issue(summary.StepsTooLong) != nil {
		return nil, nil
	}
	sums := map[string]int64{}
	work = map[string]int64{}
	for _, r := range e.logged.RoleTimes {
		if r.Input == st.Input {
			sums[r.Role] += r.NS
			if r.State == summary.RoleWorks {
				work[r.Role] = r.NS
			}
		}
	}
	for _, ns := range sums {
		if ns != st.StepNS {
			return nil, nil
		}
	}
	return st, work
}

// rolesInTurn reports the time that steps would save if their roles worked at the same time. Roles that share GPUs
// cannot; if their GPUs are unknown, the finding is for information.
func (e roleSteps) rolesInTurn() (finding.Finding, bool) {
	st, work := e.inTurn()
	if st == nil || st.Shared || work[summary.RoleTrainer] == 0 || work[summary.RoleRollout] == 0 {
		return finding.Finding{}, false
	}
	var roles []string
	for _, role := range []string{summary.RoleRollout, summary.RoleTrainer, summary.RoleReward} {
		if ns := work[role]; ns > 0 {
			roles = append(roles, fmt.Sprintf("%s works %s of a step", role, unit.Duration(ns/st.Steps)))
		}
	}
	f, ok := findingOf(e.Evaluate(tree.Measured{Rule: rule.RolesInTurn, Part: st.StepNS - st.PerfectNS, Of: st.StepNS,
		Words: map[string]string{"mean": unit.Duration(st.StepNS / st.Steps), "perfect": unit.Duration(st.PerfectNS / st.Steps), "longest": st.Critical},
		Lists: map[string][]string{"roles": roles}, Where: e.trainerOf(st)}))
	f.Gain(st.StepNS-st.PerfectNS, st.StepNS, "total step time")
	if !st.Apart {
		f.Level = min(f.Level, finding.Info)
	}
	return f, ok
}

// rolloutTail reports the time in which a step waits for the last 5% of its sequences. The server with the shortest tail
// decides: in its time all servers have few sequences left.
func (e roleSteps) rolloutTail() (finding.Finding, bool) {
	st, work := e.inTurn()
	if st == nil || len(st.Servers) == 0 {
		return finding.Finding{}, false
	}
	tails := map[int]summary.RoleTail{}
	for _, t := range e.logged.RoleTails {
		tails[t.Input] = t
	}
	least, batches := 1.0, int64(0)
	for _, input := range st.Servers {
		if e.roles.Role(input) != summary.RoleRollout {
			continue
		}
		t, known := tails[input]
		if !known || t.TotalNS <= 0 {
			return finding.Finding{}, false
		}
		if share := float64(t.TailNS) / float64(t.TotalNS); batches == 0 || share < least {
			least, batches = share, t.Batches
		}
	}
	tail := int64(least * float64(work[summary.RoleRollout]))
	if batches == 0 || tail <= 0 {
		return finding.Finding{}, false
	}
	f, ok := findingOf(e.Evaluate(tree.Measured{Rule: rule.RolloutTail, Part: tail, Of: st.StepNS, Where: e.trainerOf(st),
		Words: map[string]string{"mean": unit.Duration(st.StepNS / st.Steps), "cut": unit.Duration((st.StepNS - tail) / st.Steps), "batches": unit.Count(batches),
			"generation": unit.Share(tail, work[summary.RoleRollout])}}))
	f.Gain(tail, st.StepNS, "total step time")
	return f, ok
}

// trainerOf returns the log of the trainer as a place.
func (e roleSteps) trainerOf(st *summary.RoleStep) []finding.Place {
	return []finding.Place{{Input: st.Input, Rank: e.logged.Inputs[st.Input].Rank}}
}
