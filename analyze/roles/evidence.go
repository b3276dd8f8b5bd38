package roles

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay/analyze/clocks"
	"assay/summary"
	"assay/summary/view"
)

// A use is the share of the time of steps for which a role worked: that of the server or GPU that worked longest, which
// the trainer waits for, and the mean.
type use struct {
	From   string
	most   float64
	share  float64 // mean
	last   int     // input that worked longest
	places float64
	steps  int64 // the steps that all of them cover
	list   []int // inputs
}

// The evidence of a trainer is what other inputs show of the roles in its steps.
type evidence struct {
	of   map[string]map[string]*use // by role and by what shows it
	left []summary.RoleLeftOut

	servers *view.Servers
	names   []string // of the inputs, below the folder of all

	missed bool // an input of rollouts is left out
}

// gpus returns what the GPUs of a role show, or nil: monitors before traces, which are short. GPUs of the trainer are
// its own only if those of the rollouts are others: a monitor of all GPUs may be named after the training.
func (e *evidence) gpus(role string) *use {
	if role == summary.RoleTrainer && e.gpus(summary.RoleRollout) == nil {
		return nil
	}
	if u := e.of[role][summary.FromMonitors]; u != nil {
		return u
	}
	return e.of[role][summary.FromTraces]
}

// evidenceOf finds what servers, traces and monitors show of the steps of a trainer.
func evidenceOf(s *summary.Summary, st step, tracks []*clocks.Track, servers *view.Servers, names []string) *evidence {
	e := &evidence{of: map[string]map[string]*use{}, servers: servers, names: names}
	placed := clocks.Place(s, tracks)
	if st.input >= len(placed) {
		return e
	}
	for i, p := range placed {
		from := p.Kind()
		if i == st.input || i >= len(s.Inputs) || from == "" || st.shared && from != summary.FromServers {
			continue
		}
		uses, why := placed[st.input].UsesDuringSteps(p)
		if len(uses) == 0 {
			uses = []clocks.Use{{}} // it counts if its name tells a role
		}
		for _, u := range uses {
			role := e.roleOf(s, i, u.Place, from)
			switch {
			case role == "" && why == "":
				why = summary.NoRole
			case role == summary.RoleScores && why == "":
				why = summary.OtherRole
			case from == summary.FromServers && why == "" && st.less(role, u.Share):
				why = summary.ServesOthers
			case role != "" && why == "":
				e.add(role, from, i, u)
			}
			e.missed = e.missed || why != "" && role == summary.RoleRollout
			// GPUs that have no role, or are those of all, are not missed where the timers tell.
			if why != "" && (role != "" || st.apart) && !slices.Contains(e.left, summary.RoleLeftOut{Input: i, Why: why}) {
				e.left = append(e.left, summary.RoleLeftOut{Input: i, Why: why})
			}
		}
	}
	return e
}

// less reports whether the timers of the trainer state less time of a role than a server works. Then the server has
// requests of others too.
func (st *step) less(role string, share float64) bool {
	stated := st.of[role]
	const off = 0.05 // of the step: times of lines are those of batches
	return !st.apart && stated > st.ns/200 && share > float64(stated+st.of[summary.RolePauses])/float64(st.ns)+off
}

// add adds the use of a server or a GPU to a role.
func (e *evidence) add(role, from string, input int, u clocks.Use) {
	if e.of[role] == nil {
		e.of[role] = map[string]*use{}
	}
	to := e.of[role][from]
	if to == nil {
		to = &use{From: from, steps: u.Steps}
		e.of[role][from] = to
	}
	to.share = (to.share*to.places + u.Share) / (to.places + 1)
	if u.Share > to.most || to.places == 0 {
		to.most, to.last = u.Share, input
	}
	to.places++
	to.steps = min(to.steps, u.Steps)
	if !slices.Contains(to.list, input) {
		to.list = append(to.list, input)
	}
}

// Named reports whether the names of inputs may tell several roles: of two, or of one beside a log or a monitor, which may
// show another.
func Named(paths []string) bool {
	found, folders := map[string]bool{}, map[string]bool{}
	for _, name := range paths {
		folders[filepath.Dir(name)] = true
	}
	for _, name := range paths {
		name = filepath.ToSlash(name)
		roles := view.RolesNamed(path.Base(name))
		if len(folders) > 1 { // one folder is named after the job
			roles = append(roles, view.RolesNamed(path.Base(path.Dir(name)))...)
		}
		for _, role := range roles {
			found[role] = role != summary.RoleScores
		}
		delete(found, summary.RoleScores)
		if !strings.Contains(path.Base(name), ".json") {
			found["log"] = true
		}
	}
	return len(found) > 1
}

// roleOf returns the role of a place of an input, or "". Names of two roles tell none.
func (e *evidence) roleOf(s *summary.Summary, input int, place, from string) string {
	if from == summary.FromServers {
		return e.servers.Role(input)
	}
	name := e.names[input]
	for _, text := range []string{place, path.Base(name), path.Dir(name)} {
		roles := slices.DeleteFunc(view.RolesNamed(text), func(role string) bool { return role == summary.RoleScores })
		if len(roles) > 0 {
			return map[bool]string{true: roles[0]}[len(roles) == 1]
		}
	}
	if from == summary.FromTraces {
		return tracedRole(s, input)
	}
	return ""
}

// tracedRole returns the role of a trace by its phases, or "" if it has those of several roles or none.
func tracedRole(s *summary.Summary, input int) string {
	roles := map[string]bool{}
	for _, p := range s.Phases {
		if p.Input != input || p.Source == summary.SourceLog {
			continue
		}
		switch p.Name() {
		case "generation", "prefill", "decode", "mixed":
			roles[summary.RoleRollout] = true
		case "training", "backward", "optimizer":
			roles[summary.RoleTrainer] = true
		}
	}
	for role := range roles {
		if len(roles) == 1 {
			return role
		}
	}
	return ""
}
