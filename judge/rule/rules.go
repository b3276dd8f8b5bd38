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

// A ruleEntry is one entry of the files in the folder rules: everything about a rule except how it
// is measured. The yaml names are the keys of an entry; docs/adding-a-rule.md describes them.
type ruleEntry struct {
	Rule // meaning, limits and source

	Note       string             `yaml:"note"`
	Symptom    string             `yaml:"symptom"` // what a user sees, for the table of symptoms
	Likely     string             `yaml:"likely"`  // its most frequent cause
	Line       string             `yaml:"line"`
	Part       string             `yaml:"part"`
	Whole      string             `yaml:"whole"`
	Gain       string             `yaml:"gain"`
	GainIsPart bool               `yaml:"gain_is_part"`
	Confidence finding.Confidence `yaml:"confidence"`
	Sure       []string           `yaml:"sure"`
	Changes    string             `yaml:"changes"`
	Remedies   []*remedyEntry     `yaml:"remedies"` // remedies that this rule defines
	Also       []string           `yaml:"also"`     // ids of remedies that other rules define
	Say        Wording            `yaml:"say"`
	Gives      []string           `yaml:"gives"` // ids of remedies that every finding gets if their conditions are true
}

// A ruleBook has the built-in rules and their remedies by id.
type ruleBook struct {
	rules    map[string]*ruleEntry
	remedies map[string]*remedyEntry
}

// builtIn returns the built-in rules. They are indexed at first use, because many commands need
// none.
var builtIn = sync.OnceValue(func() *ruleBook { return newRuleBook(builtInRules) })

// newRuleBook indexes entries, and keeps pointers to them. If two entries have one id, the later
// one counts; TestRuleFiles rejects such files.
func newRuleBook(entries []ruleEntry) *ruleBook {
	book := &ruleBook{rules: make(map[string]*ruleEntry, len(entries)),
		remedies: make(map[string]*remedyEntry, 4*len(entries))}
	for i := range entries {
		e := &entries[i]
		book.rules[e.ID] = e
		for _, r := range e.Remedies {
			book.remedies[r.ID] = r
		}
	}
	return book
}

// rule returns the entry of a rule, or an empty entry if the id is unknown.
func (b *ruleBook) rule(id string) *ruleEntry {
	if e := b.rules[id]; e != nil {
		return e
	}
	return &ruleEntry{}
}

// remedy returns a remedy, or an empty one if the id is unknown.
func (b *ruleBook) remedy(id string) *remedyEntry {
	if r := b.remedies[id]; r != nil {
		return r
	}
	return &remedyEntry{}
}

// given returns the sorted ids of the remedies that findings of a rule may give: those that its
// entry lists, and their alternatives.
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
		for ; id != ""; id = b.remedy(id).Else {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// thresholdsHead is the comment at the top of the list of limits.
var thresholdsHead = []string{
	"The rules of assay, in their order of precedence.",
	"Limits are shares; a value equal to its limit counts as over.",
	"A file of the same form can replace keys of a rule",
	"(warn, critical, info, min_events, min_share, min_gap, min_busy, under, of_peak, margin, source).",
	"The meaning of a rule is fixed by the program.",
}

// BuiltIn returns the limits of [DefaultThresholds] as a file that [ParseThresholds] reads, with
// comments, so that users can edit it.
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

// value formats the value of a key for a file of limits. The key is one of [Rule.keys].
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
		panic(err) // cannot happen for a string
	}
	return strings.TrimSuffix(string(out), "\n")
}
