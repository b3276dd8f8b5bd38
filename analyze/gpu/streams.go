package gpu

import (
	"slices"

	"assay/internal/diag"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// Streams measures each stream of a device: the numbers of kernels and other events, and the
// union (BusyNS) and the sum (WorkNS) of their durations.
func (tl *Timeline) Streams(d *Device, rank int, issues *diag.Ledger) []summary.Stream {
	type row struct {
		summary.Stream
		end int64 // last end so far
	}
	rows := make(map[int64]*row)
	var r *row // the row of the work before, which is mostly on the same stream
	for _, w := range d.Work {
		a := tl.Activity(w)
		if stream := tl.Trace.Tracks[a.Track].Stream; r == nil || r.Stream.Stream != stream {
			if r = rows[stream]; r == nil {
				r = &row{summary.Stream{Rank: rank, Device: d.Ordinal, Stream: stream}, a.Start}
				rows[stream] = r
			}
		}
		if tl.Starts(w) {
			r.WorkNS = summary.Plus(r.WorkNS, a.Dur)
			switch {
			case a.Kind != trace.Kernel:
				r.Others++
			case a.Dur == 0:
				tl.Instant++
				fallthrough
			default:
				r.Kernels++
			}
		}
		r.BusyNS = summary.Plus(r.BusyNS, interval.Span{Start: max(w.Start, r.end), End: w.End()}.Len())
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
