package launches

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"assay/analyze/gpu"
	"assay/analyze/limits"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

const (
	// fewRecords is the number of faulty records from which a capture can be suspect.
	fewRecords = 10

	// faultShare is the share of faulty records above which a capture is suspect.
	faultShare = 0.05

	// lateSlack is how much later than possible, in ns, work may start without an issue, because
	// the clocks of host and device may differ and drift.
	lateSlack = int64(time.Millisecond)

	// minOutside is the smallest limit, in ns, on idle time before launched work: see outside.
	minOutside = 100 * int64(time.Millisecond)

	// minTooLong is the smallest limit, in ns, on how long work may run on after the last call:
	// see outside.
	minTooLong = int64(time.Minute)

	// lateShare is the share of the window by which work must be late to make a capture suspect.
	lateShare = 0.01
)

// NotePlausible adds issues for GPU records without a duration, with lost launch calls, or with
// correlations that match no call. s must have its streams and launches.
func NotePlausible(tl *gpu.Timeline, l *Links, s *summary.Summary, issues *diag.Ledger) {
	kernels, lost := int64(0), int64(0)
	for _, r := range s.Streams {
		kernels += r.Kernels
	}
	for _, r := range s.Launches {
		lost += r.CallsLost
	}
	issues.AddN(diag.Issue{Code: "kernels-without-duration", Severity: faultOf(tl.Instant, kernels, diag.Suspect)},
		tl.Instant)
	l.noteMixed(issues)
	issues.AddN(diag.Issue{Code: "launches-missing", Severity: faultOf(lost, kernels, diag.DataLoss)}, lost)
	if host := &l.Lost().host; l.Called == 0 && host.launches > 0 {
		severity := diag.Info
		if min(kernels, host.launches) >= fewRecords {
			severity = diag.Suspect
		}
		issues.AddN(diag.Issue{Code: "correlations-unmatched", Severity: severity}, kernels)
	}
}

// faultOf returns the severity of a fault in n of of records: worst, or [diag.Info] if they are a
// small share.
func faultOf(n, of int64, worst diag.Severity) diag.Severity {
	if float64(n) > faultShare*float64(of) {
		return worst
	}
	return diag.Info
}

// timesOf counts the work of a device that ran at impossible times: after the profiler stopped
// recording; after a call that waited for the device and started after the launch of the work; or
// far outside of all calls (see outside). All work is taken to start by ns later than recorded.
func timesOf(tl *gpu.Timeline, d *gpu.Device, l *Links, by int64) (out impossible) {
	if limits.Implausible(d.Window) {
		return out
	}
	var done doneBy
	var bounds outside
	if l.Called > 0 {
		done, bounds = syncs(tl, d, l), outsideOf(d, l.Lost().host.span, by)
	}
	for i, w := range d.Work {
		w.Start += by
		late := afterEnd(tl, w)
		if k := l.Of[w.Number]; k >= 0 && l.HasCall(k) {
			late = max(late, bounds.by(i, w))
			if call := &l.List[k]; done != nil && w.Start-call.End > lateSlack {
				if end, ok := done.after(tl.Trace.Tracks[call.Track].PID, call.End); ok {
					late = max(late, w.Start-end)
				}
			}
		}
		if late > lateSlack {
			out.n, out.worst = out.n+1, max(out.worst, late)
		}
	}
	return out
}

// An impossible is a number of records at impossible times, with the longest time in ns by which one
// of them is outside of what is possible.
type impossible struct{ n, worst int64 }

// severity returns how severe it is for a device.
func (x impossible) severity(d *gpu.Device) diag.Severity {
	if float64(x.worst) > lateShare*float64(d.Window.Len()) {
		return diag.Suspect
	}
	return faultOf(x.n, int64(len(d.Work)), diag.Suspect)
}

// afterEnd returns how long, in ns, after the end of recording the work starts. It is 0 if the
// work starts before the end, or the trace does not state it.
func afterEnd(tl *gpu.Timeline, w gpu.Work) int64 {
	if end := tl.Trace.Meta.RecordEnd; end != nil && w.Start > *end {
		return w.Start - *end
	}
	return 0
}

// doneBy has, for each process, the calls that waited for a device, by start. The end of each is
// the earliest end of it and all calls after it.
type doneBy map[string][]idleUntil

type idleUntil struct{ start, end int64 }

// syncs returns the calls that waited for all work of the device, or nil. A call waits for the
// current device of its thread, which is not recorded: with several devices the result is nil.
func syncs(tl *gpu.Timeline, d *gpu.Device, l *Links) doneBy {
	if len(l.Lost().host.syncs) == 0 || len(tl.Devices) > 1 {
		return nil
	}
	out := make(doneBy)
	for _, c := range l.Lost().host.syncs {
		pid := tl.Trace.Tracks[c.Track].PID
		out[pid] = append(out[pid], idleUntil{c.Start, c.Start + c.Dur})
	}
	for _, list := range out {
		slices.SortFunc(list, func(a, b idleUntil) int { return cmp.Compare(a.start, b.start) })
		for i := len(list) - 2; i >= 0; i-- {
			list[i].end = min(list[i].end, list[i+1].end)
		}
	}
	return out
}

