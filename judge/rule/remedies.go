package rule

import (
	"slices"
	"strings"

	"assay/judge/finding"
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

// entryOf returns the remedy of a step. That of an unknown id is empty.
func entryOf(s finding.Step) *remedyEntry { return builtIn().remedy(s.ID) }

// Text returns the action of a step as a sentence.
func Text(s finding.Step) string {
	text, filled := entryOf(s).Text, strings.Builder{}
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

// SourceOf returns the page that the action of a step comes from.
func SourceOf(s finding.Step) Source { return sourceNamed(entryOf(s).From) }

// sourceNamed returns the source of a name. That of an unknown name is empty.
func sourceNamed(name string) Source {
	i, ok := slices.BinarySearchFunc(builtInSources, name, func(s namedSource, name string) int { return strings.Compare(s.Name, name) })
	if !ok {
		return Source{}
	}
	return builtInSources[i].Source
}

// A setting is what decides which remedies apply to a capture, whatever the rule.
type setting struct {
	stacks []Stack
	nsys   bool // Nsight Systems recorded all inputs
	plain  bool // the program shows nothing of PyTorch

	doubtful bool // an issue of the capture makes its numbers doubtful
}

// SettingOf returns the setting of a summary with the stacks that it shows.
func SettingOf(s *summary.Summary, stacks []Stack) setting {
	others := func(st Stack) bool { return st.ID != "jax" }
	return setting{
		stacks:   stacks,
		doubtful: slices.ContainsFunc(s.Issues, func(is summary.Issue) bool { return is.Severity == "suspect" }),
		nsys:     OfNsys(s),
		plain:    len(s.Kernels) > 0 && !ofTorch(s) && !slices.ContainsFunc(stacks, others),
	}
}

// stepsFor returns the steps of a finding that apply: it replaces those for another
// profiler or for PyTorch, drops those for a stack if another one of its family is
// found, and adds those for the stacks that are found: first those if they are the more
// specific ones.
func (on setting) stepsFor(rule string, steps []finding.Step, stacksFirst bool) []finding.Step {
	var out, added []finding.Step
	for _, s := range steps {
		r := entryOf(s)
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
			added = append(added, finding.Step{ID: id})
		}
	}
	if stacksFirst {
		return finding.JoinSteps(added, out)
	}
	return finding.JoinSteps(out, added)
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
		one := Remedy{ID: id, Text: r.Text, Stacks: slices.Clone(r.With), Plain: plain[id], Nsys: nsys[id], Source: sourceNamed(r.From)}
		if r.Of != "" {
			one.Stacks = []string{r.Of}
		}
		out = append(out, one)
	}
	return out
}

// Complete sets what a finding has of its rule: confidence, how to confirm it, and the
// fixes that apply, those for stacks first if they are the more specific ones.
func (on setting) Complete(f *finding.Finding, stacksFirst bool) {
	page := builtIn().rule(f.Rule)
	if f.Confidence = page.Confidence; f.ToBeSure == nil {
		f.ToBeSure = slices.Clone(page.Sure)
	}
	if f.GainNS == nil && page.GainIsPart && f.DenominatorNS > 0 {
		f.Gain(f.NumeratorNS, f.DenominatorNS, page.Whole)
	}
	if on.doubtful && f.Confidence == finding.Certain && f.Rule != CaptureQuality {
		f.Confidence = finding.Likely
		f.ToBeSure = append(f.ToBeSure, "record again without the issues of severity suspect")
	}
	f.Next = on.stepsFor(f.Rule, f.Next, stacksFirst)
}
