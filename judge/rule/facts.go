package rule

import (
	"fmt"
	"slices"
	"strings"

	"assay/summary"
)

// A When is a condition: terms separated by commas, all of which must be true. A term is "word",
// "!word", "word=value" or "word!=value"; the words are those of [FactsTable]. An empty condition
// is true.
type When string

// A Term is one term of a condition. Without Compares, the term is true if the word has any value.
type Term struct {
	Word, Value   string
	Compares, Not bool
}

// Terms returns the terms of a condition.
func (w When) Terms() (out []Term) {
	for text := range strings.SplitSeq(string(w), ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		var t Term
		t.Word, t.Value, t.Compares = strings.Cut(text, "=")
		t.Word, t.Not = strings.CutSuffix(t.Word, "!")
		if word, found := strings.CutPrefix(t.Word, "!"); found {
			t.Word, t.Not = word, true
		}
		out = append(out, t)
	}
	return out
}

// Matches reports whether w is true for facts. A term whose word is missing from facts counts as
// true: words of a finding are known only to its rule, so it decides them.
func (w When) Matches(facts Facts) bool {
	for _, t := range w.Terms() {
		value, known := facts[t.Word]
		if isTrue := value != "" && (!t.Compares || value == t.Value); known && isTrue == t.Not {
			return false
		}
	}
	return true
}

// wrong describes the first mistake in a condition, or returns "". A word that no fact has would
// silently make a term always true or always false.
func (w When) wrong() string {
	for _, t := range w.Terms() {
		f, known := factOf(t.Word)
		if !known {
			return fmt.Sprintf("%q is not a word of conditions", t.Word)
		}
		if values := f.Values; t.Compares && !slices.Contains(values, t.Value) {
			return fmt.Sprintf("%q is not a value of %q, want one of %q", t.Value, t.Word, values)
		}
	}
	return ""
}

// Facts maps words to their values; "" means that a word does not apply.
type Facts map[string]string

// A Fact is a row of the table of facts: words that conditions may use.
type Fact struct {
	Words   []string
	Values  []string // that conditions may compare with; nil if a word is either present or absent
	Meaning string
	Found   string // how assay finds out

	// evaluate is nil for a fact of the evidence of a finding, which the function of its rule states.
	evaluate func(word string, s *summary.Summary, stacks []Stack) string
	// public sets the fields of a remedy on a [Page] that say that a word must have a value; nil if no field does.
	// What no field says is in When.
	public func(r *Remedy, word string)
}
