package report

import (
	"fmt"
	"strings"

	"assay/compare/phases"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
)

const (
	stepPhaseRows  = 8
	stepPhaseCells = 16 // of the bar of a whole step
)

// stepPhases returns the mean step on the host with its phases and bars, if these explain the
// run: see [phases.Mean.Leads]. It says of a phase in which the device of this process got no
// work that another process does it.
func stepPhases(ctx *section.Context) doc.Section {
	m := ctx.MeanStep()
	if !m.Leads() {
		return doc.Section{}
	}
	whole := m.Steps.MeanNS
	scale := doc.ScaleOf(whole)
	t := doc.Table{Title: "phases", Columns: []doc.Column{
		doc.Col("phase", doc.Text), doc.Col(scale.Head("per step"), doc.Number), doc.Col("% of step", doc.Number), doc.Col("", doc.Text), doc.Col("", doc.Text),
	}}
	launched := launchedIn(ctx)
	rest, outside, left := int64(0), int64(0), 0
	put := func(name string, ns int64, note string) {
		bar := ""
		if whole > 0 && ns > 0 {
			bar = strings.Repeat("█", int(min(1, float64(ns)/float64(whole))*stepPhaseCells+0.5))
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{name, scale.Text(ns), unit.Share(ns, whole), bar, note}})
	}
	for i, p := range m.Phases {
		note := ""
		if n, ok := launched[p.Phase]; m.Steps.From == phases.FromTrace && p.Phase != "" && ok && n == 0 {
			note = "no GPU work of this process"
		}
		switch {
		case p.Phase == "":
			outside = p.NS
		case i < stepPhaseRows:
			put(words.PhaseName(p.Phase), p.NS, note)
		default:
			rest, left = rest+p.NS, left+1
		}
	}
	if left > 0 {
		put(label.Plural(int64(left), "more phase"), rest, "")
	}
	switch {
	case outside < 0:
		put("less overlap of phases", outside, "")
	case outside > 0:
		put("outside phases", outside, "")
	}
	s := doc.Section{Title: "Step by phase", Lead: fmt.Sprintf("CPU time per step, mean of %s: %s", label.Plural(m.Steps.Count, "step"), unit.FineDuration(whole)), Blocks: []doc.Block{t.WithoutEmpty()}}
	if n, ok := launched["generation"]; m.Steps.From == phases.FromTrace && ok && n == 0 {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: "This process launched no GPU work during generation: the rollout engine is another process. Profile it, or give its log."})
	}
	return s
}

// screenSteps is stepPhases for a screen, for timelines: the sections on logs have the times of
// each timer.
func screenSteps(ctx *section.Context) doc.Section {
	if len(ctx.Devices) == 0 {
		return doc.Section{}
	}
	return stepPhases(ctx)
}

// stepSentence returns the step and its largest phases, with which the verdict begins: what the
// window of the GPUs hides, such as a first generation before the first kernel, is in it.
func stepSentence(ctx *section.Context) string {
	m := ctx.MeanStep()
	if !m.Leads() || ctx.Issue(summary.StepsTooLong) != nil {
		return ""
	}
	const most, least = 4, 0.01
	var list []string
	for _, p := range m.Phases {
		if p.Phase != "" && len(list) < most && float64(p.NS) >= least*float64(m.Steps.MeanNS) {
			list = append(list, words.PhaseName(p.Phase)+" "+unit.Share(p.NS, m.Steps.MeanNS))
		}
	}
	if list == nil {
		return ""
	}
	return "Step of " + unit.Duration(m.Steps.MeanNS) + ": " + strings.Join(list, ", ") + "."
}

// launchedIn returns the GPU operations that were launched in each outermost phase, with its
// nested ones.
func launchedIn(ctx *section.Context) map[string]int64 {
	out := map[string]int64{}
	for _, p := range ctx.Phases {
		if p.Source == "" && p.Path != "" {
			top, _, _ := strings.Cut(p.Path, "/")
			out[top] += p.Launched
		}
	}
	return out
}
