package gate

import (
	"fmt"
	"slices"
	"strings"

	"assay/judge/rule"
)

// Guide returns the text of a gate file with the targets of a tuning guide, or "" if there is no such guide.
// rule.Guides lists the names. Gates whose metric a run does not have are skipped.
func Guide(name string) string {
	var b strings.Builder
	for _, t := range rule.TargetsOf(name) {
		fmt.Fprintf(&b, "%s: {%s, if_measured: true, source: %q}\n", t.Metric, limitsOf(t), sourceText(t))
	}
	return b.String()
}

// limitsOf writes the limits of a target as those of a gate. Two limits are never strict.
func limitsOf(t rule.Target) string {
	var parts []string
	switch {
	case t.Strict && t.Max != "":
		parts = append(parts, fmt.Sprintf("fail: \"< %s\"", t.Max))
	case t.Strict:
		parts = append(parts, fmt.Sprintf("fail: \"> %s\"", t.Min))
	default:
		if t.Min != "" {
			parts = append(parts, "min: "+t.Min)
		}
		if t.Max != "" {
			parts = append(parts, "max: "+t.Max)
		}
	}
	if t.Advice {
		parts = append(parts, "level: warn")
	}
	return strings.Join(parts, ", ")
}

func sourceText(t rule.Target) string {
	text := t.Source().Title
	if t.When != "" {
		text += "; if " + t.When
	}
	return text
}

// IsGuide reports whether a name is that of a guide with targets.
func IsGuide(name string) bool { return slices.Contains(rule.Guides(), name) }
