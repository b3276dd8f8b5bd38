package report

import (
	"fmt"
	"slices"
	"strings"

	"assay/judge"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

const maxPhaseRows = 40

const screenPhaseRows = 6

// phaseBound says what bounds a phase.
func (b *builder) phaseBound(p view.Phase) string {
	for _, v := range b.result.Phases {
		if v.Path == p.Path {
			return boundOf(v.Bound)
		}
	}
	return ""
}

// boundOf says in a word or two what bounds a phase or step.
func boundOf(bound string) string {
	switch bound {
	case "communication":
		return "comm"
	case "":
		return ""
	}
	return clip(clean(bound), 20)
}

// phases says what the devices did in each phase.
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
		label := []string{p.Label(), clip(clean(p.Example), 40), unit.Count(p.Count), host.text(p.Host), middle.text(p.Median), most.text(p.Max), unit.Share(p.Total.Window(), whole)}
		if p.Path == "" {
			label[2], label[3], label[4], label[5] = "", "", "", ""
		}
		rows = append(rows, budgetRow{label, p.Total, []string{unit.Count(p.Launched), b.phaseBound(p)}})
	}
	t := budgetTable([]Column{{"phase", Text}, {"as in", Name}, {"runs", Number}, {host.head("host"), Number}, {middle.head("median run"), Number},
		{most.head("longest run"), Number}, {"of the windows", Number}}, rows, "devices", Column{"launched", Number}, Column{"bound", Text})
	for i, p := range sums {
		t.Rows[i].Weight = p.Own.Window()
	}
	t.Title = "phases"
	t.More = Rest{Total: whole, Of: "the windows"}
	t.Note = "While anything runs on a device the time belongs to the phase that launched it, compute before communication before copies; while nothing runs it " +
		"belongs to the phase that the host was in when the device was done with all before. So the outermost phases and the row of what is in none sum to the windows. " +
		"A phase has what is within it, which follows set in. The host's times are of one thread, that whose phases cover the most time; the bound is by the limits of the verdict."
	return Section{Title: "Phases", Blocks: append([]Block{Paragraph{Text: phaseSentence(sums, whole)}, t.cut(maxPhaseRows).withoutEmpty()}, b.pictures("phases.png")...)}
}

// phaseSentence names the phases with the most time.
func phaseSentence(sums []view.Phase, whole int64) string {
	var words []string
	rest := int64(0)
	for _, p := range sums {
		switch {
		case p.Path == "":
			rest = p.Own.Window()
		case !strings.Contains(p.Path, "/") && len(words) < 4:
			words = append(words, fmt.Sprintf("%s has %s, and the devices are in use for %s of that", p.Label(), unit.Share(p.Total.Window(), whole), unit.Share(p.Total.Busy(), p.Total.Window())))
		}
	}
	return fmt.Sprintf("Of %s of the windows: %s. %s is in no phase.", unit.Duration(whole), strings.Join(words, "; "), unit.Share(rest, whole))
}

// screenSteps says how long steps are, where there is more to tell of them than
// that: kinds, some that stand out, or phases.
func (b *builder) screenSteps() Section {
	plain := len(b.Phases) == 0 && !slices.ContainsFunc(b.result.Groups, func(g judge.StepGroup) bool {
		return g.Kind != "" || g.Slow+g.WarmUp+g.Edge > 0
	})
	if len(b.result.Groups) == 0 || plain {
		return Section{}
	}
	var list List
	for i, g := range b.result.Groups {
		if i == 3 {
			break
		}
		text := fmt.Sprintf("%s: median %s, spread %s, max %s", plural(g.Steps, strings.TrimSpace(clip(clean(g.Kind), 30)+" step")),
			unit.Duration(g.MedianNS), unit.Duration(g.SpreadNS), unit.Duration(g.MaxNS))
		if g.Bound != "" {
			text += ", " + stepBound(g.Bound)
		}
		list = append(list, Item{Text: text + leftOut(g)})
	}
	lead := "of each device"
	if by := b.markers(); by != "" {
		lead += ", marked by " + by
	}
	return Section{Title: "Steps", Lead: lead, Blocks: []Block{list}}
}

// stepBound says what bounds the median step, in the words of the verdict.
func stepBound(bound string) string {
	switch bound {
	case "mixed":
		return "bound by nothing that stands out"
	case "copies":
		return "copy-bound"
	}
	return clip(clean(bound), 20) + "-bound"
}

// screenPhases says what phases had of the windows.
func (b *builder) screenPhases() Section {
	sums := view.Phases(b.Summary)
	if len(sums) == 0 {
		return Section{}
	}
	whole := int64(0)
	for _, p := range sums {
		whole = summary.Plus(whole, p.Own.Window())
	}
	t := Table{Title: "phases", Columns: []Column{{"phase", Text}, {"share", Number}, {"time", Number}, {"█ compute", Number}, {"▓ comm", Number}, {"░ copies", Number}, {"· idle", Number}, {"bound", Text}}}
	for _, p := range sums {
		a := p.Total
		of := func(ns int64) string { return unit.Share(ns, a.Window()) }
		if a.Window() == 0 {
			continue
		}
		t.Rows = append(t.Rows, Row{Weight: p.Own.Window(), Cells: []string{p.Label(), unit.Share(a.Window(), whole), fourDigits(a.Window()), of(a.Compute()), of(a.ExposedComm()), of(a.ExposedCopy()), of(a.Idle()), b.phaseBound(p)}})
	}
	t.More = Rest{Total: whole, Of: "the windows"}
	return Section{Title: "Phases", Lead: "share of the windows; of comm and copies the exposed part", Blocks: []Block{t.cut(screenPhaseRows).withoutEmpty()}}
}
