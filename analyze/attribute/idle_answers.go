package attribute

import (
	"math"

	"assay/internal/interval"
	"assay/trace"
)

// questions are the questions about idle time to one thread. The walk of the thread answers
// them: it calls answer for one span of time after the other.
type questions struct {
	x        *idleness
	track    trace.TrackID
	main     bool
	lists    [][]question // as in idleness.pending
	asksFrom int64        // start of the first question

	// Exactly one question is open from since to openTo; open is nil if there are several.
	open   *question
	openTo int64
	since  int64
	tally  *tally // sums for open, if it is long
}

// longQuestion is the length, in ns, from which the answers to a question are summed by cause
// before they are counted. A long wait of a device has an answer for each event of the host.
const longQuestion = 100_000

// questionsTo returns the questions to a thread, nil if there are none.
func (x *idleness) questionsTo(track trace.TrackID, main bool) *questions {
	lists := x.pending[track]
	if lists == nil {
		return nil
	}
	x.sort(track)
	q := &questions{x: x, track: track, main: main, lists: lists}
	q.begin()
	return q
}

// begin prepares for the first call of answer.
func (q *questions) begin() {
	if q.tally != nil {
		q.x.sums, q.tally = q.tally, nil
	}
	q.next(math.MinInt64)
}

// next finds the question that is open from now on.
func (q *questions) next(now int64) {
	q.asksFrom, q.open, q.openTo = math.MaxInt64, nil, math.MaxInt64
	open := 0
	for _, list := range q.lists {
		if len(list) == 0 {
			continue
		}
		first := &list[0]
		q.asksFrom = min(q.asksFrom, first.span.Start)
		if first.span.Start > now {
			q.openTo = min(q.openTo, first.span.Start)
			continue
		}
		q.open, q.openTo = first, min(q.openTo, first.span.End)
		open++
	}
	if open != 1 {
		q.open, q.openTo = nil, math.MinInt64
		return
	}
	if q.open.mark == hostStateMark || q.openTo-now < longQuestion {
		return
	}
	q.since, q.openTo = now, min(q.openTo, nextBorder(q.x.first[q.open.device], now))
	if q.tally = q.x.sums; q.tally == nil {
		q.tally = new(tally)
	}
	q.x.sums = nil
}

// answer answers the questions about the time from from to to, in which the thread is in one
// state. Each call must start where the call before ended, or later.
func (q *questions) answer(from, to int64, doing idleKey) {
	if to <= q.openTo {
		if q.tally == nil || q.passesOn(doing) {
			q.one(q.open, interval.Span{Start: from, End: to}, doing)
		} else {
			q.add(from, doing, to-from)
		}
		return
	}
	if q.tally != nil {
		q.countAll(min(from, q.openTo)) // from is later if calls without a question were left out
		q.x.sums, q.tally = q.tally, nil
	}
	for device, list := range q.lists {
		for len(list) > 0 && list[0].span.Start < to {
			about := &list[0]
			if part := (interval.Span{Start: max(from, about.span.Start), End: min(to, about.span.End)}); part.Start < part.End {
				q.one(about, part, doing)
			}
			if about.span.End > to {
				break
			}
			list = list[1:]
			q.lists[device] = list
		}
	}
	q.next(to)
}

// end drops all questions. The walk ends at now, up to which they have been answered.
func (q *questions) end(now int64) {
	if q.tally != nil {
		q.countAll(now)
		q.x.sums, q.tally = q.tally, nil
	}
	clear(q.lists)
	q.next(now)
}

// passesOn reports whether a question goes to the main thread, because this thread does nothing.
func (q *questions) passesOn(doing idleKey) bool {
	return !q.main && (doing.state() == isUnrecorded || doing.state() == isOff && doing.name() == 0)
}

// one counts a part of a question for a state, or passes it on to the main thread.
func (q *questions) one(about *question, part interval.Span, doing idleKey) {
	if q.passesOn(doing) {
		if main, ok := q.x.a.mains[q.x.a.t.Tracks[q.track].PID]; ok && main != q.track {
			q.x.ask(main, question{span: part, device: about.device, mark: about.mark})
			return
		}
	}
	q.x.add(int(about.device), about.mark, part, doing)
}

// add adds an answer to the tally. On a hash collision the sums of the other cause are counted
// and removed first.
func (q *questions) add(from int64, key idleKey, ns int64) {
	q.x.wait(int(q.open.device), interval.Span{Start: from, End: from + ns}, key)
	t := q.tally
	at := uint16(uint64(key) * 0x9e3779b97f4a7c15 >> (64 - tallyBits))
	c := &t.causes[at]
	switch {
	case c.count == 0:
		t.used = append(t.used, at)
		c.key, c.parts = key, parts{}
	case c.key != key:
		q.x.addParts(int(q.open.device), q.open.mark, interval.Span{Start: q.since, End: from}, c.key, c.parts)
		c.key, c.parts = key, parts{}
	}
	c.ns += ns
	c.count++
	c.longest = max(c.longest, ns)
}

// countAll counts and clears the sums of the tally. They cover the time from since to now.
func (q *questions) countAll(now int64) {
	for _, at := range q.tally.used {
		c := &q.tally.causes[at]
		q.x.addParts(int(q.open.device), q.open.mark, interval.Span{Start: q.since, End: now}, c.key, c.parts)
		c.count = 0
	}
	q.tally.used = q.tally.used[:0]
}

// parts are the sums of several parts of one gap with the same cause.
type parts struct{ ns, count, longest int64 }

// A tally sums the answers to one question by cause, in a hash table without collision lists.
type tally struct {
	causes [1 << tallyBits]struct {
		key idleKey
		parts
	}
	used []uint16 // indices of the causes in use, in the order of first use
}

const tallyBits = 11
