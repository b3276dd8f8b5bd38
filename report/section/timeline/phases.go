package timeline

import (
	"assay/judge/finding"
	"cmp"
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/timeline"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary/view"
)

const maxPhaseRows = 40

const screenPhaseRows = 6

// phaseBound returns what limits a phase, or "" if that is not known.
func phaseBound(ctx *section.Context, p view.Phase) string {
	for _, v := range ctx.Result.Phases {
		if v.Path == p.Path {
			return limitedBy(ctx, v.Bound)
		}
	}
	return ""
}

// Phases returns the time breakdown of each phase.
func Phases(ctx *section.Context) doc.Section {
	sums := view.Phases(ctx.Summary)
	if len(sums) == 0 {
		return doc.Section{}
	}
	var hosts, medians, longest []int64
	for _, p := range sums {
		hosts, medians, longest = append(hosts, p.Host), append(medians, p.Median), append(longest, p.Max)
	}
	host, middle, most := doc.ScaleOf(hosts...), doc.ScaleOf(medians...), doc.ScaleOf(longest...)
	var rows []budgetRow
	whole := int64(0)
	for _, p := range sums {
		whole += p.Own.Window()
	}
	for _, p := range sums {
		label := []string{words.Phase(p.Path), label.Clip(label.Clean(p.Example), 40), unit.Count(p.Count), host.Text(p.Host), middle.Text(p.Median), most.Text(p.Max), unit.Share(p.Total.Window(), whole)}
		if p.Path == "" {
			label[2], label[3], label[4], label[5] = "", "", "", ""
		}
		rows = append(rows, budgetRow{label, p.Total, int64(ctx.GPUs), []string{unit.Count(p.Launched), phaseBound(ctx, p)}})
	}
	t := budgetTable([]doc.Column{doc.Col("phase", doc.Text), doc.Col("annotation", doc.Name), doc.Col("runs", doc.Number), doc.Col(host.Head("CPU"), doc.Number), doc.Col(middle.Head("median run"), doc.Number),
		doc.Col(most.Head("longest run"), doc.Number), doc.Col("% of window", doc.Number)}, rows, "GPU", doc.Col("GPU operations", doc.Number), doc.Col("limited by", doc.Text))
	for i, p := range sums {
		t.Rows[i].Weight = p.Own.Window()
	}
	t.Title = "phases"
	t.More = doc.Rest{Total: whole, Of: "GPU time"}
	t.Note = "Busy time counts for the phase that launched the work (compute first, then communication, then copies). "
	t.Note += "Idle time counts for the phase of the CPU when the GPU finished its work. The outermost phases and the time outside phases sum to the window. "
	t.Note += "A phase includes its nested phases, which are indented. "
	t.Note += "CPU times are from the thread whose phases cover the most time. Limited by: the limits of the verdict, applied to the phase."
	return doc.Section{Title: "Phases", Blocks: append([]doc.Block{doc.Paragraph{Text: phaseSentence(ctx, sums, whole)}, t.Cut(maxPhaseRows).WithoutEmpty()}, ctx.Pictures("phases.png")...)}
}

// phaseSentence returns the phases with the most time.
func phaseSentence(ctx *section.Context, sums []view.Phase, whole int64) string {
	var list []string
	rest := int64(0)
	for _, p := range sums {
		switch {
		case p.Path == "":
			rest = p.Own.Window()
		case !strings.Contains(p.Path, "/") && len(list) < 4:
			list = append(list, fmt.Sprintf("%s %s (GPU busy for %s of it)", words.Phase(p.Path), unit.Share(p.Total.Window(), whole), unit.Share(p.Total.Busy(), p.Total.Window())))
		}
	}
	return fmt.Sprintf("%% of the window%s: %s; outside phases %s.", ctx.PerGPU(whole), strings.Join(list, "; "), unit.Share(rest, whole))
}

// ScreenSteps returns the step times of each kind of steps.
func ScreenSteps(ctx *section.Context) doc.Section {
	if len(ctx.Result.Groups) == 0 {
		return doc.Section{}
	}
	by := ""
	if names := markers(ctx); names != "" {
		by = "marked by " + names
	}
	if g := ctx.Result.Groups[0]; len(ctx.Result.Groups) == 1 && g.Kind == "" {
		count := unit.Count(g.Steps)
		if n := int64(len(view.Steps(ctx.Summary))); n < g.Steps {
			count = stepsOnGPUs(n, g.Steps, int64(ctx.GPUs))
		}
		if st := ctx.Steps; len(st) == 1 && st[0].Cut != "" && st[0].HostNS > 0 {
			by += ", from its first to its last GPU work; the marker is " + unit.Duration(st[0].HostNS)
		}
		return doc.Section{Title: "Steps", Lead: stepLine(ctx, g, count, by)}
	}
	var list doc.List
	for _, g := range ctx.Result.Groups[:min(3, len(ctx.Result.Groups))] {
		list = append(list, doc.Item{Text: cmp.Or(words.PhaseName(g.Kind), "other") + ": " + stepLine(ctx, g, unit.Count(g.Steps)+sequences(g), "")})
	}
	return doc.Section{Title: "Steps", Lead: strings.TrimPrefix("median step time of each kind, "+by, ", "), Blocks: []doc.Block{list}}
}

