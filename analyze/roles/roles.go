// Package roles divides the steps of reinforcement learning among the roles that take part: rollout, trainer and
// reward.
//
// [Join] makes the rows of a summary: from the timers of the trainer's log or the phases of its trace, and from logs of
// servers, traces and monitors where these are on the same clock (evidence.go). [Tails] finds in the log of a server how the slowest sequences of a batch end.
package roles

import (
	"slices"
	"strings"

	"assay/analyze/clocks"
	"assay/summary"
	"assay/summary/view"
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
	placed bool // the settings say so, or that they do not
	apart  bool // the trainer waits for rollouts that run on their own
	traced bool // its trace shows the steps, which alone is no sign of reinforcement learning
}

// Join adds the rows of roles for each trainer of a summary: of logs, else of the first trace of a trainer. tracks has
// what is known of the clocks of inputs.
func Join(s *summary.Summary, tracks []*clocks.Track) {
	s.RoleTimes, s.RoleSteps = nil, nil
	servers, names := view.ServersOf(s), view.BelowCommon(s)
	for i := range s.Inputs {
		if st, ok := stepOf(s, i); ok {
			add(s, st, evidenceOf(s, st, tracks, servers, names))
		}
	}
	for i := range s.Inputs {
		if st, ok := tracedStep(s, i); ok && len(s.RoleSteps) == 0 {
			add(s, st, evidenceOf(s, st, tracks, servers, names))
		}
	}
}

// stepOf adds up the timers of a trainer. It returns false for other inputs, and if timers overlap: then it is unknown
// which of them another one hides.
func stepOf(s *summary.Summary, input int) (step, bool) {
	st := step{input: input, of: map[string]int64{}}
	if s.Issue(summary.StepsTooLong) != nil {
		return st, false // the times are in another unit
	}
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
	for i := range s.Settings {
		if set := &s.Settings[i]; set.Input == input && set.Name == "roles.colocated" && !set.Varies && !st.apart {
			st.placed, st.shared = true, set.Value == "true"
		}
	}
	st.shared = st.shared || !st.apart && !st.placed && sharedGPUs(s, input)
	return st, learns && st.of[summary.RoleTrainer] > 0 && st.steps >= 2 && sum <= st.ns+st.ns/50
}

