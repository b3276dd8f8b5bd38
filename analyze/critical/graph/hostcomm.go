package graph

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
	takeComm  = 100 * Us
	afterComm = 50 * Us
	lateComm  = 500 * Us // a thread that goes on later than that did not wait for it
)

// addHostComm makes the collectives of the CPU communication, and links them to the operators that asked for them and
// to the threads that wait for them.
func (b *builder) addHostComm() {
	isComm, isAsk := Named(b.src.T, hostComm().MatchString), Named(b.src.T, askComm().MatchString)
	var asks, runs []int32
	for i := range b.src.Spans {
		x := &b.src.Spans[i]
		switch {
		case x.first == None:
		case isComm(x.Name):
			runs = append(runs, int32(i))
		case isAsk(x.Name) && x.Kind == trace.CPUOp:
			asks = append(asks, int32(i))
		}
	}
	byStart := func(x, y int32) int { return cmp.Compare(b.src.Spans[x].Start, b.src.Spans[y].Start) }
	slices.SortStableFunc(asks, byStart)
	slices.SortStableFunc(runs, byStart)
	if b.Counts.Comm > 0 { // the others are asked for by the same operators
		asks = nil
	}
	for i, r := range runs {
		v := b.longestOf(r)
		b.Nodes[v].Class = Comm
		b.src.hostComm = append(b.src.hostComm, v)
		k := len(asks) - len(runs) + i
		if k < 0 || !b.linkComm(asks[k], r, v) {
			b.Counts.Unlinked++
		}
	}
}

// longestOf returns the longest part of an event of the host.
func (b *builder) longestOf(s int32) int32 {
	x := &b.src.Spans[s]
	best := x.first
	for v := x.first; v < b.first && b.Start[v] < x.End; v++ {
		if b.Nodes[v].Owner == s && b.Dur[v] > b.Dur[best] {
			best = v
		}
	}
	return best
}

// linkComm lets a collective follow the operator that asked for it instead of the idle time of its thread, and lets
// that of the operator go on after it, if it waited.
func (b *builder) linkComm(ask, run, v int32) bool {
	a, r := &b.src.Spans[ask], &b.src.Spans[run]
	if a.Start > r.Start || a.Thread == r.Thread {
		return false
	}
	first := &b.Nodes[r.first]
	if idle := first.Pred; idle != None && b.Nodes[idle].Owner == None {
		first.Pred = b.Nodes[idle].Pred
	}
	last := a.first
	for u := a.first; u < b.first && b.Start[u] < a.End; u++ {
		last = u
	}
	b.link(last, r.first, takeComm, Handoff)
	segs, done := b.threads[a.Thread].segments, b.End(v)
	n, _ := slices.BinarySearchFunc(segs, done, func(s segment, t int64) int { return cmp.Compare(s.start, t) })
	if n--; n < 0 || b.threads[a.Thread].until(n) > done+lateComm || segs[n].owner != None && b.src.Spans[segs[n].owner].isCall() {
		return true // it had ended before anybody waited
	}
	w := b.threads[a.Thread].lastNode(n)
	if b.Nodes[w].Flags&(Blocks|IsJoin|isMoved|IsArrival) != 0 || b.Start[w] > done {
		return true
	}
	end := b.End(w)
	b.Dur[w] = min(b.Dur[w], Us)
	join := b.add(end, end, b.Nodes[w].Class, b.Nodes[w].Owner, w, IsJoin)
	b.link(v, join, afterComm, Handoff)
	b.move(w, join)
	return true
}
