package rule

import (
	"cmp"
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

// A Remedy is one action as the [Page] of a rule shows it.
type Remedy struct {
	ID     string   `json:"id"`
	Text   string   `json:"text"`             // words in braces are arguments of the finding
	Stacks []string `json:"stacks,omitempty"` // given only if one of these is found, or none of its family
	Plain  bool     `json:"plain,omitempty"`  // given only if the capture shows a program without PyTorch
	Nsys   bool     `json:"nsys,omitempty"`   // given only if Nsight Systems recorded all inputs
	When   When     `json:"when,omitempty"`   // the whole condition; the three fields above say its usual terms
	Source Source   `json:"source"`
}

// A remedyEntry is a remedy in the entry of its rule. The yaml names are its keys;
// docs/adding-a-rule.md describes them.
type remedyEntry struct {
	ID   string
	Text string `yaml:"text"`
	From string `yaml:"from"` // the name of a source
	When When   `yaml:"when"` // condition on the run
	Else string `yaml:"else"` // the remedy to give if the condition is false; "" for none
}

// entryOf returns the remedy of a step, or an empty entry if its id is unknown.
func entryOf(s finding.Step) *remedyEntry { return builtIn().remedy(s.ID) }

// Defines reports whether the entry of a rule defines a remedy.
func Defines(id, remedy string) bool {
	return slices.ContainsFunc(builtIn().rule(id).Remedies, func(r *remedyEntry) bool { return r.ID == remedy })
}

// Replaces reports whether a remedy takes the place of one whose condition is false.
func Replaces(remedy string) bool {
	for _, r := range builtIn().remedies {
		if r.Else == remedy {
			return true
		}
	}
	return false
}

// Text returns the action of a step as a sentence.
func Text(s finding.Step) string { return wordings()[s.Args[maker]].of(Fill(entryOf(s).Text, s.Args)) }

// SourceOf returns the page that the action of a step comes from.
func SourceOf(s finding.Step) Source { return sourceNamed(entryOf(s).From) }

// sourceNamed returns the source of a name, or an empty one if the name is unknown.
func sourceNamed(name string) Source {
	i, ok := slices.BinarySearchFunc(builtInSources, name,
		func(s namedSource, name string) int { return strings.Compare(s.Name, name) })
	if !ok {
		return Source{}
	}
	return builtInSources[i].Source
}

// A setting decides which remedies apply to a run, for all rules. Facts has those that were needed.
type setting struct {
	run      *summary.Summary
	stacks   []Stack
	facts    Facts
	doubtful bool // an issue of the capture makes its numbers doubtful
}

// SettingOf returns the setting of a summary; stacks is the software that it shows.
func SettingOf(s *summary.Summary, stacks []Stack) setting {
	return setting{
		run: s, stacks: stacks, facts: Facts{},
		doubtful: slices.ContainsFunc(s.Issues, func(is summary.Issue) bool { return is.Severity == "suspect" }),
	}
}

// meets reports whether a condition is true for the run.
func (on setting) meets(when When) bool {
	for _, t := range when.Terms() {
		if _, known := on.facts[t.Word]; !known && !OfEvidence(t.Word) {
			on.facts[t.Word] = ValueOf(t.Word, on.run, on.stacks)
		}
	}
	return when.Matches(on.facts)
}

// allows reports whether a remedy may be given for the run: its condition is true for it and for the evidence, whose
// facts are shown, it is no advice on PyTorch's profiler for what another one recorded, and it names nothing that
// the devices do not have.
func (on setting) allows(r *remedyEntry, shown []string) bool {
	for _, t := range r.When.Terms() {
		if OfEvidence(t.Word) && slices.Contains(shown, t.fact()) == t.Not {
			return false
		}
	}
	return on.meets(r.When) && (r.From != "torch-profiler" || on.meets("!xla,!rocm,!unitrace")) && !on.foreign(r.Text)
}

// stepsFor returns the steps of a finding that apply to the run, and the steps that its rule gives
// for every finding. GivenFirst puts the latter first, if they are more specific.
func (on setting) stepsFor(rule string, steps []finding.Step, givenFirst bool) []finding.Step {
	var out, given []finding.Step
	for _, s := range steps {
		for s.ID != "" && !on.allows(entryOf(s), s.Shown) {
			s.ID = entryOf(s).Else
		}
		if s.Shown = nil; s.ID != "" {
			out = append(out, s)
		}
	}
	for _, id := range builtIn().rule(rule).Gives {
		if on.allows(builtIn().remedy(id), nil) {
			given = append(given, finding.Step{ID: id})
		}
	}
	if givenFirst {
		return finding.JoinSteps(given, out)
	}
	return finding.JoinSteps(out, given)
}

// remediesOf returns the remedies that findings of a rule may give, by id.
func remediesOf(rule string) (out []Remedy) {
	for _, id := range builtIn().given(rule) {
		r := builtIn().remedy(id)
		one := Remedy{ID: id, Text: r.Text, When: r.When, Source: sourceNamed(r.From)}
		one.publish()
		out = append(out, one)
	}
	return out
}

// publish sets the fields that follow from the condition. It panics if the condition has a word that no fact has:
// the entries of the program are checked when they are generated.
func (r *Remedy) publish() {
	for _, t := range r.When.Terms() {
		fact, ok := factOf(t.Word)
		if !ok {
			panic("rule: the condition of " + r.ID + " has the unknown word " + t.Word)
		}
		if fact.public != nil && !t.Not {
			fact.public(r, t.Word)
		}
	}
}

// Complete sets the fields of a finding that follow from the entry of its rule: confidence, how to
// confirm it, and the fixes that apply. GivenFirst puts the fixes that the rule gives for every
// finding first, if they are more specific.
func (on setting) Complete(f *finding.Finding, givenFirst bool) {
	page := builtIn().rule(f.Rule)
	if f.Confidence = page.Confidence; f.ToBeSure == nil {
		f.ToBeSure = slices.Clone(page.Sure)
	}
	if f.GainNS == nil && page.GainIsPart && f.DenominatorNS > 0 {
		f.Gain(f.NumeratorNS, f.DenominatorNS, cmp.Or(f.GainOf, page.Whole))
	}
	if f.GainBasis = finding.UpperBound; f.GainNS == nil {
		f.GainOf, f.GainGPUs, f.GainBasis = "", 0, ""
	}
	if on.doubtful && f.Confidence == finding.Certain && f.Rule != CaptureQuality {
		f.Confidence = finding.Likely
		f.ToBeSure = append(f.ToBeSure, "record again without the issues of severity suspect")
	}
	for _, s := range f.Next {
		f.Shown = append(f.Shown, s.Shown...)
	}
	f.Next = on.stepsFor(f.Rule, f.Next, givenFirst)
	on.inMakersWords(f)
}
