package operations

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"assay/internal/interval"
	"assay/trace"
)

// Negotiations are the waits of Horovod before its collectives: from the first rank that is ready until
// all are. A mark inside, named by its number, is when a rank was ready. Horovod writes marks only for
// tensors that are new to it.
type Negotiations struct {
	Count  int       `json:"count"`
	Told   int       `json:"told"`    // of them, those with the marks of all ranks
	WaitNS int64     `json:"wait_ns"` // during which at least one collective waited for a rank
	SpanNS int64     `json:"span_ns"` // from the first to the end of the last
	ByRank []Arrival `json:"by_rank"` // by falling AloneNS
}

// An Arrival says when one rank was ready.
type Arrival struct {
	Rank    int   `json:"rank"`
	First   int   `json:"first"`    // negotiations in which it was ready before all others
	Last    int   `json:"last"`     // in which it was ready after all others
	AloneNS int64 `json:"alone_ns"` // during which a collective waited for this rank only
	WaitNS  int64 `json:"wait_ns"`  // during which it waited for others
}

// prefix begins the names of negotiations.
const prefix = "NEGOTIATE_"

// A mark is when a rank was ready.
type mark struct {
	at   int64
	rank int
}

// NegotiationsOf returns the negotiations of a trace, or nil if it has none.
func NegotiationsOf(t *trace.Trace) *Negotiations {
	if t.Activities.Len() > 0 {
		return nil
	}
	spans, marks := make(map[trace.TrackID][]interval.Span), make(map[trace.TrackID][]mark)
	ranks := make(map[int]bool)
	for s := range t.Spans.All() {
		name := t.Name(s.Name)
		if strings.HasPrefix(name, prefix) {
			spans[s.Track] = append(spans[s.Track], interval.Span{Start: s.Start, End: s.Start + s.Dur})
		} else if n, err := strconv.Atoi(name); err == nil && s.Dur == 0 && n >= 0 && n < 1<<16 {
			marks[s.Track] = append(marks[s.Track], mark{s.Start, n})
		}
	}
	out := &Negotiations{}
	var waits []interval.Span
	var told [][]mark
	for track, list := range spans {
		waits = append(waits, list...)
		out.Count += len(list)
		own := marks[track]
		slices.SortFunc(own, func(a, b mark) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.rank, b.rank)) })
		for _, w := range list {
			i, _ := slices.BinarySearchFunc(own, w.Start, func(m mark, at int64) int { return cmp.Compare(m.at, at) })
			k := i
			for k < len(own) && own[k].at <= w.End {
				ranks[own[k].rank] = true
				k++
			}
			told = append(told, own[i:k])
		}
	}
	if out.Count == 0 {
		return nil
	}
	all := interval.Of(waits...)
	out.WaitNS, out.SpanNS = all.Len(), all.Bounds().Len()
	out.arrivals(told, len(ranks))
	return out
}

// arrivals adds up when each rank was ready, over the negotiations that have the marks of all ranks.
func (n *Negotiations) arrivals(told [][]mark, ranks int) {
	rows := make(map[int]*Arrival)
	alone, waits := make(map[int][]interval.Span), make(map[int][]interval.Span)
	for _, list := range told {
		if len(list) != ranks || ranks < 2 {
			continue
		}
		n.Told++
		for _, m := range list {
			if rows[m.rank] == nil {
				rows[m.rank] = &Arrival{Rank: m.rank}
			}
		}
		last, before := list[ranks-1], list[ranks-2]
		rows[list[0].rank].First++
		rows[last.rank].Last++
		alone[last.rank] = append(alone[last.rank], interval.Span{Start: before.at, End: last.at})
		for _, m := range list[:ranks-1] {
			waits[m.rank] = append(waits[m.rank], interval.Span{Start: m.at, End: last.at})
		}
	}
	for rank, r := range rows {
		r.AloneNS, r.WaitNS = interval.Of(alone[rank]...).Len(), interval.Of(waits[rank]...).Len()
		n.ByRank = append(n.ByRank, *r)
	}
	slices.SortFunc(n.ByRank, func(a, b Arrival) int {
		return cmp.Or(cmp.Compare(b.AloneNS, a.AloneNS), cmp.Compare(b.Last, a.Last), cmp.Compare(a.Rank, b.Rank))
	})
}
