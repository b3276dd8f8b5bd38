package analyze

import (
	"cmp"
	"slices"
	"time"

	"assay/diag"
	"assay/interval"
	"assay/summary"
	"assay/trace"
)

const (
	// fewRecords is the number of records under which a fault is not suspect.
	fewRecords = 10

	// faultShare is the share of records from which on a fault makes a capture suspect.
	faultShare = 0.05

	// lateSlack is how much later than possible, in ns, work may start without an
	// issue: the clocks of host and device may differ and drift.
	lateSlack = int64(time.Millisecond)

	// minOutside is the shortest idle time, in ns, after which launched work is too
	// late although the calls of the host took less time.
	minOutside = 100 * int64(time.Millisecond)

	// minTooLong is the shortest time, in ns, after the last call at whose end work that
	// began before that call no longer runs.
	minTooLong = int64(time.Minute)

	// lateShare is the share of the window from which on late work makes the capture
	// suspect.
	lateShare = 0.01
)

// notePlausible adds the issues of device records that contradict the calls of the host:
// records without a duration, records that no call can be matched with or whose calls
// were lost, and work at times at which it cannot have run.
func notePlausible(tl *timeline, l *links, s *summary.Summary, issues *diag.Ledger) {
	kernels, lost := int64(0), int64(0)
	for _, r := range s.Streams {
		kernels += r.Kernels
	}
	for _, r := range s.Launches {
		lost += r.CallsLost
	}
	issues.AddN(diag.Issue{Code: "kernels-without-duration", Severity: faultOf(tl.instant, kernels, diag.Suspect)}, tl.instant)
	issues.AddN(diag.Issue{Code: "launches-missing", Severity: faultOf(lost, kernels, diag.DataLoss)}, lost)
	if host := &l.lost.host; l.called == 0 && host.launches > 0 {
		severity := diag.Info
		if min(kernels, host.launches) >= fewRecords {
			severity = diag.Suspect
		}
		issues.AddN(diag.Issue{Code: "correlations-unmatched", Severity: severity}, kernels)
	}
	l.noteSurplus(int64(tl.t.Activities.Len()), issues)
	for _, d := range tl.devices {
		tl.noteTimes(d, l, issues)
	}
}

// faultOf returns the severity of a fault of n records: worst, or info if it concerns a
// small share of them.
func faultOf(n, of int64, worst diag.Severity) diag.Severity {
	if float64(n) > faultShare*float64(of) {
		return worst
	}
	return diag.Info
}

// noteTimes counts the work of a device that ran at impossible times: after the profiler
// had stopped to record, after a call that waited for the device and began after the
// launch of the work had returned, or far outside of all calls: see [outside].
func (tl *timeline) noteTimes(d *device, l *links, issues *diag.Ledger) {
	if implausible(d.window) {
		return
	}
	var done doneBy
	var out outside
	if l.called > 0 {
		done, out = tl.syncs(d, l), outsideOf(d, l.lost.host.span)
	}
	n, worst := int64(0), int64(0)
	for i, w := range d.work {
		by := tl.afterEnd(w)
		if k := l.of[w.number]; k >= 0 && l.list[k].call != nil {
			by = max(by, out.by(i, w))
			if c := l.list[k].call; done != nil && w.Start-(c.Start+c.Dur) > lateSlack {
				if end, ok := done.after(tl.t.Tracks[c.Track].PID, c.Start+c.Dur); ok {
					by = max(by, w.Start-end)
				}
			}
		}
		if by > lateSlack {
			n, worst = n+1, max(worst, by)
		}
	}
	if l.called > 0 {
		n = max(n, tl.piledUp(d, l))
	}
	severity := faultOf(n, int64(len(d.work)), diag.Suspect)
	if float64(worst) > lateShare*float64(d.window.Len()) {
		severity = diag.Suspect
	}
	issues.AddN(diag.Issue{Code: "work-time-implausible", Severity: severity}, n)
}

