package hosttree

import (
	"cmp"
	"slices"
	"sort"
)

// A long thread can be walked in two parts at the same time. The walk of the second part starts
// with the events that are open at the cut.

// Cut divides a thread into the events that start before t and the others. The parts stay valid
// when th is released.
func (th *Thread) Cut(t int64) (before, after *Thread) {
	before, after = &Thread{Track: th.Track, t: th.t}, &Thread{Track: th.Track, t: th.t}
	for source, rows := range th.rows {
		n := sort.Search(len(rows), func(i int) bool { return th.times(source, rows[i]).start >= t })
		before.rows[source], after.rows[source] = rows[:n:n], rows[n:]
	}
	return before, after
}

// Quantile returns the start of an event before which about the given share of the events start.
// It is exact if all events are in one table.
func (th *Thread) Quantile(share float64) int64 {
	most := 0
	for source := range th.rows {
		if len(th.rows[source]) > len(th.rows[most]) {
			most = source
		}
	}
	rows := th.rows[most]
	if len(rows) == 0 {
		return 0
	}
	return th.times(most, rows[min(len(rows)-1, int(share*float64(len(rows))))]).start
}

// laps bounds by how much, in ns, nested events can keep an event open after its end. Each nested
// event may outlive the event around it by tolerance; real traces need a few of that.
const laps = 100 * tolerance

// OpenAt returns the events of the thread that are open at t, outermost first. All events must
// start before t. It looks only at events that end late enough, which is much faster than a walk.
// The result is wrong if more than a hundred nested events outlive each other.
func (th *Thread) OpenAt(t int64) []Frame {
	var late []Frame
	for source, rows := range th.rows {
		for _, r := range rows {
			if at := th.times(source, r); at.start+at.dur > t-laps {
				late = append(late, Frame{})
				th.frame(&late[len(late)-1], source, r)
			}
		}
	}
	// Each table is sorted already, so a stable sort keeps the order of equal events.
	slices.SortStableFunc(late, func(a, b Frame) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
	})
	w := walk[struct{}]{v: ignores{}, now: t - laps}
	for i := range late {
		w.enter(th, &late[i])
		if len(w.open) < maxDepth {
			w.push(&late[i])
		}
	}
	w.advance(t)
	out := make([]Frame, len(w.open))
	for i := range w.open {
		out[i] = w.open[i].Frame
	}
	return out
}

// ignores is a Visitor that does nothing.
type ignores struct{}

func (ignores) Enter([]Open[struct{}])                 {}
func (ignores) Leave([]Open[struct{}])                 {}
func (ignores) Between(int64, int64, []Open[struct{}]) {}
