package judge

import (
	"maps"
	"slices"
	"strings"

	"assay/summary"
)

// A Source is the guide or page of documentation that a remedy comes from.
type Source struct {
	Title string `json:"title" yaml:"title"`
	URL   string `json:"url" yaml:"url"` // or a path in a repository
}

// A namedSource is an entry of rules/sources.yaml.
type namedSource struct {
	Name   string
	Source `yaml:",inline"`
}

// A Remedy is one action as a page shows it.
type Remedy struct {
	ID     string   `json:"id"`
	Text   string   `json:"text"`             // the rule fills in words in braces
	Stacks []string `json:"stacks,omitempty"` // given only if one of these is found, or none of its family
	Plain  bool     `json:"plain,omitempty"`  // given only if the capture shows a program without PyTorch
	Nsys   bool     `json:"nsys,omitempty"`   // given only if Nsight Systems recorded all inputs
	Source Source   `json:"source"`
}

// A remedyEntry is a remedy as the entry of its rule has it. The yaml names are its
// keys; docs/adding-a-rule.md describes them.
type remedyEntry struct {
	ID    string
	Text  string   `yaml:"text"`
	From  string   `yaml:"from"` // the name of a source
	Of    string   `yaml:"of"`
	With  []string `yaml:"with"`
	Nsys  string   `yaml:"nsys"`
	Plain string   `yaml:"plain"`
}

// noRemedy is the value of [remedyEntry.Plain] if nothing replaces the remedy.
const noRemedy = "none"

// replacements returns the ids of the remedies that replace r in some captures.
func (r *remedyEntry) replacements() (out []string) {
	for _, id := range []string{r.Nsys, r.Plain} {
		if id != "" && id != noRemedy {
			out = append(out, id)
		}
	}
	return out
}

// A Step is one action that a finding recommends: a remedy, and the words that
// fill in its blanks.
type Step struct {
	ID   string            `json:"id"`
	Args map[string]string `json:"args,omitempty"` // by blank
}

// advise returns the step of a remedy. Fill has pairs of a blank of its text and the
// word that fills it in.
func advise(id string, fill ...string) Step {
	s := Step{ID: id}
	for i := 0; i+1 < len(fill); i += 2 {
		if s.Args == nil {
			s.Args = map[string]string{}
		}
		s.Args[fill[i]] = fill[i+1]
	}
	return s
}

// entry returns the remedy of a step. That of an unknown id is empty.
func (s Step) entry() *remedyEntry { return builtIn().remedy(s.ID) }

// Text returns the action as a sentence.
func (s Step) Text() string {
	text, filled := s.entry().Text, strings.Builder{}
	for {
		before, rest, _ := strings.Cut(text, "{")
		filled.WriteString(before)
		word, after, ok := strings.Cut(rest, "}")
		if !ok {
			return filled.String()
		}
		filled.WriteString(s.Args[word])
		text = after
	}
}

// Source returns the page that the action comes from.
func (s Step) Source() Source { return sourceOf(s.entry().From) }

// sourceOf returns the source of a name. That of an unknown name is empty.
func sourceOf(name string) Source {
	i, ok := slices.BinarySearchFunc(builtInSources, name, func(s namedSource, name string) int { return strings.Compare(s.Name, name) })
	if !ok {
		return Source{}
	}
	return builtInSources[i].Source
}

func (s Step) equal(other Step) bool { return s.ID == other.ID && maps.Equal(s.Args, other.Args) }

// joinSteps returns the steps of all lists in their order, each of them once.
func joinSteps(lists ...[]Step) (out []Step) {
	for _, list := range lists {
		for _, s := range list {
			if !slices.ContainsFunc(out, s.equal) {
				out = append(out, s)
			}
		}
	}
	return out
}

// A setting is what decides which remedies apply to a capture, whatever the rule.
type setting struct {
	stacks []Stack
	nsys   bool // Nsight Systems recorded all inputs
	plain  bool // the program shows nothing of PyTorch
}

// settingOf returns the setting of a summary with the stacks that it shows.
func settingOf(s *summary.Summary, stacks []Stack) setting {
	c := evaluator{Summary: s}
	others := func(st Stack) bool { return st.ID != "jax" }
	return setting{
		stacks: stacks,
		nsys:   c.ofNsys(),
		plain:  len(s.Kernels) > 0 && !c.ofTorch() && !slices.ContainsFunc(stacks, others),
	}
}

// stepsFor returns the steps of a finding that apply: it replaces those for another
// profiler or for PyTorch, drops those for a stack if another one of its family is
// found, and adds those for the stacks that are found. The added ones come first if
// the rule is about phases, because their advice is the more specific one.
func (on setting) stepsFor(rule string, steps []Step) []Step {
	var out, added []Step
	for _, s := range steps {
		r := s.entry()
		if r.Of != "" && other(r.Of, on.stacks) {
			continue
		}
		if on.nsys && r.Nsys != "" {
			s.ID = r.Nsys
		}
		if on.plain && r.Plain != "" {
			s.ID = r.Plain
		}
		if s.ID != noRemedy {
			out = append(out, s)
		}
	}
	entry := builtIn().rule(rule)
	for _, id := range builtIn().withStack {
		with := builtIn().remedy(id).With
		found := slices.ContainsFunc(on.stacks, func(st Stack) bool { return slices.Contains(with, st.ID) })
		if found && entry.lists(id) {
			added = append(added, Step{ID: id})
		}
	}
	if isOfPhases(rule) {
		return joinSteps(added, out)
	}
	return joinSteps(out, added)
}

// remediesOf returns the remedies that findings of a rule may give, by id.
func remediesOf(rule string) (out []Remedy) {
	book := builtIn()
	plain, nsys := map[string]bool{}, map[string]bool{}
	for _, r := range book.remedies {
		plain[r.Plain], nsys[r.Nsys] = true, true
	}
	for _, id := range book.given(rule) {
		r := book.remedy(id)
		one := Remedy{ID: id, Text: r.Text, Stacks: slices.Clone(r.With), Plain: plain[id], Nsys: nsys[id], Source: sourceOf(r.From)}
		if r.Of != "" {
			one.Stacks = []string{r.Of}
		}
		out = append(out, one)
	}
	return out
}
