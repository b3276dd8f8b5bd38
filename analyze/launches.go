package analyze

import (
	"cmp"
	"slices"

	"assay/analyze/gpu"
	"assay/analyze/launches"
	"assay/analyze/limits"
	"assay/analyze/steps"
	"assay/internal/interval"
	"assay/internal/runsort"
	"assay/summary"
	"assay/trace"
)

// launchesOf measures how the work of each device was launched. steps is the number of steps that
// all devices together may list.
func launchesOf(tl *gpu.Timeline, l *launches.Links, marks []steps.Mark, rank int, bins queueBins,
	steps int) (out launchRows) {
	for _, d := range tl.Devices {
		row, fine := launchesOn(d, tl, l, marks, rank, bins, &steps)
		profiledEvents(d, tl, l, marks, &row)
		out.rows, out.fine = append(out.rows, row), append(out.fine, fine)
	}
	return out
}

// queueBins are the numbers of bins of the queue length over time: for the strip of a device and
// for the zoomable detail. 0 is for none.
type queueBins struct{ strip, detail int }

// launchRows has a row per device, and the queue length of each in the bins of the detail.
type launchRows struct {
	rows []summary.Launches
	fine [][]int64
}

// launchesOn measures one device. It may list *budget more steps, which it counts down.
func launchesOn(d *gpu.Device, tl *gpu.Timeline, l *launches.Links, marks []steps.Mark, rank int, bins queueBins,
	budget *int) (summary.Launches, []int64) {
	out := summary.Launches{Rank: rank, Device: d.Ordinal}
	queued := make([]interval.Span, 0, len(d.Work)) // time from call to start of each operation
	by := make([]int32, 0, len(d.Work))             // the link of each
	var last trace.TrackID                          // stream of the last work with a call
	seen := make(map[trace.TrackID]bool)            // streams of work with a call
	early := newQueuedBefore(tl.Trace)
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
		if i < 0 || !l.HasCall(i) {
			out.Without++
			out.WithoutNS = summary.Plus(out.WithoutNS, a.Dur)
			if i < 0 && !seen[a.Track] {
				early.add(a)
			}
			if a.Kind == trace.Kernel && l.CallLost(i, seen[a.Track]) {
				out.CallsLost++
			}
			continue
		}
		if a.Track != last || out.Launched == 0 {
			last = a.Track
			seen[last] = true
		}
		call := l.Time(i)
		out.Launched++
		if a.Kind == trace.Kernel && call.Len() >= summary.SlowLaunchNS && l.List[i].Work == 1 {
			if out.Slow++; early.launched[a.Name] {
				out.SlowAgain++
			}
		}
		early.launched[a.Name] = true
		if a.Kind == trace.Kernel && a.Dur >= summary.ShortKernelNS && l.List[i].Work == 1 && !tl.Trace.Moved {
			if out.Long++; call.Start <= w.Start && w.End() <= call.End {
				out.Held++
			}
		}
		if !tl.Trace.Moved {
			out.Delays.Add(interval.Span{Start: call.End, End: w.Start}.Len())
		}
		queued = append(queued, interval.Span{Start: call.Start, End: w.Start})
		by = append(by, i)
	}
	early.sum(seen, &out)
	queued = append(queued, startLater(tl, d, l)...)
	runsort.Sort(by, cmp.Compare[int32])
	by = slices.Compact(by) // one call launches all work of a graph
	out.Calls = int64(len(by))
	if limits.Implausible(d.Window) || out.Launched == 0 && (tl.Trace.Window == nil || l.Called == 0) {
		return out, nil
	}
	calls := make([]int64, 0, len(by)) // starts of the calls
	for _, i := range by {
		calls = append(calls, l.Start(i))
	}
	runsort.Sort(calls, cmp.Compare[int64])
	for _, m := range steps.Overlapping(marks, d.Window) {
		if *budget--; *budget < 0 {
			break
		}
		from, _ := slices.BinarySearch(calls, m.Span.Start)
		to, _ := slices.BinarySearch(calls, m.Span.End)
		out.PerStep = append(out.PerStep, int64(to-from))
	}
	if tl.Trace.Moved {
		return out, nil
	}
	q := queue{window: d.Window, strip: newQueueStrip(d.Window, bins.strip), fine: newQueueStrip(d.Window, bins.detail)}
	q.run(queued)
	out.Queue, out.QueueStrip = q.rows(), q.strip.thousandths()
	return out, q.fine.thousandths()
}

