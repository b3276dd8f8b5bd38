// Package calls measures the calls of the CUDA or HIP runtime and driver: counts and times, how
// long the host waits for a device and what that costs, and the graphs and copies that calls
// launch. It needs the links of package launches, but no walk along threads.
//
// Start with calls.go (Of, Calls). waits.go measures synchronization, process.go finds the
// devices of one process, gaps.go the gaps between work and the calls that ended them, graphs.go and
// copies.go the tables of these. Package attribute finds the causes of the gaps.
package calls

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"assay/analyze/classify"
	"assay/analyze/gpu"
	"assay/analyze/launches"
	"assay/analyze/steps"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// Calls has the measurements of the calls of a trace.
type Calls struct {
	t     *trace.Trace
	tl    *gpu.Timeline
	links *launches.Links
	marks []steps.Mark

	busy func() *busyTimes // times in which any device is busy; computed on first use
	rows []*summary.Call   // by name

	byTrack   map[trace.TrackID][]wait
	tracks    [][]trace.TrackID // by device: the threads that launch its work
	processes []*process        // by device
	graphs    []int32           // links of graph launches
	opaque    []*trace.Call     // see Opaque

	syncs  []summary.Sync
	copies map[int32]int64 // by link: idle time caused by waiting for its copies, in ns
}

// Kinds of calls: see [classify.CallKind].
const (
	graphLaunch = "graph-launch"
	syncKind    = "sync"
)

// Of returns the calls of a trace, with those that wait for a device.
func Of(tl *gpu.Timeline, l *launches.Links, marks []steps.Mark) *Calls {
	c := &Calls{
		t: tl.Trace, tl: tl, links: l, marks: marks, rows: make([]*summary.Call, tl.Trace.Names()),
		byTrack: make(map[trace.TrackID][]wait), tracks: make([][]trace.TrackID, len(tl.Devices)),
		copies: make(map[int32]int64),
	}
	c.busy = sync.OnceValue(func() *busyTimes {
		var all []interval.Span
		for _, d := range tl.Devices {
			all = append(all, d.Busy().Spans()...)
		}
		return busyOf(interval.Of(all...))
	})
	if len(tl.Devices) == 1 {
		c.busy = sync.OnceValue(func() *busyTimes { return busyOf(tl.Devices[0].Busy()) })
	}
	for ref, call := range c.t.Calls.Refs() {
		c.see(ref, call)
	}
	for i, d := range tl.Devices {
		c.tracks[i] = c.launchers(d)
	}
	c.processes = c.processesOf()
	c.opaque = c.OfKind(graphLaunch, func(ref trace.Ref) bool {
		_, linked := l.OfCall(ref)
		return !linked
	})
	return c
}

// see records a call that waits for a device or launches a graph.
func (c *Calls) see(ref trace.Ref, call *trace.Call) {
	switch c.row(call.Name).Kind {
	case graphLaunch:
		if i, ok := c.links.OfCall(ref); ok {
			c.graphs = append(c.graphs, i)
		}
	case syncKind:
		c.byTrack[call.Track] = append(c.byTrack[call.Track], wait{call, -1, ofEvent(c.t.Name(call.Name))})
	case "copy", "memset":
		if i, ok := c.links.OfCall(ref); ok && c.waitsFor(i, call) {
			c.byTrack[call.Track] = append(c.byTrack[call.Track], wait{call, i, false})
		}
	}
}

// waitsFor reports whether a call returned only after the copies and memsets of its link ended.
func (c *Calls) waitsFor(link int32, call *trace.Call) bool {
	end, copies := c.links.List[link].Copied()
	return copies && end <= call.Start+call.Dur
}

// Opaque returns the graph launches whose work was not recorded, by start.
func (c *Calls) Opaque() []*trace.Call { return c.opaque }

// Syncs returns the calls that wait for a device, by start.
func (c *Calls) Syncs() []*trace.Call {
	return c.OfKind(syncKind, func(trace.Ref) bool { return true })
}

