package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/show"
	"assay/summary"
	"assay/summary/row"
	"assay/summary/view"
)

// maxLaunchers is how many operators, lines or annotations a table lists.
const maxLaunchers = 25

// linked returns how much of the total GPU time a table accounts for.
func linked(ctx *section.Context, self int64, what string) doc.Paragraph {
	work := view.GPUWork(ctx.Summary)
	return doc.Paragraph{Text: fmt.Sprintf("%s launched %s of total GPU time (%s of %s; kernels, copies and memsets). "+
		"The rest has an unknown launch site or one of another kind.", what, unit.Share(self, work), unit.Duration(self), unit.Duration(work))}
}

// selfNote explains the columns that all tables of launchers have.
func selfNote(ctx *section.Context) string {
	text := "Self GPU time: launched by the row itself. Total: self plus nested rows. % of total GPU time. " +
		"Self times can be added up, total times cannot."
	if len(ctx.Inputs) > 1 {
		text += " Rows are sums over all inputs."
	}
	return text
}

// launcherColumns are those that all tables of launchers have behind the name.
const launcherColumns = ";self;self %=%self;total;total %=%total;calls;"

func Operators(ctx *section.Context) doc.Section {
	ops := summary.Ops().By(ctx.Ops, "operator")
	if !view.HasGPUTime(ops) {
		return doc.Section{}
	}
	t := show.View{Columns: "operator" + launcherColumns + "GPU operations;self CPU;top shape;shape %", Most: maxLaunchers, Whole: view.GPUWork(ctx.Summary), Of: ops.Of, Cells: map[string]show.Cell{
		"top shape": {Kind: doc.Name, Text: func(r *row.Row) string { shape, _ := topShape(ctx.Ops, r); return shape }},
		"shape %":   {Kind: doc.Number, Text: func(r *row.Row) string { _, share := topShape(ctx.Ops, r); return share }},
	}}.Table(ops)
	t.Note = selfNote(ctx) + " Top shape: the input shape with the most self GPU time. Shape %: its part of the row's self time. Each input keeps " +
		"only a few shapes, so with several inputs the value is a lower bound."
	return doc.Section{Title: "Operators by self GPU time", Blocks: append(append([]doc.Block{linked(ctx, ops.Whole, "Operators")},
		ctx.Pictures("top-operators.png")...), t.WithoutEmpty())}
}

// topShape returns the input shape with the most self time, and its share of the
// operator's self time. Both are "" if no shapes were recorded.
func topShape(ops []summary.Op, r *row.Row) (shape, share string) {
	type key struct{ dims, types string }
	sums, self := map[key]int64{}, int64(0)
	for _, i := range r.Of {
		self += ops[i].GPUSelfNS
		for _, s := range ops[i].TopShapes {
			sums[key{s.Dims, s.Types}] += s.GPUSelfNS
		}
	}
	best, found := key{}, false
	for k, ns := range sums {
		order := cmp.Or(cmp.Compare(sums[best], ns), cmp.Compare(k.dims, best.dims), cmp.Compare(k.types, best.types))
		if !found || order < 0 {
			best, found = k, true
		}
	}
	if !found {
		return "", ""
	}
	return strings.TrimSpace(best.dims + " " + best.types), unit.Share(sums[best], self)
}

// Lines lists the source lines to change.
func Lines(ctx *section.Context) doc.Section {
	lines := summary.Lines().By(ctx.Lines, "line")
	// Those around the lines that launch work, up to the program's first, have
	// nothing of their own, and all the same total.
	lines.Rows = slices.DeleteFunc(lines.Rows, func(r row.Row) bool { return lines.Main(&r) == 0 })
	return launchers(ctx, lines, "Source lines", "Functions", " Self time counts for the innermost function outside PyTorch and the Python library, if there is one.")
}

func Annotations(ctx *section.Context) doc.Section {
	return launchers(ctx, summary.Annotations().By(ctx.Annotations, "annotation"), "Annotations", "Annotated code",
		" GPU time counts for the annotation that was open at the launch, even if the work ran later.")
}

// launchers returns a section of rows that have only times and a count.
func launchers(ctx *section.Context, rows *row.Table, title, what, note string) doc.Section {
	if !view.HasGPUTime(rows) {
		return doc.Section{}
	}
	t := show.View{Columns: rows.Noun + launcherColumns + "CPU time", Most: maxLaunchers, Whole: view.GPUWork(ctx.Summary), Of: rows.Of}.Table(rows)
	t.Note = selfNote(ctx) + note
	return doc.Section{Title: title, Blocks: []doc.Block{linked(ctx, rows.Whole, what), t}}
}

// Passes returns the total GPU time of each part of training.
func Passes(ctx *section.Context) doc.Section {
	passes := summary.Passes().By(ctx.Passes, "pass")
	if passes.Whole <= 0 {
		return doc.Section{}
	}
	work := view.GPUWork(ctx.Summary)
	t := show.View{Columns: "pass;GPU time;%;GPU operations;mean", Most: maxLaunchers, Whole: work, Of: passes.Of}.Table(passes)
	t.Note = fmt.Sprintf("%% of total GPU time: %s (kernels, copies and memsets).", unit.Duration(work))
	return doc.Section{Title: "Forward, backward, optimizer", Blocks: []doc.Block{t}}
}
