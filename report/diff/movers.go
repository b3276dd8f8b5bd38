package diff

import (
	"fmt"
	"slices"
	"strings"

	"assay/compare"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/words"
)

// A moved splits a time into rows that have changed.
type moved struct {
	title, of string // of the section, and the name of the total
	noun      string // of a row
	kind      doc.Kind
	part      compare.Part
	name      func(compare.Row) string
	runs      bool // rows have launches, so count and duration effects are known
	picture   string
}

// moved returns the sum of the absolute changes of all rows, in ns.
func (m moved) moved() (ns int64) {
	for _, r := range m.part.Rows {
		ns += max(r.DeltaNS, -r.DeltaNS)
	}
	return ns
}

// movers lists what changed in each split. The screen has the most important ones.
func (b *differ) movers(rows int, screen bool) (out []doc.Section) {
	if b.Per == compare.PerNone {
		return nil
	}
	plain := func(r compare.Row) string { return r.Name }
	list := []moved{
		{"Kernels", "total kernel time", "kernel", doc.KernelName, b.Kernels, plain, true, "diff-kernels"},
		{"Idle time", "", "cause", doc.Text, b.Idle, idleReason, false, "diff-idle"},
	}
	if screen {
		list[1].part = b.Idle.ByOwner()
	}
	bySize(list)
	more := []moved{
		{"Categories", "total kernel time", "category", doc.Text, b.Categories,
			func(r compare.Row) string { return label.Clip(label.Clean(r.Name), doc.WordColumns) }, true, ""},
		{"Operators", "total kernel time", "operator", doc.Name, b.Ops, operatorName, true, ""},
		{"Copies", "total time of copies and memsets", "copy", doc.Name, b.Copies, plain, true, ""},
		{"Passes", "total GPU time", "pass", doc.Name, b.Passes, plain, true, ""},
		{"Calls", "CPU time in calls", "call", doc.Name, b.Calls, plain, true, ""},
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
func (b *differ) moverSection(m moved, rows int) doc.Section {
	p := m.part
	if m.moved() == 0 {
		return doc.Section{}
	}
	s := doc.Section{
		Title: m.title,
		Lead: strings.TrimSpace(m.of+" "+b.each()) + fmt.Sprintf(" %s (%s): %s, was %s", compare.Signed(p.DeltaNS),
			compare.SignedShare(p.DeltaNS, p.BaseNS), unit.Duration(p.NewNS), unit.Duration(p.BaseNS)),
	}
	shown := slices.DeleteFunc(slices.Clone(p.Rows), func(r compare.Row) bool { return r.DeltaNS == 0 })
	rest := shown[min(rows, len(shown)):]
	shown = shown[:len(shown)-len(rest)]
	s.Blocks = []doc.Block{b.moverTable(m, shown)}
	if len(rest) > 0 {
		sum := int64(0)
		for _, r := range rest {
			sum += r.DeltaNS
		}
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: fmt.Sprintf("%s, delta %s.",
			label.Plural(int64(len(rest)), "more "+m.noun), compare.Signed(sum))})
	}
	if m.picture != "" {
		s.Blocks = append(b.pictures(m.picture), s.Blocks...)
	}
	return s
}

