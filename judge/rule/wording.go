package rule

import (
	"slices"
	"strings"

	"assay/judge/finding"
)

// A Wording has what the findings of a rule say, as its entry has it. What is in braces is
// an argument that the rule measures.
type Wording struct {
	Words    []string `yaml:"words"`    // arguments that conditions name
	Title    string   `yaml:"title"`    // without its limit
	Evidence []Line   `yaml:"evidence"` // in this order
	Next     []Choice `yaml:"next"`     // the most useful first
}

// A Line is a line of evidence, one for each of the largest rows of some kind, or the lines of a
// list that the rule makes.
type Line struct {
	When When   `yaml:"when"`
	Rows string `yaml:"rows"`
	List string `yaml:"list"`
	Text string `yaml:"text"`
}

// A Choice is a remedy that findings of a rule give, where a condition on their words holds. The
// remedy's own condition is on the run.
type Choice struct {
	ID   string `yaml:"id"`
	When When   `yaml:"when"`
}

// WordingOf returns the wording of a rule, without a title if the code of the rule has it.
func WordingOf(id string) *Wording { return &builtIn().rule(id).Say }

// Steps returns the remedies for a finding with these words.
func (w *Wording) Steps(words map[string]string) (out []finding.Step) {
	for _, c := range w.Next {
		if c.When.Holds(words) {
			out = append(out, finding.Step{ID: c.ID})
		}
	}
	return out
}

// Fill fills in the blanks of a text for which there is a word, and leaves the others.
func Fill(text string, words map[string]string) string {
	filled := strings.Builder{}
	for {
		before, rest, _ := strings.Cut(text, "{")
		word, after, ok := strings.Cut(rest, "}")
		if filled.WriteString(before); !ok {
			return filled.String()
		}
		if value, known := words[word]; known {
			filled.WriteString(value)
		} else {
			filled.WriteString("{" + word + "}")
		}
		text = after
	}
}

// wrong returns what is wrong with a wording, "" if nothing is.
func (w *Wording) wrong() string {
	conditions := []When{}
	for _, l := range w.Evidence {
		if conditions = append(conditions, l.When); l.Text == "" == (l.List == "") {
			return "a line of evidence has either text or list"
		}
	}
	for _, c := range w.Next {
		conditions = append(conditions, c.When)
	}
	for _, when := range conditions {
		for _, t := range when.terms() {
			if !slices.Contains(w.Words, t.word) {
				return "\"" + t.word + "\" is not one of the words of its findings"
			}
		}
	}
	return ""
}
