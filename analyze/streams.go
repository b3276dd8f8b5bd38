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
	type row struct {
		summary.Stream
		end int64 // of what ended last
	}
	rows := make(map[int64]*row)
	var r *row // of the work before, which most often was on the same stream
	for _, w := range d.work {
		a := tl.activity(w)
		if stream := tl.t.Tracks[a.Track].Stream; r == nil || r.Stream.Stream != stream {
			if r = rows[stream]; r == nil {
				r = &row{summary.Stream{Rank: rank, Device: d.ordinal, Stream: stream}, a.Start}
				rows[stream] = r
			}
		}
		if a.Kind == trace.Kernel {
			r.Kernels++
			if a.Dur == 0 {
				tl.instant++
			}
		} else {
			r.Others++
		}
		r.WorkNS = summary.Plus(r.WorkNS, a.Dur)
		r.BusyNS = summary.Plus(r.BusyNS, interval.Span{Start: max(a.Start, r.end), End: a.End()}.Len())
		if a.Start < r.end && a.Dur > 0 {
			issues.Add(diag.Issue{Code: "stream-overlap", Severity: diag.Info})
		}
		r.end = max(r.end, a.End())
	}
	out := make([]summary.Stream, 0, len(rows))
	for _, r := range rows {
		out = append(out, r.Stream)
	}
	slices.SortFunc(out, func(a, b summary.Stream) int { return compare(a.Stream, b.Stream) })
	return out
}
