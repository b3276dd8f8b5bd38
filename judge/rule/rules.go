// Package rule has the rules as data: limits, documentation and remedies, one entry each in
// the YAML files of the folder rules, and the stacks of stacks.yaml, by which remedies are
// chosen. [Rules] lists what each rule measures, its limits and who uses them, and
// [ParseThresholds] replaces the limits.
//
// builtin.go has the entries as Go data. TestBuiltInSource compares it with the files.
package rule

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/goccy/go-yaml"

	"assay/internal/unit"
	"assay/judge/finding"
)

// A ruleEntry is one entry of the files in the folder rules: everything about a rule
// except how it is measured. The yaml names are the keys of an entry;
// docs/adding-a-rule.md describes them.
type ruleEntry struct {
	Rule // meaning, limits and source

	Note       string             `yaml:"note"`
	Symptom    string             `yaml:"symptom"` // what a user sees, for the table of symptoms
	Likely     string             `yaml:"likely"`  // the cause that it mostly has
	Line       string             `yaml:"line"`
	Part       string             `yaml:"part"`
	Whole      string             `yaml:"whole"`
	Gain       string             `yaml:"gain"`
	GainIsPart bool               `yaml:"gain_is_part"`
	Confidence finding.Confidence `yaml:"confidence"`
	Sure       []string           `yaml:"sure"`
	Changes    string             `yaml:"changes"`
	Remedies   []*remedyEntry     `yaml:"remedies"` // defined here
	Also       []string           `yaml:"also"`     // ids of remedies that other rules define
	Say        Wording            `yaml:"say"`
	Gives      []string           `yaml:"gives"` // ids of remedies that every finding has where they apply
}

// A ruleBook has the built-in rules and their remedies by id.
type ruleBook struct {
	rules    map[string]*ruleEntry
	remedies map[string]*remedyEntry
}

// builtIn returns the book of the built-in rules.
var builtIn = sync.OnceValue(func() *ruleBook { return newRuleBook(builtInRules) })

// newRuleBook returns the book of entries, which it keeps. If two have one id, the
// later one counts; TestRuleFiles rejects that.
func newRuleBook(entries []ruleEntry) *ruleBook {
	book := &ruleBook{rules: make(map[string]*ruleEntry, len(entries)), remedies: make(map[string]*remedyEntry, 4*len(entries))}
	for i := range entries {
		e := &entries[i]
		book.rules[e.ID] = e
		for _, r := range e.Remedies {
			book.remedies[r.ID] = r
		}
	}
	return book
}

// rule returns the entry of a rule. That of an unknown id is empty.
func (b *ruleBook) rule(id string) *ruleEntry {
	if e := b.rules[id]; e != nil {
		return e
	}
	return &ruleEntry{}
}

// remedy returns a remedy. That of an unknown id is empty.
func (b *ruleBook) remedy(id string) *remedyEntry {
	if r := b.remedies[id]; r != nil {
		return r
	}
	return &remedyEntry{}
}

// given returns the ids of the remedies that findings of a rule may give, sorted: those
// that its entry lists, and what takes their place.
func (b *ruleBook) given(rule string) (out []string) {
	e := b.rule(rule)
	listed := slices.Concat(e.Also, e.Gives)
	for _, r := range e.Remedies {
		listed = append(listed, r.ID)
	}
	for _, c := range e.Say.Next {
		listed = append(listed, c.ID)
	}
	for _, id := range listed {
		if out = append(out, id); b.remedy(id).Else != "" {
			out = append(out, b.remedy(id).Else)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// thresholdsHead is what the list of limits begins with.
var thresholdsHead = []string{
	"The rules of assay, in their order of precedence.",
	"Limits are shares; a value equal to its limit counts as over.",
	"A file of the same form can replace keys of a rule",
	"(warn, critical, info, min_events, min_share, min_gap, min_busy, under, of_peak, margin, source).",
	"The meaning of a rule is fixed by the program.",
}

// BuiltIn returns the limits of [DefaultThresholds] as a file that [ParseThresholds]
// reads, with comments: an example to follow in writing one.
func BuiltIn() string {
	var b strings.Builder
	comment(&b, strings.Join(thresholdsHead, " "))
	for i := range builtInRules {
		e := &builtInRules[i]
		if b.WriteString("\n"); e.Note != "" {
			comment(&b, e.Note)
			b.WriteString("\n")
		}
		b.WriteString(e.ID + ":\n  meaning: " + scalar(e.Meaning) + "\n")
		for _, key := range e.keys() {
			b.WriteString("  " + key + ": " + e.value(key) + "\n")
		}
	}
	return b.String()
}

// value returns what a file of limits would set a key of r to. The key is one of
// [Rule.keys].
func (r *Rule) value(key string) string {
	switch {
	case key == "source":
		return scalar(r.Source)
	case key == "min_events":
		return strconv.FormatInt(r.MinEvents, 10)
	case r.duration(key) != nil:
		return strings.NewReplacer(" ", "", "µ", "u").Replace(unit.Duration(*r.duration(key)))
	}
	return unit.Percent(*r.limit(key))
}

// comment writes text as lines of a YAML comment.
func comment(b *strings.Builder, text string) {
	const columns = 90
	line := "#"
	for word := range strings.FieldsSeq(text) {
		if len(line)+1+len(word) > columns {
			b.WriteString(line + "\n")
			line = "#"
		}
		line += " " + word
	}
	b.WriteString(line + "\n")
}

// scalar returns text as a YAML value, in quotes if it needs them.
func scalar(text string) string {
	out, err := yaml.Marshal(text)
	if err != nil {
		panic(err) // a string can always be written
	}
	return strings.TrimSuffix(string(out), "\n")
}
