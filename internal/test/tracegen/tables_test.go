package tracegen

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"assay/trace"
)

// same compares a table of the truth with that of the oracle, row by row.
func same[R any](t *testing.T, what string, want, got []R) {
	t.Helper()
	if len(want) != len(got) {
		t.Errorf("%s: the truth has %d rows, want %d:\n%+v\n%+v", what, len(want), len(got), want, got)
		return
	}
	for i := range want {
		if !reflect.DeepEqual(want[i], got[i]) {
			t.Errorf("%s: the truth has\n%+v, want\n%+v", what, want[i], got[i])
		}
	}
}

// TestStoryTables compares every other table with the events.
func TestStoryTables(t *testing.T) {
	eachStory(t, func(t *testing.T, s Story, o *oracle) {
		same(t, "owners", s.Truth.Owners, o.owners())
		same(t, "ops", s.Truth.Ops, o.ops())
		same(t, "calls", s.Truth.Calls, o.calls())
		same(t, "launches", s.Truth.Launches, o.launches())
		same(t, "graphs", s.Truth.Graphs, o.graphs())
		same(t, "memory", s.Truth.Memory, o.memoryUse())
	})
}

// TestStorySums: the tables of one story agree with each other.
func TestStorySums(t *testing.T) {
	eachStory(t, func(t *testing.T, s Story, _ *oracle) {
		var work, owned, inOps, self, launched, called int64
		for _, d := range s.Truth.Devices {
			work += d.WorkNS
		}
		for _, r := range s.Truth.Owners {
			owned += r.NS
			if r.Op != "" {
				inOps += r.NS
			}
		}
		for _, r := range s.Truth.Ops {
			self += r.GPUSelfNS
			if r.GPUTotalNS < r.GPUSelfNS || r.CPUTotalNS < r.CPUSelfNS || r.GPUTotalNS > work {
				t.Errorf("%+v: a total is under its self time or over all work, %d", r, work)
			}
		}
		for i, r := range s.Truth.Launches {
			launched += r.Launched
			sum := int64(0)
			for _, ns := range r.Queue {
				sum += ns
			}
			if sum != s.Truth.Devices[i].WindowNS || int64(len(r.Delays)) != r.Launched {
				t.Errorf("queue sums to %d of %d; %d delays of %d", sum, s.Truth.Devices[i].WindowNS, len(r.Delays), r.Launched)
			}
		}
		for _, r := range s.Truth.Calls {
			called += r.Launched
		}
		if owned != work || self != inOps || launched != called {
			t.Errorf("owners have %d of %d; ops %d of %d; calls launched %d of %d", owned, work, self, inOps, called, launched)
		}
	})
}

// TestStoryReads: package trace reports no problem with a story.
func TestStoryReads(t *testing.T) {
	eachStory(t, func(t *testing.T, s Story, o *oracle) {
		tr, err := trace.Read(bytes.NewReader(s.JSON), s.Name, trace.SelectAll())
		if err != nil || len(tr.Issues) > 0 || !tr.Complete {
			t.Fatalf("error %v, issues %+v, complete: %v", err, tr.Issues, tr.Complete)
		}
		calls := 0
		for _, e := range o.host {
			if e.isCall() {
				calls++
			}
		}
		if tr.Activities.Len() != len(o.work) || tr.Calls.Len() != calls || tr.Memory.Len() != len(o.memory) || tr.Flows.Len() != len(o.arrows) {
			t.Errorf("%d activities, %d calls, %d of memory, %d ends of arrows; want %d, %d, %d and %d", tr.Activities.Len(), tr.Calls.Len(),
				tr.Memory.Len(), tr.Flows.Len(), len(o.work), calls, len(o.memory), len(o.arrows))
		}
	})
}

// owners determines the launch properties of each name. In stories all work of
// a name has the same.
func (o *oracle) owners() (out []Owner) {
	for _, w := range o.work {
		row := o.ownerOf(w)
		i := slices.IndexFunc(out, func(r Owner) bool { return r.Device == row.Device && r.Kernel == row.Kernel })
		if i < 0 {
			i = len(out)
			out = append(out, row)
		}
		row.Count, row.NS = out[i].Count+1, out[i].NS+w.to-w.from
		out[i] = row
	}
	slices.SortFunc(out, func(a, b Owner) int {
		return cmp.Or(cmp.Compare(a.Device, b.Device), strings.Compare(a.Kernel, b.Kernel))
	})
	return out
}

