package phase

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/goccy/go-yaml"

	"assay/internal/settings"
)

// An entry is a rule as written in a file.
type entry struct {
	ID         string   `yaml:"id"`
	Step       string   `yaml:"step"`
	Phase      string   `yaml:"phase"`
	Match      []string `yaml:"match"`
	IgnoreCase bool     `yaml:"ignore-case"`
	Producer   string   `yaml:"producer"`
	Source     string   `yaml:"source"`

	begins, parts [][]string // precomputed for built-in rules: see pattern
}

// expressions returns the regular expressions of the rule.
func (e *entry) expressions() []string {
	if !e.IgnoreCase {
		return e.Match
	}
	var out []string
	for _, expr := range e.Match {
		out = append(out, "(?i:"+expr+")")
	}
	return out
}

// Parse reads a file of rules in the format of phases.yaml. An error starts
// with the name and the line of the mistake, such as "phases.yaml:7: ".
func Parse(text []byte, name string) (*Rules, error) {
	nodes, err := settings.List(text, "rules", "rule")
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	var out []rule
	lines := make(map[string]int)
	for _, n := range nodes {
		var e entry
		if err := yaml.NodeToValue(n, &e, yaml.Strict()); err != nil {
			return nil, fmt.Errorf("%s:%w", name, settings.Malformed(settings.Line(n), err))
		}
		ru, err := e.rule()
		if first, dup := lines[e.ID]; err == nil && dup {
			err = fmt.Errorf("rule id %q is taken by the rule of line %d", e.ID, first)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, settings.Line(n), err)
		}
		lines[e.ID] = settings.Line(n)
		out = append(out, ru)
	}
	return newRules(out), nil
}

// rule checks and compiles an entry.
func (e entry) rule() (rule, error) {
	ru := rule{id: e.ID, step: e.Step, phase: e.Phase, producer: e.Producer}
	switch {
	case !settings.IsKebab(e.ID):
		return ru, fmt.Errorf("rule id %q: want lower-case words joined by hyphens", e.ID)
	case e.Step != "" && e.Step != CutMarker && e.Step != CutWork:
		return ru, fmt.Errorf("rule %q: step is %q, want %q or %q", e.ID, e.Step, CutMarker, CutWork)
	case e.Phase != "" && !settings.IsKebab(e.Phase):
		return ru, fmt.Errorf("rule %q: phase %q: want lower-case words joined by hyphens", e.ID, e.Phase)
	case e.Step == "" && e.Phase == "":
		return ru, fmt.Errorf("rule %q has neither step nor phase: want one or both", e.ID)
	case len(e.Match) == 0:
		return ru, fmt.Errorf("rule %q matches nothing: want a list of regular expressions called match", e.ID)
	}
	if slices.Contains(e.Match, "") {
		return ru, fmt.Errorf("rule %q: an empty expression would match every name", e.ID)
	}
	for _, expr := range e.expressions() {
		if _, err := regexp.Compile(expr); err != nil {
			return ru, fmt.Errorf("rule %q: %w", e.ID, err)
		}
		begins := beginningsOf(expr)
		ru.patterns = append(ru.patterns, &pattern{text: expr, begins: begins, parts: partsOf(expr, begins)})
	}
	return ru, nil
}
