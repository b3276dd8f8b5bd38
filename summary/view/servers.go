package view

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"assay/internal/lazyregexp"
	"assay/summary"
)

// roleWords tell the role of a process or a node by its name.
var roleWords = []struct {
	role string
	in   func(string) bool
}{
	{summary.RoleReward, words(`reward|rm|gen-?rm|grm|prm|orm|judge|verifier|grader`)},
	{summary.RoleScores, words(`ref|reference|teacher|critic|scor(?:e|er|ing)|embed(?:der|ding|dings)?|log-?probs?`)},
	{summary.RoleRollout, words(`rollouts?|generat(?:e|ion|or)|gen|infer(?:ence|er)?|vllm|sglang|sampler`)},
	{summary.RoleTrainer, words(`train(?:er|ing)?|learner|megatron|fsdp`)},
}

func words(list string) func(string) bool {
	re := lazyregexp.New(`(?i)(^|[^a-z])(` + list + `)([^a-z]|$)`)
	return func(name string) bool { return re().MatchString(name) }
}

// programs are the words that name the program of a server, whatever its role is.
var programs = lazyregexp.New(`(?i)vllm|sglang|infer(?:ence|er)?|generat(?:e|ion|or)[-_ ]?server`)

// RolesNamed returns the roles that a name tells, in the order of the table.
func RolesNamed(name string) (roles []string) {
	for _, w := range roleWords {
		if w.in(name) {
			roles = append(roles, w.role)
		}
	}
	return roles
}

// Servers are the inference servers whose logs are inputs, and what their roles are in a job of reinforcement learning.
type Servers struct {
	s        *summary.Summary
	settings map[int]map[string]string // by input and name; without those that vary
	clocks   map[int]*summary.Clock
	metrics  map[int]*requests
	stated   map[string]map[string]bool // the models that trainers name: the last part of each, by the name of the setting
	roles    map[int]string
	learns   bool
	mixed    bool // there are rollouts or a trainer beside servers of other roles
}

// requests are what the log of a server says of its requests.
type requests struct {
	serves, trains, speculates, transfers bool
	prompts, generates, stated            bool
}

// ServersOf finds the servers among the inputs. The role of each follows from its name, its requests, and the models that
// the trainer names. If all servers without such a sign have equal names and models, they are rollouts.
func ServersOf(s *summary.Summary) *Servers {
	v := &Servers{s: s, settings: map[int]map[string]string{}, clocks: map[int]*summary.Clock{}, metrics: map[int]*requests{},
		stated: map[string]map[string]bool{}, roles: map[int]string{}, learns: len(s.RoleSteps) > 0}
	v.read()
	below := BelowCommon(s)
	kinds := map[string]bool{}
	for input, m := range v.metrics {
		if !m.serves || m.trains || input >= len(below) {
			continue
		}
		v.roles[input] = v.told(input, below[input])
		switch v.roles[input] {
		case "":
			kinds[v.kind(input)] = true
		case summary.RoleReward, summary.RoleScores:
			v.learns = true
		}
	}
	v.mixed = len(s.RoleSteps) > 0
	for input, role := range v.roles {
		if role == "" && len(kinds) == 1 {
			v.roles[input] = summary.RoleRollout
		}
		v.mixed = v.mixed || v.roles[input] == summary.RoleRollout
	}
	return v
}

// read collects settings, clocks and metrics by input.
func (v *Servers) read() {
	for i := range v.s.Settings {
		r := &v.s.Settings[i]
		if r.Varies || r.Name == "" {
			continue
		}
		if v.settings[r.Input] == nil {
			v.settings[r.Input] = map[string]string{}
		}
		v.settings[r.Input][r.Name] = r.Value
		if v.stated[r.Name] == nil {
			v.stated[r.Name] = map[string]bool{}
		}
		v.stated[r.Name][path.Base(r.Value)] = true
	}
	for i := range v.s.Clocks {
		v.clocks[v.s.Clocks[i].Input] = &v.s.Clocks[i]
	}
	const leastLines = 10
	for i := range v.s.Series {
		r := &v.s.Series[i]
		m := v.metrics[r.Input]
		if m == nil {
			m = &requests{}
			v.metrics[r.Input] = m
		}
		kind, _, _ := strings.Cut(r.Metric, ".")
		m.serves = m.serves || kind == "requests"
		m.trains = m.trains || kind == "step" || kind == "train"
		m.speculates = m.speculates || kind == "spec"
		some := r.Max != nil && *r.Max > 0
		switch r.Metric {
		case "throughput.output_tokens":
			m.stated, m.generates = true, m.generates || some
		case "throughput.input_tokens":
			m.prompts = m.prompts || some && r.N >= leastLines
		case "requests.inflight", "requests.prealloc", "requests.transfer":
			m.transfers = true // of a service whose prefill servers do not generate
		}
	}
}

