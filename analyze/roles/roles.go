// Package roles divides the steps of reinforcement learning among the roles that take part: rollout, trainer and
// reward.
//
// [Join] makes the rows of a summary: from the timers of the trainer's log, and from the logs of rollout servers where
// these are on the same clock. [Tails] finds in the log of a server how the slowest sequences of a batch end.
package roles

import (
	"path"
	"slices"
	"strings"

	"assay/analyze/clocks"
	"assay/internal/lazyregexp"
	"assay/summary"
)

// groups has what each kind of a phase is for: the role that works in it, or the state of all roles.
var groups = map[string]string{"generation": summary.RoleRollout, "reward": summary.RoleReward,
	"training": summary.RoleTrainer, "log-probs": summary.RoleTrainer, "advantage": summary.RoleTrainer,
	"weight-sync": summary.RoleSyncs, "sleep-wake": summary.RoleSyncs, "evaluation": summary.RolePauses, "checkpoint": summary.RolePauses,
	"wait": summary.RoleWaits}

// A step is the time of the steps of one trainer by what it is for.
type step struct {
	input  int
	steps  int64
	ns     int64
	of     map[string]int64
	shared bool // the roles use the same GPUs in turn
	apart  bool // the trainer waits for rollouts that run on their own
}

// Join adds the rows of roles for each trainer of a summary. tracks has what is known of the clocks of inputs.
func Join(s *summary.Summary, tracks []*clocks.Track) {
	s.RoleTimes, s.RoleSteps = nil, nil
	for i := range s.Inputs {
		st, ok := stepOf(s, i)
		if ok {
			add(s, st, tracks)
		}
	}
}

// stepOf adds up the timers of a trainer. It returns false for other inputs, and if timers overlap: then it is unknown
// which of them another one hides.
func stepOf(s *summary.Summary, input int) (step, bool) {
	st := step{input: input, of: map[string]int64{}}
	producer, sum, learns := "", int64(0), false
	for _, p := range s.Phases {
		if p.Input == input && p.Source == summary.SourceLog && p.InSteps != nil && p.InSteps.StepNS > st.ns {
			st.ns, st.steps, producer = p.InSteps.StepNS, p.InSteps.Steps, p.Producer
		}
	}
	for _, p := range s.Phases {
		if p.Input != input || p.Source != summary.SourceLog || p.InSteps == nil || p.Producer != producer {
			continue
		}
		kind := kindOf(p.Path)
		st.of[groups[kind]] += p.InSteps.OwnNS
		st.shared = st.shared || kind == "sleep-wake" && p.InSteps.OwnNS > 0
		sum += p.InSteps.OwnNS
		if kind == "generation" || kind == "wait" {
			learns = true
			st.apart = st.apart || kind == "wait"
		}
	}
	return st, learns && st.of[summary.RoleTrainer] > 0 && st.steps >= 2 && sum <= st.ns+st.ns/50
}

// kindOf returns the innermost part of the path of a phase that is for a role.
func kindOf(path string) string {
	for _, name := range slices.Backward(strings.Split(path, "/")) {
		if groups[name] != "" {
			return name
		}
	}
	return ""
}

// add adds the rows of one trainer.
func add(s *summary.Summary, st step, tracks []*clocks.Track) {
	rest := st.ns
	for _, group := range []string{summary.RoleTrainer, summary.RoleRollout, summary.RoleReward, summary.RoleSyncs, summary.RolePauses, summary.RoleWaits} {
		rest -= st.of[group]
	}
	if st.of[""] = max(0, rest); rest < 0 { // rounding of timers
		st.ns -= rest
	}
	work := map[string]int64{summary.RoleTrainer: st.of[summary.RoleTrainer]}
	from := map[string]string{}
	if !st.apart {
		work[summary.RoleRollout] = st.of[summary.RoleRollout]
	}
	if ns := st.of[summary.RoleReward]; ns > st.ns/200 {
		work[summary.RoleReward] = ns
	}
	out := summary.RoleStep{Input: st.input, Steps: st.steps, StepNS: st.ns, Shared: st.shared}
	free := st.ns - st.of[summary.RoleSyncs] - st.of[summary.RolePauses] - st.of[""]
	for role, busy := range busyOf(s, st, tracks, &out) {
		// What servers generate during an evaluation is not for the trainer.
		ns := min(free, max(0, int64(busy*float64(st.ns))-st.of[summary.RolePauses]))
		work[role], from[role] = ns, "servers"
	}
	if _, ok := work[summary.RoleRollout]; !ok {
		if ns, ok := loggedRollout(s, st, free); ok {
			work[summary.RoleRollout] = ns
		}
	}
	longest := int64(-1)
	for _, role := range []string{summary.RoleRollout, summary.RoleTrainer, summary.RoleReward} {
		ns, ok := work[role]
		if !ok {
			continue
		}
		if ns > longest {
			longest, out.Critical = ns, role
		}
		row := func(state string, ns int64) {
			if ns > 0 {
				s.RoleTimes = append(s.RoleTimes, summary.RoleTime{Input: st.input, Role: role, State: state, NS: ns, From: from[role]})
			}
		}
		row(summary.RoleWorks, ns)
		row(summary.RoleWaits, free-ns)
		row(summary.RoleSyncs, st.of[summary.RoleSyncs])
		row(summary.RolePauses, st.of[summary.RolePauses])
		row(summary.RoleOther, st.of[""])
	}
	if rollout, ok := work[summary.RoleRollout]; ok {
		out.OverlapNS = max(0, rollout+work[summary.RoleTrainer]-free)
		out.PerfectNS = longest + st.ns - free
		s.RoleSteps = append(s.RoleSteps, out)
		return
	}
	s.RoleTimes = slices.DeleteFunc(s.RoleTimes, func(r summary.RoleTime) bool { return r.Input == st.input })
}

// loggedRollout returns how long an asynchronous rollout worked during the steps, as its program logged it.
func loggedRollout(s *summary.Summary, st step, free int64) (int64, bool) {
	for i := range s.Series {
		r := &s.Series[i]
		if r.Input != st.input || r.Pooled > 0 || r.N < 2 || r.Median == nil {
			continue
		}
		switch {
		case r.Metric == "rollout.time":
			return min(free, int64(*r.Median*float64(st.steps))), true
		case r.Metric == "rollout.idle" && *r.Median >= 0 && *r.Median <= 1:
			return int64((1 - *r.Median) * float64(free)), true
		}
	}
	return 0, false
}

var rewardName = lazyregexp.New(`(?i)(^|[^a-z])(reward|rm|judge|verifier|grader)([^a-z]|$)`)

// busyOf returns the share of the time of steps in which servers worked, by role: the mean over the servers.
func busyOf(s *summary.Summary, st step, tracks []*clocks.Track, out *summary.RoleStep) map[string]float64 {
	sums, n := map[string]float64{}, map[string]float64{}
	placed := clocks.Place(tracks)
	if st.input >= len(placed) {
		return nil
	}
	for i, p := range placed {
		if i == st.input {
			continue
		}
		share, ok := placed[st.input].BusyDuringSteps(p)
		if !ok {
			continue
		}
		role := summary.RoleRollout
		if rewardName().MatchString(path.Base(s.Inputs[i].Path)) {
			role = summary.RoleReward
		}
		sums[role], n[role] = sums[role]+share, n[role]+1
		out.Servers = append(out.Servers, i)
	}
	for role := range sums {
		sums[role] /= n[role]
	}
	return sums
}
