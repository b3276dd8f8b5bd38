package inspect

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"assay/analyze"
	"assay/analyze/attribute"
	"assay/analyze/gpu"
	"assay/analyze/hosttree"
	"assay/analyze/launches"
	"assay/trace"
)

// At describes the time t, in ns on the clock of the trace. An event is open from its start until
// just before its end. Tables have at most top rows.
func (c *Capture) At(t int64, top int) *Moment {
	out := &Moment{Input: c.in.Index, Rank: c.in.Rank, TimeNS: t, AtNS: c.since(t)}
	for _, r := range analyze.PhaseRuns(c.whole, c.opt) {
		if r.Start <= t && t < r.End && strings.Count(r.Path, "/") >= strings.Count(out.Phase, "/") {
			out.Phase = r.Path
		}
	}
	h := attribute.HostOf(c.t)
	gaps := make([]*Gap, len(c.tl.Devices))
	for i, d := range c.tl.Devices {
		gap, number := c.gapAt(d, t)
		if gap != nil {
			gap.Number = number
			h.Explain(i, gap.StartNS)
		}
		gaps[i] = gap
	}
	queued := queuedAt(c.t, h.Links, t)
	var a *attribute.Attribution
	if slices.ContainsFunc(gaps, func(g *Gap) bool { return g != nil }) {
		a = c.attribution(h)
	}
	for i, d := range c.tl.Devices {
		row := Device{Rank: c.gpu(d.Ordinal).Rank, Device: d.Ordinal, Name: gpu.DeviceName(c.t.Meta, d.Ordinal),
			Step:    c.step(d.Ordinal, t),
			Outside: t < d.Window.Start || t >= d.Window.End, Queued: queued[d.Ordinal]}
		if row.Gap = gaps[i]; row.Gap != nil {
			c.explain(row.Gap, a, top)
			row.Gap.Launch, row.Gap.Around, row.Gap.Inside = nil, nil, nil // already in the threads of the moment
		}
		row.Streams, row.StreamsLeft = cut(c.streamsAt(d.Ordinal, t), top)
		out.Devices = append(out.Devices, row)
	}
	out.Threads, out.ThreadsLeft = cut(c.threadsAt(t), top)
	return out
}

// gapAt returns the gap of a device at time t, or nil, and its number by length.
func (c *Capture) gapAt(d *gpu.Device, t int64) (found *Gap, number int) {
	for g := range d.Gaps() {
		if g.Start <= t && t < g.End {
			found = &Gap{GPU: c.gpu(d.Ordinal), StartNS: g.Start, AtNS: c.since(g.Start), NS: g.Len()}
		}
	}
	if found == nil {
		return nil, 0
	}
	for i, g := range c.Longest(maxNumbered) {
		if g.GPU == found.GPU && g.StartNS == found.StartNS {
			return found, i + 1
		}
	}
	return found, 0
}

// maxNumbered is the number of gaps of a capture that get a number.
const maxNumbered = 10_000

// queuedAt returns the queue length of each device: operations that were launched and had not
// started. An operation is queued from the start of its call.
func queuedAt(t *trace.Trace, l *launches.Links, at int64) map[int64]int64 {
	out := make(map[int64]int64)
	number := -1
	for a := range t.Activities.All() {
		number++
		if i := l.Of[number]; i >= 0 && l.Call(i) != nil && l.Start(i) <= at && at < a.Start {
			out[t.Tracks[a.Track].Device]++
		}
	}
	return out
}

// streamsAt describes the streams of a device, busy streams first.
func (c *Capture) streamsAt(device, t int64) (out []Stream) {
	by := make(map[int64]*Stream)
	current := func(a *trace.Activity, from int64) *Current {
		return &Current{Name: c.t.Name(a.Name), StartNS: a.Start, NS: a.Dur, AgoNS: t - from}
	}
	for a := range c.whole.Activities.All() {
		track := &c.t.Tracks[a.Track]
		if track.Device != device {
			continue
		}
		s := by[track.Stream]
		if s == nil {
			s = &Stream{Stream: track.Stream}
			by[track.Stream] = s
		}
		switch {
		case a.Start <= t && t < a.End():
			s.Running = append(s.Running, *current(a, a.Start))
		case a.End() <= t && (s.Before == nil || t-a.End() < s.Before.AgoNS):
			s.Before = current(a, a.End())
		case a.Start > t && (s.After == nil || a.Start < s.After.StartNS):
			s.After = current(a, a.Start)
		}
	}
	for _, s := range by {
		slices.SortFunc(s.Running, func(a, b Current) int {
			return cmp.Or(cmp.Compare(a.StartNS, b.StartNS), cmp.Compare(b.NS, a.NS), cmp.Compare(a.Name, b.Name))
		})
	}
	idle := func(s *Stream) int { return cmp.Compare(1, len(s.Running)) }
	for _, n := range slices.SortedFunc(maps.Keys(by), func(a, b int64) int {
		return cmp.Or(cmp.Compare(max(0, idle(by[a])), max(0, idle(by[b]))), cmp.Compare(a, b))
	}) {
		out = append(out, *by[n])
	}
	return out
}

// threadsAt returns the threads with open events, those that launch GPU work first.
func (c *Capture) threadsAt(t int64) (out []Thread) {
	type row struct {
		Thread
		calls int
	}
	var all []row
	for _, th := range hosttree.Threads(c.whole) {
		w := &momentWalker{c: c, at: t}
		hosttree.Walk(th, w)
		if len(w.open) > 0 {
			all = append(all, row{Thread{c.thread(th.Track), w.open}, th.Calls()})
		}
	}
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(b.calls, a.calls) })
	for _, r := range all {
		out = append(out, r.Thread)
	}
	return out
}

// A momentWalker finds what a thread has open at a time.
type momentWalker struct {
	c    *Capture
	at   int64
	open []Span
}

func (w *momentWalker) Enter([]hosttree.Open[struct{}]) {}
func (w *momentWalker) Leave([]hosttree.Open[struct{}]) {}

func (w *momentWalker) Between(from, to int64, open []hosttree.Open[struct{}]) {
	if from <= w.at && w.at < to {
		for i := range open {
			if open[i].End <= w.at { // ended; kept open by a nested event that ends slightly later
				continue
			}
			w.open = append(w.open, w.c.span(&open[i].Frame))
		}
	}
}