// OfKind returns the calls of a kind for which wanted is true, by start.
func (c *Calls) OfKind(kind string, wanted func(trace.Ref) bool) (out []*trace.Call) {
	if !slices.ContainsFunc(c.rows, func(r *summary.Call) bool { return r != nil && r.Kind == kind }) {
		return nil
	}
	for ref, call := range c.t.Calls.Refs() {
		if c.rows[call.Name].Kind == kind && wanted(ref) {
			out = append(out, call)
		}
	}
	slices.SortStableFunc(out, func(a, b *trace.Call) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

// Kinds calls f with the name of each call and its kind: see [classify.CallKind].
func (c *Calls) Kinds(f func(name trace.Sym, kind string)) {
	for name, r := range c.rows {
		if r != nil {
			f(trace.Sym(name), r.Kind)
		}
	}
}

// busyOn returns the times in which a device is busy.
func (c *Calls) busyOn(d *gpu.Device) *busyTimes {
	if len(c.tl.Devices) == 1 {
		return c.busy()
	}
	return busyOf(d.Busy())
}

// busyTimes answers for how long devices were busy within a span.
type busyTimes struct {
	spans []interval.Span
	upTo  []int64 // busy time in the spans before each
}

func busyOf(set interval.Set) *busyTimes {
	b := &busyTimes{set.Spans(), make([]int64, len(set.Spans())+1)}
	for i, s := range b.spans {
		b.upTo[i+1] = summary.Plus(b.upTo[i], s.Len())
	}
	return b
}

// before returns the busy time before t, in ns.
func (b *busyTimes) before(t int64) int64 {
	i := sort.Search(len(b.spans), func(i int) bool { return b.spans[i].End > t })
	if i < len(b.spans) && b.spans[i].Start < t {
		return summary.Plus(b.upTo[i], interval.Span{Start: b.spans[i].Start, End: t}.Len())
	}
	return b.upTo[i]
}

// idle returns the idle time within s, in ns.
func (b *busyTimes) idle(s interval.Span) int64 {
	return s.Len() - (b.before(s.End) - b.before(s.Start))
}

// row returns the row of the calls of a name.
func (c *Calls) row(name trace.Sym) *summary.Call {
	r := c.rows[name]
	if r == nil {
		text := c.t.Name(name)
		r = &summary.Call{Name: text, Kind: classify.CallKind(text)}
		c.rows[name] = r
	}
	return r
}

// Count counts the calls that start in the window of the trace. It must run before Rows.
func (c *Calls) Count() {
	for first, part := range c.t.Calls.Parts() {
		for i := range part {
			if call := &part[i]; c.t.Window.Starts(call.Start) && !c.t.Tracks[call.Track].OnDevice {
				c.count(first+trace.Ref(i), call)
			}
		}
	}
}

func (c *Calls) count(ref trace.Ref, call *trace.Call) {
	r, ns := c.rows[call.Name], call.Dur
	if (r.Kind == "alloc" || r.Kind == "free") && steps.At(c.marks, call.Start) >= 0 {
		r.InSteps++
	}
	r.Count++
	r.TotalNS = summary.Plus(r.TotalNS, ns)
	r.MaxNS = max(r.MaxNS, ns)
	waits := r.Kind == syncKind
	if i, ok := c.links.OfCall(ref); ok {
		r.Launched = summary.Plus(r.Launched, int64(c.links.List[i].Work))
		waits = waits || (r.Kind == "copy" || r.Kind == "memset") && c.waitsFor(i, call)
	}
	if waits && len(c.tl.Devices) > 0 && !c.t.Moved {
		r.WaitNS = summary.Plus(r.WaitNS, ns)
		r.IdleNS = summary.Plus(r.IdleNS, c.busy().idle(interval.Span{Start: call.Start, End: call.Start + call.Dur}))
	}
}

// Rows returns the calls that were counted, by name.
func (c *Calls) Rows(rank int) (out []summary.Call) {
	for _, r := range c.rows {
		if r == nil || r.Count == 0 {
			continue
		}
		r.Rank = rank
		out = append(out, *r)
	}
	return out
}