// sharedGPUs reports whether a monitor shows that the same GPUs generate and train: of all of them, those in use in one
// phase and those in use in the other are more than there are.
func sharedGPUs(s *summary.Summary, input int) bool {
	const more = 1.1
	for i := range s.Monitored {
		m := &s.Monitored[i]
		if m.Beside != input || m.Metric != "gpu.util" || m.Place != "" || m.Phase != "generation" || m.Mean == nil || m.Samples < summary.MinSamples {
			continue
		}
		for k := range s.Monitored {
			o := &s.Monitored[k]
			if o.Input == m.Input && o.Beside == input && o.Metric == m.Metric && o.Place == "" && o.Phase == "training" && o.Mean != nil && o.Samples >= summary.MinSamples && *m.Mean+*o.Mean > more {
				return true
			}
		}
	}
	return false
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

// tracedStep adds up the phases within the steps of the trace of a trainer. GPUs that generate in some phase and train
// in another are shared.
func tracedStep(s *summary.Summary, input int) (step, bool) {
	st := step{input: input, of: map[string]int64{}, apart: true, traced: true}
	device := int64(summary.NoDevice)
	for i := range s.Steps {
		row := &s.Steps[i]
		if row.Input != input || row.Source == summary.SourceLog || row.Cut != "" || st.steps > 0 && row.Device != device {
			continue
		}
		device = row.Device
		st.steps, st.ns = st.steps+1, st.ns+row.WallNS
		for _, p := range row.Phases {
			group, ok := groups[p.Name]
			switch p.Name {
			case "forward", "loss", "backward", "optimizer":
				group, ok = summary.RoleTrainer, true
			case "generation":
				st.apart = false
			}
			if ok {
				st.of[group] += p.NS
			}
		}
	}
	for _, p := range s.Phases {
		if p.Input == input && p.Device == device && p.Source != summary.SourceLog && p.Path == "generation" {
			st.shared = p.Total.Compute() > 0
		}
	}
	return st, st.of[summary.RoleTrainer] > 0 && st.steps >= 2
}

// add adds the rows of one trainer. Without the time of the rollouts there are none, unless inputs were left out that
// may have it: then these are named.
func add(s *summary.Summary, st step, e *evidence) {
	rest := st.ns
	for _, group := range []string{summary.RoleTrainer, summary.RoleRollout, summary.RoleReward, summary.RoleSyncs, summary.RolePauses, summary.RoleWaits} {
		rest -= st.of[group]
	}
	if st.of[""] = max(0, rest); rest < 0 { // rounding of timers
		st.ns -= rest
	}
	free := st.ns - st.of[summary.RoleSyncs] - st.of[summary.RolePauses] - st.of[""]
	work := workOf(s, st, e, free)
	out := summary.RoleStep{Input: st.input, Steps: st.steps, StepNS: st.ns, Shared: st.shared, Apart: st.placed && !st.shared, LeftOut: e.left}
	rollout, ok := work[summary.RoleRollout]
	if !ok {
		if out.Shared = false; st.apart && len(e.left) > 0 && (!st.traced || e.missed) {
			s.RoleSteps = append(s.RoleSteps, out)
		}
		return
	}
	longest := int64(-1)
	for _, role := range []string{summary.RoleRollout, summary.RoleTrainer, summary.RoleReward} {
		w, ok := work[role]
		if !ok {
			continue
		}
		if w.ns > longest {
			longest, out.Critical = w.ns, role
		}
		if w.From == summary.FromServers {
			out.Servers = append(out.Servers, w.list...)
		}
		if w.places > 1 && w.most > uneven*w.share && role == summary.RoleRollout {
			out.Slowest, out.MeanNS = &w.last, int64(w.share*float64(st.ns))
		}
		sync := st.of[summary.RoleSyncs]
		wait := free - w.ns
		if role == summary.RoleReward { // it takes no part in weight sync
			wait, sync = wait+sync, 0
		}
		for _, state := range []struct {
			name string
			ns   int64
		}{{summary.RoleWorks, w.ns}, {summary.RoleWaits, wait}, {summary.RoleSyncs, sync},
			{summary.RolePauses, st.of[summary.RolePauses]}, {summary.RoleOther, st.of[""]}} {
			row := summary.RoleTime{Input: st.input, Role: role, State: state.name, NS: state.ns, From: w.From, Inputs: int64(len(w.list)), Covered: w.steps}
			if u := e.gpus(role); u != nil && state.name == summary.RoleWorks {
				row.InUseNS = ptr(int64(u.share * float64(st.ns)))
			}
			if row.NS > 0 || row.InUseNS != nil {
				s.RoleTimes = append(s.RoleTimes, row)
			}
		}
	}
	out.OverlapNS = max(0, rollout.ns+work[summary.RoleTrainer].ns-free)
	out.PerfectNS = longest + st.ns - free
	s.RoleSteps = append(s.RoleSteps, out)
}

// uneven is how many times as long as their mean one server works, so that it is named.
const uneven = 1.2

func ptr(ns int64) *int64 { return &ns }

// A worked is for how long a role worked in the steps, and what shows it.
type worked struct {
	ns int64
	use
}

// workOf returns for how long each role worked: by the timers of the trainer, and better by the logs of servers. GPUs
// show it only where no timer does: they may be idle within the work.
func workOf(s *summary.Summary, st step, e *evidence, free int64) map[string]worked {
	work := map[string]worked{summary.RoleTrainer: {ns: st.of[summary.RoleTrainer]}}
	if !st.apart {
		work[summary.RoleRollout] = worked{ns: st.of[summary.RoleRollout]}
	}
	if ns := st.of[summary.RoleReward]; ns > st.ns/200 {
		work[summary.RoleReward] = worked{ns: ns}
	}
	shown := func(role string, u *use) {
		// What servers generate during an evaluation is not for the trainer.
		work[role] = worked{min(free, max(0, int64(u.most*float64(st.ns))-st.of[summary.RolePauses])), *u}
	}
	for _, role := range []string{summary.RoleRollout, summary.RoleReward} {
		if u := e.of[role][summary.FromServers]; u != nil {
			shown(role, u)
		}
		if _, ok := work[role]; !ok && role == summary.RoleRollout {
			if ns, ok := loggedRollout(s, st, free); ok {
				work[role] = worked{ns: ns}
			}
		}
		if _, ok := work[role]; !ok {
			if u := e.gpus(role); u != nil {
				shown(role, u)
			}
		}
	}
	return work
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