// Role returns the role of the server of an input; "" if it is unknown, or the input is no log of a server.
func (v *Servers) Role(input int) string { return v.roles[input] }

// Other returns the role of a server next to a trainer or rollouts, if it is known and not that of a rollout.
func (v *Servers) Other(input int) string {
	if role := v.roles[input]; v.mixed && role != summary.RoleRollout {
		return role
	}
	return ""
}

// told returns the role of a server by its own evidence, or "".
func (v *Servers) told(input int, name string) string {
	for _, text := range []string{path.Base(name), path.Dir(name)} {
		text = programs().ReplaceAllString(text, "server")
		roles := slices.DeleteFunc(RolesNamed(text), func(role string) bool { return role == summary.RoleTrainer })
		switch {
		case len(roles) == 0:
			continue
		case len(roles) == 1, len(roles) == 2 && roles[1] == summary.RoleRollout && !strings.Contains(strings.ToLower(text), "rollout"):
			return roles[0] // a generative reward model generates, too
		}
		return ""
	}
	set := v.settings[input]
	model := path.Base(set["engine.model"])
	judges, trained := v.stated["reward.model"][model], v.stated["train.model"][model]
	switch m := v.metrics[input]; {
	case judges && !trained:
		return summary.RoleReward
	case set["engine.embeds"] == "true" || pooling[set["engine.pooling"]] || m.prompts && m.stated && !m.generates && !m.transfers:
		return summary.RoleScores
	case trained && !judges:
		return summary.RoleRollout
	}
	return ""
}

// pooling are the tasks of vLLM that return no text.
var pooling = map[string]bool{"pooling": true, "reward": true, "score": true, "embed": true, "embedding": true, "classify": true}

// kind returns what servers of one role have in common: the model, and the name of the log without numbers. Those of
// prefill and decode are one service.
func (v *Servers) kind(input int) string {
	base := path.Base(filepath.ToSlash(v.s.Inputs[input].Path))
	parts := strings.FieldsFunc(base, func(c rune) bool { return strings.ContainsRune("-_. ", c) })
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "prefill" || p == "decode" || strings.ContainsAny(p, "0123456789") })
	return strings.ToLower(strings.Join(parts, " ")) + "\x00" + v.settings[input]["engine.model"]
}

// Same reports whether the logs of two inputs may be of replicas of one service. Servers with different settings, of
// which only one speculates, or that ran one after the other, are compared with each other, not added up. In
// reinforcement learning both must be known to have one role.
func (v *Servers) Same(a, b int) bool {
	if v.learns && (v.roles[a] == "" || v.roles[a] != v.roles[b]) {
		return false
	}
	if m, o := v.metrics[a], v.metrics[b]; m != nil && o != nil && m.speculates != o.speculates {
		return false
	}
	for name, value := range v.settings[a] {
		if other, stated := v.settings[b][name]; stated && other != value {
			return false
		}
	}
	x, y := v.clocks[a], v.clocks[b]
	return x == nil || y == nil || x.Frame == "" || x.Frame != y.Frame || *x.FirstNS <= *y.LastNS && *y.FirstNS <= *x.LastNS
}

// BelowCommon returns the paths of the inputs without the folders that all of them are in: these are named after the
// job.
func BelowCommon(s *summary.Summary) []string {
	paths := make([][]string, len(s.Inputs))
	same := 0
	for i := range s.Inputs {
		paths[i] = strings.Split(strings.ReplaceAll(s.Inputs[i].Path, `\`, "/"), "/")
		n, most := 0, len(paths[i])-1
		if i > 0 {
			most = min(most, same)
		}
		for n < most && paths[i][n] == paths[0][n] {
			n++
		}
		same = n
	}
	out := make([]string, len(paths))
	for i, parts := range paths {
		out[i] = strings.Join(parts[same:], "/")
	}
	return out
}
