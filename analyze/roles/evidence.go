package roles

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay/analyze/clocks"
	"assay/internal/lazyregexp"
	"assay/summary"
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
func evidenceOf(s *summary.Summary, st step, tracks []*clocks.Track) *evidence {
	e := &evidence{of: map[string]map[string]*use{}}
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
			role := roleOf(s, i, u.Place, from)
			switch {
			case role == "" && why == "":
				why = summary.NoRole
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

// roleWords tell the role of a process or a node by its name.
var roleWords = []struct {
	role string
	in   func(string) bool
}{
	{summary.RoleReward, words(`reward|rm|judge|verifier|grader`)},
	{summary.RoleRollout, words(`rollouts?|generat(?:e|ion|or)|gen|infer(?:ence|er)?|vllm|sglang|sampler`)},
	{summary.RoleTrainer, words(`train(?:er|ing)?|learner|megatron|fsdp`)},
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
		for _, w := range roleWords {
			if w.in(path.Base(name)) || len(folders) > 1 && w.in(path.Base(path.Dir(name))) { // one folder is named after the job
				found[w.role] = true
			}
		}
		if !strings.Contains(path.Base(name), ".json") {
			found["log"] = true
		}
	}
	return len(found) > 1
}

func words(list string) func(string) bool {
	re := lazyregexp.New(`(?i)(^|[^a-z])(` + list + `)([^a-z]|$)`)
	return func(name string) bool { return re().MatchString(name) }
}

// roleOf returns the role of a place of an input, or "". Names of two roles tell none.
func roleOf(s *summary.Summary, input int, place, from string) string {
	name := below(s, input)
	if from == summary.FromServers {
		if roleWords[0].in(path.Base(name)) {
			return summary.RoleReward
		}
		return summary.RoleRollout
	}
	for _, text := range []string{place, path.Base(name), path.Dir(name)} {
		role, n := "", 0
		for _, w := range roleWords {
			if w.in(text) {
				role, n = w.role, n+1
			}
		}
		if n > 0 {
			return map[bool]string{true: role}[n == 1]
		}
	}
	if from == summary.FromTraces {
		return tracedRole(s, input)
	}
	return ""
}

// below returns the path of an input without the folders that all inputs are in: these are named after the job.
func below(s *summary.Summary, input int) string {
	slashed := func(i int) []string { return strings.Split(strings.ReplaceAll(s.Inputs[i].Path, `\`, "/"), "/") }
	parts := slashed(input)
	same := len(parts) - 1
	for i := range s.Inputs {
		other := slashed(i)
		n := 0
		for n < same && n < len(other)-1 && other[n] == parts[n] {
			n++
		}
		same = n
	}
	return strings.Join(parts[same:], "/")
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
