package analyze

import (
	"cmp"
	"slices"

	"assay/interval"
	"assay/summary"
	"assay/trace"
)

// launchesOf measures how the work of each device was launched. Strips are cut into
// the given number of bins, as the device's own is. At most the given number of steps are
// counted by device.
func launchesOf(tl *timeline, l *links, marks []mark, rank, bins, steps int) (out []summary.Launches) {
	for _, d := range tl.devices {
		out = append(out, launchesOn(d, tl, l, marks, rank, bins, &steps))
	}
	return out
}

// launchesOn measures one device, and has room for so many more steps.
func launchesOn(d *device, tl *timeline, l *links, marks []mark, rank, bins int, room *int) summary.Launches {
	out := summary.Launches{Rank: rank, Device: d.ordinal}
	queued := make([]interval.Span, 0, len(d.work)) // from call to start of each piece of work
	by := make([]int32, 0, len(d.work))             // the link of each
	var last trace.TrackID                          // the stream of the last work with a call
	seen := make(map[trace.TrackID]bool)            // the streams of work with a call
	for _, w := range d.work {
		a := tl.activity(w)
		if w.Dur < summary.ShortKernelNS && a.Kind == trace.Kernel {
			out.Short++
			out.ShortNS += w.Dur
		}
		i := l.of[w.number]
		if i < 0 || l.list[i].call == nil {
			out.Without++
			out.WithoutNS = summary.Plus(out.WithoutNS, w.Dur)
			if a.Kind == trace.Kernel && l.callLost(i, seen[a.Track]) {
				out.CallsLost++
			}
			continue
		}
		if a.Track != last || out.Launched == 0 {
			last = a.Track
			seen[last] = true
		}
		start, end, _ := l.time(i)
		out.Launched++
		out.Delays.Add(interval.Span{Start: end, End: w.Start}.Len())
		queued = append(queued, interval.Span{Start: start, End: w.Start})
		by = append(by, i)
	}
	slices.Sort(by)
	by = slices.Compact(by) // the launch of a graph launches many
	out.Calls = int64(len(by))
	if implausible(d.window) || out.Launched == 0 {
		return out
	}
	calls := make([]int64, 0, len(by)) // when each began
	for _, i := range by {
		calls = append(calls, l.start(i))
	}
	slices.Sort(calls)
	for _, m := range overlapping(marks, d.window) {
		if *room--; *room < 0 {
			break
		}
		from, _ := slices.BinarySearch(calls, m.span.Start)
		to, _ := slices.BinarySearch(calls, m.span.End)
		out.PerStep = append(out.PerStep, int64(to-from))
	}
	q := queue{window: d.window}
	if bins > 0 && !d.window.Empty() {
		q.bin = (d.window.Len() + int64(bins) - 1) / int64(bins)
		q.mean = make([]float64, (d.window.Len()+q.bin-1)/q.bin)
	}
	q.run(queued)
	out.Queue = q.rows()
	for _, sum := range q.mean {
		thousandths := sum * 1000 / float64(q.bin)
		out.QueueStrip = append(out.QueueStrip, int64(thousandths*(1+1e-12))) // down, but not for the rounding of floats
	}
	return out
}

// callLost reports whether the call of a kernel was made during the capture and not
// recorded. The kernel has the link i, of an operator or -1; after says that it ran
// after work of the same stream whose call was recorded, and a stream runs work in the
// order of its launches. If the capture has other calls and no launch, all are lost.
func (l *links) callLost(i int32, after bool) bool {
	switch {
	case l.lost.host.all == 0 || l.called == 0 && l.lost.host.launches > 0:
		return false // calls were not recorded, or nothing is known of them
	case l.lost.host.launches == 0:
		return true
	}
	return after || i >= 0
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
