package attribute

import (
	"math"

	"assay/interval"
	"assay/trace"
)

// questions are those to one thread about idle time. Its walk answers them: it says what the
// thread does in one stretch of time after the other.
type questions struct {
	x        *idleness
	track    trace.TrackID
	main     bool
	lists    [][]question // by device and time
	asksFrom int64        // there is no question about the time before

	// A device that waits for long has a stretch for each activity of the host in that
	// time. Until openTo, open is the only question.
	open   *question
	openTo int64
}

// questionsTo returns the questions to a thread, nil if there are none. Threads that are not
// the main one of their process come first, because it is asked where they have no answer.
func (x *idleness) questionsTo(track trace.TrackID, main bool) *questions {
	lists := x.asked[track]
	if lists == nil {
		return nil
	}
	x.sort(track)
	q := &questions{x: x, track: track, main: main, lists: lists, openTo: math.MinInt64}
	q.next(math.MinInt64)
	return q
}

// next notes which questions concern the time from now on.
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
	}
}

// answer answers the questions about a stretch in which the thread does one thing. Each
// begins where the one before ended.
func (q *questions) answer(from, to int64, doing idleKey) {
	if to <= q.openTo {
		q.one(q.open, interval.Span{Start: from, End: to}, doing)
		return
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

// one counts what the thread was doing, or asks the main thread if it was doing nothing.
func (q *questions) one(about *question, part interval.Span, doing idleKey) {
	if nothing := doing.state() == isUnrecorded || doing.state() == isOff && doing.name() == 0; nothing && !q.main {
		if main, ok := q.x.a.mains[q.x.a.t.Tracks[q.track].PID]; ok && main != q.track {
			q.x.ask(main, question{span: part, device: about.device, mark: about.mark})
			return
		}
	}
	q.x.add(int(about.device), about.mark, part, doing)
}
