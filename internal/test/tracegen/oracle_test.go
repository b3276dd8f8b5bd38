package tracegen

import (
	"cmp"
	"encoding/json"
	"math/big"
	"slices"
	"strings"
	"testing"
)

// An oracle parses a story's JSON and answers each question by checking every
// event. It uses times and numbers only, not the definition of the story.
type oracle struct {
	t      *testing.T
	host   []*hostEvent
	work   []*deviceEvent
	arrows []event
	memory []event
}

// A hostEvent is an event of a thread, with its times in nanoseconds.
type hostEvent struct {
	event
	from, to int64
	thread   string
}

// A deviceEvent is a GPU operation with the call that launched it.
type deviceEvent struct {
	event
	from, to int64
	device   string
	call     *hostEvent
}

func newOracle(t *testing.T, text []byte) *oracle {
	o := readOracle(t, text)
	for _, w := range o.work {
		w.call = o.launcher(w)
	}
	return o
}

// readOracle does not link the work to its calls, because that takes long.
func readOracle(t *testing.T, text []byte) *oracle {
	o := &oracle{t: t}
	for _, e := range parse(t, text) {
		switch {
		case e.Ph == "s" || e.Ph == "f":
			o.arrows = append(o.arrows, e)
		case e.Name == "[memory]":
			o.memory = append(o.memory, e)
		case e.Ph != "X" || e.Cat == "gpu_user_annotation" || e.Cat == "cuda_sync":
		case classOf(e) != "":
			o.work = append(o.work, &deviceEvent{event: e, from: ns(t, e.start()), to: ns(t, e.end()), device: e.arg("device")})
		default:
			o.host = append(o.host, &hostEvent{e, ns(t, e.start()), ns(t, e.end()), string(e.PID) + " " + string(e.TID)})
		}
	}
	slices.SortStableFunc(o.host, func(a, b *hostEvent) int {
		// Modules may begin and end together. Python's own numbers increase in
		// the order of calls.
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), a.number("Python id").Cmp(b.number("Python id")))
	})
	slices.SortStableFunc(o.work, func(a, b *deviceEvent) int { return cmp.Compare(a.from, b.from) })
	return o
}

// number returns an argument, or 0.
func (e *hostEvent) number(key string) *big.Rat { return rat(json.Number(e.arg(key))) }

func (e *hostEvent) isCall() bool { return e.Cat == "cuda_runtime" || e.Cat == "cuda_driver" }

// processLabel returns the "[TP00]" of a merged trace's pid.
func processLabel(pid string) string {
	label, _, ok := strings.Cut(pid, "] ")
	if !ok {
		return ""
	}
	return label
}

// launcher finds the call of w: by its number or, without one, by arrow. The
// first of several calls to begin is the outermost.
func (o *oracle) launcher(w *deviceEvent) *hostEvent {
	number := w.arg("correlation")
	if number == "" {
		return o.byArrow(w)
	}
	process := o.processOf(w)
	for _, c := range o.host {
		if c.isCall() && c.arg("correlation") == number && string(c.PID) == process {
			return c
		}
	}
	return nil
}

// processOf returns the pid of the process that drives w's device: the one with
// its label, or the one that knows most of the device's numbers.
func (o *oracle) processOf(w *deviceEvent) (pid string) {
	known := map[string]int{}
	for _, c := range o.host {
		if !c.isCall() || processLabel(string(c.PID)) != processLabel(string(w.PID)) {
			continue
		}
		for _, k := range o.work {
			if k.device == w.device && k.arg("correlation") == c.arg("correlation") {
				known[string(c.PID)]++
			}
		}
	}
	for p, n := range known {
		if n > known[pid] {
			pid = p
		}
	}
	return pid
}

func (o *oracle) byArrow(w *deviceEvent) *hostEvent {
	for _, f := range o.arrows {
		if f.Cat != "ac2g" || f.Ph != "f" || f.TS != w.TS || string(f.TID) != string(w.TID) || string(f.PID) != string(w.PID) {
			continue
		}
		for _, s := range o.arrows {
			if s.Cat != "ac2g" || s.Ph != "s" || s.ID != f.ID {
				continue
			}
			for _, c := range o.host {
				if c.isCall() && c.TS == s.TS && c.thread == string(s.PID)+" "+string(s.TID) {
					return c
				}
			}
		}
	}
	return nil
}

// open returns the events open on a thread at a time, in the order of their
// starts, the innermost last.
func (o *oracle) open(thread string, at int64) (out []*hostEvent) {
	for _, e := range o.host {
		if e.thread == thread && e.from <= at && at < e.to {
			out = append(out, e)
		}
	}
	return out
}

// mainThread returns the thread of a process with the most launches.
func (o *oracle) mainThread(pid string) (best string) {
	launches := map[string]int{}
	seen := map[*hostEvent]bool{}
	for _, w := range o.work {
		if w.call != nil && string(w.call.PID) == pid && !seen[w.call] {
			seen[w.call] = true
			launches[w.call.thread]++
		}
	}
	for thread, n := range launches {
		if n > launches[best] {
			best = thread
		}
	}
	return best
}

// busy reports whether any of the devices runs something at a time.
func (o *oracle) busy(at int64, device string) bool {
	return slices.ContainsFunc(o.work, func(w *deviceEvent) bool {
		return (device == "" || w.device == device) && w.from <= at && at < w.to
	})
}

// otherWorks reports whether another device of the process that launched k works at a time.
func (o *oracle) otherWorks(at int64, k *deviceEvent) bool {
	return k.call != nil && slices.ContainsFunc(o.work, func(w *deviceEvent) bool {
		return w.device != k.device && w.from <= at && at < w.to && w.call != nil && string(w.call.PID) == string(k.call.PID)
	})
}