// afterEnd returns by how much work starts after the profiler stopped to record, or 0 if
// the trace does not state that time.
func (tl *timeline) afterEnd(w work) int64 {
	if end := tl.t.Meta.RecordEnd; end != nil && w.Start > *end {
		return w.Start - *end
	}
	return 0
}

// doneBy has, for each process, the calls that waited for a device, by start, each
// with the earliest end of it and those after it.
type doneBy map[string][]idleUntil

type idleUntil struct{ start, end int64 }

// syncs returns when processes had waited for all work of the device, nil if never. A
// call waits for the current device of its thread, so processes that use another
// device have none.
func (tl *timeline) syncs(d *device, l *links) doneBy {
	if len(l.lost.host.syncs) == 0 || len(tl.devices) > 1 {
		return nil
	}
	out := make(doneBy)
	for _, c := range l.lost.host.syncs {
		pid := tl.t.Tracks[c.Track].PID
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

// after returns when the first wait ended that began at or after a time, if there is
// one: what was launched by then had ended.
func (d doneBy) after(pid string, launched int64) (end int64, ok bool) {
	list := d[pid]
	i, _ := slices.BinarySearchFunc(list, launched, func(w idleUntil, t int64) int { return cmp.Compare(w.start, t) })
	if i == len(list) {
		return 0, false
	}
	return list[i].end, true
}

// outside has the launched work of a device that ran far outside of the calls of the
// host, although the device had nothing to do in between. After the last call a device
// works off its queue, so it is never idle for as long as all calls took together.
// Work before the first call was not launched by a recorded one. A single piece of work
// that begins before the last call ends does not go on for as long as all calls took
// together and a minute, because the program that waits for it makes calls.
type outside struct {
	before int64 // work that starts earlier is too early
	end    int64 // of the last call
	after  int64 // work that starts before end and ends later is too long
	start  int64 // of the first call
	first  int   // the index of the first work that is too late
	late   int64 // by how much
}

// outsideOf returns the bounds for the work of a device, with the stretch of all calls.
func outsideOf(d *device, host interval.Span) outside {
	most := max(host.Len(), minOutside)
	out := outside{before: host.Start - most, end: host.End, after: host.End + max(most, minTooLong), start: host.Start, first: len(d.work)}
	if n := len(d.work); n == 0 || d.work[n-1].Start <= host.End+most {
		return out
	}
	idle, end := int64(0), host.End
	for i, w := range d.work {
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

// by returns by how much work i of the device is outside, or 0.
func (o *outside) by(i int, w work) int64 {
	switch {
	case i >= o.first:
		return o.late
	case w.Start < o.before:
		return o.start - w.Start
	}
	return max(0, w.End()-max(o.after, w.Start))
}

// piledUp returns how many records of the device begin while another one of the same
// stream runs that is not the last before them, if those are most of the records of the
// stream. A stream runs one piece of work at a time, and with programmatic dependent
// launch a kernel begins while the one before it ends. The operations of a graph may
// run at the same time.
func (tl *timeline) piledUp(d *device, l *links) (n int64) {
	type stream struct {
		records, piled int64
		last, before   int64 // the latest end of the last record, and of those before it
	}
	streams := make(map[trace.TrackID]*stream)
	var s *stream
	track := trace.TrackID(0)
	kinds := newLossKinds(tl.t)
	for _, w := range d.work {
		a := tl.activity(w)
		if k := l.of[w.number]; tl.t.Detail(a.Detail).GraphID > 0 || k >= 0 && l.list[k].call != nil && l.list[k].work > 1 && !kinds.launchesOne(l.list[k].call.Name) {
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
		s.before, s.last = max(s.before, s.last), a.End()
	}
	for _, s := range streams {
		if s.piled >= fewRecords && 2*s.piled > s.records {
			n += s.piled
		}
	}
	return n
}
