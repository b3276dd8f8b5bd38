package critical

import (
	"cmp"
	"slices"

	"assay/internal/lazyregexp"
	"assay/trace"
)

// Collectives of the CPU run on threads of their own, which wait for the other ranks and for the transfer. The
// operator that asked for one comes before it, and its thread waits for it later.
var (
	hostComm = lazyregexp.New(`^(gloo|mpi):`)
	askComm  = lazyregexp.New(`^c10d::`)
)

// The typical delays around a collective of the CPU, in ns: until its thread takes it, and until who waits goes on.
const (
	takeComm  = 100 * us
	afterComm = 50 * us
	lateComm  = 500 * us // a thread that goes on later than that did not wait for it
)

// addHostComm makes the collectives of the CPU communication, and links them to the operators that asked for them and
// to the threads that wait for them.
func (b *builder) addHostComm() {
	isComm, isAsk := named(b.src.t, hostComm().MatchString), named(b.src.t, askComm().MatchString)
	var asks, runs []int32
	for i := range b.src.spans {
		x := &b.src.spans[i]
		switch {
		case x.first == none:
		case isComm(x.name):
			runs = append(runs, int32(i))
		case isAsk(x.name) && x.kind == trace.CPUOp:
			asks = append(asks, int32(i))
		}
	}
	byStart := func(x, y int32) int { return cmp.Compare(b.src.spans[x].start, b.src.spans[y].start) }
	slices.SortStableFunc(asks, byStart)
	slices.SortStableFunc(runs, byStart)
	if b.Counts.Comm > 0 { // the others are asked for by the same operators
		asks = nil
	}
	for i, r := range runs {
		v := b.longestOf(r)
		b.nodes[v].class = Comm
		b.src.hostComm = append(b.src.hostComm, v)
		k := len(asks) - len(runs) + i
		if k < 0 || !b.linkComm(asks[k], r, v) {
			b.Counts.Unlinked++
		}
	}
}

// longestOf returns the longest part of an event of the host.
func (b *builder) longestOf(s int32) int32 {
	x := &b.src.spans[s]
	best := x.first
	for v := x.first; v < b.first && b.start[v] < x.end; v++ {
		if b.nodes[v].owner == s && b.dur[v] > b.dur[best] {
			best = v
		}
	}
	return best
}

// linkComm lets a collective follow the operator that asked for it instead of the idle time of its thread, and lets
// that of the operator go on after it, if it waited.
func (b *builder) linkComm(ask, run, v int32) bool {
	a, r := &b.src.spans[ask], &b.src.spans[run]
	if a.start > r.start || a.thread == r.thread {
		return false
	}
	first := &b.nodes[r.first]
	if idle := first.pred; idle != none && b.nodes[idle].owner == none {
		first.pred = b.nodes[idle].pred
	}
	last := a.first
	for u := a.first; u < b.first && b.start[u] < a.end; u++ {
		last = u
	}
	b.link(last, r.first, takeComm, handoff)
	segs, done := b.threads[a.thread].segments, b.end(v)
	n, _ := slices.BinarySearchFunc(segs, done, func(s segment, t int64) int { return cmp.Compare(s.start, t) })
	if n--; n < 0 || b.threads[a.thread].until(n) > done+lateComm || segs[n].owner != none && b.src.spans[segs[n].owner].isCall() {
		return true // it had ended before anybody waited
	}
	w := b.threads[a.thread].lastNode(n)
	if b.nodes[w].flags&(blocks|isJoin|isMoved|isArrival) != 0 || b.start[w] > done {
		return true
	}
	end := b.end(w)
	b.dur[w] = min(b.dur[w], us)
	join := b.add(end, end, b.nodes[w].class, b.nodes[w].owner, w, isJoin)
	b.link(v, join, afterComm, handoff)
	b.move(w, join)
	return true
}
