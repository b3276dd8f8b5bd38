package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/unit"
	"assay/summary"
)

// sumsHeadline returns the headline for totals without a timeline.
func (c *Comparison) sumsHeadline() string {
	for _, k := range c.Counters {
		if d := k.Delta(); d != 0 {
			in := UnitOf("ns", *k.BaseNS, *k.NewNS)
			return in.Moved(fmt.Sprintf("%q per launch", k.Kernel), *k.BaseNS, *k.NewNS) + c.moreCounters()
		}
	}
	if len(c.Counters) > 0 && !slices.ContainsFunc(c.Counters, func(k CounterDelta) bool { return k.Match == ByName }) {
		return "no kernel was profiled on both sides"
	}
	if len(c.Counters) > 0 {
		return "no kernel's time per launch changed"
	}
	tables := slices.Clone(c.Tables)
	slices.SortStableFunc(tables, func(a, b TableDelta) int { return cmp.Compare(a.weight(), b.weight()) })
	for i := range tables {
		if text := tables[i].headline(); text != "" {
			return text
		}
	}
	return "no table changed"
}

// moreCounters counts the other kernels whose time per launch changed.
func (c *Comparison) moreCounters() string {
	more := -1
	for _, k := range c.Counters {
		if d := k.Delta(); d != 0 {
			more++
		}
	}
	switch {
	case more <= 0:
		return ""
	case more == 1:
		return "; 1 more kernel changed"
	}
	return fmt.Sprintf("; %s more kernels changed", unit.Count(int64(more)))
}

// headline describes the change of the first column of a table, and the rows that explain it. It
// returns "" if nothing changed.
func (t *TableDelta) headline() string {
	if len(t.Rows) == 0 || len(t.Columns) == 0 || t.Rows[0].Delta(0) == 0 {
		return ""
	}
	col := t.Columns[0]
	base, new, ok := col.Sums()
	if !ok {
		return fmt.Sprintf("largest change of the %s of %s: %q (%s)", col.Title(), t.Name, t.Rows[0].Name,
			signedText(col, t.Rows[0].Delta(0)))
	}
	in, delta := UnitOf(col.Unit, base, new), new-base
	whole := t.Name // "samples", if the first column is the number of them
	if col.Unit == "ns" || col.Unit == "bytes" || col.Name != "self" {
		whole = col.Title() + " of " + t.Name
	}
	var deltas []int64
	for i := range t.Rows {
		deltas = append(deltas, t.Rows[i].Delta(0))
	}
	var list []string
	put := func(i int) {
		list = append(list, fmt.Sprintf("%q %s", t.Rows[i].Name, in.Signed(deltas[i])))
	}
	if float64(size(delta)) < still*float64(base) {
		text := in.Unchanged(whole, base, new)
		for i, d := range deltas[:min(2, len(deltas))] {
			if float64(size(d)) >= still*float64(base) {
				put(i)
			}
		}
		if list == nil {
			return text
		}
		return text + ", but its parts changed: " + strings.Join(list, ", ")
	}
	named, other := Explaining(deltas, delta, mostParts)
	for _, i := range named {
		put(i)
	}
	text := in.Moved(whole, base, new)
	if list != nil {
		text += ": " + strings.Join(list, ", ")
	}
	if other >= 0 {
		text += fmt.Sprintf(", but %q %s", t.Rows[other].Name, in.Signed(deltas[other]))
	}
	return text
}

// weight orders tables by their relevance for a GPU: kernels first.
func (t TableDelta) weight() int {
	order := []string{summary.OfKernel, summary.OfDeviceOp, summary.OfCopy}
	if i := slices.Index(order, t.Of); i >= 0 {
		return i
	}
	return len(order)
}

// Text prints a value of the column with its unit.
func (c ColumnDelta) Text(n int64) string {
	switch c.Unit {
	case "ns":
		return unit.Duration(n)
	case "bytes":
		return unit.Bytes(n)
	}
	return unit.Count(n)
}

func signedText(c ColumnDelta, n int64) string {
	if n > 0 {
		return "+" + c.Text(n)
	}
	return c.Text(n)
}
