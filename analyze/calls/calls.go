// Package calls measures the calls of the runtime and driver: how often each is made and
// for how long, how long they wait for a device and what that costs, and what they launch
// that has rows of its own: graphs and copies. It needs no walk along threads.
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

// Calls has the calls of a trace.
type Calls struct {
	t     *trace.Trace
	tl    *gpu.Timeline
	links *launches.Links
	marks []steps.Mark

	busy func() *busyTimes // of any device; made when first asked for
	rows []*summary.Call   // by name

	byTrack map[trace.TrackID][]wait
	tracks  [][]trace.TrackID // by index of the device: the threads that launch its work
	graphs  []int32           // links of calls that launch graphs
	opaque  []*trace.Call     // see Opaque

	syncs  []summary.Sync
	copies map[int32]int64 // by link: what waiting for its copies lost
}

// The kinds of calls that are asked for.
const (
	graphLaunch = "graph-launch"
	syncKind    = "sync"
)

// Of finds the calls of a trace and which of them wait.
func Of(tl *gpu.Timeline, l *launches.Links, marks []steps.Mark) *Calls {
	c := &Calls{
		t: tl.Trace, tl: tl, links: l, marks: marks, rows: make([]*summary.Call, tl.Trace.Names()),
		byTrack: make(map[trace.TrackID][]wait), tracks: make([][]trace.TrackID, len(tl.Devices)), copies: make(map[int32]int64),
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
	c.opaque = c.OfKind(graphLaunch, func(ref trace.Ref) bool {
		_, linked := l.OfCall(ref)
		return !linked
	})
	return c
}

// see notes whether a call waits for a device or launches a graph.
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

// waitsFor reports whether a call returned after the copies and fills of its link were done.
func (c *Calls) waitsFor(link int32, call *trace.Call) bool {
	end, copies := c.links.List[link].Copied()
	return copies && end <= call.Start+call.Dur
}

// Opaque returns the launches of graphs whose work was not recorded, in order of time.
func (c *Calls) Opaque() []*trace.Call { return c.opaque }

// Syncs returns the calls that wait for a device, in order of time.
func (c *Calls) Syncs() []*trace.Call {
	return c.OfKind(syncKind, func(trace.Ref) bool { return true })
}

// OfKind returns the calls of a kind that are wanted, in order of time.
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

// busyOn returns when anything ran on one device.
func (c *Calls) busyOn(d *gpu.Device) *busyTimes {
	if len(c.tl.Devices) == 1 {
		return c.busy()
	}
	return busyOf(d.Busy())
}

// busyTimes returns how long anything ran within a span.
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

// before returns how long anything ran before t.
func (b *busyTimes) before(t int64) int64 {
	i := sort.Search(len(b.spans), func(i int) bool { return b.spans[i].End > t })
	if i < len(b.spans) && b.spans[i].Start < t {
		return summary.Plus(b.upTo[i], interval.Span{Start: b.spans[i].Start, End: t}.Len())
	}
	return b.upTo[i]
}

// idle returns how long nothing ran within s.
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

// Count counts the calls of threads that start in the window.
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
	if waits && len(c.tl.Devices) > 0 {
		r.WaitNS = summary.Plus(r.WaitNS, ns)
		r.IdleNS = summary.Plus(r.IdleNS, c.busy().idle(interval.Span{Start: call.Start, End: call.Start + call.Dur}))
	}
}

// Rows returns the calls by name.
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