func (o *oracle) ownerOf(w *deviceEvent) Owner {
	device, _ := strconv.Atoi(w.device)
	r := Owner{Device: device, Kernel: w.Name, Step: -1}
	if w.call == nil {
		return r
	}
	r.Linked, r.Call, r.Pass = true, w.call.Name, "other"
	stack := o.around(w.call)
	main := o.open(o.mainThread(string(w.call.PID)), w.call.from)
	where := stack
	for _, e := range stack {
		if e.Cat == "cpu_op" {
			r.Op = e.Name
			r.Outermost = cmpOr(r.Outermost, e.Name)
			if forward := o.forwardOf(e); forward != nil {
				where = append(o.around(forward), forward)
				r.Pass = "backward"
			}
		}
	}
	for _, e := range where {
		if module, ok := strings.CutPrefix(e.Name, "nn.Module: "); ok {
			r.Module = strings.TrimPrefix(r.Module+"/"+module, "/")
			if r.Pass == "other" {
				r.Pass = "forward"
			}
		}
		if e.Cat == "python_function" && strings.HasPrefix(e.Name, "demo/") {
			fmt.Sscanf(strings.NewReplacer("(", " ", "): ", " ").Replace(e.Name), "%s %d %s", &r.File, &r.Line, &r.Function)
		}
		if r.Pass == "other" && o.hasBackward(e) {
			r.Pass = "forward"
		}
	}
	notes := stack
	if !slices.ContainsFunc(o.host, func(e *hostEvent) bool { return e.thread == w.call.thread && e.Cat == "user_annotation" }) {
		notes = main
	}
	for _, e := range append(slices.Clone(notes), main...) {
		if number, ok := strings.CutPrefix(e.Name, "ProfilerStep#"); ok {
			r.Step, _ = strconv.ParseInt(number, 10, 64)
		}
	}
	for _, e := range notes {
		if e.Cat == "user_annotation" && !strings.HasPrefix(e.Name, "ProfilerStep#") {
			r.Annotations = append(r.Annotations, e.Name)
			if strings.HasPrefix(e.Name, "Optimizer.step#") {
				r.Pass = "optimizer"
			}
		}
	}
	return r
}

// around returns what is open on e's thread when e begins, without e.
func (o *oracle) around(e *hostEvent) []*hostEvent {
	return slices.DeleteFunc(o.open(e.thread, e.from), func(x *hostEvent) bool { return x == e })
}

// forwardOf returns the matching forward operator of e: by sequence number the
// innermost that has it on the forward thread, or by arrow.
func (o *oracle) forwardOf(e *hostEvent) (forward *hostEvent) {
	if thread := e.arg("Fwd thread id"); thread != "" && thread != "0" {
		for _, f := range o.host {
			if f.arg("Sequence number") == e.arg("Sequence number") && f.arg("Fwd thread id") == "0" {
				forward = f // the last to begin
			}
		}
		return forward
	}
	for _, end := range o.arrows {
		if end.Cat != "fwdbwd" || end.Ph != "f" || end.TS != e.TS || e.thread != string(end.PID)+" "+string(end.TID) {
			continue
		}
		for _, tail := range o.arrows {
			if tail.Cat != "fwdbwd" || tail.Ph != "s" || tail.ID != end.ID {
				continue
			}
			for _, f := range o.host {
				if f.Cat == "cpu_op" && f.TS == tail.TS && f.thread == string(tail.PID)+" "+string(tail.TID) {
					return f
				}
			}
		}
	}
	return nil
}

// hasBackward reports whether e has a backward operator.
func (o *oracle) hasBackward(e *hostEvent) bool {
	return slices.ContainsFunc(o.host, func(x *hostEvent) bool { return x.Cat == "cpu_op" && x != e && o.forwardOf(x) == e })
}

