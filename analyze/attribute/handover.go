package attribute

import (
	"cmp"
	"slices"

	"assay/internal/interval"
	"assay/trace"
)

// A handOver is a task that one thread handed over to another, which launches its work.
type handOver struct {
	begin int64 // of the task
	from  trace.TrackID
	at    int64 // when it was handed over
}

// handOversOf returns the tasks of each thread that takes them over, by begin.
func handOversOf(t *trace.Trace) map[trace.TrackID][]handOver {
	var out map[trace.TrackID][]handOver
	sources := make(map[trace.ID]*trace.FlowEnd)
	for _, phase := range []byte{'s', 'f'} {
		for f := range t.Flows.All() {
			switch {
			case f.Phase != phase || t.Name(f.Category) != trace.HandOverFlow:
			case phase == 's':
				sources[f.ID] = f
			case sources[f.ID] != nil:
				if out == nil {
					out = make(map[trace.TrackID][]handOver)
				}
				s := sources[f.ID]
				out[f.Track] = append(out[f.Track], handOver{f.Start, s.Track, s.Start})
			}
		}
	}
	for _, list := range out {
		slices.SortStableFunc(list, func(a, b handOver) int { return cmp.Compare(a.begin, b.begin) })
	}
	return out
}

// askBefore asks what kept a launch from being made earlier: the thread that launches, or, until the task of the launch was
// handed over to that thread, the one that did so.
func (x *idleness) askBefore(device int, mark gapMark, call *trace.Call, part interval.Span) {
	if part.Empty() {
		return
	}
	tasks := x.a.handOvers[call.Track]
	n, _ := slices.BinarySearchFunc(tasks, call.Start+1, func(h handOver, t int64) int { return cmp.Compare(h.begin, t) })
	if n > 0 {
		h := tasks[n-1]
		if before := (interval.Span{Start: part.Start, End: min(part.End, h.at)}); !before.Empty() {
			x.ask(h.from, question{span: before, device: int32(device), mark: mark})
			part.Start = before.End
		}
	}
	if !part.Empty() {
		x.ask(call.Track, question{span: part, device: int32(device), mark: mark})
	}
}
