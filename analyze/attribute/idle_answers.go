package attribute

import (
	"math"

	"assay/interval"
	"assay/trace"
)

// Questions about idle time are answered on another core than that of the walk: the walk says
// what each thread does over time, in batches of stretches.

// A stretch is what a thread does until a time, from the end of the stretch before.
type stretch struct {
	to    int64
	doing idleKey
}

// The number of stretches in a batch, and the number of batches in flight.
const (
	stretchBatch   = 4096
	stretchesAhead = 4
)

// answers are the questions while they are answered.
type answers struct {
	x     *idleness
	asked map[trace.TrackID]bool // threads that are asked from the beginning
	full  chan *states
	free  chan []stretch
	done  chan struct{}
}

// states is a batch of what one thread does.
type states struct {
	to     *answers
	thread *questions
	list   []stretch
}

// questions are those to one thread while they are answered.
type questions struct {
	track    trace.TrackID
	main     bool
	begun    bool
	lists    [][]question // by device and time
	asksFrom int64        // there is no question about the time before
	at       int64        // when the last stretch ended
}

// answer begins to answer the questions. It returns nil if there are none.
func (x *idleness) answer() *answers {
	if len(x.asked) == 0 {
		return nil
	}
	a := &answers{x: x, asked: make(map[trace.TrackID]bool), full: make(chan *states, stretchesAhead), free: make(chan []stretch, stretchesAhead+2), done: make(chan struct{})}
	for track := range x.asked {
		a.asked[track] = true
	}
	go func() {
		defer close(a.done)
		for batch := range a.full {
			x.answerAll(batch.thread, batch.list)
			select {
			case a.free <- batch.list[:0]:
			default:
			}
		}
	}()
	return a
}

// of returns where the walk says what a thread does, nil if nobody asks. Main threads may be
// asked while others have no answer.
func (a *answers) of(track trace.TrackID, main bool) *states {
	if a == nil || !main && !a.asked[track] {
		return nil
	}
	return a.room(&questions{track: track, main: main})
}

func (a *answers) room(q *questions) *states {
	select {
	case list := <-a.free:
		return &states{a, q, list}
	default:
		return &states{a, q, make([]stretch, 0, stretchBatch)}
	}
}

// wait returns once all questions to the threads are answered.
func (a *answers) wait() {
	if a != nil {
		close(a.full)
		<-a.done
	}
}

// add notes what the thread does until a time.
func (s *states) add(to int64, doing idleKey) {
	if len(s.list) == cap(s.list) {
		full := *s
		s.to.full <- &full
		*s = *s.to.room(s.thread)
	}
	s.list = append(s.list, stretch{to, doing})
}

// end hands over the rest.
func (s *states) end() {
	if s != nil {
		s.to.full <- s
	}
}

// answerAll answers the questions to a thread about further stretches of time.
func (x *idleness) answerAll(q *questions, list []stretch) {
	if !q.begun {
		x.sort(q.track)
		q.begun, q.lists, q.asksFrom, q.at = true, x.asked[q.track], math.MinInt64, math.MinInt64
	}
	for _, s := range list {
		if s.to > q.asksFrom {
			x.answerStretch(q, q.at, s)
		}
		q.at = s.to
	}
}

// answerStretch answers the questions about a stretch that begins at a time.
func (x *idleness) answerStretch(of *questions, from int64, s stretch) {
	of.asksFrom = math.MaxInt64
	for device := range of.lists {
		list := of.lists[device]
		for len(list) > 0 && list[0].span.Start < s.to {
			q := &list[0]
			if part := (interval.Span{Start: max(from, q.span.Start), End: min(s.to, q.span.End)}); part.Start < part.End {
				x.answerOne(of, q, part, s.doing)
			}
			if q.span.End > s.to {
				break
			}
			list = list[1:]
			of.lists[device] = list
		}
		if len(list) > 0 {
			of.asksFrom = min(of.asksFrom, list[0].span.Start)
		}
	}
}

// answerOne counts what a thread was doing, or asks the main thread if it was doing
// nothing.
func (x *idleness) answerOne(of *questions, q *question, part interval.Span, doing idleKey) {
	if nothing := doing.state() == isUnrecorded || doing.state() == isOff && doing.name() == 0; nothing && !of.main {
		if main, ok := x.a.mains[x.a.t.Tracks[of.track].PID]; ok && main != of.track {
			x.ask(main, question{span: part, device: q.device, mark: q.mark})
			return
		}
	}
	x.add(int(q.device), q.mark, part, doing)
}
