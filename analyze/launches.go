package analyze

import (
	"cmp"
	"slices"

	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/analyze/linking"
	"assay/analyze/steps"
	"assay/interval"
	"assay/summary"
	"assay/trace"
)

// launchesOf measures how the work of each device was launched. Strips are cut into
// the given number of bins, as the device's own is. At most the given number of steps are
// counted by device.
func launchesOf(tl *gpu.Timeline, l *linking.Links, marks []steps.Mark, rank, bins, steps int) (out []summary.Launches) {
	for _, d := range tl.Devices {
		out = append(out, launchesOn(d, tl, l, marks, rank, bins, &steps))
	}
	return out
}

// launchesOn measures one device, and has room for so many more steps.
func launchesOn(d *gpu.Device, tl *gpu.Timeline, l *linking.Links, marks []steps.Mark, rank, bins int, room *int) summary.Launches {
	out := summary.Launches{Rank: rank, Device: d.Ordinal}
	queued := make([]interval.Span, 0, len(d.Work)) // from call to start of each piece of work
	by := make([]int32, 0, len(d.Work))             // the link of each
	var last trace.TrackID                          // the stream of the last work with a call
	seen := make(map[trace.TrackID]bool)            // the streams of work with a call
	for _, w := range d.Work {
		a := tl.Activity(w)
		if !tl.Starts(w) {
			continue
		}
		if a.Dur < summary.ShortKernelNS && a.Kind == trace.Kernel {
			out.Short++
			out.ShortNS += a.Dur
		}
		i := l.Of[w.Number]
		if i < 0 || l.List[i].Call == nil {
			out.Without++
			out.WithoutNS = summary.Plus(out.WithoutNS, a.Dur)
			if a.Kind == trace.Kernel && l.CallLost(i, seen[a.Track]) {
				out.CallsLost++
			}
			continue
		}
		if a.Track != last || out.Launched == 0 {
			last = a.Track
			seen[last] = true
		}
		start, end, _ := l.Time(i)
		out.Launched++
		out.Delays.Add(interval.Span{Start: end, End: w.Start}.Len())
		queued = append(queued, interval.Span{Start: start, End: w.Start})
		by = append(by, i)
	}
	queued = append(queued, startLater(tl, d, l)...)
	slices.Sort(by)
	by = slices.Compact(by) // the launch of a graph launches many
	out.Calls = int64(len(by))
	if limits.Implausible(d.Window) || out.Launched == 0 && (tl.Trace.Window == nil || l.Called == 0) {
		return out
	}
	calls := make([]int64, 0, len(by)) // when each began
	for _, i := range by {
		calls = append(calls, l.Start(i))
	}
	slices.Sort(calls)
	for _, m := range steps.Overlapping(marks, d.Window) {
		if *room--; *room < 0 {
			break
		}
		from, _ := slices.BinarySearch(calls, m.Span.Start)
		to, _ := slices.BinarySearch(calls, m.Span.End)
		out.PerStep = append(out.PerStep, int64(to-from))
	}
	q := queue{window: d.Window}
	if bins > 0 && !d.Window.Empty() {
		q.bin = (d.Window.Len() + int64(bins) - 1) / int64(bins)
		q.mean = make([]float64, (d.Window.Len()+q.bin-1)/q.bin)
	}
	q.run(queued)
	out.Queue = q.rows()
	for _, sum := range q.mean {
		thousandths := sum * 1000 / float64(q.bin)
		out.QueueStrip = append(out.QueueStrip, int64(thousandths*(1+1e-12))) // down, but not for the rounding of floats
	}
	return out
}

// startLater returns how long work was queued that was launched before the end of the
// window and started after it.
func startLater(tl *gpu.Timeline, d *gpu.Device, l *linking.Links) (queued []interval.Span) {
	for _, w := range tl.Later(d) {
		if i := l.Of[w.Number]; i >= 0 && l.List[i].Call != nil {
			queued = append(queued, interval.Span{Start: l.Start(i), End: w.Start})
		}
	}
	return queued
}

// A queue is the number of pieces of work that were launched and had not
// started, over time.
type queue struct {
	window interval.Span
	depths [64]int64 // time by the number of bits of the depth
	bin    int64
	mean   []float64 // depth times ns in each bin: a product that int64 may not hold
}

// run adds up the depth of the queue over the window. Work that seems to have
// started before its call began was never queued.
func (q *queue) run(queued []interval.Span) {
	queued = slices.DeleteFunc(queued, interval.Span.Empty)
	ends := make([]int64, len(queued))
	for i, s := range queued {
		ends[i] = s.End
	}
	slices.SortFunc(queued, func(a, b interval.Span) int { return cmp.Compare(a.Start, b.Start) })
	slices.Sort(ends)
	now, depth, in, out := q.window.Start, int64(0), 0, 0
	for now < q.window.End {
		for in < len(queued) && queued[in].Start <= now {
			depth, in = depth+1, in+1
		}
		for out < len(ends) && ends[out] <= now {
			depth, out = depth-1, out+1
		}
		next := q.window.End
		if in < len(queued) {
			next = min(next, queued[in].Start)
		}
		if out < len(ends) {
			next = min(next, ends[out])
		}
		q.add(now, next, depth)
		now = next
	}
}

func (q *queue) add(from, to, depth int64) {
	bits := 0
	for d := depth; d > 0; d >>= 1 {
		bits++
	}
	q.depths[bits] += to - from
	for from -= q.window.Start; depth > 0 && q.bin > 0 && from < to-q.window.Start; {
		i := from / q.bin
		stop := min(to-q.window.Start, (i+1)*q.bin)
		q.mean[i] += float64(stop-from) * float64(depth)
		from = stop
	}
}

func (q *queue) rows() (out []summary.QueueDepth) {
	for bits, ns := range q.depths {
		if ns > 0 {
			out = append(out, summary.QueueDepth{From: int64(1) << bits >> 1, NS: ns})
		}
	}
	return out
}
