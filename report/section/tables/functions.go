package tables

import (
	"cmp"
	"slices"

	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view"
)

// bySelf returns the functions with the largest self values. The other table is sorted by totals, and its
// functions may do nothing but call others.
func (v tableView) bySelf(most int) (doc.Table, bool) {
	if v.Of != summary.OfFunction || v.ShareColumn < 0 || v.ShareColumn == v.RankColumn {
		return doc.Table{}, false
	}
	t := v.ownOrder().table(most)
	t.Note = ""
	return t, len(t.Rows) > 1
}

// ownOrder returns the view with its rows by descending self values.
func (v tableView) ownOrder() tableView {
	v.Rows = slices.Clone(v.Rows)
	slices.SortStableFunc(v.Rows, func(a, b summary.TableRow) int {
		x, _ := a.Value(v.ShareColumn)
		y, _ := b.Value(v.ShareColumn)
		return cmp.Compare(y, x)
	})
	return v
}

// functionBlocks returns the blocks before and after a table of functions: the picture of
// the stacks, and the functions by self value.
func functionBlocks(ctx *section.Context, v tableView) (before, after []doc.Block) {
	if v.Of != summary.OfFunction {
		return nil, nil
	}
	if first, ok := view.LargestTable(ctx.Summary, summary.OfFunction); ok && first.Input == v.Input &&
		first.Number == v.Number || !ok && firstFunctions(ctx, v) {
		before = ctx.Pictures("flame.png")
	}
	if t, ok := v.bySelf(section.MaxKernels); ok {
		before = append(before, doc.Paragraph{Text: "By total (self plus callees):"})
		after = []doc.Block{doc.Paragraph{Text: "By self:"}, t}
	}
	return before, after
}

// firstFunctions reports whether v is the first table of functions. It is used only if no table has times.
func firstFunctions(ctx *section.Context, v tableView) bool {
	for _, other := range view.Tables(ctx.Summary) {
		if other.Of == summary.OfFunction {
			return other.Input == v.Input && other.Number == v.Number
		}
	}
	return false
}