// edges returns every time within a window at which anything begins or ends.
func (o *oracle) edges(from, to int64) []int64 {
	all := []int64{from, to}
	add := func(at int64) {
		if from < at && at < to {
			all = append(all, at)
		}
	}
	for _, e := range o.host {
		add(e.from)
		add(e.to)
	}
	for _, w := range o.work {
		add(w.from)
		add(w.to)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// window returns the window of a device.
func (o *oracle) window(device string) (from, to int64) {
	from = -1
	for _, w := range o.work {
		if w.device == device {
			if from < 0 {
				from = w.from
			}
			to = max(to, w.to)
		}
	}
	return from, to
}

// idle determines the cause of each interval between two edges during which a
// device is idle.
func (o *oracle) idle(device string) map[IdleTime]int64 {
	out := map[IdleTime]int64{}
	from, to := o.window(device)
	edges := o.edges(from, to)
	gap := from // start of the current gap
	for i := 1; i < len(edges); i++ {
		x, y := edges[i-1], edges[i]
		if o.busy(x, device) {
			gap = y
			continue
		}
		next := o.next(device, x)
		limit := ShortWaitNS + int64(0)
		for x < y { // the limit of a short wait is not an edge
			cut := y
			if next.call != nil {
				if rest := max(gap, next.call.to) + limit; x < rest && rest < y {
					cut = rest
				}
			}
			owner, state, name := o.owner(gap, x, next)
			if o.otherWorks(x, next) {
				owner, state, name = OtherGPU, "", ""
			}
			out[IdleTime{Owner: owner, State: state, Name: name}] += cut - x
			x = cut
		}
	}
	return out
}

// next returns the work that ends the gap at a time.
func (o *oracle) next(device string, at int64) (next *deviceEvent) {
	for _, w := range o.work {
		if w.device != device || w.from <= at {
			continue
		}
		switch {
		case next == nil || w.from < next.from:
			next = w
		case w.from == next.from && w.call != nil && (next.call == nil || w.call.from < next.call.from):
			next = w
		}
	}
	return next
}

// owner returns the cause at time x of a gap that began at a.
func (o *oracle) owner(a, x int64, k *deviceEvent) (owner, state, name string) {
	b, l := k.from, k.call
	switch {
	case l == nil || l.from >= b:
		return Unknown, "", ""
	case o.sameGraph(a, k) && b-a <= 20_000:
		return BetweenKernels, "", ""
	case o.sameGraph(a, k):
		return Dependency, "", ""
	case o.opaque(x, k):
		return OpaqueGraph, "", ""
	case x < l.from:
		return o.late(x, l)
	case l.to <= a && b-a <= 20_000:
		return BetweenKernels, "", ""
	case x < l.to || l.to > a && b-l.to <= 20_000:
		return LaunchLatency, "", ""
	}
	return Dependency, "", ""
}

// sameGraph reports whether the call that launched k also launched what ended at a, and
// the device goes on by itself. HIP launches the nodes of a graph one by one.
func (o *oracle) sameGraph(a int64, k *deviceEvent) bool {
	return !strings.HasPrefix(k.call.Name, "hip") && slices.ContainsFunc(o.work, func(w *deviceEvent) bool { return w.device == k.device && w.to == a && w.call == k.call })
}

// opaque reports whether a graph without nodes may be running at x.
func (o *oracle) opaque(x int64, k *deviceEvent) bool {
	for _, g := range o.host {
		launched := func(w *deviceEvent) bool { return w.call == g }
		if !strings.HasSuffix(g.Name, "GraphLaunch") || slices.ContainsFunc(o.work, launched) || g.from > x || g.from >= k.call.from {
			continue
		}
		between := func(w *deviceEvent) bool { // something ran after the graph was launched
			return w.from < k.from && w.call != nil && w.call.from > g.from
		}
		waited := func(c *hostEvent) bool { // the graph is known to be done
			return strings.Contains(c.Name, "Synchronize") && c.thread == g.thread && c.from > g.from && c.to <= x
		}
		if !slices.ContainsFunc(o.work, between) && !slices.ContainsFunc(o.host, waited) {
			return true
		}
	}
	return false
}

// late returns the activity of the thread of l, or otherwise of the main
// thread, at x.
func (o *oracle) late(x int64, l *hostEvent) (owner, state, name string) {
	for _, thread := range []string{l.thread, o.mainThread(string(l.PID))} {
		open := o.open(thread, x)
		others := slices.DeleteFunc(slices.Clone(open), func(e *hostEvent) bool { return strings.HasPrefix(e.Name, "ProfilerStep#") })
		if len(others) > 0 {
			open = others
		}
		if len(open) == 0 {
			continue
		}
		e := open[len(open)-1]
		if e.isCall() {
			return HostLate, stateOf(e.Name), e.Name
		}
		if e.Cat == "overhead" || strings.Contains(e.Name, "torch/profiler/") || strings.Contains(e.Name, "Profiler::") {
			return NothingOffered, "", e.Name
		}
		for _, f := range open {
			if strings.Contains(f.Name, "DataLoader") || strings.Contains(f.Name, "dataloader") {
				return HostLate, DataLoading, f.Name
			}
		}
		state := map[string]string{"cpu_op": InOperator, "python_function": InPython, "user_annotation": InAnnotation}[e.Cat]
		return HostLate, state, e.Name
	}
	return HostLate, Unrecorded, ""
}

func stateOf(call string) string {
	for _, row := range [][2]string{
		{"Synchronize", Synchronizing}, {"Memcpy", Copying}, {"Memset", Copying}, {"Malloc", Allocating}, {"Free", Allocating},
		{"HostAlloc", Allocating}, {"Launch", Launching},
	} {
		if strings.Contains(call, row[0]) {
			return row[1]
		}
	}
	return Calling
}
