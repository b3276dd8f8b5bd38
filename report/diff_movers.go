package report

import (
	"fmt"
	"slices"
	"strings"

	"assay/compare"
	"assay/internal/label"
	"assay/report/words"
	"assay/summary"
	"assay/unit"
)

// A moved splits a time into rows that have changed.
type moved struct {
	title, of string // of the section, and the name of the total
	noun      string // of a row
	kind      Kind
	part      compare.Part
	name      func(compare.Row) string
	runs      bool // rows have launches, so count and duration effects are known
	picture   string
}

// moved returns the sum of the absolute changes of all rows, in ns.
func (m moved) moved() (ns int64) {
	for _, r := range m.part.Rows {
		ns = summary.Plus(ns, max(r.DeltaNS, -r.DeltaNS))
	}
	return ns
}

// movers lists what changed in each split. The screen has the most important ones.
func (b *differ) movers(rows int, screen bool) (out []Section) {
	if b.Per == compare.PerNone {
		return nil
	}
	plain := func(r compare.Row) string { return r.Name }
	list := []moved{
		{"Kernels", "total kernel time", "kernel", KernelName, b.Kernels, plain, true, "diff-kernels"},
		{"Idle time", "", "cause", Text, b.Idle, idleReason, false, "diff-idle"},
	}
	if screen {
		list[1].part = b.Idle.ByOwner()
	}
	bySize(list)
	more := []moved{
		{"Categories", "total kernel time", "category", Text, b.Categories, func(r compare.Row) string { return label.Clip(label.Clean(r.Name), 30) }, true, ""},
		{"Operators", "total kernel time", "operator", Name, b.Ops, operatorName, true, ""},
		{"Copies", "total time of copies and memsets", "copy", Name, b.Copies, plain, true, ""},
		{"Passes", "total GPU time", "pass", Name, b.Passes, plain, true, ""},
		{"Calls", "CPU time in calls", "call", Name, b.Calls, plain, true, ""},
	}
	if screen {
		more = more[1:3]
	}
	for _, m := range append(list, more...) {
		unknown := m.title == "Operators" && len(m.part.Rows) == 1 && m.part.Rows[0].Name == ""
		if screen && m.moved() < b.Budget.BaseNS/100 || unknown {
			continue // the report has it
		}
		out = append(out, b.moverSection(m, rows))
	}
	if screen {
		return append(out, b.changes(3))
	}
	return append(out, b.annotations(rows), b.changes(maxMovers))
}

func operatorName(r compare.Row) string {
	if r.Name == "" {
		return "(unknown operator)"
	}
	return r.Name
}

func idleReason(r compare.Row) string { return words.Cause(r.Owner, r.State, r.Name) }

// moverSection lists the rows with the largest changes.
func (b *differ) moverSection(m moved, rows int) Section {
	p := m.part
	if m.moved() == 0 {
		return Section{}
	}
	s := Section{
		Title: m.title,
		Lead:  strings.TrimSpace(m.of+" "+b.each()) + fmt.Sprintf(" %s (%s): %s, was %s", compare.Signed(p.DeltaNS), compare.SignedShare(p.DeltaNS, p.BaseNS), unit.Duration(p.NewNS), unit.Duration(p.BaseNS)),
	}
	shown := slices.DeleteFunc(slices.Clone(p.Rows), func(r compare.Row) bool { return r.DeltaNS == 0 })
	rest := shown[min(rows, len(shown)):]
	shown = shown[:len(shown)-len(rest)]
	s.Blocks = []Block{b.moverTable(m, shown)}
	if len(rest) > 0 {
		sum := int64(0)
		for _, r := range rest {
			sum += r.DeltaNS
		}
		s.Blocks = append(s.Blocks, Paragraph{Text: fmt.Sprintf("%s, delta %s.", label.Plural(int64(len(rest)), "more "+m.noun), compare.Signed(sum))})
	}
	if m.picture != "" {
		s.Blocks = append(b.pictures(m.picture), s.Blocks...)
	}
	return s
}

func (b *differ) moverTable(m moved, rows []compare.Row) Table {
	var sizes []int64
	for _, r := range rows {
		sizes = append(sizes, r.DeltaNS, -r.DeltaNS, r.CountNS, -r.CountNS, r.DurationNS, -r.DurationNS)
	}
	scale := scaleOf(sizes...)
	t := Table{Title: m.noun + "s", Columns: []Column{{scale.head("delta"), Number}}}
	if m.runs {
		t.Columns = append(t.Columns, Column{"count effect", Number}, Column{"duration effect", Number}, Column{"launches", Number})
	} else {
		t.Columns = append(t.Columns, Column{"delta %", Number})
	}
	t.Columns = append(t.Columns, Column{"", Text}, Column{m.noun, m.kind})
	for _, r := range rows {
		cells := []string{signedIn(scale, r.DeltaNS)}
		if m.runs {
			cells = append(cells, signedIn(scale, r.CountNS), signedIn(scale, r.DurationNS), b.times(r))
		} else {
			cells = append(cells, compare.SignedShare(r.DeltaNS, r.BaseNS))
		}
		t.Rows = append(t.Rows, Row{Cells: append(cells, words.Match(r.Match), m.name(r))})
	}
	if m.runs {
		t.Note = fmt.Sprintf("Launches are per %s. Count effect: change of the number at the baseline's mean duration. Duration effect: change of the mean "+
			"duration at the new number. They sum to the delta.", b.whole())
	}
	return t.withoutEmpty()
}

