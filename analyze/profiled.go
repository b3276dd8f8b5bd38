package analyze

import (
	"assay/analyze/gpu"
	"assay/analyze/launches"
	"assay/analyze/steps"
	"assay/summary"
	"assay/trace"
)

// profiledEvents counts what PyTorch's profiler recorded on the threads that launch the work of a device, within
// the device's window and in each step that the row lists. Each of them costs time while the profiler runs.
func profiledEvents(d *gpu.Device, tl *gpu.Timeline, l *launches.Links, marks []steps.Mark, row *summary.Launches) {
	t := tl.Trace
	if !t.Meta.Kineto || row.Launched == 0 {
		return
	}
	launching := make([]bool, len(t.Tracks))
	for _, w := range d.Work {
		if i := l.Of[w.Number]; i >= 0 {
			launching[l.List[i].Track] = true
		}
	}
	listed := steps.Overlapping(marks, d.Window)[:len(row.PerStep)]
	var perStep []int64
	if len(listed) > 0 {
		perStep = make([]int64, len(listed))
	}
	last := 0
	see := func(track trace.TrackID, start int64) {
		if !launching[track] || start < d.Window.Start || start >= d.Window.End {
			return
		}
		row.HostEvents++
		if len(listed) == 0 {
			return
		}
		if s := listed[last].Span; start < s.Start || start >= s.End {
			i := steps.At(listed, start)
			if i < 0 {
				return
			}
			last = i
		}
		perStep[last]++
	}
	for o := range t.Ops.All() {
		see(o.Track, o.Start)
	}
	for c := range t.Calls.All() {
		see(c.Track, c.Start)
	}
	for s := range t.Spans.All() {
		if s.Kind == trace.Annotation {
			see(s.Track, s.Start)
		}
	}
	row.HostEventsPerStep = perStep
}
