package ranks

import (
	"math/bits"
	"slices"

	"assay/internal/stat"
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

// waiting returns the waiting of all ranks in a collective, in ns. It is 0 if damaged times overflow
// int64.
func (in *instance) waiting() int64 {
	high, transfers := bits.Mul64(uint64(in.shortest), uint64(in.members))
	if high != 0 || transfers > uint64(in.total) {
		return 0
	}
	return in.total - int64(transfers)
}

// late reports whether the others waited significantly for the last rank of a collective: on average
// for at least 10 µs, which is the precision of clocks and ends of kernels, and for at least 5 % of
// the transfer.
func late(in *instance) bool {
	const floor = 10_000
	mean := in.waiting() / max(1, int64(in.members)-1)
	return mean >= max(floor, in.shortest/20)
}

// A clock is the offset of a member's clock from the first member's clock.
type clock struct {
	offset   int64 // ns: median of the differences of the ends of matched collectives
	residual int64 // ns: MAD of these
	n        int   // number of collectives; 0 if the clock is not aligned
}

// align estimates the clock offsets from the ends of matched collectives, which all ranks leave at
// about the same time. Members without a collective in common with an aligned member stay
// unaligned. Sums do not depend on clocks.
func (j *Job) align() {
	outlines := make([]Outline, len(j.groups))
	for i, g := range j.groups {
		outlines[i] = g.outline()
	}
	j.clocks = make([]clock, len(j.members))
	for _, s := range alignment(len(j.members), outlines) {
		for i, c := range j.groups[s.group].offsets(j.members, s.From, s.To) {
			c.offset += j.clocks[s.From].offset
			j.clocks[s.To[i]] = c
		}
	}
}

// A step aligns the clocks of some members of a group with the clock of another.
type step struct {
	group int // index of the outlines
	From  int
	To    []int // ascending
}

// alignment returns the steps that align as many members as possible with the first. Each step needs
// only the data of its group.
func alignment(members int, groups []Outline) (out []step) {
	aligned := make([]bool, members)
	aligned[0] = true
	for again := true; again; { // each pass adds the groups with an aligned member
		again = false
		for i, g := range groups {
			ref := slices.IndexFunc(g.Places, func(m int) bool { return aligned[m] })
			if !g.Aligns || ref < 0 {
				continue
			}
			s := step{group: i, From: g.Places[ref]}
			for _, m := range g.Places {
				if !aligned[m] {
					s.To = append(s.To, m)
					aligned[m], again = true, true
				}
			}
			if len(s.To) > 0 {
				out = append(out, s)
			}
		}
	}
	return out
}

// offsets returns the offsets of the clocks of members of the group from the clock of another. The
// group must have an instance for which aligns is true.
func (g *group) offsets(members []Member, from int, to []int) []clock {
	ends := func(member int) []int64 {
		at := slices.IndexFunc(g.lists, func(l list) bool { return l.member == member })
		return g.endsOf(members, &g.lists[at])
	}
	ref := ends(from)
	out := make([]clock, len(to))
	for i, m := range to {
		apart := ends(m)
		for k := range apart {
			apart[k] -= ref[k]
		}
		n := len(apart)
		offset, residual := stat.MADInPlace(apart)
		out[i] = clock{offset, residual, n}
	}
	return out
}

// aligns reports whether an instance can align clocks: all members have it and leave it together.
func (g *group) aligns(in *instance) bool { return g.everyone(in) && in.what.Op.Synchronizes() }

// endsOf returns the ends, on one member, of the instances for which aligns is true.
func (g *group) endsOf(members []Member, l *list) []int64 {
	out := make([]int64, len(g.instances))
	runs := members[l.member].Columns.Runs
	for at, id := range l.of {
		if id >= 0 {
			out[id] = runs[l.runs[at]].End
		}
	}
	n := 0
	for id := range g.instances {
		if g.aligns(&g.instances[id]) {
			out[n] = out[id]
			n++
		}
	}
	return out[:n]
}
