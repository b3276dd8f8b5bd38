package fleet

import (
	"math/bits"
	"slices"

	"assay/summary"
)

// sum adds the complete collectives of the group to the waits of its members.
func (g *group) sum(members []Member, all []waits) {
	for _, l := range g.lists {
		w, runs := &all[l.member], members[l.member].Columns.Runs
		for at, id := range l.of {
			if id < 0 || g.matched == byNothing {
				w.incomplete++
				continue
			}
			in := &g.instances[id]
			if !g.complete(in) {
				w.incomplete++
				continue
			}
			w.matched++
			if !in.what.Op.Synchronizes() {
				continue
			}
			run := &runs[l.runs[at]]
			wait := max(0, run.End-run.Start) - in.shortest
			w.transfer, w.wait = summary.Plus(w.transfer, in.shortest), summary.Plus(w.wait, wait)
			if int(in.last) == l.member {
				w.caused = summary.Plus(w.caused, in.waiting())
				if late(in) {
					w.last++
				}
			}
		}
	}
}

// waiting returns how long all ranks waited in a collective. It is 0 if damaged times
// exceed what an int64 holds.
func (in *instance) waiting() int64 {
	high, transfers := bits.Mul64(uint64(in.shortest), uint64(in.members))
	if high != 0 || transfers > uint64(in.total) {
		return 0
	}
	return in.total - int64(transfers)
}

// late reports whether the last rank of a collective was late at all: it kept the others
// waiting for at least 10 µs on average, which is how far clocks and ends of kernels differ,
// and for 5 % of the transfer.
func late(in *instance) bool {
	const floor = 10_000
	mean := in.waiting() / max(1, int64(in.members)-1)
	return mean >= max(floor, in.shortest/20)
}

// A clock is how far a member's clock is ahead of the first member's.
type clock struct {
	offset   int64 // ns: median over matched collectives of the difference of their ends
	residual int64 // ns: median distance from that
	n        int
}

// align estimates the clocks from the ends of matched collectives, which no rank leaves
// early. Members that share no collective with an aligned one stay unaligned (n is 0).
// Sums never use clocks.
func (j *Job) align() {
	j.clocks = make([]clock, len(j.members))
	aligned := make([]bool, len(j.members))
	aligned[0] = true
	for again := true; again; { // each pass reaches the groups that touch an aligned member
		again = false
		for _, g := range j.groups {
			if g.matched == byNothing {
				continue
			}
			ref := slices.IndexFunc(g.lists, func(l list) bool { return aligned[l.member] })
			if ref < 0 {
				continue
			}
			ends := g.endsOf(j.members, &g.lists[ref])
			for i := range g.lists {
				m := g.lists[i].member
				if aligned[m] {
					continue
				}
				var apart []int64
				for id, end := range g.endsOf(j.members, &g.lists[i]) {
					if end != 0 && ends[id] != 0 {
						apart = append(apart, end-ends[id])
					}
				}
				if len(apart) == 0 {
					continue
				}
				offset, residual := medianSpread(apart)
				j.clocks[m] = clock{j.clocks[g.lists[ref].member].offset + offset, residual, len(apart)}
				aligned[m], again = true, true
			}
		}
	}
}

// endsOf returns the end of each complete synchronizing instance on one member, or 0.
func (g *group) endsOf(members []Member, l *list) []int64 {
	out := make([]int64, len(g.instances))
	runs := members[l.member].Columns.Runs
	for at, id := range l.of {
		if id >= 0 && g.complete(&g.instances[id]) && g.instances[id].what.Op.Synchronizes() {
			out[id] = runs[l.runs[at]].End
		}
	}
	return out
}