// A queuedBefore has the work of each stream before its first work with a call.
type queuedBefore struct {
	work     map[trace.TrackID][]*trace.Activity
	launched []bool // by name: work with a call has it
}

func newQueuedBefore(t *trace.Trace) *queuedBefore {
	return &queuedBefore{make(map[trace.TrackID][]*trace.Activity), make([]bool, t.Names())}
}

func (q *queuedBefore) add(a *trace.Activity) { q.work[a.Track] = append(q.work[a.Track], a) }

// sum adds up the work of the streams that run work with a call later.
func (q *queuedBefore) sum(later map[trace.TrackID]bool, out *summary.Launches) {
	for track, work := range q.work {
		if !later[track] {
			continue
		}
		for _, a := range work {
			out.Before, out.BeforeNS = out.Before+1, summary.Plus(out.BeforeNS, a.Dur)
			if !q.launched[a.Name] {
				out.OtherNS = summary.Plus(out.OtherNS, a.Dur)
			}
		}
	}
}

// startLater returns the queue times of work that starts after the window of the trace. It may
// have been launched inside.
func startLater(tl *gpu.Timeline, d *gpu.Device, l *launches.Links) (queued []interval.Span) {
	for _, w := range tl.Later(d) {
		if i := l.Of[w.Number]; i >= 0 && l.HasCall(i) {
			queued = append(queued, interval.Span{Start: l.Start(i), End: w.Start})
		}
	}
	return queued
}

// A queue measures the queue length over time: the number of GPU operations that were launched
// and had not started.
type queue struct {
	window interval.Span
	depths [64]int64 // ns by the number of bits of the length
	strip  queueStrip
	fine   queueStrip // for the detail
}

// A queueStrip is the mean queue length over time, in equal bins.
type queueStrip struct {
	bin  int64
	mean []float64 // length times ns in each bin; the product may overflow int64
}

// newQueueStrip returns a strip with at most the given number of bins.
func newQueueStrip(window interval.Span, bins int) (s queueStrip) {
	if bins > 0 && !window.Empty() {
		s = queueStrip{gpu.Bin(window, bins), make([]float64, gpu.Bins(window, bins))}
	}
	return s
}

// add adds a depth from one time of the window to another.
func (s *queueStrip) add(from, to, depth int64) {
	for depth > 0 && s.bin > 0 && from < to {
		i := from / s.bin
		stop := min(to, (i+1)*s.bin)
		s.mean[i] += float64(stop-from) * float64(depth)
		from = stop
	}
}

// thousandths returns the mean depth of each bin times 1000.
func (s *queueStrip) thousandths() (out []int64) {
	for _, sum := range s.mean {
		thousandths := sum * 1000 / float64(s.bin)
		out = append(out, int64(thousandths*(1+1e-12))) // truncates, but not below a whole number by float error
	}
	return out
}

// run measures the queue over the window. Work that seems to have started before its call was
// never queued.
func (q *queue) run(queued []interval.Span) {
	queued = slices.DeleteFunc(queued, interval.Span.Empty)
	ends := make([]int64, len(queued))
	for i, s := range queued {
		ends[i] = s.End
	}
	runsort.Sort(queued, func(a, b interval.Span) int { return cmp.Compare(a.Start, b.Start) })
	runsort.Sort(ends, cmp.Compare[int64])
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
	q.strip.add(from-q.window.Start, to-q.window.Start, depth)
	q.fine.add(from-q.window.Start, to-q.window.Start, depth)
}

func (q *queue) rows() (out []summary.QueueDepth) {
	for bits, ns := range q.depths {
		if ns > 0 {
			out = append(out, summary.QueueDepth{From: int64(1) << bits >> 1, NS: ns})
		}
	}
	return out
}
