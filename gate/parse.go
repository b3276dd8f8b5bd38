package gate

import (
	_ "embed" // gates.yaml
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml/ast"

	"assay/gate/metric"
	"assay/internal/settings"
	"assay/internal/unit"
)

//go:embed gates.yaml
var defaultsYAML string

// BuiltIn returns the text of the file that [Default] reads.
func BuiltIn() string { return defaultsYAML }

// Default returns the gates for a comparison with a baseline if the user gives none: strict limits
// on structure, and limits on times that exceed the drift of a shared machine.
func Default() []Gate {
	gates, err := Parse([]byte(defaultsYAML), "gates.yaml")
	if err != nil {
		panic("gate: " + err.Error()) // the file is part of the program, and tested
	}
	return gates
}

// Parse reads gates from YAML: a mapping of metrics, with or without a selector, to conditions.
//
//	gpu.busy_share: ">= 80%"
//	kernels.total{category=gemm}: {max_increase: 5%, min_abs: 1ms}
//
// Unknown keys are errors, so that a misspelt gate cannot pass. The name of the file is for error
// messages.
func Parse(text []byte, name string) ([]Gate, error) {
	var gates []Gate
	seen := make(map[string]int)
	singleRuns := metric.UsualNoise
	err := settings.Mapping(text, "gates", func(e *ast.MappingValueNode) error {
		if e.Key.GetToken().Value == noiseKey {
			noise, err := parseNoise(noiseKey, e.Value)
			singleRuns = noise
			return err
		}
		g, err := parseGate(e)
		if err != nil {
			return err
		}
		if line, again := seen[g.Text]; again {
			return settings.Errorf(e.Key, "%s: second gate of that name, the first is in line %d; write its limits into one",
				g.Text, line)
		}
		seen[g.Text] = g.Line
		gates = append(gates, g)
		return nil
	})
	if err != nil {
		if line, _, syntax := settings.Mistake(1, err); syntax {
			err = fmt.Errorf("%w%s", err, hint(text, line))
		}
		return nil, fmt.Errorf("%s:%w", name, err)
	}
	if len(gates) == 0 {
		return nil, fmt.Errorf("%s:1: no gates; \"assay help gates\" shows some", name)
	}
	for i := range gates {
		if gates[i].Noise < 0 {
			gates[i].Noise = gates[i].Metric.NoiseOf(singleRuns)
		}
	}
	return gates, nil
}

// noiseKey is the key of a file that sets the noise of all its gates.
const noiseKey = "single_run_noise"

// parseNoise reads a noise; key is its key, for errors.
func parseNoise(key string, n ast.Node) (float64, error) {
	text, err := scalar(n)
	if err != nil {
		return 0, settings.Errorf(n, "%s: %w", key, err)
	}
	number := text
	if n, ok := strings.CutSuffix(text, "pp"); ok {
		number = n + "%"
	}
	share, err := unit.ParseShare(number)
	if err != nil || share < 0 {
		return 0, settings.Errorf(n, "%s is %q, want a share from 0%% on, as 10%%", key, text)
	}
	return share, nil
}

// hint explains the most common mistake: in YAML, a bare ">" starts a text of several lines.
func hint(text []byte, line int) string {
	lines := strings.Split(string(text), "\n")
	for i := max(0, line-2); i < min(line, len(lines)); i++ {
		if _, value, ok := strings.Cut(lines[i], ": "); ok && strings.HasPrefix(strings.TrimSpace(value), ">") {
			return fmt.Sprintf("; write conditions in quotes: %q", strings.TrimSpace(value))
		}
	}
	return ""
}

func parseGate(e *ast.MappingValueNode) (Gate, error) {
	text := e.Key.GetToken().Value
	m, sel, err := metric.Parse(text)
	if err != nil {
		return Gate{}, settings.Errorf(e.Key, "%w", err)
	}
	g := Gate{Text: m.Name + sel.String(), Metric: m, Selector: sel, Line: e.Key.GetToken().Position.Line, Noise: -1}
	for _, key := range m.Needs {
		if sel.Value(key) == "" {
			return Gate{}, settings.Errorf(e.Key, "%s needs a selector: write %s", m.Name, m.Named())
		}
	}
	if _, isMap := e.Value.(ast.MapNode); !isMap {
		if err := g.condition(&g.Fail, e.Value); err != nil {
			return Gate{}, err
		}
		return g, nil
	}
	seen := make(map[string]bool)
	err = settings.EachEntry(e.Value, "limits", func(k *ast.MappingValueNode) error {
		key := k.Key.GetToken().Value
		if seen[key] {
			return settings.Errorf(k.Key, "%s: %q is given twice", g.Text, key)
		}
		seen[key] = true
		return g.set(key, k)
	})
	switch {
	case err != nil:
		return Gate{}, err
	case g.Fail.empty() && g.Warn.empty():
		return Gate{}, settings.Errorf(e.Key, "%s: no limit; want one of max, min, equal, max_increase, max_decrease", g.Text)
	case g.Fail.MinAbs != nil && !g.Fail.relative() || g.Warn.MinAbs != nil && !g.Warn.relative():
		return Gate{}, settings.Errorf(e.Key, "%s: min_abs is valid only with max_increase or max_decrease", g.Text)
	}
	return g, nil
}

