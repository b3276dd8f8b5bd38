package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// maxLaunchers is how many operators, lines or annotations a table lists.
const maxLaunchers = 25

// linked returns how much of the total GPU time a table accounts for.
func (b *builder) linked(list []view.Launcher, what string) Paragraph {
	work, self := view.GPUWork(b.Summary), view.SelfTime(list)
	return Paragraph{Text: fmt.Sprintf("%s launched %s of the %s of total GPU time (%s): kernels, copies and memsets. "+
		"The launch site of the rest is unknown or of another kind.", what, unit.Duration(self), unit.Duration(work), unit.Share(self, work))}
}

// launcherTable returns a row for each launcher: its name, its self and total GPU
// time with their shares of the total GPU time, and then the cells of extra.
func (b *builder) launcherTable(list []view.Launcher, title string, name Column, behind []Column, extra func(view.Launcher) []string) Table {
	work := view.GPUWork(b.Summary)
	var times []int64
	for _, l := range list {
		times = append(times, l.Total, l.Self)
	}
	scale := scaleOf(times...)
	t := Table{Title: title, More: Rest{Total: work, Of: "total GPU time"}, Columns: slices.Concat([]Column{
		name, {scale.head("self"), Number}, {"self %", Number}, {scale.head("total"), Number}, {"total %", Number}, {"calls", Number},
	}, behind)}
	for _, l := range list {
		t.Rows = append(t.Rows, Row{Weight: l.Self, Cells: append([]string{
			l.Name, scale.text(l.Self), unit.Share(l.Self, work), scale.text(l.Total), unit.Share(l.Total, work), unit.Count(l.Count),
		}, extra(l)...)})
	}
	return t
}

// selfNote explains the columns that all tables of launchers have.
func (b *builder) selfNote() string {
	text := "Self GPU time: launched by the row itself. Total: self plus nested rows. % of total GPU time. " +
		"Self times can be added up, total times cannot."
	if len(b.Inputs) > 1 {
		text += " Rows are sums over all inputs."
	}
	return text
}

func (b *builder) operators() Section {
	list := view.Ops(b.Summary)
	if !view.HasGPUTime(list) {
		return Section{}
	}
	shown := list[:min(maxLaunchers, len(list))]
	var hosts []int64
	for _, l := range shown {
		hosts = append(hosts, l.CPU)
	}
	host := scaleOf(hosts...)
	t := b.launcherTable(list, "operators", Column{"operator", Name}, []Column{
		{"GPU operations", Number}, {host.head("self CPU"), Number}, {"top shape", Name}, {"shape %", Number},
	}, func(l view.Launcher) []string {
		shape, share := topShape(l)
		return []string{unit.Count(l.Launched), host.text(l.CPU), shape, share}
	})
	t.Note = b.selfNote() + " Top shape: the input shape with the most self GPU time. Shape %: its part of the row's self time. Each input keeps " +
		"only a few shapes, so with several inputs the value is a lower bound."
	return Section{Title: "Operators by self GPU time", Blocks: append(append([]Block{b.linked(list, "Operators")},
		b.pictures("top-operators.png")...), t.cut(maxLaunchers).withoutEmpty())}
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

// lines lists the source lines to change.
func (b *builder) lines() Section {
	list := view.Launchers(b.Lines, func(r summary.Line) view.Launcher {
		return view.Launcher{Name: lineName(r), Count: r.Count, Self: r.GPUSelfNS, Total: r.GPUTotalNS, CPU: r.CPUTotalNS}
	})
	// Those around the lines that launch work, up to the program's first, have
	// nothing of their own, and all the same total.
	list = slices.DeleteFunc(list, func(l view.Launcher) bool { return l.Self == 0 })
	return b.launchers(list, "Source lines", "lines", Column{"line", LineName}, "Functions",
		" Self time counts for the innermost function outside PyTorch and the Python library, if there is one.")
}

// lineName is where a line is found: "dir/model.py:12 forward".
func lineName(r summary.Line) string {
	if r.File == "" {
		return r.Function
	}
	return strings.TrimSpace(r.File + ":" + strconv.Itoa(r.Line) + " " + r.Function)
}

func (b *builder) annotations() Section {
	list := view.Launchers(b.Annotations, func(r summary.Annotation) view.Launcher {
		return view.Launcher{Name: r.Name, Count: r.Count, Self: r.GPUSelfNS, Total: r.GPUTotalNS, CPU: r.CPUTotalNS}
	})
	return b.launchers(list, "Annotations", "annotations", Column{"annotation", Name}, "Annotated code",
		" GPU time counts for the annotation that was open at the launch, even if the work ran later.")
}

// launchers returns a section of rows that have only times and a count.
func (b *builder) launchers(list []view.Launcher, title, rows string, name Column, what, note string) Section {
	if !view.HasGPUTime(list) {
		return Section{}
	}
	shown := list[:min(maxLaunchers, len(list))]
	var hosts []int64
	for _, l := range shown {
		hosts = append(hosts, l.CPU)
	}
	host := scaleOf(hosts...)
	t := b.launcherTable(list, rows, name, []Column{{host.head("CPU time"), Number}}, func(l view.Launcher) []string { return []string{host.text(l.CPU)} })
	t.Note = b.selfNote() + note
	return Section{Title: title, Blocks: []Block{b.linked(list, what), t.cut(maxLaunchers)}}
}

// passes returns the total GPU time of each part of training.
func (b *builder) passes() Section {
	sum := int64(0)
	list := view.Launchers(b.Passes, func(r summary.Pass) view.Launcher {
		sum = summary.Plus(sum, r.GPUNS)
		return view.Launcher{Name: r.Name, Count: r.Count, Self: r.GPUNS}
	})
	if len(list) == 0 || sum <= 0 {
		return Section{}
	}
	work := view.GPUWork(b.Summary)
	var means []int64
	for _, l := range list {
		means = append(means, mean(l.Self, l.Count))
	}
	scale, each := scaleOf(list[0].Self), scaleOf(means...)
	t := Table{Title: "passes", More: Rest{Total: work, Of: "total GPU time"}, Columns: []Column{
		{"pass", Name}, {scale.head("GPU time"), Number}, {"%", Number}, {"GPU operations", Number}, {each.head("mean"), Number},
	}}
	for _, l := range list {
		t.Rows = append(t.Rows, Row{Weight: l.Self, Cells: []string{
			l.Name, scale.text(l.Self), unit.Share(l.Self, work), unit.Count(l.Count), each.text(mean(l.Self, l.Count)),
		}})
	}
	t.Note = fmt.Sprintf("%% of total GPU time: %s (kernels, copies and memsets).", unit.Duration(work))
	return Section{Title: "Forward, backward, optimizer", Blocks: []Block{t.cut(maxLaunchers)}}
}