// stepsOnGPUs returns the number of steps, and on how many GPUs they were measured.
func stepsOnGPUs(steps, measured, gpus int64) string {
	if steps*gpus == measured {
		return fmt.Sprintf("%s on each of %s GPUs", unit.Count(steps), unit.Count(gpus))
	}
	return fmt.Sprintf("%s, measured %s times on %s GPUs", unit.Count(steps), unit.Count(measured), unit.Count(gpus))
}

// stepLine returns the steps of a group with their number, their times, and what
// limits the median step.
func stepLine(ctx *section.Context, g timeline.StepGroup, text, by string) string {
	if by != "" {
		text += " (" + by + ")"
	}
	text += ", " + stepTimes(g, g.Sequences == 0, false) + served(g) // batches differ in size, and the line has more to tell
	if g.Bound != "" {
		text += ", " + verdict(ctx, g.Bound)
	}
	return text + leftOut(g)
}

// served returns the tokens per second of the steps of a server, and the time between them.
func served(g timeline.StepGroup) (text string) {
	if g.TokensPerS > 0 {
		text += ", " + unit.Count(int64(g.TokensPerS+0.5)) + " tokens/s"
	}
	if g.BetweenNS != nil && *g.BetweenNS > 0 {
		text += ", " + unit.Duration(*g.BetweenNS) + " between steps"
	}
	return text
}

// sequences returns " of 32 sequences" for a group whose markers contain their number.
func sequences(g timeline.StepGroup) string {
	if g.Sequences == 0 {
		return ""
	}
	steps := "steps"
	if g.Steps == 1 {
		steps = "step"
	}
	of := " " + steps + " of "
	if len(g.Batches) > 1 {
		of = fmt.Sprintf(" %s of %s to %s, median ", steps, unit.Count(g.Batches[0].Sequences), unit.Count(g.Batches[len(g.Batches)-1].Sequences))
	}
	return of + label.Plural(g.Sequences, "sequence")
}

// ScreenPhases returns the share of the window and the breakdown of each phase.
func ScreenPhases(ctx *section.Context) doc.Section {
	sums := view.Phases(ctx.Summary)
	if len(sums) == 0 {
		return doc.Section{}
	}
	whole := int64(0)
	for _, p := range sums {
		whole += p.Own.Window()
	}
	if len(sums) == 1 || len(sums) == 2 && sums[1].Own.Window() == 0 {
		return doc.Section{} // one phase is the whole window, whose breakdown is above
	}
	gpus := int64(ctx.GPUs)
	var times []int64
	for _, p := range sums {
		times = append(times, doc.Mean(p.Total.Window(), gpus))
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "phases", Columns: []doc.Column{doc.Col("phase", doc.Text), doc.Col("%", doc.Number), doc.Col("GPU "+scale.Unit, doc.Number), doc.Col("█ compute", doc.Number), doc.Col("▓ comm", doc.Number), doc.Col("░ copies", doc.Number), doc.Col("· idle", doc.Number), doc.Col("limited by", doc.Text)}}
	for _, p := range sums {
		a := p.Total
		of := func(ns int64) string { return unit.Share(ns, a.Window()) }
		if a.Window() == 0 {
			continue
		}
		t.Rows = append(t.Rows, doc.Row{Weight: p.Own.Window(), Cells: []string{words.Phase(p.Path), unit.Share(a.Window(), whole), scale.Text(doc.Mean(a.Window(), gpus)), of(a.Compute()), of(a.ExposedComm()), of(a.ExposedCopy()), of(a.Idle()), phaseBound(ctx, p)}})
	}
	t.More = doc.Rest{Total: whole, Of: "GPU time"}
	lead := "% of the " + strings.Repeat("whole ", min(1, len(ctx.Judged.Once))) + "window; breakdown in % of the phase"
	if gpus > 1 {
		lead = "mean per GPU, " + lead
	}
	return doc.Section{Title: "Phases", Lead: lead, Blocks: []doc.Block{t.Cut(screenPhaseRows).WithoutEmpty()}}
}

// verdict returns the display words of what limits steps. Idle time that the CPU does not cause
// is named as in the verdict of the run.
func verdict(ctx *section.Context, b finding.Bound) string {
	if b == finding.BoundHost && ctx.IdleForOthers() {
		return words.WaitsForOthers(ctx.IdleOwner())
	}
	return words.Verdict(b)
}

// limitedBy returns what limits a phase or a step, for a column. If the CPU causes less than
// half of the idle time, the cause in one phase is not known.
func limitedBy(ctx *section.Context, b finding.Bound) string {
	if b == finding.BoundHost && ctx.IdleForOthers() {
		return "idle"
	}
	return words.LimitedBy(b)
}
