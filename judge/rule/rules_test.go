package rule

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"assay/internal/settings"
	"assay/judge/finding"
)

// TestRuleFiles checks the files of rules and sources.
func TestRuleFiles(t *testing.T) {
	for _, problem := range checkRules(readRules(t), readSources(t)) {
		t.Error(problem)
	}
}

// checkRules returns what is missing or wrong in entries: every rule must be complete,
// every remedy and source must be usable and used, and every reference must resolve.
func checkRules(entries []ruleEntry, sources []namedSource) (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	book := newRuleBook(entries)
	rules, owners := map[string]bool{}, map[string]string{}
	for i := range entries {
		e := &entries[i]
		if rules[e.ID] || !settings.IsKebab(e.ID) {
			report("rule %s: the id is used twice, or is not of lower-case words with hyphens", e.ID)
		}
		rules[e.ID] = true
		for _, r := range e.Remedies {
			if owners[r.ID] != "" || !settings.IsKebab(r.ID) {
				report("rule %s: remedy %s: the id is used twice, or is not of lower-case words with hyphens", e.ID, r.ID)
			}
			owners[r.ID] = e.ID
		}
	}
	cited := map[string]bool{}
	for i := range entries {
		e := &entries[i]
		for _, problem := range slices.Concat(checkPage(e), checkNamed(e, owners, book)) {
			report("rule %s: %s", e.ID, problem)
		}
		for _, r := range e.Remedies {
			cited[r.From] = true
			for _, problem := range checkRemedy(r, book, sources) {
				report("rule %s: remedy %s: %s", e.ID, r.ID, problem)
			}
		}
	}
	for _, s := range sources {
		if !cited[s.Name] || s.Title == "" || s.URL == "" {
			report("source %s: no remedy has it, or it lacks a title or url", s.Name)
		}
	}
	return problems
}

// checkPage returns what the entry of a rule lacks.
func checkPage(e *ruleEntry) (problems []string) {
	for _, f := range []struct{ key, text string }{{"meaning", e.Meaning}, {"source", e.Source}, {"line", e.Line}, {"part", e.Part}, {"gain", e.Gain}, {"changes", e.Changes}} {
		if f.text == "" || strings.HasSuffix(f.text, ".") {
			problems = append(problems, fmt.Sprintf("%s is missing, or ends with a period", f.key))
		}
	}
	if !slices.Contains([]finding.Confidence{finding.Certain, finding.Likely, finding.Hint}, e.Confidence) {
		problems = append(problems, fmt.Sprintf("confidence is %q, want certain, likely or hint", e.Confidence))
	}
	if len(e.Sure) == 0 || slices.Contains(e.Sure, "") {
		problems = append(problems, "sure is missing")
	}
	if e.Whole == "" && (e.Warn+e.Critical+e.Info > 0 || e.GainIsPart) {
		problems = append(problems, "whole is missing, and the rule has limits")
	}
	if e.Critical > 0 && e.Warn > e.Critical {
		problems = append(problems, "warn is over critical")
	}
	return problems
}

// checkNamed returns what is wrong with the remedies that e names in also and gives. Owners
// has the rule of each remedy.
func checkNamed(e *ruleEntry, owners map[string]string, book *ruleBook) (problems []string) {
	if len(e.Remedies)+len(e.Also)+len(e.Gives)+len(e.Say.Next) == 0 {
		problems = append(problems, "remedies is missing, and so are also and gives")
	}
	for _, c := range e.Say.Next {
		if owners[c.ID] == "" {
			problems = append(problems, fmt.Sprintf("say: %s is not a remedy", c.ID))
		} else if len(blanks(book.remedies[c.ID].Text)) > 0 {
			problems = append(problems, fmt.Sprintf("say: nothing fills in the blanks of %s", c.ID))
		}
	}
	for i, id := range e.Gives {
		switch {
		case owners[id] == "" || slices.Contains(e.Gives[:i], id) || slices.Contains(e.Also, id):
			problems = append(problems, fmt.Sprintf("gives: %s is not a remedy, or is named twice", id))
		case len(blanks(book.remedies[id].Text)) > 0:
			problems = append(problems, fmt.Sprintf("gives: nothing fills in the blanks of %s", id))
		}
	}
	for i, id := range e.Also {
		if owners[id] == "" || owners[id] == e.ID || slices.Contains(e.Also[:i], id) {
			problems = append(problems, fmt.Sprintf("also: %s is not a remedy of another rule, or is named twice", id))
		}
	}
	return problems
}

// checkRemedy returns what is wrong with a remedy.
func checkRemedy(r *remedyEntry, book *ruleBook, sources []namedSource) (problems []string) {
	report := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if n := utf8.RuneCountInString(r.Text); n == 0 || n > 200 {
		report("text has %d characters, want 1 to 200", n)
	}
	if !slices.ContainsFunc(sources, func(s namedSource) bool { return s.Name == r.From }) {
		report("from is %q, which is not in sources.yaml", r.From)
	}
	if by := book.remedies[r.Else]; r.Else != "" {
		switch {
		case r.When == "":
			report("else is given without when")
		case by == nil:
			report("else is %q, which is not a remedy", r.Else)
		case !slices.Equal(blanks(by.Text), blanks(r.Text)):
			report("else is %q, which has other blanks", r.Else)
		}
	}
	return problems
}

