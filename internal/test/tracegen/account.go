package tracegen

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// truth builds the tables from the references between events.
func (s *scene) truth() Attribution {
	var a Attribution
	for i := range s.gpus {
		a.Devices = append(a.Devices, s.gpus[i].window())
		a.Launches = append(a.Launches, s.gpus[i].launched())
	}
	for k, ns := range s.idle {
		k.NS = ns
		a.Idle = append(a.Idle, k)
	}
	slices.SortFunc(a.Idle, func(a, b IdleTime) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), strings.Compare(a.Owner, b.Owner), strings.Compare(a.State, b.State), strings.Compare(a.Name, b.Name))
	})
	if !s.repeats {
		a.Owners = s.owners()
	}
	a.Ops, a.Calls = s.ops(), s.calls()
	for _, g := range s.graphs {
		a.Graphs = append(a.Graphs, g.run())
	}
	slices.SortStableFunc(a.Graphs, func(a, b GraphRun) int { return cmp.Compare(a.Device, b.Device) })
	for _, p := range s.pools {
		a.Memory = append(a.Memory, p.use)
	}
	s.each(func(n *node) {
		if strings.HasPrefix(n.name, stepPrefix) {
			a.Steps = append(a.Steps, Step{n.name, n.start, n.end - n.start})
		}
	})
	return a
}

const stepPrefix = "ProfilerStep#"

// stepName returns the name of a step's marker.
func stepName(n int64) string { return stepPrefix + strconv.FormatInt(n, 10) }

// each calls f with every event of the host.
func (s *scene) each(f func(*node)) {
	var walk func(n *node)
	walk = func(n *node) {
		for _, c := range n.inside {
			f(c)
			walk(c)
		}
	}
	for _, p := range s.processes {
		for _, t := range p.threads {
			walk(t.root)
		}
	}
}

func (g *gpu) window() DeviceWindow {
	d := DeviceWindow{Device: g.ordinal, StartNS: g.works[0].start}
	for _, w := range g.works {
		d.StartNS = min(d.StartNS, w.start)
		d.WorkNS += w.dur
	}
	d.WindowNS = g.end - d.StartNS
	for k, ns := range g.s.idle {
		if k.Device == g.ordinal {
			d.IdleNS += ns
		}
	}
	return d
}

func (g *gpu) launched() Launched {
	l := Launched{Device: g.ordinal}
	window := g.window()
	calls := map[*node]bool{}
	changes := map[int64]int{window.StartNS: 0, g.end: 0} // of the queue length
	for _, w := range g.works {
		if w.kind <= Comm && w.dur < ShortKernelNS {
			l.Short++
			l.ShortNS += w.dur
		}
		if w.call == nil {
			l.Without++
			continue
		}
		l.Launched++
		calls[w.call] = true
		l.Delays = append(l.Delays, max(0, w.start-w.call.end))
		if from := max(w.call.start, window.StartNS); from < w.start {
			changes[from]++
			changes[w.start]--
		}
	}
	l.Calls = int64(len(calls))
	slices.Sort(l.Delays)
	depth, last := 0, int64(0)
	for _, at := range slices.Sorted(maps.Keys(changes)) {
		if at > window.StartNS {
			l.Queue = append(l.Queue, make([]int64, max(0, depth+1-len(l.Queue)))...)
			l.Queue[depth] += at - last
		}
		depth += changes[at]
		last = at
	}
	return l
}

// owners returns who launched the work of each name.
func (s *scene) owners() (out []Owner) {
	type key struct {
		device int
		kernel string
	}
	rows := map[key]Owner{}
	for _, g := range s.gpus {
		for _, w := range g.works {
			o := w.owner()
			k := key{g.ordinal, w.name}
			if have, ok := rows[k]; ok {
				o.Count, o.NS = have.Count, have.NS
				if !reflect.DeepEqual(o, have) {
					panic(fmt.Sprintf("tracegen: %s: %q has two owners: %+v and %+v", s.name, w.name, have, o))
				}
			}
			o.Count++
			o.NS += w.dur
			rows[k] = o
		}
	}
	out = slices.Collect(maps.Values(rows))
	slices.SortFunc(out, func(a, b Owner) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), strings.Compare(a.Kernel, b.Kernel))
	})
	return out
}

func (w *work) owner() Owner {
	o := Owner{Device: w.on.ordinal, Kernel: w.name, Step: -1}
	if w.call == nil {
		return o
	}
	o.Linked, o.Call = true, w.call.name
	path := w.call.path()
	o.Op = innermostOp(path)
	o.Pass = passOf(path)
	where := path
	for _, n := range path {
		if n.category == catOp && o.Outermost == "" {
			o.Outermost = n.name
		}
		if n.forward != nil {
			where = append(n.forward.path(), n.forward)
		}
	}
	o.Module = moduleOf(where)
	o.File, o.Line, o.Function = lineOf(where)
	main := w.call.th.of.threads[0]
	notes := path
	if !w.call.th.annotated() {
		notes = main.openAt(w.call.start)
	}
	for _, n := range notes {
		if n.category == catAnnotation && !strings.HasPrefix(n.name, stepPrefix) {
			o.Annotations = append(o.Annotations, n.name)
		}
	}
	for _, n := range main.openAt(w.call.start) {
		if number, ok := strings.CutPrefix(n.name, stepPrefix); ok {
			o.Step, _ = strconv.ParseInt(number, 10, 64)
		}
	}
	return o
}

