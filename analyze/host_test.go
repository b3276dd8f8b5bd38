package analyze

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/internal/interval"
	"assay/trace"
)

// TestSelfOfOverlapping has spans that overlap without being nested.
//
//	time  0  1  2  3        9  10
//	A     ######################
//	B        ######
//	C           ##############
//	own   A  B  C  C  ...   A
func TestSelfOfOverlapping(t *testing.T) {
	events := []hostEvent{{start: 0, dur: 10, name: 1}, {start: 1, dur: 2, name: 2}, {start: 2, dur: 7, name: 3}}
	want := []int64{0, 2, 1, 7}
	got := make([]int64, 4)
	eachSelf(events, func(e *hostEvent, self int64) { got[e.name] += self })
	if !slices.Equal(got, want) {
		t.Errorf("self times %v, want %v", got, want)
	}
	closed := false
	eachSelf([]hostEvent{{start: math.MinInt64, dur: math.MaxInt64}, {start: 1, dur: math.MaxInt64 - 1}}, func(e *hostEvent, self int64) {
		if closed = e.end() == math.MaxInt64; self != e.dur {
			t.Errorf("the event from %d for %d has a self time of %d", e.start, e.dur, self)
		}
	})
	if !closed {
		t.Error("an event that ends with time itself is not closed")
	}
}

// TestSelfIsInnermost compares with a look at every nanosecond of every thread,
// which takes the event that started last, and of several the shortest. The
// self times of a thread sum to the length of the union of its events.
func TestSelfIsInnermost(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	const threads, length = 3, 40
	for range 500 {
		var events []hostEvent
		for i := range 1 + rnd.IntN(20) {
			// Starts before 0 too, and a name for each event.
			events = append(events, hostEvent{start: rnd.Int64N(length) - 10, dur: rnd.Int64N(15), name: trace.Sym(i), track: trace.TrackID(rnd.IntN(threads))})
		}
		sortHost(events)
		got := make([]int64, len(events))
		calls := make([]int, len(events))
		eachSelf(events, func(e *hostEvent, self int64) {
			got[e.name] += self
			calls[e.name]++
		})
		want := make([]int64, len(events))
		for thread := range threads {
			var spans []interval.Span
			var sum int64
			for _, e := range events {
				if e.track == trace.TrackID(thread) {
					spans = append(spans, interval.Span{Start: e.start, End: e.end()})
					sum += got[e.name]
				}
			}
			if busy := interval.Of(spans...).Len(); sum != busy {
				t.Fatalf("self times of thread %d sum to %d, it is busy for %d: %+v", thread, sum, busy, events)
			}
			for at := int64(-10); at < length+15; at++ {
				if e := innermost(events, trace.TrackID(thread), at); e != nil {
					want[e.name]++
				}
			}
		}
		if !slices.Equal(got, want) || slices.Min(calls) != 1 || slices.Max(calls) != 1 {
			t.Fatalf("self times %v of %v calls, want %v of one each: %+v", got, calls, want, events)
		}
	}
}

// innermost looks at every event. Of two that are alike the later one counts.
func innermost(events []hostEvent, track trace.TrackID, at int64) (best *hostEvent) {
	for i := range events {
		e := &events[i]
		if e.track != track || at < e.start || at >= e.end() {
			continue
		}
		if best == nil || e.start > best.start || e.start == best.start && e.dur <= best.dur {
			best = e
		}
	}
	return best
}