// times returns the number of launches of a row: "40", or "40 → 60" if it changed.
func (b *differ) times(r compare.Row) string {
	base, new := r.Times(b.Comparison)
	if base == new {
		return base
	}
	return base + " → " + new
}

// annotations lists annotations. Their deltas do not add up, because ranges are nested.
func (b *differ) annotations(rows int) Section {
	m := moved{noun: "annotation", kind: Name, part: compare.Part{Rows: b.Annotations}, name: func(r compare.Row) string { return r.Name }, runs: false}
	if m.moved() == 0 {
		return Section{}
	}
	t := b.moverTable(m, slices.DeleteFunc(slices.Clone(b.Annotations), func(r compare.Row) bool { return r.DeltaNS == 0 }))
	t.Note = "Total GPU time launched inside, per " + b.whole() + ". Annotations may be nested, so their deltas do not add up."
	return Section{Title: "Annotations", Blocks: []Block{t.cut(rows)}}
}

// changes lists kernels that only one side has, and kernels with different names.
func (b *differ) changes(most int) Section {
	s := Section{Title: "Added, removed and renamed kernels"}
	var list List
	counts := map[string]int{}
	for _, r := range b.Kernels.Rows {
		word := words.Match(r.Match)
		if word == "" {
			continue
		}
		if counts[word]++; counts[word] > most {
			continue
		}
		names := label.Short(label.Kernel, slices.Concat([]string{r.Name}, r.Was), 60)
		text := fmt.Sprintf("%s: %s %s", names[0], unit.Duration(max(r.NewNS, r.BaseNS)), b.each())
		switch r.Match {
		case compare.ByCanonical, compare.ByPlace:
			more := ""
			if n := len(names) - 2; n > 0 {
				more = fmt.Sprintf(" and %d more", n)
			}
			text = fmt.Sprintf("%s, before %s%s: %s %s", names[0], names[min(1, len(names)-1)], more, compare.Signed(r.DeltaNS), b.each())
		}
		list = append(list, Item{Mark: word, Text: sentence(text)})
	}
	for _, word := range []string{"new", "gone", "renamed", "replaced"} {
		if n := counts[word] - most; n > 0 {
			list = append(list, Item{Mark: word, Text: label.Plural(int64(n), "more kernel")})
		}
	}
	if list == nil {
		return Section{}
	}
	slices.SortStableFunc(list, func(a, b Item) int { return strings.Compare(order(a.Mark), order(b.Mark)) })
	s.Blocks = []Block{list}
	return s
}

// order returns the position of a kind of change in the list.
func order(mark string) string {
	return fmt.Sprint(slices.Index([]string{"added", "removed", "replaced", "renamed"}, mark))
}

// shapes lists the operators whose input shapes changed.
func (b *differ) shapes() Section {
	t := Table{Title: "operators", Columns: []Column{{"operator", Name}, {"only in the baseline", Name}, {"only in the new run", Name}}}
	for _, s := range b.Shapes {
		t.Rows = append(t.Rows, Row{Cells: []string{s.Op, strings.Join(s.Base, " "), strings.Join(s.New, " ")}})
	}
	if len(t.Rows) == 0 {
		return Section{}
	}
	t.Note = "Input shapes with the most GPU time of each operator (record_shapes)."
	return Section{Title: "Changed input shapes", Blocks: []Block{t.cut(maxMovers)}}
}

// figures lists counts and sizes.
func (b *differ) figures() Section {
	t := Table{Title: "figures", Columns: []Column{{"figure", Text}, {"baseline", Number}, {"new", Number}, {"delta %", Number}}}
	text := func(f compare.Figure, n *int64, parts int64) string {
		switch {
		case n == nil:
			return unit.None
		case f.Unit == "bytes" && f.Each:
			return unit.Bytes(*n / max(1, parts))
		case f.Unit == "bytes":
			return unit.Bytes(*n)
		}
		return fmt.Sprintf("%.4g", float64(*n)/float64(max(1, parts)))
	}
	for _, f := range b.Figures {
		delta := ""
		if f.Base != nil && f.New != nil && *f.Base > 0 {
			x, y := float64(*f.Base), float64(*f.New)
			if f.Each {
				x, y = x/float64(max(1, b.Base.Parts)), y/float64(max(1, b.New.Parts))
			}
			delta = fmt.Sprintf("%+.1f%%", 100*(y-x)/x)
		}
		name := f.Name
		if f.Each {
			name += " " + b.each()
		}
		t.Rows = append(t.Rows, Row{Cells: []string{name, text(f, f.Base, b.Base.Parts), text(f, f.New, b.New.Parts), delta}})
	}
	if len(t.Rows) == 0 {
		return Section{}
	}
	return Section{Title: "Counts and sizes", Blocks: []Block{t}}
}
