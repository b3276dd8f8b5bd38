package classify

import (
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"assay/internal/settings"
)

// A ruleEntry is a rule as written in a file. See the package comment.
type ruleEntry struct {
	ID         string   `yaml:"id"`
	Class      string   `yaml:"class"`
	Category   string   `yaml:"category"`
	Match      []string `yaml:"match"`
	IgnoreCase bool     `yaml:"ignore-case"`
	On         string   `yaml:"on"`
	Note       string   `yaml:"note"`
}

// Parse reads a rule file. An error starts with name and the line of the
// mistake, such as "rules.yaml:7: ". The package comment describes the file.
func Parse(text []byte, name string) (*Rules, error) {
	p := ruleParser{name: name, lineOf: map[string]int{}}
	list, err := settings.List(text, "rules", "rule")
	if err != nil {
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	rules := make([]rule, 0, len(list))
	for _, node := range list {
		ru, err := p.rule(node)
		if err != nil {
			return nil, err
		}
		rules = append(rules, ru)
	}
	return newRules(rules), nil
}

type ruleParser struct {
	name   string
	lineOf map[string]int // the line that defines each id
}

// rule reads and checks one rule.
func (p *ruleParser) rule(node ast.Node) (rule, error) {
	m, ok := node.(*ast.MappingNode)
	if !ok {
		return rule{}, p.errorAt(settings.Line(node), "want a rule: a mapping with id, category and match")
	}
	at := func(field string) int { return fieldLine(m, field) }
	var e ruleEntry
	if err := yaml.NodeToValue(node, &e, yaml.Strict()); err != nil {
		line, text, _ := settings.Mistake(settings.Line(node), err)
		return rule{}, p.errorAt(line, "%s", text)
	}
	if !settings.IsKebab(e.ID) {
		return rule{}, p.errorAt(at("id"), "rule id %q: want lower-case words joined by hyphens", e.ID)
	}
	if first, dup := p.lineOf[e.ID]; dup {
		return rule{}, p.errorAt(at("id"), "rule id %q is taken by the rule of line %d", e.ID, first)
	}
	p.lineOf[e.ID] = at("id")
	ru := rule{id: e.ID, class: Compute, category: e.Category}
	if e.Class != "" {
		ru.class = Class(e.Class)
	}
	switch ru.class {
	case Compute, Comm:
	case Copy, Memset:
		return rule{}, p.errorAt(at("class"), "rule %q: class %q is for events, not for kernels; want %q or %q", e.ID, e.Class, Compute, Comm)
	default:
		return rule{}, p.errorAt(at("class"), "rule %q: unknown class %q, want %q or %q", e.ID, e.Class, Compute, Comm)
	}
	if !settings.IsKebab(e.Category) {
		return rule{}, p.errorAt(at("category"), "rule %q: category %q: want lower-case words joined by hyphens, a known category or a new one", e.ID, e.Category)
	}
	switch e.On {
	case "", "base":
	case "full":
		ru.onFull = true
	default:
		return rule{}, p.errorAt(at("on"), `rule %q: unknown subject %q, want "base" (the name without arguments) or "full"`, e.ID, e.On)
	}
	var err error
	ru.patterns, err = p.patterns(m, e)
	return ru, err
}

// patterns compiles the expressions of a rule.
func (p *ruleParser) patterns(m *ast.MappingNode, e ruleEntry) ([]pattern, error) {
	if len(e.Match) == 0 {
		return nil, p.errorAt(fieldLine(m, "match"), "rule %q matches nothing: want a list of regular expressions called match", e.ID)
	}
	var list []pattern
	for i, expr := range e.Match {
		at := fieldLine(m, "match")
		if seq, ok := field(m, "match").Value.(*ast.SequenceNode); ok {
			at = settings.Line(seq.Values[i])
		}
		if expr == "" {
			return nil, p.errorAt(at, "rule %q: an empty expression would match every kernel", e.ID)
		}
		pat, err := compile(expr, e.IgnoreCase)
		if err != nil {
			return nil, p.errorAt(at, "rule %q: %v", e.ID, err)
		}
		list = append(list, pat)
	}
	return list, nil
}

func (p *ruleParser) errorAt(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %s", p.name, line, fmt.Sprintf(format, args...))
}

// field returns the member of m called key, or nil.
func field(m *ast.MappingNode, key string) *ast.MappingValueNode {
	for _, member := range m.Values {
		if member.Key.String() == key {
			return member
		}
	}
	return nil
}

// fieldLine returns the line of the member called key, or that of the rule if
// the member is missing.
func fieldLine(m *ast.MappingNode, key string) int {
	if member := field(m, key); member != nil {
		return settings.Line(member.Key)
	}
	if len(m.Values) > 0 {
		return settings.Line(m.Values[0].Key)
	}
	return settings.Line(m)
}
