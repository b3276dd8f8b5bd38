package analyze

import (
	"slices"

	"assay/diag"
	"assay/interval"
	"assay/summary"
	"assay/trace"
)

// streams measures each stream of a device: how many kernels and other events
// it ran, the union of them and the sum of their durations.
func (tl *timeline) streams(d *device, rank int, issues *diag.Ledger) []summary.Stream {
	rows := make(map[int64]*summary.Stream)
	busy := make(map[int64]*interval.Builder)
	lastEnd := make(map[int64]int64)
	for _, a := range d.work {
		stream := tl.stream(a)
		r := rows[stream]
		if r == nil {
			r = &summary.Stream{Rank: rank, Device: d.ordinal, Stream: stream}
			rows[stream], busy[stream] = r, new(interval.Builder)
			lastEnd[stream] = a.Start
		}
		if a.Kind == trace.Kernel {
			r.Kernels++
		} else {
			r.Others++
		}
		r.WorkNS = summary.Plus(r.WorkNS, a.Dur)
		busy[stream].Add(interval.Span{Start: a.Start, End: a.End()})
		if a.Start < lastEnd[stream] && a.Dur > 0 {
			issues.Add(diag.Issue{Code: "stream-overlap", Severity: diag.Info,
				Help: "events of one stream overlap in time, which programmatic dependent launch allows and clocks of whole microseconds show; all are counted, so sums of durations exceed wall time there"})
		}
		lastEnd[stream] = max(lastEnd[stream], a.End())
	}
	out := make([]summary.Stream, 0, len(rows))
	for stream, r := range rows {
		r.BusyNS = busy[stream].Set().Len()
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b summary.Stream) int { return compare(a.Stream, b.Stream) })
	return out
}
