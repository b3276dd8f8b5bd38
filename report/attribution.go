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

// linked says how much of the GPU work a table accounts for.
func (b *builder) linked(list []view.Launcher, what string) Paragraph {
	work, self := view.GPUWork(b.Summary), view.SelfTime(list)
	return Paragraph{Text: fmt.Sprintf("%s launched %s of the %s of GPU work (%s), the sum of the durations of all kernels, copies and memsets. "+
		"The rest was launched by something else, or it is not known by what.", what, unit.Duration(self), unit.Duration(work), unit.Share(self, work))}
}

// launcherTable sets launchers: their name, self and total time with their
// shares of all GPU work, and then the cells that extra returns.
func (b *builder) launcherTable(list []view.Launcher, title string, name Column, behind []Column, extra func(view.Launcher) []string) Table {
	work := view.GPUWork(b.Summary)
	var times []int64
	for _, l := range list {
		times = append(times, l.Total, l.Self)
	}
	scale := scaleOf(times...)
	t := Table{Title: title, More: Rest{Total: work, Of: "GPU work, self"}, Columns: slices.Concat([]Column{
		name, {scale.head("self"), Number}, {"share", Number}, {scale.head("total"), Number}, {"share", Number}, {"count", Number},
	}, behind)}
	for _, l := range list {
		t.Rows = append(t.Rows, Row{Weight: l.Self, Cells: append([]string{
			l.Name, scale.text(l.Self), unit.Share(l.Self, work), scale.text(l.Total), unit.Share(l.Total, work), unit.Count(l.Count),
		}, extra(l)...)})
	}
	return t
}

// selfNote says what the columns are that all tables of launchers have.
func (b *builder) selfNote() string {
	text := "Self is the GPU time of work that the row launched itself, total adds what was launched inside it; shares are of all GPU work. " +
		"Self times add up, total times do not."
	if len(b.Inputs) > 1 {
		text += " Rows add up all inputs."
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
		{"launched", Number}, {host.head("host self"), Number}, {"top shape", Name}, {"its share", Number},
	}, func(l view.Launcher) []string {
		shape, share := topShape(l)
		return []string{unit.Count(l.Launched), host.text(l.CPU), shape, share}
	})
	t.Note = b.selfNote() + " The top shape is that of the inputs with the most GPU self time, and its share is of the row's self time; each input keeps " +
		"only a few shapes, so over several inputs it is at least that."
	return Section{Title: "Operators by GPU time", Blocks: append(append([]Block{b.linked(list, "Operators")},
		b.pictures("top-operators.png")...), t.cut(maxLaunchers).withoutEmpty())}
}

// topShape returns the shape with the most self time and its share of that of
// the operator, nothing if no shapes were recorded.
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
		" Work counts as self at the innermost function that is neither PyTorch's nor Python's own, where there is one.")
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
		" Work counts where the program was when it was launched, whenever it ran.")
}

// launchers is a section of rows that have no more than times and a count.
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
	t := b.launcherTable(list, rows, name, []Column{{host.head("host time"), Number}}, func(l view.Launcher) []string { return []string{host.text(l.CPU)} })
	t.Note = b.selfNote() + note
	return Section{Title: title, Blocks: []Block{b.linked(list, what), t.cut(maxLaunchers)}}
}

// passes is how GPU work is split between the parts of training.
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
	t := Table{Title: "passes", More: Rest{Total: work, Of: "GPU work"}, Columns: []Column{
		{"pass", Name}, {scale.head("GPU time"), Number}, {"share", Number}, {"pieces of work", Number}, {each.head("mean"), Number},
	}}
	for _, l := range list {
		t.Rows = append(t.Rows, Row{Weight: l.Self, Cells: []string{
			l.Name, scale.text(l.Self), unit.Share(l.Self, work), unit.Count(l.Count), each.text(mean(l.Self, l.Count)),
		}})
	}
	t.Note = fmt.Sprintf("Shares are of GPU work: %s, the sum of the durations of all kernels, copies and memsets.", unit.Duration(work))
	return Section{Title: "Forward, backward, optimizer", Blocks: []Block{t.cut(maxLaunchers)}}
}
