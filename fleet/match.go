package fleet

import (
	"cmp"
	"math"
	"slices"

	"assay/collective"
)

// matchedBy says how the collectives of a group were matched.
type matchedBy uint8

const (
	byNothing matchedBy = iota // they were not
	byNumber                   // by the number that the profiler recorded
	byOrder                    // by the order of launches
	byEnd                      // by when they ended, because their order is broken
)

// An instance is one collective of a group, as all its members recorded it.
type instance struct {
	what     collective.What // of the first member
	members  int32
	differs  bool  // kind, type or size differ between members
	shortest int64 // ns: the transfer, if it is complete
	total    int64 // ns: sum of the durations
	last     int32 // the member with the shortest duration
}

// near is the time within which ends of one collective lie on one node.
const near = 1_000_000

// match finds out which runs of the members are one collective.
func (g *group) match(members []Member) {
	for i := range g.lists {
		g.lists[i].of = make([]int32, len(g.lists[i].runs))
	}
	switch {
	case len(g.lists) < 2 || g.size > 0 && len(g.lists) > g.size:
		// Several communicators have this name, so it does not identify one.
		return
	case g.numbered(members):
		g.matched = byNumber
	default:
		g.matched = g.inOrder(members)
	}
	g.join(members)
}

// numbered gives runs with the same recorded number the same instance. It returns false
// if a run has none. Kernels with the same number are counted in their order.
func (g *group) numbered(members []Member) bool {
	type key struct{ seq, nth uint32 }
	index := map[key]int32{}
	for i := range g.lists {
		l := &g.lists[i]
		runs, seen := members[l.member].Columns.Runs, map[uint32]uint32{}
		for at, n := range l.runs {
			seq := runs[n].Seq
			if seq == collective.NoSeq {
				return false
			}
			k := key{seq, seen[seq]}
			seen[seq]++
			id, ok := index[k]
			if !ok {
				id = int32(len(index))
				index[k] = id
			}
			l.of[at] = id
		}
	}
	return true
}

// inOrder gives runs at the same place of the order the same instance. A member whose
// capture begins later is shifted. If the ends of what matches so are far apart, events
// are missing in between, and runs are matched by their ends.
func (g *group) inOrder(members []Member) matchedBy {
	ref := g.longest()
	how := byOrder
	for i := range g.lists {
		l := &g.lists[i]
		shift, spread := 0, int64(0)
		if l != ref {
			shift, spread = bestShift(members, l, ref)
		}
		if spread > near {
			how = byEnd
		}
		for at := range l.of {
			l.of[at] = int32(at + shift)
		}
	}
	if how == byEnd {
		g.byEnds(members, ref)
		return how
	}
	low := int32(math.MaxInt32)
	for _, l := range g.lists {
		if len(l.of) > 0 {
			low = min(low, l.of[0])
		}
	}
	for _, l := range g.lists {
		for at := range l.of {
			l.of[at] -= low
		}
	}
	return how
}

// bestShift returns by how many collectives a member's capture begins later than the
// reference's, and the median distance of the ends of the matched ones from their
// median, in ns. The kinds and sizes must agree best; the right one of equal shifts is
// the one whose ends lie apart by the same time, whatever the clocks.
func bestShift(members []Member, l, ref *list) (shift int, spread int64) {
	const most = 64
	type quality struct {
		disagree int // percent
		spread   int64
		far      int
	}
	order := func(a, b quality) int {
		return cmp.Or(cmp.Compare(a.disagree, b.disagree), cmp.Compare(a.spread, b.spread), cmp.Compare(a.far, b.far))
	}
	best := quality{disagree: math.MaxInt}
	try := func(s int) {
		from, to := max(0, -s), max(0, s)
		n := min(len(l.runs)-from, len(ref.runs)-to)
		if n < 1 || n < min(2, len(l.runs)) || n < len(l.runs)/2 {
			return // one pair always agrees with itself
		}
		disagree, apart := 0, make([]int64, 0, n)
		for i := range n {
			a, b := members[l.member].Columns, members[ref.member].Columns
			x, y := a.Runs[l.runs[from+i]], b.Runs[ref.runs[to+i]]
			if !same(a.Whats[x.What], b.Whats[y.What]) {
				disagree++
			}
			apart = append(apart, x.End-y.End)
		}
		q := quality{disagree: 100 * disagree / n, far: max(s, -s)}
		if _, q.spread = medianSpread(apart); order(q, best) < 0 {
			best, shift = q, s
		}
	}
	if try(0); best.disagree == 0 && best.spread < near/10 {
		return shift, best.spread
	}
	for s := -most; s <= most; s++ {
		try(s)
	}
	return shift, best.spread
}

// byEnds matches each run with the reference's run of the same kind and size whose end
// is nearest, at most near away.
func (g *group) byEnds(members []Member, ref *list) {
	to := members[ref.member].Columns
	for i := range g.lists {
		l := &g.lists[i]
		if l == ref {
			for at := range l.of {
				l.of[at] = int32(at)
			}
			continue
		}
		own := members[l.member].Columns
		taken := map[int32]bool{}
		for at, n := range l.runs {
			run := own.Runs[n]
			best, nearest := int32(-1), int64(near)
			for k, m := range ref.runs {
				other := to.Runs[m]
				d := max(run.End-other.End, other.End-run.End)
				if d < nearest && !taken[int32(k)] && same(own.Whats[run.What], to.Whats[other.What]) {
					best, nearest = int32(k), d
				}
			}
			if l.of[at] = best; best >= 0 {
				taken[best] = true
			}
		}
	}
}

// same reports whether two ranks recorded the same collective. Of an all-to-all each
// rank has its own sizes, and what is not recorded cannot differ.
func same(a, b collective.What) bool {
	if a.Op != b.Op || a.Dtype != b.Dtype && a.Dtype != "" && b.Dtype != "" {
		return false
	}
	switch a.Op {
	case collective.AllToAll, collective.SendRecv, collective.Dispatch, collective.Combine:
		return true
	}
	differ := func(a, b int64) bool { return a >= 0 && b >= 0 && a != b }
	return !differ(a.In, b.In) && !differ(a.Out, b.Out)
}

// join makes the instances from the matched runs.
func (g *group) join(members []Member) {
	most := int32(-1)
	for _, l := range g.lists {
		most = max(most, slices.Max(append(l.of, -1)))
	}
	g.instances = make([]instance, most+1)
	for _, l := range g.lists {
		c := members[l.member].Columns
		for at, id := range l.of {
			if id < 0 {
				continue
			}
			run, in := &c.Runs[l.runs[at]], &g.instances[id]
			what, dur := c.Whats[run.What], max(0, run.End-run.Start)
			switch {
			case in.members == 0:
				in.what, in.shortest, in.last = what, dur, int32(l.member)
			case !same(in.what, what):
				in.differs = true
			}
			if dur < in.shortest {
				in.shortest, in.last = dur, int32(l.member)
			}
			in.members++
			in.total += dur
		}
	}
	for i := range g.instances {
		if g.instances[i].differs {
			g.differ++
		}
	}
}

// complete reports whether all given ranks of the group recorded the same collective.
func (g *group) complete(in *instance) bool {
	return int(in.members) == len(g.lists) && !in.differs
}

// medianSpread returns the median, and the median distance from it. It sorts values.
func medianSpread(values []int64) (median, spread int64) {
	if len(values) == 0 {
		return 0, 0
	}
	slices.Sort(values)
	median = values[len(values)/2]
	for i, v := range values {
		values[i] = max(v-median, median-v)
	}
	slices.Sort(values)
	return median, values[len(values)/2]
}
