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

// Each group answers the questions to its own threads. The questions that other threads pass on
// to a main thread are not known until those threads have been walked, on another core. So each
// main thread records what it did at the times of questions to other threads.

// A record is what a main thread did while other threads of its process may have no answer.
type record struct {
	recordSpans []interval.Span // times to record that the walk has not passed
	list        []recorded
}

type recorded struct {
	from, to int64
	doing    idleKey
}

// recordSlack is the longest time, in ns, between two questions that is recorded too. Most
// questions are about gaps between short kernels: one span for each of them would take more
// memory than the record.
const recordSlack = 100_000

// newRecords returns a record for each main thread, for the time of the questions to the other
// threads of its process.
func (a *Attribution) newRecords(mains []*hosttree.Thread) []record {
	byProcess := make(map[uint32][]interval.Span)
	for track, lists := range a.idle.pending {
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
		out[i].recordSpans = interval.Of(byProcess[a.processes[th.Track]]...).Spans()
	}
	return out
}

// from returns the start of the next time to record.
func (r *record) from() int64 {
	if len(r.recordSpans) == 0 {
		return math.MaxInt64
	}
	return r.recordSpans[0].Start
}

// add records a state if its time overlaps a question to another thread.
func (r *record) add(from, to int64, doing idleKey) {
	for len(r.recordSpans) > 0 && r.recordSpans[0].End <= from {
		r.recordSpans = r.recordSpans[1:]
	}
	if r.from() < to {
		r.list = append(r.list, recorded{from, to, doing})
	}
}

// answerLate answers the questions that other threads passed on to this main thread while it
// was walked, from its record.
func (w *walker) answerLate(others *idleness) {
	late := others.pending[w.track]
	delete(others.pending, w.track)
	w.idle.unanswered(w.track)
	if late == nil {
		return
	}
	w.idle.pending[w.track] = late
	q := w.idle.questionsTo(w.track, true)
	at := int64(math.MinInt64)
	for _, s := range w.record.list {
		if s.to > q.asksFrom {
			q.answer(s.from, s.to, s.doing)
		}
		at = s.to
	}
	q.answer(at, math.MaxInt64, idleKeyOf(byHost, isUnrecorded, 0)) // answers the rest
}

// forkedRows is how many times more rows a fork may have than a device. A fork must not drop
// names that come early in the joined order.
const forkedRows = 4

// fork returns a copy without any rows, for another group, and moves the questions to the given
// main threads to it.
func (x *idleness) fork(mains []*hosttree.Thread) *idleness {
	y := &idleness{
		a: x.a, maxRows: forkedRows * x.maxRows, others: x.others, states: x.states, host: x.host, late: x.late, tooMany: x.tooMany,
		names: slices.Clone(x.names), byName: maps.Clone(x.byName),
		pending: make(map[trace.TrackID][][]question), rows: make([]idleTable, len(x.rows)),
		shown: make([][]shownGap, len(x.shown)), first: make([][]stepIdle, len(x.first)),
	}
	for i := range x.rows {
		y.rows[i].index = make(map[idleKey]int32)
		y.shown[i] = make([]shownGap, len(x.shown[i]))
		for _, st := range x.first[i] {
			y.first[i] = append(y.first[i], stepIdle{st.span, make(map[int32]*summary.StepIdle)})
		}
	}
	for _, th := range mains {
		if lists := x.pending[th.Track]; lists != nil {
			y.pending[th.Track] = lists
			delete(x.pending, th.Track)
		}
	}
	return y
}

// translated converts a key of y, whose names have other numbers.
func (x *idleness) translated(y *idleness, key idleKey) idleKey {
	return idleKeyOf(idleOwner(key>>40), key.state(), x.number(y.names[key.name()]))
}

// join adds the idle time of the fork y.
func (x *idleness) join(y *idleness) {
	for track := range y.pending {
		y.unanswered(track)
	}
	for _, name := range y.names { // in this order, so that new names have the same numbers as in y
		x.number(name)
	}
	for device := range y.rows {
		rows := make([]int32, len(y.rows[device].rows))
		for number, r := range y.rows[device].rows {
			at := x.rows[device].rowOf(x, x.translated(y, y.rows[device].keys[number]))
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
