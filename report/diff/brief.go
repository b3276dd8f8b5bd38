package diff

import (
	"cmp"
	"slices"

	"assay/compare"
	"assay/report/doc"
	"assay/unit"
)

// The limits of the page for a pull request.
const (
	briefRemarks = 2
	briefChanges = 3
	briefRanks   = 4
	briefCells   = 20 // of the bar of the longer side
)

// brief returns the sections of the page for a pull request: the headline, both sides,
// the time breakdown and the largest changes. The others are folded.
func (b *differ) brief() []doc.Section {
	more := slices.Concat([]doc.Section{b.screenEstimates()}, b.movers(briefChanges, true), b.results(1, screenFigures, true), []doc.Section{b.metrics(screenMetrics, true)}, b.sums(briefChanges, screenColumns))
	if b.Per == compare.PerNone {
		return doc.Present(append([]doc.Section{b.head(), b.sides(briefRemarks), b.leadingSteps()}, more...)...)
	}
	for i := range more {
		more[i].Fold = true
	}
	return doc.Present(append([]doc.Section{b.head(), b.sides(briefRemarks), b.leadingSteps(), b.briefBudget(), b.largest(), folded(b.screenRanks(briefRanks))}, more...)...)
}

// folded returns a section that is shown on a click.
func folded(s doc.Section) doc.Section {
	s.Fold = true
	return s
}

// briefBudget returns a row for each side with a bar. The bars have one scale.
func (b *differ) briefBudget() doc.Section {
	p := b.Budget
	scale := doc.ScaleOf(p.BaseNS, p.NewNS)
	t := doc.Table{Title: "sides", Columns: []doc.Column{
		doc.Col("", doc.Text), doc.Col(scale.Head(b.whole()), doc.Number), doc.Col("█ compute", doc.Number), doc.Col("▓ comm", doc.Number),
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
	row("delta", p.DeltaNS, func(ns int64) string { return signedIn(scale, ns) }, func(r compare.Row) int64 { return r.DeltaNS })
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
	return doc.Section{Title: "GPU time", Lead: "per " + b.whole() + " and GPU; comm and copies: exposed only", Blocks: []doc.Block{t}}
}

// largest lists the kernels and causes of idle time with the largest changes.
func (b *differ) largest() doc.Section {
	type change struct {
		text, code string
		ns         int64
	}
	var list []change
	for _, r := range b.Kernels.Rows {
		text := "kernel, launches " + b.times(r)
		list = append(list, change{text, doc.KernelLabel(r.Name), r.DeltaNS})
	}
	for _, r := range b.Idle.ByOwner().Rows {
		list = append(list, change{"idle time: " + idleReason(r), "", r.DeltaNS})
	}
	list = slices.DeleteFunc(list, func(c change) bool { return c.ns == 0 })
	slices.SortStableFunc(list, func(x, y change) int { return cmp.Compare(size(y.ns), size(x.ns)) })
	var out doc.List
	for _, c := range list[:min(briefChanges, len(list))] {
		out = append(out, doc.Item{Mark: compare.Signed(c.ns), Text: c.text + " (" + compare.SignedShare(c.ns, b.Budget.BaseNS) + " of the " + b.whole() + ")", Code: c.code})
	}
	if out == nil {
		return doc.Section{}
	}
	return doc.Section{Title: "Largest changes", Lead: b.each() + " and GPU, " + unit.Count(int64(len(list))) + " rows changed", Blocks: []doc.Block{out}}
}

// size returns the absolute value of a change in ns.
func size(ns int64) int64 { return max(ns, -max(ns, -1<<63+1)) }