// set stores one key of a gate.
func (g *Gate) set(key string, k *ast.MappingValueNode) error {
	switch key {
	case "fail", "warn":
		l := &g.Fail
		if key == "warn" {
			l = &g.Warn
		}
		if _, isMap := k.Value.(ast.MapNode); !isMap {
			return g.condition(l, k.Value)
		}
		return settings.EachEntry(k.Value, "limits", func(k *ast.MappingValueNode) error {
			return g.limit(l, k.Key.GetToken().Value, k)
		})
	}
	text, err := scalar(k.Value)
	if err != nil {
		return settings.Errorf(k.Value, "%s: %s: %w", g.Text, key, err)
	}
	switch key {
	case "level":
		if text != "warn" && text != "fail" {
			return settings.Errorf(k.Value, "%s: level is %q, want fail or warn", g.Text, text)
		}
		g.WarnOnly = text == "warn"
		return nil
	case "noise":
		if g.Metric.Steady {
			return settings.Errorf(k.Value, "%s: noise does not apply: it is the same in every run", g.Text)
		}
		g.Noise, err = parseNoise(g.Text+": noise", k.Value)
		return err
	case "if_measured":
		if text != "true" && text != "false" {
			return settings.Errorf(k.Value, "%s: if_measured is %q, want true or false", g.Text, text)
		}
		g.IfMeasured = text == "true"
		return nil
	case "source":
		g.Source = text
		return nil
	}
	return g.limit(&g.Fail, key, k)
}

// limit stores one limit.
func (g *Gate) limit(l *Limits, key string, k *ast.MappingValueNode) error {
	text, err := scalar(k.Value)
	if err != nil {
		return settings.Errorf(k.Value, "%s: %s: %w", g.Text, key, err)
	}
	u := g.Metric.Unit
	switch key {
	case "max", "min", "equal":
		v, err := u.Bound(text)
		if err != nil {
			return settings.Errorf(k.Value, "%s: %s: %w", g.Text, key, err)
		}
		switch key {
		case "max":
			l.Max = v
		case "min":
			l.Min = v
		case "equal":
			l.Equal = v
		}
		return nil
	case "max_increase", "max_decrease":
		c, err := u.ParseChange(text)
		if err != nil {
			return settings.Errorf(k.Value, "%s: %s: %w", g.Text, key, err)
		}
		if key == "max_increase" {
			l.MaxIncrease = &c
		} else {
			l.MaxDecrease = &c
		}
		return nil
	case "min_abs":
		c, err := u.ParseChange(text)
		if err != nil || !c.Points {
			return settings.Errorf(k.Value, "%s: min_abs: %q is no difference of a %s, want one as %s", g.Text, text, u.Noun(),
				u.Difference())
		}
		if c.By > 0 {
			l.MinAbs = &metric.Bound{At: c.By, Text: c.Text}
		}
		return nil
	}
	return settings.Errorf(k.Key, "%s: unknown key %q, want one of max, min, equal, max_increase, max_decrease, min_abs, warn, level, noise, if_measured, source", g.Text, key)
}

// condition reads a condition such as "<= 5%".
func (g *Gate) condition(l *Limits, n ast.Node) error {
	text, err := scalar(n)
	if err != nil {
		return settings.Errorf(n, "%s: %w", g.Text, err)
	}
	for _, op := range []string{"<=", ">=", "==", "<", ">"} {
		rest, ok := strings.CutPrefix(strings.TrimSpace(text), op)
		if !ok {
			continue
		}
		v, err := g.Metric.Unit.Bound(rest)
		if err != nil {
			return settings.Errorf(n, "%s: %w", g.Text, err)
		}
		switch op[0] {
		case '<':
			l.Max, l.Over = v, op == "<"
		case '>':
			l.Min, l.Under = v, op == ">"
		case '=':
			l.Equal = v
		}
		return nil
	}
	return settings.Errorf(n, "%s: condition %q, want an operator (<=, >=, <, >, ==) and a %s, such as \"<= %s\"",
		g.Text, text, g.Metric.Unit.Noun(), g.Metric.Unit.Example())
}

// scalar returns the text of a single value, as it was written.
func scalar(n ast.Node) (string, error) {
	if _, lines := n.(*ast.LiteralNode); lines {
		return "", errors.New("want one value in one line; write conditions in quotes: \">= 80%\"")
	}
	return settings.Scalar(n)
}
