package rule

import (
	"fmt"
	"slices"
	"strings"

	"assay/summary"
)

// A When is a condition: terms with commas between them, which must all hold. A term is "word",
// "!word", "word=value" or "word!=value". The words are those of [FactsTable]. "" always holds.
type When string

// A term is one term of a condition. Without a value to compare with, the word must have any.
type term struct {
	word, value   string
	compares, not bool
}

func (w When) terms() (out []term) {
	for text := range strings.SplitSeq(string(w), ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		var t term
		t.word, t.value, t.compares = strings.Cut(text, "=")
		t.word, t.not = strings.CutSuffix(t.word, "!")
		if word, found := strings.CutPrefix(t.word, "!"); found {
			t.word, t.not = word, true
		}
		out = append(out, t)
	}
	return out
}

// Holds reports whether a condition holds. Words that the facts do not have are not decided here:
// the words of a finding are known only where it is made.
func (w When) Holds(facts Facts) bool {
	for _, t := range w.terms() {
		value, known := facts[t.word]
		if holds := value != "" && (!t.compares || value == t.value); known && holds == t.not {
			return false
		}
	}
	return true
}

// wrong returns what is wrong with a condition, "" if nothing is: a word that no fact has would
// silently never hold, or always.
func (w When) wrong() string {
	for _, t := range w.terms() {
		i := slices.IndexFunc(FactsTable(), func(f Fact) bool { return slices.Contains(f.Words, t.word) })
		if i < 0 {
			return fmt.Sprintf("%q is not a word of conditions", t.word)
		}
		if values := FactsTable()[i].Values; t.compares && !slices.Contains(values, t.value) {
			return fmt.Sprintf("%q is not a value of %q, want one of %q", t.value, t.word, values)
		}
	}
	return ""
}

// requires returns the words that must have a value where w holds.
func (w When) requires() (words []string) {
	for _, t := range w.terms() {
		if !t.not {
			words = append(words, t.word)
		}
	}
	return words
}

// Facts has the value of each word of some facts, "" where it does not apply.
type Facts map[string]string

// A Fact is a row of the table of facts: words that conditions may name.
type Fact struct {
	Words   []string
	Values  []string // that conditions may compare with; nil of what is there or not
	Meaning string
	Found   string // how it is found

	of func(word string, s *summary.Summary, stacks []Stack) string
}

// maybe begins the words of software that may be in use.
const maybe = "maybe-"

// FactsTable returns the facts of a run that conditions may name.
func FactsTable() []Fact {
	var software, possible []string
	for _, e := range stackEntries() {
		if software = append(software, e.id); e.Family != "" {
			possible = append(possible, maybe+e.id)
		}
	}
	return []Fact{
		{Words: software, Meaning: "this software is found", Found: "names that only it has, listed in `judge/rule/stacks.yaml`",
			of: func(word string, _ *summary.Summary, stacks []Stack) string { return yes(isFound(word, stacks)) }},
		{Words: possible, Meaning: "this software is found, or none of its family", Found: "`family` and `excludes` in `judge/rule/stacks.yaml`",
			of: func(word string, _ *summary.Summary, stacks []Stack) string {
				return yes(!other(strings.TrimPrefix(word, maybe), stacks))
			}},
		{Words: []string{"nsys"}, Meaning: "Nsight Systems recorded all inputs", Found: "the formats of the inputs",
			of: func(_ string, s *summary.Summary, _ []Stack) string { return yes(OfNsys(s)) }},
		{Words: []string{"plain"}, Meaning: "the program shows nothing of PyTorch", Found: "kernels that only tools of NVIDIA recorded, and no software but JAX",
			of: func(_ string, s *summary.Summary, stacks []Stack) string {
				others := func(st Stack) bool { return st.ID != "jax" }
				return yes(len(s.Kernels) > 0 && !ofTorch(s) && !slices.ContainsFunc(stacks, others))
			}},
	}
}

// yes returns the value of a fact that is there or not.
func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// FactsOf returns the facts of a summary with the software that it shows.
func FactsOf(s *summary.Summary, stacks []Stack) Facts {
	out := Facts{}
	for _, f := range FactsTable() {
		for _, word := range f.Words {
			out[word] = f.of(word, s, stacks)
		}
	}
	return out
}
