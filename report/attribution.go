package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/summary"
	"assay/unit"
)

// maxLaunchers is how many operators, lines or annotations a table lists.
const maxLaunchers = 25

// A launcher is what device work came from: every run of one operator, module,
// source line or annotation, over all inputs.
type launcher struct {
	places      int // of modules: how many this row stands for
	name        string
	count       int64
	self, total int64 // GPU time
	cpu         int64 // host time: of operators self, of others total
	launched    int64
	backward    int64
	shapes      []summary.OpShape
}

// A launcherSet adds launchers up by name.
type launcherSet struct {
	index map[string]int
	list  []launcher
}

// add adds r to the launcher of its name.
func (set *launcherSet) add(r launcher) {
	if set.index == nil {
		set.index = map[string]int{}
	}
	i, ok := set.index[r.name]
	if !ok {
		i = len(set.list)
		set.index[r.name] = i
		set.list = append(set.list, launcher{name: r.name})
	}
	sum := &set.list[i]
	sum.count, sum.launched = summary.Plus(sum.count, r.count), summary.Plus(sum.launched, r.launched)
	sum.self, sum.total = summary.Plus(sum.self, r.self), summary.Plus(sum.total, r.total)
	sum.cpu, sum.backward = summary.Plus(sum.cpu, r.cpu), summary.Plus(sum.backward, r.backward)
	sum.shapes = append(sum.shapes, r.shapes...)
}

// bySelf returns the launchers by falling self time, then total and name.
func (set *launcherSet) bySelf() []launcher {
	slices.SortFunc(set.list, func(a, b launcher) int {
		return cmp.Or(cmp.Compare(b.self, a.self), cmp.Compare(b.total, a.total), cmp.Compare(a.name, b.name))
	})
	return set.list
}

// sumOps returns the operators of s, those with the most GPU time of their own
// first.
func sumOps(s *summary.Summary) []launcher {
	var set launcherSet
	for _, r := range s.Ops {
		set.add(launcher{
			name: r.Name, count: r.Count, self: r.GPUSelfNS, total: r.GPUTotalNS, cpu: r.CPUSelfNS, launched: r.Launched, shapes: r.TopShapes,
		})
	}
	return set.bySelf()
}

// sumModules returns the modules of s by their paths, in that order of self
// time.
func sumModules(s *summary.Summary) []launcher {
	var set launcherSet
	for _, r := range s.Modules {
		set.add(launcher{name: r.Path, count: r.Count, self: r.GPUSelfNS, total: r.GPUTotalNS, cpu: r.CPUTotalNS, backward: r.BackwardNS})
	}
	return set.bySelf()
}

// gpuWork returns the sum of the durations of all device work of s: what GPU
// times of launchers are parts of.
func gpuWork(s *summary.Summary) (ns int64) {
	for _, k := range s.Kernels {
		ns = summary.Plus(ns, max(0, k.TotalNS))
	}
	for _, c := range s.Copies {
		ns = summary.Plus(ns, max(0, c.TotalNS))
	}
	return ns
}

// selfOf returns the self time of all. A negative one, which only a damaged
// summary has, takes nothing from the others.
func selfOf(list []launcher) (ns int64) {
	for _, l := range list {
		ns = summary.Plus(ns, max(0, l.self))
	}
	return ns
}

// has reports whether any GPU time is known for the launchers.
func has(list []launcher) bool {
	return slices.ContainsFunc(list, func(l launcher) bool { return l.self > 0 || l.total > 0 })
}

// linked says how much of the GPU work a table accounts for.
func (b *builder) linked(list []launcher, what string) Paragraph {
	work, self := gpuWork(b.Summary), selfOf(list)
	return Paragraph{Text: fmt.Sprintf("%s launched %s of the %s of GPU work (%s), the sum of the durations of all kernels, copies and memsets. "+
		"The rest was launched by something else, or it is not known by what.", what, unit.Duration(self), unit.Duration(work), unit.Share(self, work))}
}

