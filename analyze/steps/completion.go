package steps

import (
	"cmp"
	"math"
	"slices"
	"sort"

	"assay/analyze/gpu"
	"assay/analyze/launches"
	"assay/analyze/limits"
	"assay/analyze/phase"
	"assay/internal/interval"
	"assay/internal/runsort"
	"assay/trace"
)

// A Completion maps times of the host to times of one device: the time at which the device has
// finished all work launched before. The device may be far behind the host.
type Completion struct {
	window   interval.Span
	launched []launchedWork // by the time of the launch
}

type launchedWork struct {
	at   int64 // time of the launch, or the latest possible time if the launch is unknown
	done int64 // time at which it and all work launched before it had ended
}

func newCompletion(tl *gpu.Timeline, d *gpu.Device, l *launches.Links) *Completion {
	s := &Completion{window: d.Window, launched: make([]launchedWork, 0, len(d.Work))}
	next := make(map[trace.TrackID]*int64) // by stream: the first known launch of any later work
	before := startsOfLaunched(tl, d, l)
	var last trace.TrackID
	var ofLast *int64
	for _, w := range slices.Backward(d.Work) {
		at, track := w.Start, tl.Activity(w).Track
		if ofLast == nil || track != last {
			if last, ofLast = track, next[track]; ofLast == nil {
				ofLast = new(int64(math.MaxInt64))
				next[track] = ofLast
			}
		}
		if i := l.Of[w.Number]; i >= 0 {
			at = min(at, l.Start(i)) // clocks may be apart
			*ofLast = at
		} else if before[track] > w.Start {
			at = math.MinInt64 // it was queued when the capture began
		} else {
			at = min(at, *ofLast) // a stream runs work in the order of its launches
		}
		s.launched = append(s.launched, launchedWork{at, w.End()})
	}
	for _, w := range tl.Later(d) {
		if i := l.Of[w.Number]; i >= 0 {
			s.launched = append(s.launched, launchedWork{l.Start(i), w.End()})
		}
	}
	slices.Reverse(s.launched)
	runsort.Sort(s.launched, func(a, b launchedWork) int {
		if a.at != b.at {
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Compare(a.done, b.done)
	})
	for i := 1; i < len(s.launched); i++ {
		s.launched[i].done = max(s.launched[i].done, s.launched[i-1].done)
	}
	return s
}

// startsOfLaunched returns when the first work with a known launch starts, by stream.
func startsOfLaunched(tl *gpu.Timeline, d *gpu.Device, l *launches.Links) map[trace.TrackID]int64 {
	first := make(map[trace.TrackID]int64)
	for _, w := range d.Work {
		if track := tl.Activity(w).Track; l.Of[w.Number] >= 0 {
			if _, ok := first[track]; !ok {
				first[track] = w.Start
			}
		}
	}
	return first
}

// at returns the time within the device's window that corresponds to the host time
// t: the end of all work launched before t, and at least t. It is monotonic in t.
func (s *Completion) at(t int64) int64 {
	n := sort.Search(len(s.launched), func(i int) bool { return s.launched[i].at >= t })
	if n > 0 {
		t = max(t, s.launched[n-1].done)
	}
	return min(max(t, s.window.Start), s.window.End)
}

// cut maps a span of the host to the device's window.
func (s *Completion) cut(host interval.Span) interval.Span {
	return interval.Span{Start: s.at(host.Start), End: s.at(host.End)}
}

// OnDevices maps a span of the host to the devices: from the first start to the last end of the
// corresponding work on any device. Without any work it returns the span of the host.
func OnDevices(done []*Completion, host interval.Span) interval.Span {
	var out interval.Span
	for _, c := range done {
		if c == nil {
			continue
		}
		if s := c.cut(host); !s.Empty() && out.Empty() {
			out = s
		} else if !s.Empty() {
			out = interval.Span{Start: min(out.Start, s.Start), End: max(out.End, s.End)}
		}
	}
	if out.Empty() {
		return host
	}
	return out
}

// Completions returns the completion of every device, or a nil for each if they are not needed.
func Completions(tl *gpu.Timeline, l *launches.Links, needed bool) []*Completion {
	out := make([]*Completion, len(tl.Devices))
	for i, d := range tl.Devices {
		if needed {
			out[i] = newCompletion(tl, d, l)
		}
	}
	return out
}

// CutByWork reports whether a step reaches to the end of the work that it launches, not to the end
// of its marker.
func CutByWork(marks []Mark) bool { return len(marks) > 0 && marks[0].Is.Step == phase.CutWork }

// aheadShare says when a host runs ahead: if devices work on after the last marker for at least
// 1/aheadShare of the time of all markers. A host that waits for each step does not, and most
// other hosts are only one of many steps ahead.
const aheadShare = 4

// MayRunAhead reports whether the host may be ahead of all devices: each works on so long after
// the last of several markers that the markers do not show how long steps took. A single marker does not
// show it either if much of it is a wait for earlier work, so a device that worked before it is enough there.
func MayRunAhead(tl *gpu.Timeline, marks []Mark) bool {
	if len(marks) == 0 || len(tl.Devices) == 0 {
		return false
	}
	host := spanOf(marks)
	for _, d := range tl.Devices {
		behind := d.Window.End-host.End > host.Len()/aheadShare
		if limits.Implausible(d.Window) || !behind && (len(marks) > 1 || d.Window.Start >= host.Start) {
			return false
		}
	}
	return true
}

// spanOf returns the time from the first to the last marker.
func spanOf(marks []Mark) interval.Span {
	return interval.Span{Start: marks[0].Span.Start, End: marks[len(marks)-1].Span.End}
}

// unlinkedLater counts the work without a known launch that follows launched work on its stream. Work before that was
// queued when the capture began, as it is where the host runs ahead.
func unlinkedLater(tl *gpu.Timeline, l *launches.Links) (n int64) {
	launched := make(map[trace.TrackID]bool)
	for _, d := range tl.Devices {
		for _, w := range d.Work {
			switch track := tl.Activity(w).Track; {
			case l.Of[w.Number] >= 0:
				launched[track] = true
			case launched[track]:
				n++
			}
		}
	}
	return n
}

// OfDevice returns the markers with the rule CutWork if the host runs ahead of all devices,
// because a marker then ends long before the work of its step. It returns the markers unchanged if
// the launches of the work are unknown.
func OfDevice(tl *gpu.Timeline, l *launches.Links, marks []Mark, done []*Completion) []Mark {
	if CutByWork(marks) || !MayRunAhead(tl, marks) {
		return marks
	}
	host := spanOf(marks)
	if l.Called == 0 || unlinkedLater(tl, l) > l.Called/10 {
		return marks
	}
	for i := range tl.Devices { // work that was launched after the last marker belongs to no step
		if done[i] == nil {
			return marks
		}
		behind := done[i].at(host.End) - host.End
		if len(marks) == 1 { // of several steps, each has as much of the one before as it leaves for the next
			behind += done[i].at(host.Start) - host.Start
		}
		if behind <= host.Len()/aheadShare {
			return marks
		}
	}
	out := slices.Clone(marks)
	for i := range out {
		out[i].Is.Step = phase.CutWork
	}
	return out
}