// TestRulesAreChecked proves that [checkRules] and the reader of the files reject what
// they are for. Each case changes one line of a correct entry.
func TestRulesAreChecked(t *testing.T) {
	const entry = `one:
  meaning: a over b
  warn: 10%
  critical: 20%
  source: somebody
  line: too much a
  part: a
  whole: b
  gain: none
  confidence: likely
  sure: [measure again]
  changes: nothing
  remedies:
    less-a:
      text: "Use less {what}."
      from: guide
      when: "!plain"
      else: even-less
    even-less:
      text: "Use no {what}."
      from: guide
`
	const other = "two:\n  meaning: c\n  source: s\n  line: l\n  part: c\n  gain: none\n  confidence: hint\n  sure: [x]\n  changes: x\n  also: [less-a]\n"
	guide := []namedSource{{"guide", Source{"A guide", "docs/guide.md"}}}
	check := func(text string) string {
		entries, err := parseRules([]byte(text))
		if err != nil {
			return err.Error()
		}
		return strings.Join(checkRules(entries, guide), "; ")
	}
	if got := check(entry + other); got != "" {
		t.Fatalf("the correct entry: %s", got)
	}
	for _, tc := range []struct{ old, new, want string }{
		{"  meaning: a over b\n", "", "rule one: meaning is missing, or ends with a period"},
		{"a over b", "a over b.", "rule one: meaning is missing, or ends with a period"},
		{"  source: somebody\n", "", "rule one: source is missing, or ends with a period"},
		{"  line: too much a\n", "", "rule one: line is missing, or ends with a period"},
		{"  part: a\n", "", "rule one: part is missing, or ends with a period"},
		{"  gain: none\n  confidence: likely", "  confidence: likely", "rule one: gain is missing, or ends with a period"},
		{"  changes: nothing\n", "", "rule one: changes is missing, or ends with a period"},
		{"likely", "sure", `rule one: confidence is "sure", want certain, likely or hint`},
		{"  sure: [measure again]\n", "", "rule one: sure is missing"},
		{"  whole: b\n", "", "rule one: whole is missing, and the rule has limits"},
		{"critical: 20%", "critical: 5%", "rule one: warn is over critical"},
		{"one:\n", "One:\n", "rule One: the id is used twice, or is not of lower-case words with hyphens"},
		{"  warn: 10%\n", "  warn: 10\n", `3: rule "one": warn: "10" is 1000%, want over 0% and at most 100%`},
		{"  warn: 10%\n", "  wran: 10%\n", `3: rule "one": unknown key "wran", want one of source`},
		{"  line: too much a\n", "  line: [too]\n", "6: line: cannot unmarshal []interface {} into Go value of type string"},
		{"      from: guide\n", "      kept: [one]\n", `16: remedy "less-a": unknown key "kept"`},
		{"      from: guide\n", "      from: book\n", `rule one: remedy less-a: from is "book", which is not in sources.yaml`},
		{"Use less {what}.", strings.Repeat("µ", 200) + "{what}", "rule one: remedy less-a: text has 206 characters, want 1 to 200"},
		{"Use no {what}.", "Use nothing.", `rule one: remedy less-a: else is "even-less", which has other blanks`},
		{"else: even-less", "else: more", `rule one: remedy less-a: else is "more", which is not a remedy`},
		{"      when: \"!plain\"\n", "", `rule one: remedy less-a: else is given without when`},
		{"!plain", "!plian", `17: remedy "less-a": when: "plian" is not a word of conditions`},
		{"!plain", "!plain, dpp", `17: remedy "less-a": when: "dpp" is not a word of conditions`},
		{"!plain", "nsys=2024", `17: remedy "less-a": when: "2024" is not a value of "nsys"`},
		{"also: [less-a]", "say: {title: t, next: [{id: less-b}]}", "rule two: say: less-b is not a remedy"},
		{"also: [less-a]", "say: {title: t, next: [{id: less-a}]}", "rule two: say: nothing fills in the blanks of less-a"},
		{"also: [less-a]", "say: {words: [top], next: [{id: less-b, when: tpo=x}]}", `31: say: "tpo" is not one of the words of its findings`},
		{"also: [less-a]", "say: {evidence: [{rows: kernels}]}", "31: say: a line of evidence has either text or list"},
		{"also: [less-a]", "say: {titel: t}", `31: say: unknown field "titel"`},
		{"also: [less-a]", "gives: [less-a]", "rule two: gives: nothing fills in the blanks of less-a"},
		{"also: [less-a]", "gives: [less-b]", "rule two: gives: less-b is not a remedy, or is named twice"},
		{"also: [less-a]", "also: [less-b]", "rule two: also: less-b is not a remedy of another rule, or is named twice"},
		{"also: [less-a]", "also: [less-a, less-a]", "rule two: also: less-a is not a remedy of another rule, or is named twice"},
		{"  also: [less-a]\n", "", "rule two: remedies is missing, and so are also and gives"},
		{"two:", "one:", `22: malformed YAML`},
		{"    even-less:", "    less-a:", `malformed YAML`},
	} {
		text := strings.Replace(entry+other, tc.old, tc.new, 1)
		if text == entry+other {
			t.Fatalf("%q is not in the entry", tc.old)
		}
		if got := check(text); !strings.Contains(got, tc.want) || tc.want == "" {
			t.Errorf("%q for %q:\ngot  %s\nwant %s", tc.new, tc.old, got, tc.want)
		}
	}
	if got, want := strings.Join(checkRules(nil, guide), "; "), "source guide: no remedy has it, or it lacks a title or url"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
