package analyze

import (
	"cmp"
	"slices"
	"sort"

	"assay/interval"
	"assay/phase"
)

// A completion maps a time of the host to the time at which a device has finished
// all work launched before. The device may be far behind the host.
type completion struct {
	window   interval.Span
	launched []launchedWork // by the time of the launch
}

type launchedWork struct {
	at   int64 // when it was launched, or when it started where that is not known
	done int64 // when it and all that was launched before it ended
}

func newCompletion(d *device, l *links) *completion {
	s := &completion{window: d.window, launched: make([]launchedWork, 0, len(d.work))}
	for _, w := range d.work {
		at := w.Start
		if i := l.of[w.number]; i >= 0 {
			at = min(at, l.start(i)) // clocks may be apart
		}
		s.launched = append(s.launched, launchedWork{at, w.End()})
	}
	slices.SortFunc(s.launched, func(a, b launchedWork) int {
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

// at returns the time within the device's window that corresponds to the host time
// t: the end of all work launched before t, and at least t. It is monotonic in t.
func (s *completion) at(t int64) int64 {
	n := sort.Search(len(s.launched), func(i int) bool { return s.launched[i].at >= t })
	if n > 0 {
		t = max(t, s.launched[n-1].done)
	}
	return min(max(t, s.window.Start), s.window.End)
}

// cut returns the stretch of the device's window that corresponds to one of the host.
func (s *completion) cut(host interval.Span) interval.Span {
	return interval.Span{Start: s.at(host.Start), End: s.at(host.End)}
}

// completions returns the completion of every device, or as many nils if they are
// not needed.
func completions(tl *timeline, l *links, asked bool) []*completion {
	out := make([]*completion, len(tl.devices))
	for i, d := range tl.devices {
		if asked {
			out[i] = newCompletion(d, l)
		}
	}
	return out
}

// cutByWork reports whether steps are cut by the work that they launch.
func cutByWork(marks []mark) bool { return len(marks) > 0 && marks[0].is.Step == phase.CutWork }

// aheadShare is the part of the time of all markers that a device must still work after
// the last one for the host to run ahead. Hosts that wait for each step end with it, and
// most others are one step ahead of many.
const aheadShare = 4

// mayRunAhead reports whether every device works for so long after the last of several
// markers on the host that their lengths are not those of the steps.
func mayRunAhead(tl *timeline, marks []mark) bool {
	if len(marks) < 2 || len(tl.devices) == 0 {
		return false
	}
	last := marks[len(marks)-1].span.End
	for _, d := range tl.devices {
		if implausible(d.window) || d.window.End-last <= (last-marks[0].span.Start)/aheadShare {
			return false
		}
	}
	return true
}

// ofDevice returns the markers, cut by the work that they launch if the host runs ahead of
// all devices: a marker then ends long before the work of its step. It leaves the markers
// as they are if launches of the work are not known.
func ofDevice(tl *timeline, l *links, marks []mark, done []*completion) []mark {
	if cutByWork(marks) || !mayRunAhead(tl, marks) {
		return marks
	}
	last := marks[len(marks)-1].span.End
	if l.without > l.called/10 {
		return marks
	}
	for i := range tl.devices { // work that was launched after the last marker belongs to no step
		if done[i] == nil || done[i].at(last)-last <= (last-marks[0].span.Start)/aheadShare {
			return marks
		}
	}
	out := slices.Clone(marks)
	for i := range out {
		out[i].is.Step = phase.CutWork
	}
	return out
}
