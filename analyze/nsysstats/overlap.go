package nsysstats

import (
	"cmp"
	"slices"
	"sort"

	"assay/trace"
)

// overlapping projects the ranges that are started and ended, which do not nest
// with the other ranges of their thread.
func (p *projection) overlapping(t *trace.Trace) {
	if !slices.ContainsFunc(t.Async, func(s trace.HostSpan) bool { return s.Kind == trace.Annotation }) {
		return
	}
	threads := p.byThread(t)
	for i := range t.Async {
		s := &t.Async[i]
		if th := threads[s.Track]; s.Kind == trace.Annotation && th != nil {
			p.note(p.ranges.span(s, true), s.Dur, th.within(p, s.Start, s.Start+s.Dur), 0, 0)
		}
	}
}

// A launching has the launches of a thread in the order of their calls, and a
// tree over them: tree[i] is the reach of tree[2i] and tree[2i+1], and the
// second half has the reach of the launches themselves.
type launching struct {
	launches []int32
	tree     []reach
}

// byThread returns the launches of every thread.
func (p *projection) byThread(t *trace.Trace) map[trace.TrackID]*launching {
	out := make(map[trace.TrackID]*launching)
	for i := range p.launches.Len() {
		c := p.launches.Call(i)
		if c == nil {
			continue
		}
		th := out[c.Track]
		if th == nil {
			th = &launching{}
			out[c.Track] = th
		}
		th.launches = append(th.launches, int32(i))
	}
	for _, th := range out {
		start := func(i int32) int64 { return p.launches.Call(int(i)).Start }
		slices.SortFunc(th.launches, func(a, b int32) int { return cmp.Compare(start(a), start(b)) })
		n := len(th.launches)
		th.tree = make([]reach, 2*n)
		for at, i := range th.launches {
			th.tree[n+at] = p.reach[i]
		}
		for at := n - 1; at > 0; at-- {
			th.tree[at] = th.tree[2*at].plus(th.tree[2*at+1])
		}
	}
	return out
}

// within returns the reach of the launches whose calls are between two times.
// Launching calls of one thread do not overlap, so all calls that began in the
// interval have also ended in it, except possibly the last.
func (th *launching) within(p *projection, from, to int64) reach {
	n := len(th.launches)
	call := func(at int) *trace.Call { return p.launches.Call(int(th.launches[at])) }
	first := sort.Search(n, func(at int) bool { return call(at).Start >= from })
	end := sort.Search(n, func(at int) bool { return call(at).Start > to })
	if end > first && call(end-1).Start+call(end-1).Dur > to {
		end--
	}
	out := nothing
	for a, b := first+n, end+n; a < b; a, b = a/2, b/2 {
		if a%2 == 1 {
			out = out.plus(th.tree[a])
			a++
		}
		if b%2 == 1 {
			b--
			out = out.plus(th.tree[b])
		}
	}
	return out
}
