package diff

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"assay/compare/ranks"
	"assay/internal/unit"
	"assay/report/doc"
)

// A rankColumn is a time of a rank.
type rankColumn struct {
	name string
	of   func(*ranks.Side) int64
}

// rankColumns returns the columns that the ranks have: the most that changed, in their order, if there are more.
func (b *differ) rankColumns(most int) []rankColumn {
	list := []rankColumn{
		{"compute", func(s *ranks.Side) int64 { return s.Compute }}, {"idle", func(s *ranks.Side) int64 { return s.Idle }},
	}
	if b.Waits.Base.Wait != nil && b.Waits.New.Wait != nil {
		list = append(list, rankColumn{"transfer", (*ranks.Side).Transfer}, rankColumn{"wait", (*ranks.Side).Wait})
	}
	moved := map[string]int64{}
	for _, c := range list {
		for _, r := range b.Ranks {
			if r.Base != nil && r.New != nil {
				moved[c.name] = max(moved[c.name], size(c.of(r.New)-c.of(r.Base)))
			}
		}
	}
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(x, y rankColumn) int { return cmp.Compare(moved[y.name], moved[x.name]) })
	order = order[:min(most, len(order))]
	return slices.DeleteFunc(list, func(c rankColumn) bool {
		return !slices.ContainsFunc(order, func(o rankColumn) bool { return o.name == c.name })
	})
}

// ranks compares the ranks of both sides: those that changed most, if there are more.
func (b *differ) ranks(most, columns int) doc.Section {
	if b.Waits == nil {
		return doc.Section{}
	}
	rows := slices.Clone(b.Ranks)
	if len(rows) > most {
		slices.SortStableFunc(rows, func(x, y ranks.Row) int { return cmp.Compare(rankWeight(y), rankWeight(x)) })
		rows = rows[:most]
		slices.SortStableFunc(rows, func(x, y ranks.Row) int { return cmp.Compare(x.Rank, y.Rank) })
	}
	list := b.rankColumns(columns)
	var all []int64
	for _, r := range rows {
		for _, s := range []*ranks.Side{r.Base, r.New} {
			for _, c := range list {
				if s != nil {
					all = append(all, c.of(s))
				}
			}
		}
	}
	scale := doc.ScaleOf(all...)
	t := doc.Table{Title: "ranks", Columns: []doc.Column{doc.Col("rank", doc.Number)},
		Note: "New values and their deltas."}
	for i, c := range list {
		head := c.name
		if i == 0 {
			head = scale.Head(head)
		}
		t.Columns = append(t.Columns, doc.Col(head, doc.Number), doc.Col("delta", doc.Number))
	}
	t.Columns = append(t.Columns, doc.Col("", doc.Text))
	for _, r := range rows {
		t.Rows = append(t.Rows, doc.Row{Weight: 1, Cells: rankCells(r, list, scale)})
	}
	if more := len(b.Ranks) - len(rows); more > 0 {
		t.More = doc.Rest{Rows: more}
	}
	lead := b.each()
	if b.Waits.Base.Wait != nil && b.Waits.New.Wait != nil {
		t.Note += " Transfer and wait are of matched collectives, overlapped or not."
		lead += fmt.Sprintf("; mean wait %s, was %s", unit.Duration(*b.Waits.New.Wait), unit.Duration(*b.Waits.Base.Wait))
	}
	return doc.Section{Title: "Ranks", Lead: lead, Blocks: []doc.Block{t.WithoutEmpty()}}
}

// rankCells returns the cells of a rank.
func rankCells(r ranks.Row, columns []rankColumn, scale doc.Scale) []string {
	name := strconv.Itoa(r.Rank)
	if r.Device != nil {
		name += ":" + strconv.FormatInt(*r.Device, 10)
	}
	cells := []string{name}
	for _, c := range columns {
		switch {
		case r.New == nil:
			cells = append(cells, unit.None, "")
		case r.Base == nil:
			cells = append(cells, scale.Text(c.of(r.New)), "")
		default:
			cells = append(cells, scale.Text(c.of(r.New)), scale.Signed(c.of(r.New)-c.of(r.Base)))
		}
	}
	return append(cells, rankMark(r))
}

// rankColumnsOfScreen is the number of times for which a terminal has room.
const rankColumnsOfScreen = 3

// screenRanks is ranks for a screen, if ranks changed differently or wait for one of them.
func (b *differ) screenRanks(most int) doc.Section {
	w := b.Waits
	if w == nil {
		return doc.Section{}
	}
	if len(w.Base.Stragglers)+len(w.New.Stragglers) > 0 {
		return b.ranks(most, rankColumnsOfScreen)
	}
	still := b.Budget.BaseNS / 100
	var compute, idle, waits []int64
	for _, r := range b.Ranks {
		if r.Base != nil && r.New != nil {
			compute, idle, waits = append(compute, r.New.Compute-r.Base.Compute), append(idle, r.New.Idle-r.Base.Idle),
				append(waits, size(r.New.Wait()-r.Base.Wait()))
		}
	}
	if len(compute) == 0 || slices.Max(compute)-slices.Min(compute) < still &&
		slices.Max(idle)-slices.Min(idle) < still && slices.Max(waits) < still {
		return doc.Section{}
	}
	return b.ranks(most, rankColumnsOfScreen)
}

// rankWeight orders ranks for a screen: stragglers first, then those that changed most.
func rankWeight(r ranks.Row) int64 {
	const first = 1 << 62
	switch {
	case r.New != nil && r.New.Straggler, r.Base != nil && r.Base.Straggler:
		return first
	case r.New == nil || r.Base == nil:
		return first - 1
	}
	return max(size(r.New.Compute-r.Base.Compute), size(r.New.Idle-r.Base.Idle), size(r.New.Wait()-r.Base.Wait()))
}

func rankMark(r ranks.Row) string {
	was, is := r.Base != nil && r.Base.Straggler, r.New != nil && r.New.Straggler
	switch {
	case was && is:
		return "straggler"
	case is:
		return "new straggler"
	case was:
		return "was straggler"
	case r.Base == nil:
		return "added"
	case r.New == nil:
		return "removed"
	}
	return ""
}