// launchedBy returns the device work of a call.
func (o *oracle) launchedBy(c *hostEvent) (out []*deviceEvent) {
	for _, w := range o.work {
		if w.call == c {
			out = append(out, w)
		}
	}
	return out
}

func (o *oracle) ops() (out []OpRun) {
	rows := map[string]*OpRun{}
	row := func(name string) *OpRun {
		if rows[name] == nil {
			rows[name] = &OpRun{Name: name}
		}
		return rows[name]
	}
	within := func(stack []*hostEvent, name string) bool {
		return slices.ContainsFunc(stack, func(e *hostEvent) bool { return e.Cat == "cpu_op" && e.Name == name })
	}
	for _, e := range o.host {
		if e.Cat != "cpu_op" {
			continue
		}
		row(e.Name).Count++
		if !within(o.around(e), e.Name) {
			row(e.Name).CPUTotalNS += e.to - e.from
		}
		edges := o.edges(e.from, e.to)
		for i := 1; i < len(edges); i++ {
			if open := o.open(e.thread, edges[i-1]); open[len(open)-1] == e {
				row(e.Name).CPUSelfNS += edges[i] - edges[i-1]
			}
		}
	}
	for _, w := range o.work {
		if w.call == nil {
			continue
		}
		stack := o.around(w.call)
		for name, r := range rows {
			if within(stack, name) {
				r.GPUTotalNS += w.to - w.from
			}
		}
		if self := o.ownerOf(w).Op; self != "" {
			row(self).GPUSelfNS += w.to - w.from
			row(self).Launched++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		out = append(out, *rows[name])
	}
	return out
}

func (o *oracle) calls() (out []CallRun) {
	rows := map[string]*CallRun{}
	for _, c := range o.host {
		if !c.isCall() {
			continue
		}
		if rows[c.Name] == nil {
			rows[c.Name] = &CallRun{Name: c.Name, Kind: kindOf(c.Name)}
		}
		r := rows[c.Name]
		r.Count++
		r.TotalNS += c.to - c.from
		r.MaxNS = max(r.MaxNS, c.to-c.from)
		r.Launched += int64(len(o.launchedBy(c)))
		edges := o.edges(c.from, c.to)
		for i := 1; i < len(edges); i++ {
			if r.Kind == "sync" && !o.busy(edges[i-1], "") {
				r.IdleNS += edges[i] - edges[i-1]
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		out = append(out, *rows[name])
	}
	return out
}

func kindOf(call string) string {
	for _, row := range [][2]string{
		{"GraphLaunch", "graph-launch"}, {"Launch", "launch"}, {"Memcpy", "copy"}, {"Memset", "memset"},
		{"Synchronize", "sync"}, {"alloc", "alloc"}, {"Alloc", "alloc"}, {"Free", "free"},
	} {
		if strings.Contains(call, row[0]) {
			return row[1]
		}
	}
	return "other"
}

func (o *oracle) launches() (out []Launched) {
	var devices []string
	for _, w := range o.work {
		devices = append(devices, w.device)
	}
	slices.Sort(devices)
	for _, device := range slices.Compact(devices) {
		r := Launched{}
		r.Device, _ = strconv.Atoi(device)
		calls := map[*hostEvent]bool{}
		for _, w := range o.work {
			switch {
			case w.device != device:
				continue
			case w.call == nil:
				r.Without++
			default:
				r.Launched++
				calls[w.call] = true
				r.Delays = append(r.Delays, max(0, w.from-w.call.to))
			}
			if w.Cat == "kernel" && w.to-w.from < 10_000 {
				r.Short++
				r.ShortNS += w.to - w.from
			}
		}
		r.Calls = int64(len(calls))
		slices.Sort(r.Delays)
		edges := o.edges(o.window(device))
		for i := 1; i < len(edges); i++ {
			depth := 0
			for _, w := range o.work {
				if w.device == device && w.call != nil && w.call.from <= edges[i-1] && w.from > edges[i-1] {
					depth++
				}
			}
			for len(r.Queue) <= depth {
				r.Queue = append(r.Queue, 0)
			}
			r.Queue[depth] += edges[i] - edges[i-1]
		}
		out = append(out, r)
	}
	return out
}

// graphs distinguishes graphs by the work of their launches.
func (o *oracle) graphs() (out []GraphRun) {
	index := map[string]int{}
	for _, c := range o.host {
		if !strings.HasSuffix(c.Name, "GraphLaunch") {
			continue
		}
		works := o.launchedBy(c)
		key, r := c.Name, GraphRun{Call: c.Name, Nodes: int64(len(works)), Opaque: len(works) == 0}
		for _, w := range works {
			key += "|" + w.Name
		}
		i, ok := index[key]
		if !ok {
			i = len(out)
			index[key] = i
			out = append(out, r)
		}
		g := &out[i]
		g.Launches++
		g.CallNS += c.to - c.from
		if g.Opaque {
			continue
		}
		g.First = works[0].Name
		g.DelayNS += max(0, works[0].from-c.to)
		last := int64(0)
		for _, w := range works {
			g.WorkNS += w.to - w.from
			last = max(last, w.to)
		}
		g.SpanNS += last - works[0].from
		edges := o.edges(works[0].from, last)
		for i := 1; i < len(edges); i++ {
			if !o.busy(edges[i-1], works[0].device) {
				g.IdleNS += edges[i] - edges[i-1]
			}
		}
	}
	return out
}

func (o *oracle) memoryUse() (out []MemoryUse) {
	live := map[string]map[int64]LiveMemory{} // by pool and address
	slices.SortStableFunc(o.memory, func(a, b event) int { return a.start().Cmp(b.start()) })
	number := func(e event, key string) (n int64) {
		if err := json.Unmarshal(e.Args[key], &n); err != nil {
			o.t.Fatal(err)
		}
		return n
	}
	for _, e := range o.memory {
		m := MemoryUse{Device: int(number(e, "Device Id")), OnHost: number(e, "Device Type") == 0}
		bytes, allocated := number(e, "Bytes"), number(e, "Total Allocated")
		pool := e.arg("Device Id")
		i := slices.IndexFunc(out, func(r MemoryUse) bool { return r.Device == m.Device })
		if i < 0 {
			i = len(out)
			m.StartAllocated = allocated - bytes
			out, live[pool] = append(out, m), map[int64]LiveMemory{}
		}
		r := &out[i]
		r.PeakReserved = max(r.PeakReserved, number(e, "Total Reserved"))
		if bytes < 0 {
			r.Frees++
			delete(live[pool], number(e, "Addr"))
			if allocated <= r.PeakAllocated {
				continue
			}
		} else {
			r.Allocs++
			b := LiveMemory{Bytes: bytes, Count: 1}
			for _, around := range o.open(string(e.PID)+" "+string(e.TID), ns(o.t, e.start())) {
				if module, ok := strings.CutPrefix(around.Name, "nn.Module: "); ok {
					b.Module = strings.TrimPrefix(b.Module+"/"+module, "/")
				}
				if around.Cat == "cpu_op" {
					b.Op = around.Name
				}
			}
			live[pool][number(e, "Addr")] = b
		}
		if allocated <= r.PeakAllocated {
			continue
		}
		r.PeakAllocated, r.PeakNS, r.LiveBytes = allocated, ns(o.t, e.start()), 0
		r.Live = liveRows(maps.Values(live[pool]))
		for _, row := range r.Live {
			r.LiveBytes += row.Bytes
		}
	}
	slices.SortFunc(out, func(a, b MemoryUse) int { return b.Device - a.Device })
	return out
}

// liveRows sums blocks by allocation site.
func liveRows(blocks iter.Seq[LiveMemory]) (rows []LiveMemory) {
	for b := range blocks {
		i := slices.IndexFunc(rows, func(r LiveMemory) bool { return r.Op == b.Op && r.Module == b.Module })
		if i < 0 {
			rows = append(rows, b)
			continue
		}
		rows[i].Bytes += b.Bytes
		rows[i].Count++
	}
	slices.SortFunc(rows, func(a, b LiveMemory) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), strings.Compare(a.Op, b.Op), strings.Compare(a.Module, b.Module))
	})
	return rows
}
