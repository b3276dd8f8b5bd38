package diff

import (
	"fmt"
	"slices"

	"assay/compare"
	"assay/compare/phases"
	"assay/report/doc"
)

// The limits of the page for a pull request.
const (
	briefRemarks = 2
	briefChanges = 5
	briefRows    = 3 // of a folded table
	briefRanks   = 4
	briefPhases  = 8
	briefCells   = 20 // of the bar of the longer side
	phaseCells   = 12 // of the bar of the longest phase
)

// brief returns the sections of the page for a pull request, with which the report begins
// too: the headline, both sides, the phases of the step, the time breakdown and the largest changes of
// any kind. The others are folded.
func (b *differ) brief() []doc.Section {
	more := slices.Concat([]doc.Section{b.screenEstimates()}, b.movers(briefRows, true),
		b.results(1, screenFigures, true), []doc.Section{b.metrics(screenMetrics, true)}, b.sums(briefChanges, screenColumns))
	ranks := b.screenRanks(briefRanks)
	ranks.Fold = b.Waits != nil && len(b.Waits.Base.Stragglers)+len(b.Waits.New.Stragglers) == 0
	for i := range more {
		more[i].Fold = true
	}
	return doc.Present(append([]doc.Section{b.head(), b.sides(briefRemarks), b.briefPhases(), b.briefBudget(), ranks,
		changes{b}.section()}, more...)...)
}

// briefPhases returns the phases of the step on the host with bars, if the headline is about
// them. The bars have one scale.
func (b *differ) briefPhases() doc.Section {
	if !b.PhasesLead() || len(b.Phases) == 0 {
		return b.leadingSteps()
	}
	s := b.hostSteps(briefPhases)
	t := s.Blocks[0].(doc.Table)
	rows := shownPhases(b.Phases, briefPhases)
	longest := int64(1)
	for _, r := range rows {
		longest = max(longest, r.BaseNS, r.NewNS)
	}
	t.Columns = append(slices.Clone(t.Columns), doc.Col("█ both ▓ more ░ less", doc.Text))
	for i := range t.Rows {
		bar := ""
		if i < len(rows) {
			bar = phaseBar(rows[i], longest)
		}
		t.Rows[i].Cells = append(t.Rows[i].Cells, bar)
	}
	s.Blocks = []doc.Block{t}
	return s
}

// phaseBar draws what both sides have of a phase, and what the new one has more or less.
func phaseBar(r phases.Row, longest int64) string {
	base, new := max(0, r.BaseNS), max(0, r.NewNS)
	cells := int(phaseCells*(float64(max(base, new))/float64(longest)) + 0.5)
	return doc.Bar(cells, min(base, new), max(0, new-base), max(0, base-new))
}

// briefBudget returns a row for each side with a bar. The bars have one scale.
func (b *differ) briefBudget() doc.Section {
	if b.Per == compare.PerNone {
		return doc.Section{}
	}
	p := b.Budget
	scale := doc.ScaleOf(p.BaseNS, p.NewNS)
	t := doc.Table{Title: "sides", Columns: []doc.Column{
		doc.Col("", doc.Text), doc.Col(scale.Head(b.whole()), doc.Number), doc.Col("█ compute", doc.Number),
		doc.Col("▓ comm", doc.Number),
		doc.Col("░ copies", doc.Number), doc.Col("· idle", doc.Number), doc.Col("", doc.Text),
	}}
	row := func(name string, whole int64, text func(int64) string, part func(compare.Row) int64) []int64 {
		cells, parts := []string{name, text(whole)}, make([]int64, 4)
		for i, what := range []string{compare.BudgetCompute, compare.BudgetComm, compare.BudgetCopies, compare.BudgetIdle} {
			at := slices.IndexFunc(p.Rows, func(r compare.Row) bool { return r.Name == what })
			if at >= 0 {
				parts[i] = part(p.Rows[at])
			}
			cells = append(cells, text(parts[i]))
		}
		t.Rows = append(t.Rows, doc.Row{Cells: append(cells, "")})
		return parts
	}
	base := row("baseline", p.BaseNS, scale.Text, func(r compare.Row) int64 { return r.BaseNS })
	new := row("new", p.NewNS, scale.Text, func(r compare.Row) int64 { return r.NewNS })
	row("delta", p.DeltaNS, func(ns int64) string { return scale.Signed(ns) },
		func(r compare.Row) int64 { return r.DeltaNS })
	row("delta %", 0, func(int64) string { return "" }, func(compare.Row) int64 { return 0 })
	share := t.Rows[3].Cells
	share[1] = compare.SignedShare(p.DeltaNS, p.BaseNS)
	for i := range base {
		share[i+2] = compare.SignedShare(new[i]-base[i], base[i])
	}
	longest := max(p.BaseNS, p.NewNS, 1)
	for i, parts := range [][]int64{base, new} {
		whole := []int64{p.BaseNS, p.NewNS}[i]
		t.Rows[i].Cells[6] = doc.Bar(int(float64(briefCells)*(float64(whole)/float64(longest))+0.5), parts...)
	}
	return doc.Section{Title: "GPU time", Lead: fmt.Sprintf("per %s and GPU; comm and copies: exposed only", b.whole()),
		Blocks: []doc.Block{t}}
}