func (b *differ) moverTable(m moved, rows []compare.Row) doc.Table {
	var sizes []int64
	for _, r := range rows {
		sizes = append(sizes, r.DeltaNS, -r.DeltaNS, r.CountNS, -r.CountNS, r.DurationNS, -r.DurationNS)
	}
	scale := doc.ScaleOf(sizes...)
	t := doc.Table{Title: m.noun + "s", Columns: []doc.Column{doc.Col(scale.Head("delta"), doc.Number)}}
	if m.runs {
		t.Columns = append(t.Columns, doc.Col("count effect", doc.Number), doc.Col("duration effect", doc.Number),
			doc.Col("launches", doc.Number))
	} else {
		t.Columns = append(t.Columns, doc.Col("delta %", doc.Number))
	}
	t.Columns = append(t.Columns, doc.Col("", doc.Text), doc.Col(m.noun, m.kind))
	for _, r := range rows {
		cells := []string{scale.Signed(r.DeltaNS)}
		if m.runs {
			cells = append(cells, scale.Signed(r.CountNS), scale.Signed(r.DurationNS), b.times(r))
		} else {
			cells = append(cells, compare.SignedShare(r.DeltaNS, r.BaseNS))
		}
		t.Rows = append(t.Rows, doc.Row{Cells: append(cells, words.Match(r.Match), m.name(r))})
	}
	if m.runs {
		t.Note = fmt.Sprintf("Launches are per %s. Count effect: change of the number at the baseline's mean duration. Duration effect: change of the mean "+
			"duration at the new number. They sum to the delta.", b.whole())
	}
	return t.WithoutEmpty()
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
func (b *differ) annotations(rows int) doc.Section {
	m := moved{noun: "annotation", kind: doc.Name, part: compare.Part{Rows: b.Annotations},
		name: func(r compare.Row) string { return r.Name }, runs: false}
	if m.moved() == 0 {
		return doc.Section{}
	}
	t := b.moverTable(m, slices.DeleteFunc(slices.Clone(b.Annotations),
		func(r compare.Row) bool { return r.DeltaNS == 0 }))
	t.Note = "Total GPU time launched inside, per " + b.whole() + ". Annotations may be nested, so their deltas do not add up."
	return doc.Section{Title: "Annotations", Blocks: []doc.Block{t.Cut(rows)}}
}

// changes lists kernels that only one side has, and kernels with different names.
func (b *differ) changes(most int) doc.Section {
	s := doc.Section{Title: "Added, removed and renamed kernels"}
	var list doc.List
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
			text = fmt.Sprintf("%s, before %s%s: %s %s", names[0], names[min(1, len(names)-1)], more,
				compare.Signed(r.DeltaNS), b.each())
		}
		list = append(list, doc.Item{Mark: word, Text: doc.Sentence(text)})
	}
	for _, word := range []string{"added", "removed", "replaced", "renamed"} {
		if n := counts[word] - most; n > 0 {
			list = append(list, doc.Item{Mark: word, Text: label.Plural(int64(n), "more kernel")})
		}
	}
	if list == nil {
		return doc.Section{}
	}
	slices.SortStableFunc(list, func(a, b doc.Item) int { return strings.Compare(order(a.Mark), order(b.Mark)) })
	s.Blocks = []doc.Block{list}
	return s
}

// order returns the position of a kind of change in the list.
func order(mark string) string {
	return fmt.Sprint(slices.Index([]string{"added", "removed", "replaced", "renamed"}, mark))
}

// shapes lists the operators whose input shapes changed.
func (b *differ) shapes() doc.Section {
	t := doc.Table{Title: "operators", Columns: []doc.Column{doc.Col("operator", doc.Name),
		doc.Col("only in the baseline", doc.Name), doc.Col("only in the new run", doc.Name)}}
	for _, s := range b.Shapes {
		t.Rows = append(t.Rows, doc.Row{Cells: []string{s.Op, strings.Join(s.Base, " "), strings.Join(s.New, " ")}})
	}
	if len(t.Rows) == 0 {
		return doc.Section{}
	}
	t.Note = "Input shapes with the most GPU time of each operator (record_shapes)."
	return doc.Section{Title: "Changed input shapes", Blocks: []doc.Block{t.Cut(maxMovers)}}
}

// figures lists counts and sizes.
func (b *differ) figures() doc.Section {
	t := doc.Table{Title: "figures", Columns: []doc.Column{doc.Col("figure", doc.Text), doc.Col("baseline", doc.Number),
		doc.Col("new", doc.Number), doc.Col("delta %", doc.Number)}}
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
		t.Rows = append(t.Rows, doc.Row{Cells: []string{name, text(f, f.Base, b.Base.Parts), text(f, f.New, b.New.Parts),
			delta}})
	}
	if len(t.Rows) == 0 {
		return doc.Section{}
	}
	return doc.Section{Title: "Counts and sizes", Blocks: []doc.Block{t}}
}
