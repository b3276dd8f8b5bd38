package ranks

import (
	"cmp"
	"math"
	"slices"

	"assay/internal/stat"
)

// near is the largest difference, in ns, between the ends of one collective on different ranks.
const near = 1_000_000

// inOrder matches runs with the same position in the launch order. A member whose capture starts
// later is shifted. If the ends of matched runs are far apart, events are missing in between; then
// it matches by end time.
func (g *group) inOrder(members []Member) matchedBy {
	ref := g.longest()
	how := byOrder
	for i := range g.lists {
		l := &g.lists[i]
		var s shift
		if l != ref {
			s = bestShift(members, l, ref)
		}
		if s.spread > near {
			how = byEnd
		}
		for at := range l.of {
			l.of[at] = int32(at + s.by)
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

// A shift is a hypothesis: a member's capture starts by collectives later than the reference's. The
// other fields say how well it fits.
type shift struct {
	by       int
	disagree int   // percentage of pairs whose kind, type or size differs
	spread   int64 // ns: MAD of the differences of the ends
	offset   int64 // ns: median of these differences
	overhang bool  // each has collectives that the other lacks, at different ends
}

// maxShift is the largest shift that is tried, and maxPairs the number of pairs compared for each.
const (
	maxShift = 64
	maxPairs = 512
)

// bestShift returns the most probable shift: the one for which kinds and sizes agree best, and of
// several, the one with the smallest spread of the differences of the ends, because two clocks
// differ by a constant. If all steps of a run are equal, several shifts are left. Then captures
// probably end together, and clocks differ little.
func bestShift(members []Member, l, ref *list) shift {
	first, ok := shiftBy(members, l, ref, 0)
	if ok && first.disagree == 0 && first.spread < near/10 && len(l.runs) == len(ref.runs) {
		return first
	}
	var all []shift
	best := shift{disagree: math.MaxInt}
	for by := -maxShift; by <= maxShift; by++ {
		s, ok := shiftBy(members, l, ref, by)
		if !ok {
			continue
		}
		all = append(all, s)
		if cmp.Or(cmp.Compare(s.disagree, best.disagree), cmp.Compare(s.spread, best.spread)) < 0 {
			best = s
		}
	}
	const noise = 10_000 // ns
	all = slices.DeleteFunc(all, func(s shift) bool { return s.disagree > best.disagree || s.spread > best.spread+noise })
	slices.SortFunc(all, func(a, b shift) int {
		return cmp.Or(compareBools(a.overhang, b.overhang), cmp.Compare(distance(a.offset, 0), distance(b.offset, 0)),
			cmp.Compare(distance(int64(a.by), 0), distance(int64(b.by), 0)))
	})
	if len(all) == 0 {
		return first
	}
	return all[0]
}

// shiftBy evaluates the hypothesis that a member's capture starts by collectives later. It returns
// false if there are too few matches.
func shiftBy(members []Member, l, ref *list, by int) (shift, bool) {
	from, to := max(0, -by), max(0, by)
	n := min(len(l.runs)-from, len(ref.runs)-to)
	if n < 1 || n < min(2, len(l.runs)) || n < len(l.runs)/2 {
		return shift{}, false // a single pair has no spread
	}
	a, b := members[l.member].Columns, members[ref.member].Columns
	every := (n + maxPairs - 1) / maxPairs
	disagree, apart := 0, make([]int64, 0, min(n, maxPairs))
	for i := 0; i < n; i += every {
		x, y := a.Runs[l.runs[from+i]], b.Runs[ref.runs[to+i]]
		if !same(a.Whats[x.What], b.Whats[y.What]) {
			disagree++
		}
		apart = append(apart, x.End-y.End)
	}
	s := shift{by: by, disagree: 100 * disagree / len(apart), overhang: by < 0 || by > len(ref.runs)-len(l.runs)}
	s.offset, s.spread = stat.MADInPlace(apart)
	return s, true
}

// byEnds matches each run with the reference's run of the same kind and size with the nearest end,
// at most near apart.
func (g *group) byEnds(members []Member, ref *list) {
	to := members[ref.member].Columns
	ends := make([]int32, len(ref.runs)) // positions in the reference's list, by end
	for at := range ends {
		ends[at] = int32(at)
	}
	end := func(at int32) int64 { return to.Runs[ref.runs[at]].End }
	slices.SortStableFunc(ends, func(a, b int32) int { return cmp.Compare(end(a), end(b)) })
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
			k, _ := slices.BinarySearchFunc(ends, run.End-near, func(at int32, ns int64) int { return cmp.Compare(end(at), ns) })
			for ; k < len(ends) && end(ends[k]) < run.End+near; k++ {
				other := to.Runs[ref.runs[ends[k]]]
				if d := distance(run.End, other.End); d < nearest && !taken[ends[k]] &&
					same(own.Whats[run.What], to.Whats[other.What]) {
					best, nearest = ends[k], d
				}
			}
			if l.of[at] = best; best >= 0 {
				taken[best] = true
			}
		}
	}
}

// possible reports whether a match is consistent with causality: with some offset between the
// clocks, no rank leaves a collective before all have arrived. If there is no such offset, the match
// is wrong; for example, it mixes the collectives of several groups. Clocks may drift apart by
// 50 ppm.
func (g *group) possible(members []Member) bool {
	if len(g.lists) < 2 {
		return true
	}
	const slack, drift = 50_000, 20_000
	ref := g.longest()
	at := make([]int32, len(g.instances)) // the reference's run of each instance plus 1, or 0
	for i, id := range ref.of {
		if id >= 0 {
			at[id] = ref.runs[i] + 1
		}
	}
	runs := members[ref.member].Columns.Runs
	for i := range g.lists {
		l := &g.lists[i]
		low, high, first, last := int64(math.MinInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MinInt64)
		for k, id := range l.of {
			if id < 0 || at[id] == 0 || g.instances[id].differs || !g.instances[id].what.Op.Synchronizes() {
				continue
			}
			own, other := members[l.member].Columns.Runs[l.runs[k]], runs[at[id]-1]
			low, high = max(low, own.Start-other.End), min(high, own.End-other.Start)
			first, last = min(first, own.Start), max(last, own.End)
		}
		if low != math.MinInt64 && low-slack-(last-first)/drift > high {
			return false
		}
	}
	return true
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
