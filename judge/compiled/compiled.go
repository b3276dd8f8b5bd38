// Package compiled has the rules about the log of torch.compile: functions that are compiled repeatedly, and graph
// breaks.
package compiled

import (
	"fmt"
	"path"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view"
)

// An Evaluator judges the compilations of a summary.
type Evaluator struct{ *tree.Context }

// New returns the evaluator of a context.
func New(c *tree.Context) *Evaluator { return &Evaluator{c} }

// Rules returns the rules of the package.
func (e *Evaluator) Rules() []tree.Row {
	return []tree.Row{
		{ID: rule.Recompiles, Part: tree.BasisCompiled, Measure: tree.Single(e.recompiles)},
		{ID: rule.GraphBreaks, Part: tree.BasisCompiled, Measure: tree.Single(e.graphBreaks)},
	}
}

// Findings returns the findings of all rules.
func (e *Evaluator) Findings() []finding.Finding {
	return e.Context.Findings(tree.BasedOn(tree.BasisCompiled))
}

// mostListed is the number of functions or places that evidence shows.
const mostListed = 3

// recompiles judges the time of compiling functions more often than twice: once again is how torch.compile finds out
// which sizes change.
func (e *Evaluator) recompiles() (finding.Finding, bool) {
	limits := e.Limits[rule.Recompiles]
	again, whole := int64(0), int64(0)
	var lines []string
	for _, f := range view.Compiled(e.Summary) {
		whole = summary.Plus(whole, f.NS)
		if f.MostAgain < limits.MinEvents {
			continue
		}
		again = summary.Plus(again, f.AgainNS)
		if len(lines) < mostListed {
			text := fmt.Sprintf("%s: %s again, %s", label.Clip(label.Clean(f.Function), 60), label.Plural(f.Again, "time"), unit.Duration(f.AgainNS))
			if f.Guard != "" {
				text += "; the check that failed: " + label.Clip(label.Clean(f.Guard), 120)
			}
			if f.Step != nil && f.InStep > 0 {
				text += fmt.Sprintf("; in step %s: %s of %s", label.Clip(label.Clean(f.Step.Name), 40), unit.Duration(f.InStep), unit.Duration(f.Step.WallNS))
			}
			lines = append(lines, text)
		}
	}
	if again == 0 {
		return finding.Finding{}, false
	}
	f, limit, ok := rule.Measured(limits, again, whole)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("Compiled again: %s of the time of torch.compile (%s)", unit.Share(again, whole), unit.DurationOf(again, whole)) + rule.Over(limit)
	f.Evidence = lines
	f.Gain(again, whole, "the time of torch.compile")
	f.Next = []finding.Step{finding.Advise("mark-sizes-dynamic"), finding.Advise("keep-values-out"), finding.Advise("find-the-failed-guard")}
	return f, true
}

// graphBreaks judges how many compilations have a graph break.
func (e *Evaluator) graphBreaks() (finding.Finding, bool) {
	limits := e.Limits[rule.GraphBreaks]
	broken, all := int64(0), int64(0)
	var lines []string
	seen := map[string]bool{}
	for i := range e.Compilations {
		c := &e.Compilations[i]
		if all++; len(c.Breaks) > 0 {
			broken++
		}
		for _, b := range c.Breaks {
			at := fmt.Sprintf("%s:%d", path.Base(strings.ReplaceAll(b.File, `\`, "/")), b.Line)
			if seen[at] {
				continue
			}
			if seen[at] = true; len(lines) < mostListed {
				lines = append(lines, fmt.Sprintf("%s in %s: %s", label.Clip(label.Clean(at), 60), label.Clip(label.Clean(c.Function), 60), label.Clip(label.Clean(b.Reason), 120)))
			}
		}
	}
	if broken == 0 {
		return finding.Finding{}, false
	}
	f := finding.Finding{Rule: limits.ID, Value: float64(broken) / float64(all), Warn: limits.Warn, Critical: limits.Critical}
	level, limit, ok := limits.Level(f.Value)
	if !ok {
		return f, false
	}
	f.Level = level
	f.Title = fmt.Sprintf("Graph breaks: %s of the compilations (%s of %s), at %s", unit.Share(broken, all), unit.Count(broken), unit.Count(all),
		label.Plural(int64(len(seen)), "place")) + rule.Over(limit)
	f.Evidence = lines
	f.Next = []finding.Step{finding.Advise("keep-data-on-the-gpu"), finding.Advise("remove-the-break")}
	return f, true
}
