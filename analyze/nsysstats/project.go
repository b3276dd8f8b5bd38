package nsysstats

import (
	"math"
	"slices"

	"assay/analyze/hosttree"
	"assay/analyze/launches"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

var projected = []Column{{"Range", true}, {"Style", true}, {"Total Proj Time (ns)", false}, {"Total Range Time (ns)", false},
	{"Range Instances", false}, {"Proj Avg (ns)", false}, {"Proj Med (ns)", false}, {"Proj Min (ns)", false}, {"Proj Max (ns)", false},
	{"Proj StdDev (ns)", false}, {"Total GPU Ops", false}, {"Avg GPU Ops", false}, {"Avg Range Lvl", false}, {"Avg Num Child", false}}

// projectedRows projects each range onto the devices: from the start of the
// first to the end of the last GPU operation whose call is inside the range, on
// its thread. Ranges that launched nothing are left out.
func projectedRows(m *maker, table *Table) {
	p := &projection{ranges: m.ranges(), launches: m.launches()}
	p.reach = reachOf(m.t, p.launches)
	for _, th := range hosttree.Threads(m.t) {
		if th.Annotations() > 0 || m.t.Meta.NVTXOps {
			hosttree.Walk(th, p)
		}
		th.Release()
	}
	p.overlapping(m.t)
	s := sampleOf(func(yield func(int, int64) bool) {
		for i, g := range p.groups {
			if !yield(int(g), p.times[i]) {
				return
			}
		}
	})
	name := func(g int) string { return p.ranges.text(g) + " " + p.ranges.style(g) }
	for _, g := range m.order(s, table, name) {
		v, sums := s.spread(g), &p.sums[g]
		row := []string{p.ranges.text(g), p.ranges.style(g), whole(v.total), whole(sums.rangeNS), whole(v.count)}
		row = append(row, v.cells()...)
		each := func(n int64) string { return tenths(float64(n) / float64(v.count)) }
		row = append(row, whole(sums.ops), each(sums.ops))
		if p.ranges.style(g) == pushPop {
			row = append(row, each(sums.level), each(sums.children))
		} else {
			row = append(row, "", "") // they are not part of the stack of ranges
		}
		table.Rows = append(table.Rows, own(row))
	}
}

// A reach is the extent of the device work of a launch or a range.
type reach struct {
	start, end int64
	ops        int64
}

// nothing is the reach of a range or launch without work.
var nothing = reach{math.MaxInt64, math.MinInt64, 0}

// plus returns the combined reach.
func (r reach) plus(o reach) reach {
	return reach{min(r.start, o.start), max(r.end, o.end), r.ops + o.ops}
}

// reachOf returns the reach of every launch.
func reachOf(t *trace.Trace, launches *launches.Launches) []reach {
	out := slices.Repeat([]reach{nothing}, launches.Len())
	number := -1
	for a := range t.Activities.All() {
		number++
		if i, ok := launches.Of(number); ok {
			out[i] = out[i].plus(reach{a.Start, a.End(), 1})
		}
	}
	return out
}

// A projection visits threads and stores the ranges that launched work.
type projection struct {
	ranges   *ranges
	launches *launches.Launches
	reach    []reach // by launch

	// Of every range that launched work: its group, and the length of its
	// projection.
	groups []int32
	times  []int64
	sums   []rangeSums // by group
}

// rangeSums are sums over the ranges of a group.
type rangeSums struct{ rangeNS, ops, level, children int64 }

// An openRange is the data that the walk attaches to each open event.
type openRange struct {
	group    int   // if the event is a range
	inner    int   // index of the innermost range in the stack, itself included, or -1
	level    int64 // the number of ranges around it
	children int64
	reach    reach
}

// Enter counts a range for the enclosing range, and work for the range in which
// it was launched.
func (p *projection) Enter(stack []hosttree.Open[openRange]) {
	last := len(stack) - 1
	f, d := &stack[last].Frame, &stack[last].Data
	d.inner, d.group = -1, -1
	if last > 0 {
		d.inner = stack[last-1].Data.inner
	}
	if group, ok := p.ranges.frame(f); ok {
		if outer := d.inner; outer >= 0 {
			stack[outer].Data.children++
			d.level = stack[outer].Data.level + 1
		}
		d.group, d.inner, d.reach = group, last, nothing
	}
	if d.inner < 0 {
		return
	}
	launch, ok := 0, false
	switch {
	case f.IsCall():
		launch, ok = p.launches.ByCall(f.Row)
	case f.Kind == trace.CPUOp:
		launch, ok = p.launches.ByOp(f.Row)
	}
	if ok {
		inner := &stack[d.inner].Data
		inner.reach = inner.reach.plus(p.reach[launch])
	}
}

// Leave stores a range and adds its work to the enclosing range.
func (p *projection) Leave(stack []hosttree.Open[openRange]) {
	last := len(stack) - 1
	f, d := &stack[last].Frame, &stack[last].Data
	if d.group < 0 {
		return
	}
	if last > 0 {
		if outer := stack[last-1].Data.inner; outer >= 0 {
			stack[outer].Data.reach = stack[outer].Data.reach.plus(d.reach)
		}
	}
	p.note(d.group, f.End-f.Start, d.reach, d.level, d.children)
}

// Between does nothing, because the host times are those of the ranges.
func (p *projection) Between(int64, int64, []hosttree.Open[openRange]) {}

// note adds one range to its group.
func (p *projection) note(group int, ns int64, r reach, level, children int64) {
	if r.ops == 0 {
		return
	}
	for group >= len(p.sums) {
		p.sums = append(p.sums, rangeSums{})
	}
	s := &p.sums[group]
	s.rangeNS = summary.Plus(s.rangeNS, ns)
	s.ops, s.level, s.children = s.ops+r.ops, s.level+level, s.children+children
	p.groups, p.times = append(p.groups, int32(group)), append(p.times, interval.Span{Start: r.start, End: r.end}.Len())
}
