package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/judge"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

const maxPhaseRows = 40

const screenPhaseRows = 6

// phaseBound returns what limits a phase, or "" if that is not known.
func (b *builder) phaseBound(p view.Phase) string {
	for _, v := range b.result.Phases {
		if v.Path == p.Path {
			return words.LimitedBy(v.Bound)
		}
	}
	return ""
}

// phases returns the time breakdown of each phase.
func (b *builder) phases() Section {
	sums := view.Phases(b.Summary)
	if len(sums) == 0 {
		return Section{}
	}
	var hosts, medians, longest []int64
	for _, p := range sums {
		hosts, medians, longest = append(hosts, p.Host), append(medians, p.Median), append(longest, p.Max)
	}
	host, middle, most := scaleOf(hosts...), scaleOf(medians...), scaleOf(longest...)
	var rows []budgetRow
	whole := int64(0)
	for _, p := range sums {
		whole = summary.Plus(whole, p.Own.Window())
	}
	for _, p := range sums {
		label := []string{words.Phase(p.Path), label.Clip(label.Clean(p.Example), 40), unit.Count(p.Count), host.text(p.Host), middle.text(p.Median), most.text(p.Max), unit.Share(p.Total.Window(), whole)}
		if p.Path == "" {
			label[2], label[3], label[4], label[5] = "", "", "", ""
		}
		rows = append(rows, budgetRow{label, p.Total, int64(len(b.Devices)), []string{unit.Count(p.Launched), b.phaseBound(p)}})
	}
	t := budgetTable([]Column{{"phase", Text}, {"annotation", Name}, {"runs", Number}, {host.head("CPU"), Number}, {middle.head("median run"), Number},
		{most.head("longest run"), Number}, {"% of window", Number}}, rows, "GPU", Column{"GPU operations", Number}, Column{"limited by", Text})
	for i, p := range sums {
		t.Rows[i].Weight = p.Own.Window()
	}
	t.Title = "phases"
	t.More = Rest{Total: whole, Of: "GPU time"}
	t.Note = "Busy time counts for the phase that launched the work (compute first, then communication, then copies). "
	t.Note += "Idle time counts for the phase of the CPU when the GPU finished its work. The outermost phases and the time outside phases sum to the window. "
	t.Note += "A phase includes its nested phases, which are indented. "
	t.Note += "CPU times are from the thread whose phases cover the most time. Limited by: the limits of the verdict, applied to the phase."
	return Section{Title: "Phases", Blocks: append([]Block{Paragraph{Text: b.phaseSentence(sums, whole)}, t.cut(maxPhaseRows).withoutEmpty()}, b.pictures("phases.png")...)}
}

// phaseSentence returns the phases with the most time.
func (b *builder) phaseSentence(sums []view.Phase, whole int64) string {
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
	return fmt.Sprintf("%% of the window%s: %s; outside phases %s.", b.perGPU(whole), strings.Join(list, "; "), unit.Share(rest, whole))
}

// screenSteps returns the step times. It is empty if the steps have no kinds, no
// phases and no exceptions: then the report alone shows them.
func (b *builder) screenSteps() Section {
	plain := len(b.Phases) == 0 && !slices.ContainsFunc(b.result.Groups, func(g judge.StepGroup) bool {
		return g.Kind != "" || g.Slow+g.WarmUp+g.Edge > 0
	})
	if len(b.result.Groups) == 0 || plain {
		return Section{}
	}
	by := ""
	if names := b.markers(); names != "" {
		by = "marked by " + names
	}
	if g := b.result.Groups[0]; len(b.result.Groups) == 1 && g.Kind == "" {
		return Section{Title: "Steps", Lead: stepLine(g, by)}
	}
	var list List
	for _, g := range b.result.Groups[:min(3, len(b.result.Groups))] {
		list = append(list, Item{Text: cmp.Or(words.PhaseName(g.Kind), "other") + ": " + stepLine(g, "")})
	}
	return Section{Title: "Steps", Lead: strings.TrimPrefix("median step time of each kind, "+by, ", "), Blocks: []Block{list}}
}

// stepLine returns the number of steps of a group, their times in one unit, and what
// limits the median step.
func stepLine(g judge.StepGroup, by string) string {
	scale := scaleOf(g.MaxNS)
	text := unit.Count(g.Steps)
	if by != "" {
		text += " (" + by + ")"
	}
	text += fmt.Sprintf(", median %[1]s %[4]s, MAD %[2]s %[4]s, max %[3]s %[4]s", scale.text(g.MedianNS), scale.text(g.SpreadNS), scale.text(g.MaxNS), scale.unit)
	if g.Bound != "" {
		text += ", " + words.Verdict(g.Bound)
	}
	return text + leftOut(g)
}

// screenPhases returns the share of the window and the breakdown of each phase.
func (b *builder) screenPhases() Section {
	sums := view.Phases(b.Summary)
	if len(sums) == 0 {
		return Section{}
	}
	whole := int64(0)
	for _, p := range sums {
		whole = summary.Plus(whole, p.Own.Window())
	}
	gpus := int64(len(b.Devices))
	var times []int64
	for _, p := range sums {
		times = append(times, mean(p.Total.Window(), gpus))
	}
	scale := scaleOf(times...)
	t := Table{Title: "phases", Columns: []Column{{"phase", Text}, {"%", Number}, {"GPU " + scale.unit, Number}, {"█ compute", Number}, {"▓ comm", Number}, {"░ copies", Number}, {"· idle", Number}, {"limited by", Text}}}
	for _, p := range sums {
		a := p.Total
		of := func(ns int64) string { return unit.Share(ns, a.Window()) }
		if a.Window() == 0 {
			continue
		}
		t.Rows = append(t.Rows, Row{Weight: p.Own.Window(), Cells: []string{words.Phase(p.Path), unit.Share(a.Window(), whole), scale.text(mean(a.Window(), gpus)), of(a.Compute()), of(a.ExposedComm()), of(a.ExposedCopy()), of(a.Idle()), b.phaseBound(p)}})
	}
	t.More = Rest{Total: whole, Of: "GPU time"}
	lead := "% of the window; breakdown in % of the phase"
	if gpus > 1 {
		lead = "mean per GPU, " + lead
	}
	return Section{Title: "Phases", Lead: lead, Blocks: []Block{t.cut(screenPhaseRows).withoutEmpty()}}
}