// launcherTable sets launchers: their name, self and total time with their
// shares of all GPU work, and then the cells that extra returns.
func (b *builder) launcherTable(list []launcher, title string, name Column, behind []Column, extra func(launcher) []string) Table {
	work := gpuWork(b.Summary)
	var times []int64
	for _, l := range list {
		times = append(times, l.total, l.self)
	}
	scale := scaleOf(times...)
	t := Table{Title: title, More: Rest{Total: work, Of: "GPU work, self"}, Columns: slices.Concat([]Column{
		name, {scale.head("self"), Number}, {"share", Number}, {scale.head("total"), Number}, {"share", Number}, {"count", Number},
	}, behind)}
	for _, l := range list {
		t.Rows = append(t.Rows, Row{Weight: l.self, Cells: append([]string{
			l.name, scale.text(l.self), unit.Share(l.self, work), scale.text(l.total), unit.Share(l.total, work), unit.Count(l.count),
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
	list := sumOps(b.Summary)
	if !has(list) {
		return Section{}
	}
	shown := list[:min(maxLaunchers, len(list))]
	var hosts []int64
	for _, l := range shown {
		hosts = append(hosts, l.cpu)
	}
	host := scaleOf(hosts...)
	t := b.launcherTable(list, "operators", Column{"operator", Name}, []Column{
		{"launched", Number}, {host.head("host self"), Number}, {"top shape", Name}, {"its share", Number},
	}, func(l launcher) []string {
		shape, share := topShape(l)
		return []string{unit.Count(l.launched), host.text(l.cpu), shape, share}
	})
	t.Note = b.selfNote() + " The top shape is that of the inputs with the most GPU self time, and its share is of the row's self time; each input keeps " +
		"only a few shapes, so over several inputs it is at least that."
	return Section{Title: "Operators by GPU time", Blocks: append(append([]Block{b.linked(list, "Operators")},
		b.pictures("top-operators.png")...), t.cut(maxLaunchers).withoutEmpty())}
}

// topShape returns the shape with the most self time and its share of that of
// the operator, nothing if no shapes were recorded.
func topShape(l launcher) (shape, share string) {
	type key struct{ dims, types string }
	sums := map[key]int64{}
	for _, s := range l.shapes {
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
	return strings.TrimSpace(best.dims + " " + best.types), unit.Share(sums[best], l.self)
}

// lines lists the source lines to change.
func (b *builder) lines() Section {
	var set launcherSet
	for _, r := range b.Lines {
		set.add(launcher{name: lineName(r), count: r.Count, self: r.GPUSelfNS, total: r.GPUTotalNS, cpu: r.CPUTotalNS})
	}
	// Those around the lines that launch work, up to the program's first, have
	// nothing of their own, and all the same total.
	list := slices.DeleteFunc(set.bySelf(), func(l launcher) bool { return l.self == 0 })
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
	var set launcherSet
	for _, r := range b.Annotations {
		set.add(launcher{name: r.Name, count: r.Count, self: r.GPUSelfNS, total: r.GPUTotalNS, cpu: r.CPUTotalNS})
	}
	return b.launchers(set.bySelf(), "Annotations", "annotations", Column{"annotation", Name}, "Annotated code",
		" Work counts where the program was when it was launched, whenever it ran.")
}

// launchers is a section of rows that have no more than times and a count.
func (b *builder) launchers(list []launcher, title, rows string, name Column, what, note string) Section {
	if !has(list) {
		return Section{}
	}
	shown := list[:min(maxLaunchers, len(list))]
	var hosts []int64
	for _, l := range shown {
		hosts = append(hosts, l.cpu)
	}
	host := scaleOf(hosts...)
	t := b.launcherTable(list, rows, name, []Column{{host.head("host time"), Number}}, func(l launcher) []string { return []string{host.text(l.cpu)} })
	t.Note = b.selfNote() + note
	return Section{Title: title, Blocks: []Block{b.linked(list, what), t.cut(maxLaunchers)}}
}

// passes is how GPU work is split between the parts of training.
func (b *builder) passes() Section {
	var set launcherSet
	sum := int64(0)
	for _, r := range b.Passes {
		set.add(launcher{name: r.Name, count: r.Count, self: r.GPUNS})
		sum = summary.Plus(sum, r.GPUNS)
	}
	list := set.bySelf()
	if len(list) == 0 || sum <= 0 {
		return Section{}
	}
	work := gpuWork(b.Summary)
	var means []int64
	for _, l := range list {
		means = append(means, mean(l.self, l.count))
	}
	scale, each := scaleOf(list[0].self), scaleOf(means...)
	t := Table{Title: "passes", More: Rest{Total: work, Of: "GPU work"}, Columns: []Column{
		{"pass", Name}, {scale.head("GPU time"), Number}, {"share", Number}, {"pieces of work", Number}, {each.head("mean"), Number},
	}}
	for _, l := range list {
		t.Rows = append(t.Rows, Row{Weight: l.self, Cells: []string{
			l.name, scale.text(l.self), unit.Share(l.self, work), unit.Count(l.count), each.text(mean(l.self, l.count)),
		}})
	}
	t.Note = fmt.Sprintf("Shares are of GPU work: %s, the sum of the durations of all kernels, copies and memsets.", unit.Duration(work))
	return Section{Title: "Forward, backward, optimizer", Blocks: []Block{t.cut(maxLaunchers)}}
}