// annotated reports whether t has any annotation.
func (t *thread) annotated() (found bool) {
	var walk func(n *node)
	walk = func(n *node) {
		for _, c := range n.inside {
			found = found || c.category == catAnnotation
			walk(c)
		}
	}
	walk(t.root)
	return found
}

func innermostOp(path []*node) (name string) {
	for _, n := range path {
		if n.category == catOp {
			name = n.name
		}
	}
	return name
}

func moduleOf(path []*node) (module string) {
	for _, n := range path {
		if name, ok := strings.CutPrefix(n.name, modulePrefix); ok {
			module += "/" + name
		}
	}
	return strings.TrimPrefix(module, "/")
}

// lineOf parses "demo/model.py(12): forward". Only files in demo belong to the
// program itself.
func lineOf(path []*node) (file string, line int, function string) {
	for _, n := range path {
		if n.category == catPython && strings.HasPrefix(n.name, "demo/") {
			place, name, _ := strings.Cut(n.name, "): ")
			f, number, _ := strings.Cut(place, "(")
			file, function = f, name
			line, _ = strconv.Atoi(number)
		}
	}
	return file, line, function
}

func passOf(path []*node) string {
	pass := "other"
	for _, n := range path {
		switch {
		case n.forward != nil:
			return "backward"
		case strings.HasPrefix(n.name, "Optimizer.step#"):
			pass = "optimizer"
		case strings.HasPrefix(n.name, modulePrefix) || n.backward != nil:
			pass = "forward"
		}
	}
	return pass
}

// ops returns the runs of operators.
func (s *scene) ops() (out []OpRun) {
	rows := map[string]*OpRun{}
	s.each(func(n *node) {
		path := n.path()
		if n.category == catOp {
			r := rowOf(rows, n.name)
			r.Count++
			r.CPUSelfNS += n.self()
			if !slices.ContainsFunc(path, func(p *node) bool { return p.category == catOp && p.name == n.name }) {
				r.CPUTotalNS += n.end - n.start
			}
			return
		}
		if len(n.works) == 0 {
			return
		}
		sum := int64(0)
		for _, w := range n.works {
			sum += w.dur
		}
		around := map[string]bool{}
		for _, p := range path {
			if p.category == catOp {
				around[p.name] = true
			}
		}
		for name := range around {
			rowOf(rows, name).GPUTotalNS += sum
		}
		if name := innermostOp(path); name != "" {
			rowOf(rows, name).GPUSelfNS += sum
			rowOf(rows, name).Launched += int64(len(n.works))
		}
	})
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		rows[name].Name = name
		out = append(out, *rows[name])
	}
	return out
}

func rowOf[R any](rows map[string]*R, name string) *R {
	if rows[name] == nil {
		rows[name] = new(R)
	}
	return rows[name]
}

// self returns the time of n outside of its nested events. With a clock of
// whole microseconds those may end after n.
func (n *node) self() int64 {
	ns := n.end - n.start
	for _, c := range n.inside {
		ns -= min(c.reach(), n.end) - c.start
	}
	return ns
}

// reach returns the end of n or of the last event nested in it.
func (n *node) reach() int64 {
	end := n.end
	for _, c := range n.inside {
		end = max(end, c.reach())
	}
	return end
}

func (s *scene) calls() (out []CallRun) {
	rows := map[string]*CallRun{}
	s.each(func(n *node) {
		if !n.isCall() {
			return
		}
		r := rowOf(rows, n.name)
		r.Name, r.Kind = n.name, callKind(n.name)
		r.Count++
		r.TotalNS += n.end - n.start
		r.MaxNS = max(r.MaxNS, n.end-n.start)
		r.Launched += int64(len(n.works))
		if r.Kind == "sync" {
			r.IdleNS += s.quiet(n.start, n.end)
		}
	})
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		out = append(out, *rows[name])
	}
	return out
}

// quiet returns the part of [from, to) during which no device is busy.
func (s *scene) quiet(from, to int64) int64 {
	var works []*work
	for _, g := range s.gpus {
		works = append(works, g.works...)
	}
	slices.SortFunc(works, func(a, b *work) int { return cmp.Compare(a.start, b.start) })
	quiet, at := int64(0), from
	for _, w := range works {
		quiet += max(0, min(w.start, to)-at)
		at = max(at, min(w.end(), to))
	}
	return quiet + max(0, to-at)
}

// callKind returns the kind of a call that stories make.
func callKind(name string) string {
	name = strings.TrimPrefix(strings.TrimPrefix(name, "cuda"), "hip")
	switch name {
	case "LaunchKernel", "LaunchKernelExC", "ModuleLaunchKernel", "ExtModuleLaunchKernel", "cuLaunchKernel", "cuLaunchKernelEx":
		return "launch"
	case "GraphLaunch":
		return "graph-launch"
	case "MemcpyAsync", "Memcpy", "MemcpyWithStream":
		return "copy"
	case "MemsetAsync", "Memset":
		return "memset"
	case "DeviceSynchronize", "StreamSynchronize", "EventSynchronize":
		return "sync"
	case "Malloc", "HostAlloc", "HostMalloc":
		return "alloc"
	case "Free":
		return "free"
	case "StreamWaitEvent", "EventRecord", "EventQuery", "FuncGetAttributes":
		return "other"
	}
	panic("tracegen: no kind for " + name)
}
