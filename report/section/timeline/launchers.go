package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view"
)

// maxLaunchers is how many operators, lines or annotations a table lists.
const maxLaunchers = 25

// linked returns how much of the total GPU time a table accounts for.
func linked(ctx *section.Context, list []view.Launcher, what string) doc.Paragraph {
	work, self := view.GPUWork(ctx.Summary), view.SelfTime(list)
	return doc.Paragraph{Text: fmt.Sprintf("%s launched %s of total GPU time (%s of %s; kernels, copies and memsets). "+
		"The rest has an unknown launch site or one of another kind.", what, unit.Share(self, work), unit.Duration(self), unit.Duration(work))}
}

// launcherTable returns a row for each launcher: its name, its self and total GPU
// time with their shares of the total GPU time, and then the cells of extra.
func launcherTable(ctx *section.Context, list []view.Launcher, title string, name doc.Column, behind []doc.Column, extra func(view.Launcher) []string) doc.Table {
	work := view.GPUWork(ctx.Summary)
	var times []int64
	for _, l := range list {
		times = append(times, l.Total, l.Self)
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: title, More: doc.Rest{Total: work, Of: "total GPU time"}, Columns: slices.Concat([]doc.Column{
		name, doc.Col(scale.Head("self"), doc.Number), doc.Col("self %", doc.Number), doc.Col(scale.Head("total"), doc.Number), doc.Col("total %", doc.Number), doc.Col("calls", doc.Number),
	}, behind)}
	for _, l := range list {
		t.Rows = append(t.Rows, doc.Row{Weight: l.Self, Cells: append([]string{
			l.Name, scale.Text(l.Self), unit.Share(l.Self, work), scale.Text(l.Total), unit.Share(l.Total, work), unit.Count(l.Count),
		}, extra(l)...)})
	}
	return t
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

func Operators(ctx *section.Context) doc.Section {
	list := view.Ops(ctx.Summary)
	if !view.HasGPUTime(list) {
		return doc.Section{}
	}
	shown := list[:min(maxLaunchers, len(list))]
	var hosts []int64
	for _, l := range shown {
		hosts = append(hosts, l.CPU)
	}
	host := doc.ScaleOf(hosts...)
	t := launcherTable(ctx, list, "operators", doc.Col("operator", doc.Name), []doc.Column{
		doc.Col("GPU operations", doc.Number), doc.Col(host.Head("self CPU"), doc.Number), doc.Col("top shape", doc.Name), doc.Col("shape %", doc.Number),
	}, func(l view.Launcher) []string {
		shape, share := topShape(l)
		return []string{unit.Count(l.Launched), host.Text(l.CPU), shape, share}
	})
	t.Note = selfNote(ctx) + " Top shape: the input shape with the most self GPU time. Shape %: its part of the row's self time. Each input keeps " +
		"only a few shapes, so with several inputs the value is a lower bound."
	return doc.Section{Title: "Operators by self GPU time", Blocks: append(append([]doc.Block{linked(ctx, list, "Operators")},
		ctx.Pictures("top-operators.png")...), t.Cut(maxLaunchers).WithoutEmpty())}
}

// topShape returns the input shape with the most self time, and its share of the
// operator's self time. Both are "" if no shapes were recorded.
func topShape(l view.Launcher) (shape, share string) {
	type key struct{ dims, types string }
	sums := map[key]int64{}
	for _, s := range l.Shapes {
		sums[key{s.Dims, s.Types}] = summary.Plus(sums[key{s.Dims, s.Types}], s.GPUSelfNS)
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
	return strings.TrimSpace(best.dims + " " + best.types), unit.Share(sums[best], l.Self)
}

// Lines lists the source lines to change.
func Lines(ctx *section.Context) doc.Section {
	list := view.Launchers(ctx.Lines, func(r summary.Line) view.Launcher {
		return view.Launcher{Name: lineName(r), Count: r.Count, Self: r.GPUSelfNS, Total: r.GPUTotalNS, CPU: r.CPUTotalNS}
	})
	// Those around the lines that launch work, up to the program's first, have
	// nothing of their own, and all the same total.
	list = slices.DeleteFunc(list, func(l view.Launcher) bool { return l.Self == 0 })
	return launchers(ctx, list, "Source lines", "lines", doc.Col("line", doc.LineName), "Functions",
		" Self time counts for the innermost function outside PyTorch and the Python library, if there is one.")
}

// lineName is where a line is found: "dir/model.py:12 forward".
func lineName(r summary.Line) string {
	if r.File == "" {
		return r.Function
	}
	return strings.TrimSpace(r.File + ":" + strconv.Itoa(r.Line) + " " + r.Function)
}

func Annotations(ctx *section.Context) doc.Section {
	list := view.Launchers(ctx.Annotations, func(r summary.Annotation) view.Launcher {
		return view.Launcher{Name: r.Name, Count: r.Count, Self: r.GPUSelfNS, Total: r.GPUTotalNS, CPU: r.CPUTotalNS}
	})
	return launchers(ctx, list, "Annotations", "annotations", doc.Col("annotation", doc.Name), "Annotated code",
		" GPU time counts for the annotation that was open at the launch, even if the work ran later.")
}

// launchers returns a section of rows that have only times and a count.
func launchers(ctx *section.Context, list []view.Launcher, title, rows string, name doc.Column, what, note string) doc.Section {
	if !view.HasGPUTime(list) {
		return doc.Section{}
	}
	shown := list[:min(maxLaunchers, len(list))]
	var hosts []int64
	for _, l := range shown {
		hosts = append(hosts, l.CPU)
	}
	host := doc.ScaleOf(hosts...)
	t := launcherTable(ctx, list, rows, name, []doc.Column{doc.Col(host.Head("CPU time"), doc.Number)}, func(l view.Launcher) []string { return []string{host.Text(l.CPU)} })
	t.Note = selfNote(ctx) + note
	return doc.Section{Title: title, Blocks: []doc.Block{linked(ctx, list, what), t.Cut(maxLaunchers)}}
}

// Passes returns the total GPU time of each part of training.
func Passes(ctx *section.Context) doc.Section {
	sum := int64(0)
	list := view.Launchers(ctx.Passes, func(r summary.Pass) view.Launcher {
		sum = summary.Plus(sum, r.GPUNS)
		return view.Launcher{Name: r.Name, Count: r.Count, Self: r.GPUNS}
	})
	if len(list) == 0 || sum <= 0 {
		return doc.Section{}
	}
	work := view.GPUWork(ctx.Summary)
	var means []int64
	for _, l := range list {
		means = append(means, doc.Mean(l.Self, l.Count))
	}
	scale, each := doc.ScaleOf(list[0].Self), doc.ScaleOf(means...)
	t := doc.Table{Title: "passes", More: doc.Rest{Total: work, Of: "total GPU time"}, Columns: []doc.Column{
		doc.Col("pass", doc.Name), doc.Col(scale.Head("GPU time"), doc.Number), doc.Col("%", doc.Number), doc.Col("GPU operations", doc.Number), doc.Col(each.Head("mean"), doc.Number),
	}}
	for _, l := range list {
		t.Rows = append(t.Rows, doc.Row{Weight: l.Self, Cells: []string{
			l.Name, scale.Text(l.Self), unit.Share(l.Self, work), unit.Count(l.Count), each.Text(doc.Mean(l.Self, l.Count)),
		}})
	}
	t.Note = fmt.Sprintf("%% of total GPU time: %s (kernels, copies and memsets).", unit.Duration(work))
	return doc.Section{Title: "Forward, backward, optimizer", Blocks: []doc.Block{t.Cut(maxLaunchers)}}
}
