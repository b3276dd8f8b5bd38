package rule

import (
	"slices"
	"strings"

	"assay/judge/finding"
)

// A Wording has the sentences of the findings of a rule, from its entry. Words in braces are
// arguments that the rule measures.
type Wording struct {
	Words    []string `yaml:"words"`    // arguments that conditions may use
	Title    string   `yaml:"title"`    // without its limit
	Evidence []Line   `yaml:"evidence"` // in this order
	Next     []Choice `yaml:"next"`     // the most useful first
}

// A Line is a line of evidence: Text alone is one line, Text with Rows is a line for each of the
// largest rows of that kind, and List stands for all lines of a list that the rule makes.
type Line struct {
	When When   `yaml:"when"`
	Rows string `yaml:"rows"`
	List string `yaml:"list"`
	Text string `yaml:"text"`
}

// A Choice is a remedy that findings of a rule give if a condition on their words is true. The
// remedy has another condition, on the run.
type Choice struct {
	ID   string `yaml:"id"`
	When When   `yaml:"when"`
	For  string `yaml:"for"` // the fact of evidence that each of these findings shows; "" for none
}

// WordingOf returns the wording of a rule. It has no title if the code of the rule words its
// findings.
func WordingOf(id string) *Wording { return &builtIn().rule(id).Say }

// Steps returns the remedies for a finding with these words.
func (w *Wording) Steps(words map[string]string) (out []finding.Step) {
	for _, c := range w.Next {
		if c.When.Matches(words) {
			s := finding.Step{ID: c.ID}
			if c.For != "" {
				s = s.For(c.For)
			}
			out = append(out, s)
		}
	}
	return out
}

// Fill replaces the blanks of a text for which there is a word, and keeps the other blanks.
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

// wrong describes the first mistake in a wording, or returns "".
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
		for _, t := range when.Terms() {
			if !slices.Contains(w.Words, t.Word) {
				return "\"" + t.Word + "\" is not one of the words of its findings"
			}
		}
	}
	return ""
}
