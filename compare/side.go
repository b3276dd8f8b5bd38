package compare

import (
	"cmp"
	"slices"
	"strings"

	"assay/internal/stat"
	"assay/summary"
	"assay/summary/view"
)

// An amount is a count and a total time.
type amount struct{ count, ns int64 }

func (a *amount) add(count, ns int64) {
	a.count += max(0, count)
	a.ns += max(0, ns)
}

// A kernel adds up all runs of the kernels of one name and class on one side.
type kernel struct {
	name, class, category string
	amount
	ops map[string]amount // by the operator that launched it
}

// op returns the operator that launched most of the kernel's time, or "" if the largest share has
// no known operator.
func (k *kernel) op() string {
	best, most := "", amount{ns: -1}
	for op, a := range k.ops {
		if a.ns > most.ns || a.ns == most.ns && op < best {
			best, most = op, a
		}
	}
	return best
}

type kernelKey struct{ name, class string }

// A facts has all data of one side that is compared, added up over its runs, devices and streams.
type facts struct {
	runs    []Run
	per     string
	n       int64 // number of steps or windows
	walls   []int64
	cells   summary.Activity
	windows summary.Activity // of the devices, for any value of per

	devices []summary.Device
	steps   []summary.Step
	kernels map[kernelKey]*kernel
	shapes  map[string]*shapes
	figures map[string]int64
	tables  []summary.Table
	counted []summary.Counter
	inputs  []summary.Input
	graphs  int64 // number of graph launches
	opaque  int64 // those that were traced as one event
}

// Names of figures that a headline uses.
const (
	graphLaunches = "graph launches"
	launchCalls   = "launching calls"
)

// gather adds up the runs of one side.
func gather(runs []Run) *facts {
	f := &facts{runs: runs, kernels: map[kernelKey]*kernel{}, shapes: map[string]*shapes{}, figures: map[string]int64{}}
	for _, r := range runs {
		f.timelines(r)
		f.work(r)
		f.host(r)
		f.sums(r)
	}
	return f
}

func (f *facts) timelines(r Run) {
	for _, i := range r.Inputs {
		f.inputs = append(f.inputs, r.Summary.Inputs[i])
	}
	for _, d := range r.Devices {
		if r.has(d.Input) && d.Activity.Window() > 0 {
			f.devices = append(f.devices, d)
			f.windows = f.windows.Plus(d.Activity)
		}
	}
	for _, s := range r.Steps {
		if r.has(s.Input) && s.Activity.Window() > 0 && s.LaunchesCut == 0 {
			f.steps = append(f.steps, s)
		}
	}
}

// work adds up the device work of a run.
func (f *facts) work(r Run) {
	for _, k := range r.Kernels {
		if !r.has(k.Input) {
			continue
		}
		key := kernelKey{k.Name, k.Class}
		sum := f.kernels[key]
		if sum == nil {
			sum = &kernel{name: k.Name, class: k.Class, category: k.Category, ops: map[string]amount{}}
			f.kernels[key] = sum
		}
		sum.add(k.Count, k.TotalNS)
		a := sum.ops[k.Op]
		a.add(k.Count, k.TotalNS)
		sum.ops[k.Op] = a
		f.count("kernels", k.Count)
	}
	for _, c := range r.Copies {
		if r.has(c.Input) {
			f.count("copies and memsets", c.Count)
			if c.Bytes != nil {
				f.count("bytes copied", *c.Bytes)
			}
		}
	}
	for _, m := range r.Memory {
		if r.has(m.Input) && !m.OnHost && m.PeakAllocated != nil {
			f.figures["peak memory allocated"] = max(f.figures["peak memory allocated"], *m.PeakAllocated)
		}
	}
}