// after returns the earliest end of the waits that started at or after a time, and whether there
// is one. All work launched before that time had ended by then.
func (d doneBy) after(pid string, launched int64) (end int64, ok bool) {
	list := d[pid]
	i, _ := slices.BinarySearchFunc(list, launched, func(w idleUntil, t int64) int { return cmp.Compare(w.start, t) })
	if i == len(list) {
		return 0, false
	}
	return list[i].end, true
}

// outside has bounds for launched work. Work beyond them ran far outside of all calls:
//   - Too early: work before the first call cannot have been launched by a recorded call.
//   - Too late: after the last call a device works off its queue, so its idle time is never as
//     long as all calls took together.
//   - Too long: work that starts before the last call ends does not run on for as long as all
//     calls took together, and at least a minute, because a program that waits makes calls.
type outside struct {
	before int64 // work that starts earlier is too early
	end    int64 // end of the last call
	after  int64 // work that starts before end and ends later is too long
	start  int64 // start of the first call
	first  int   // index of the first work that is too late
	late   int64 // by how much it is too late, in ns
}

// outsideOf returns the bounds for the work of a device, which is taken to start by ns later than
// recorded; host is the span of all calls.
func outsideOf(d *gpu.Device, host interval.Span, by int64) outside {
	most := max(host.Len(), minOutside)
	out := outside{before: host.Start - most, end: host.End, after: host.End + max(most, minTooLong), start: host.Start,
		first: len(d.Work)}
	if n := len(d.Work); n == 0 || d.Work[n-1].Start+by <= host.End+most {
		return out
	}
	idle, end := int64(0), host.End
	for i, w := range d.Work {
		w.Start += by
		if w.Start > end {
			if idle += w.Start - end; idle > most {
				out.first, out.late = i, idle-most
				break
			}
		}
		end = max(end, w.End())
	}
	return out
}

// by returns how far, in ns, work w with index i of the device is outside the bounds, or 0.
func (o *outside) by(i int, w gpu.Work) int64 {
	switch {
	case i >= o.first:
		return o.late
	case w.Start < o.before:
		return o.start - w.Start
	}
	return max(0, w.End()-max(o.after, w.Start))
}

// ordered reports whether the kernel of the second call cannot start before that of the first one ends,
// if both run on one stream: one process launched both, and the second one by a call that cannot ask for
// a programmatic dependent launch.
func (l *Links) ordered(t *trace.Trace, first, second int32) bool {
	if first < 0 || second < 0 || first == second || !l.HasCall(first) || !l.HasCall(second) {
		return false
	}
	a, b := l.Call(first), l.Call(second)
	name, _, _ := strings.Cut(t.Name(b.Name), "_")
	return (name == "cudaLaunchKernel" || name == "cuLaunchKernel") && t.Tracks[a.Track].PID == t.Tracks[b.Track].PID
}

// piledUp returns the number of records that start while an earlier record of the same stream
// runs. A stream runs one operation at a time. The last record before does not count, because
// with programmatic dependent launch a kernel may start while the one before it ends. Operations
// of a graph do not count either, because they may run at the same time. Only streams in which
// most records are piled up count, or many kernels that cannot start before the last one ends.
func piledUp(tl *gpu.Timeline, d *gpu.Device, l *Links) (n int64) {
	type stream struct {
		records, piled int64
		early          int64 // kernels that start while the last kernel runs, which their launch does not allow
		kernel         bool  // the last record is a kernel
		call           int32 // and its launch
		last, before   int64 // end of the last record; latest end of the records before it
	}
	streams := make(map[trace.TrackID]*stream)
	var s *stream
	track := trace.TrackID(0)
	kinds := newLossKinds(tl.Trace)
	for _, w := range d.Work {
		a := tl.Activity(w)
		if k := l.Of[w.Number]; tl.Trace.Detail(a.Detail).GraphID > 0 || k >= 0 && l.HasCall(k) && l.List[k].Work > 1 &&
			!kinds.launchesOne(l.Call(k).Name) {
			continue
		}
		if s == nil || track != a.Track {
			track, s = a.Track, streams[a.Track]
			if s == nil {
				s = &stream{last: a.Start, before: a.Start}
				streams[track] = s
			}
		}
		s.records++
		if a.Start < s.before-clockSlack {
			s.piled++
		}
		k := l.Of[w.Number]
		if a.Kind == trace.Kernel && s.kernel && a.Start < s.last-clockSlack && l.ordered(tl.Trace, s.call, k) {
			s.early++
		}
		s.before, s.last, s.kernel, s.call = max(s.before, s.last), a.End(), a.Kind == trace.Kernel, k
	}
	for _, s := range streams {
		switch {
		case s.piled >= fewRecords && 2*s.piled > s.records:
			n += s.piled
		case s.early >= fewRecords && float64(s.early) > faultShare*float64(s.records):
			n += s.early
		}
	}
	return n
}
