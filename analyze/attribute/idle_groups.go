package attribute

import (
	"maps"
	"math"
	"slices"

	"assay/analyze/hosttree"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// Each group of threads answers the questions to its own. What other threads pass on to the
// main ones is not known before they were walked along, so a main thread records what it did.

// A record is what a main thread did while other threads of its process may have no answer.
type record struct {
	unasked []interval.Span // what is left of the questions to other threads
	list    []recorded
}

type recorded struct {
	from, to int64
	doing    idleKey
}

// recordSlack is up to how much time, in ns, between two questions is recorded, too: most
// are about the gaps between short kernels, and would take more memory than the record.
const recordSlack = 100_000

// unasked returns a record for each main thread, for the time of the questions to the other
// threads of its process.
func (a *Attribution) unasked(mains []*hosttree.Thread) []record {
	byProcess := make(map[uint32][]interval.Span)
	for track, lists := range a.idle.asked {
		if a.isMain(track) {
			continue
		}
		for _, list := range lists {
			all := byProcess[a.processes[track]]
			for i := range list {
				if n := len(all); i > 0 && list[i].span.Start-all[n-1].End < recordSlack {
					all[n-1].End = max(all[n-1].End, list[i].span.End)
				} else {
					all = append(all, list[i].span)
				}
			}
			byProcess[a.processes[track]] = all
		}
	}
	out := make([]record, len(mains))
	for i, th := range mains {
		out[i].unasked = interval.Of(byProcess[a.processes[th.Track]]...).Spans()
	}
	return out
}

// from returns when the next question to another thread begins.
func (r *record) from() int64 {
	if len(r.unasked) == 0 {
		return math.MaxInt64
	}
	return r.unasked[0].Start
}

// add records a stretch if it meets a question to another thread.
func (r *record) add(from, to int64, doing idleKey) {
	for len(r.unasked) > 0 && r.unasked[0].End <= from {
		r.unasked = r.unasked[1:]
	}
	if r.from() < to {
		r.list = append(r.list, recorded{from, to, doing})
	}
}

// answerLate answers the questions that others passed on to the thread while it was walked
// along.
func (w *walker) answerLate(others *idleness) {
	late := others.asked[w.track]
	delete(others.asked, w.track)
	w.idle.unanswered(w.track)
	if late == nil {
		return
	}
	w.idle.asked[w.track] = late
	q := w.idle.questionsTo(w.track, true)
	at := int64(math.MinInt64)
	for _, s := range w.record.list {
		if s.to > q.asksFrom {
			q.answer(s.from, s.to, s.doing)
		}
		at = s.to
	}
	q.answer(at, math.MaxInt64, idleKeyOf(byHost, isUnrecorded, 0)) // ends the last one
}

// forkedRows is how many times the rows of a device a fork may have, so that the first names
// are kept and not those that one of the forks met first.
const forkedRows = 4

// fork returns a copy for the answers of the main threads, and leaves the questions to them to it.
func (x *idleness) fork(mains []*hosttree.Thread) *idleness {
	y := &idleness{
		a: x.a, most: forkedRows * x.most, others: x.others, states: x.states, host: x.host, tooMany: x.tooMany, names: slices.Clone(x.names), byName: maps.Clone(x.byName),
		asked: make(map[trace.TrackID][][]question), rows: make([]idleTable, len(x.rows)), shown: make([][]shownGap, len(x.shown)), first: make([][]stepIdle, len(x.first)),
	}
	for i := range x.rows {
		y.rows[i].index = make(map[idleKey]int32)
		y.shown[i] = make([]shownGap, len(x.shown[i]))
		for _, st := range x.first[i] {
			y.first[i] = append(y.first[i], stepIdle{st.span, make(map[int32]*summary.StepIdle)})
		}
	}
	for _, th := range mains {
		if lists := x.asked[th.Track]; lists != nil {
			y.asked[th.Track] = lists
			delete(x.asked, th.Track)
		}
	}
	return y
}

// translated returns the key of another fork, whose names have other numbers.
func (x *idleness) translated(y *idleness, key idleKey) idleKey {
	return idleKeyOf(idleOwner(key>>40), key.state(), x.number(y.names[key.name()]))
}

// join adds the idle time that the main threads explain.
func (x *idleness) join(y *idleness) {
	for track := range y.asked {
		y.unanswered(track)
	}
	for _, name := range y.names { // keeps their numbers where only y has made new ones
		x.number(name)
	}
	for device := range y.rows {
		rows := make([]int32, len(y.rows[device].rows))
		for number, r := range y.rows[device].rows {
			at := x.rows[device].of(x, x.translated(y, y.rows[device].keys[number]))
			rows[number] = at
			to := x.rows[device].rows[at]
			to.NS += r.NS
			to.Count += r.Count
			to.MaxNS = max(to.MaxNS, r.MaxNS)
			to.ShortGapsNS += r.ShortGapsNS
		}
		for i := range y.shown[device] {
			for number, ns := range y.shown[device][i].shares {
				x.shown[device][i].add(rows[number], ns)
			}
		}
		for i := range y.first[device] {
			for number, r := range y.first[device][i].rows {
				x.first[device][i].add(rows[number], *r)
			}
		}
	}
}