// host adds up the host activity of a run.
func (f *facts) host(r Run) {
	for _, c := range r.Calls {
		if r.has(c.Input) {
			switch c.Kind {
			case "launch", "graph-launch":
				f.count(launchCalls, c.Count)
			case "sync":
				f.count("synchronizing calls", c.Count)
			}
		}
	}
	for _, g := range r.Graphs {
		if r.has(g.Input) {
			f.graphs += max(0, g.Launches)
			f.count(graphLaunches, g.Launches)
			if g.Opaque {
				f.opaque += max(0, g.Launches)
			}
		}
	}
	for _, o := range r.Ops {
		if r.has(o.Input) {
			f.shape(o)
		}
	}
}

// sums collects the totals made by other tools.
func (f *facts) sums(r Run) {
	for _, t := range r.Tables {
		if r.has(t.Input) {
			f.tables = append(f.tables, t)
		}
	}
	for i := range r.Snapshots {
		if s := &r.Snapshots[i]; r.has(s.Input) {
			f.tables = append(f.tables, ownersTable(s))
			if uses := view.MemoryUses(r.Summary, s); len(uses) > 0 {
				f.tables = append(f.tables, usesTable(s, uses))
			}
		}
	}
	for _, c := range r.Counters {
		if r.has(c.Input) {
			f.counted = append(f.counted, c)
		}
	}
}

func (f *facts) count(name string, n int64) {
	f.figures[name] += max(0, n)
}

// definitions returns the distinct definitions of the lengths of steps.
func (f *facts) definitions() (out []string) {
	for _, s := range f.steps {
		if !slices.Contains(out, s.Cut) {
			out = append(out, s.Cut)
		}
	}
	slices.Sort(out)
	return out
}

// perOf returns the finest unit that both sides have. If only one side has GPU time, that is not
// compared, provided that logs or host activity can be.
func perOf(a, b *facts, logged bool) string {
	switch {
	case logged && (len(a.devices) == 0 || len(b.devices) == 0):
		return PerNone
	case len(a.steps) > 0 && len(b.steps) > 0 && slices.Equal(a.definitions(), b.definitions()):
		return PerStep
	case len(a.devices) > 0 || len(b.devices) > 0:
		return PerWindow
	}
	return PerNone
}

// use adds up the steps or the windows.
func (f *facts) use(per string) {
	f.per = per
	one := func(a summary.Activity) {
		f.n++
		f.walls = append(f.walls, a.Window())
		f.cells = f.cells.Plus(a)
	}
	switch per {
	case PerStep:
		for _, s := range f.steps {
			one(s.Activity)
		}
	case PerWindow:
		for _, d := range f.devices {
			one(d.Activity)
		}
	}
	slices.Sort(f.walls)
	f.n = max(f.n, 1)
}

// side returns the displayed data of f.
func (f *facts) side() Side {
	s := Side{
		Inputs: []Input{}, Runs: len(f.runs), Devices: int64(len(f.devices)), Name: f.hardware(),
		Parts: f.n, Walls: f.walls, Activity: f.cells, MeanNS: f.cells.Window() / f.n,
	}
	if s.Walls == nil {
		s.Walls = []int64{}
	}
	for _, in := range f.inputs {
		s.Inputs = append(s.Inputs, Input{in.Path, in.Format, in.SHA256, in.Rank})
	}
	s.MedianNS = stat.Median(f.walls)
	for _, k := range f.kernels {
		if k.class == "comm" {
			s.CommNS += k.ns
		}
	}
	s.CommNS /= f.n
	return s
}

// hardware returns the distinct names of the devices.
func (f *facts) hardware() string {
	var names []string
	for _, d := range f.devices {
		if d.Name != "" {
			names = append(names, d.Name)
		}
	}
	slices.Sort(names)
	return strings.Join(slices.Compact(names), ", ")
}

// sortedKernels returns the kernels by descending time, then by name and class.
func (f *facts) sortedKernels() []*kernel {
	var out []*kernel
	for _, k := range f.kernels {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b *kernel) int {
		return cmp.Or(cmp.Compare(b.ns, a.ns), cmp.Compare(a.name, b.name), cmp.Compare(a.class, b.class))
	})
	return out
}
