// Package gpu sorts GPU work by device, stream and class, and measures what follows from it
// alone. It knows nothing of the host: package launches relates the two.
//
// Start with timeline.go, which has the types that other packages use: Timeline, Device, Work.
// activity.go measures busy time, gaps and strips of a device, streams.go its streams, kernels.go
// the tables of kernels and copies, drift.go whether identical kernels became slower. window.go
// limits all this to a part of the trace; repeated.go finds records that occur twice in a file.
package gpu

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"assay/analyze/classify"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/internal/runsort"
	"assay/trace"
)

// A Timeline is a trace's GPU work, by device and class. It must not be changed.
type Timeline struct {
	Trace   *trace.Trace
	Classes []classify.Match // by Sym, for the names of kernels

	// wholeGraph is the name of events that represent a whole graph launch and are not kernels;
	// 0 if there is none.
	wholeGraph trace.Sym
	Devices    []*Device // by ordinal
	Last       int64     // highest ordinal that is measured
	Instant    int64     // number of kernels with a duration of 0; Streams counts them

	outside map[int64][]Work // by ordinal: work outside the window of the trace
}

// ComputeLayer is the index of compute in Device.Layers.
const ComputeLayer = 1

// A Device is the work of one GPU.
type Device struct {
	Ordinal int64
	Window  interval.Span
	Layers  [4]interval.Set // by class, in the order of summary.Singles
	Work    []Work          // by start

	inLayer [4]int // number of operations of each class
}

// A Work is one activity, clipped to the window of the trace. There are millions, so it has no
// pointers, to spare the garbage collector.
type Work struct {
	Start, Dur int64 // ns
	ref        trace.Ref
	Number     int32 // index in the table of activities
}

// End returns the end of the work, in ns.
func (w Work) End() int64 { return w.Start + w.Dur }

// Activity returns the activity of w.
func (tl *Timeline) Activity(w Work) *trace.Activity { return tl.Trace.Activities.At(w.ref) }

// Stream returns the stream that w ran on.
func (tl *Timeline) Stream(w Work) int64 { return tl.Trace.Tracks[tl.Activity(w).Track].Stream }

// Gaps returns the spans of the device's window in which nothing ran, in the order of time.
func (d *Device) Gaps() iter.Seq[interval.Span] {
	return func(yield func(interval.Span) bool) {
		end := d.Window.Start
		for _, w := range d.Work {
			if w.Dur <= 0 {
				continue // work without duration does not split a gap
			}
			if w.Start > end && !yield(interval.Span{Start: end, End: w.Start}) {
				return
			}
			end = max(end, w.End())
		}
		if end < d.Window.End {
			yield(interval.Span{Start: end, End: d.Window.End})
		}
	}
}

// Busy returns the times in which anything ran on the device.
func (d *Device) Busy() interval.Set {
	var b interval.Builder
	most := 0
	for _, l := range d.Layers {
		most += len(l.Spans())
	}
	b.Grow(most)
	for _, w := range d.Work {
		b.Add(interval.Span{Start: w.Start, End: w.End()})
	}
	return b.Set()
}

// LongestGaps returns the longest gaps of a device, at most most, sorted by start. Ties go to the
// earlier gap.
func LongestGaps(d *Device, most int) []interval.Span {
	if most <= 0 {
		return nil
	}
	longer := func(a, b interval.Span) int {
		return cmp.Or(cmp.Compare(b.Len(), a.Len()), cmp.Compare(a.Start, b.Start))
	}
	out := make([]interval.Span, 0, 2*most)
	least := int64(-1) // length of the shortest gap that is kept
	for gap := range d.Gaps() {
		if gap.Len() <= least {
			continue
		}
		if out = append(out, gap); len(out) == cap(out) {
			slices.SortFunc(out, longer)
			out = out[:most]
			least = out[most-1].Len()
		}
	}
	slices.SortFunc(out, longer)
	out = out[:min(most, len(out))]
	slices.SortFunc(out, func(a, b interval.Span) int { return cmp.Compare(a.Start, b.Start) })
	return out
}

// NewTimeline sorts the GPU work of a trace and classifies its kernels. It adds an issue if there
// are too many devices.
func NewTimeline(t *trace.Trace, rules *classify.Rules, issues *diag.Ledger) *Timeline {
	tl := &Timeline{Trace: t, Classes: make([]classify.Match, t.Names()), Last: lastDevice(t),
		outside: make(map[int64][]Work)}
	byOrdinal := make(map[int64]*Device)
	counts := workOf(t)
	number := int32(-1)
	leftOut := int64(0)
	for ref, a := range t.Activities.Refs() {
		track := &t.Tracks[a.Track]
		number++
		if track.Device > tl.Last {
			leftOut++
			continue
		}
		w := Work{a.Start, a.Dur, ref, number}
		if t.Window != nil && !w.clip(t.Window) {
			tl.outside[track.Device] = append(tl.outside[track.Device], w)
			continue
		}
		d := byOrdinal[track.Device]
		if d == nil {
			d = &Device{Ordinal: track.Device, Window: interval.Span{Start: a.Start, End: a.End()}}
			d.Work = make([]Work, 0, counts[track.Device])
			byOrdinal[track.Device] = d
			tl.Devices = append(tl.Devices, d)
		}
		d.Window.Start = min(d.Window.Start, a.Start)
		d.Window.End = max(d.Window.End, a.End())
		d.Work = append(d.Work, w)
		if a.Kind == trace.Kernel && tl.Classes[a.Name].Rule == "" {
			name := t.Name(a.Name)
			tl.Classes[a.Name] = rules.Kernel(name)
			if name == trace.OpaqueGraph {
				tl.wholeGraph = a.Name
			}
		}
		d.inLayer[tl.Layer(a)]++
	}
	noteDevices(leftOut, issues)
	tl.narrow(byOrdinal)
	slices.SortFunc(tl.Devices, func(a, b *Device) int { return compare(a.Ordinal, b.Ordinal) })
	for _, d := range tl.Devices {
		tl.sortAndMerge(d)
	}
	return tl
}

// workOf returns the number of operations of each device, or an upper bound.
func workOf(t *trace.Trace) map[int64]int {
	devices := make(map[int64]int)
	for i := range t.Tracks {
		if t.Tracks[i].OnDevice {
			devices[t.Tracks[i].Device] = t.Activities.Len()
		}
	}
	if len(devices) == 1 {
		return devices
	}
	byTrack := make([]int, len(t.Tracks))
	for a := range t.Activities.All() {
		byTrack[a.Track]++
	}
	out := make(map[int64]int)
	for i, n := range byTrack {
		if n > 0 {
			out[t.Tracks[i].Device] += n
		}
	}
	return out
}

// order compares work by start. Ties are resolved by properties that do not depend on the order
// of the file.
func (tl *Timeline) order(a, b Work) int {
	if a.Start != b.Start {
		return compare(a.Start, b.Start)
	}
	return cmp.Or(compare(a.End(), b.End()), compare(tl.Stream(a), tl.Stream(b)),
		cmp.Compare(tl.Trace.Name(tl.Activity(a).Name), tl.Trace.Name(tl.Activity(b).Name)))
}

// sortAndMerge sorts a device's work by start, because profilers do not, and merges it into a
// layer per class.
func (tl *Timeline) sortAndMerge(d *Device) {
	runsort.Sort(d.Work, tl.order)
	var builders [len(d.Layers)]interval.Builder
	for i := range builders {
		builders[i].Grow(d.inLayer[i])
	}
	for _, w := range d.Work {
		builders[tl.Layer(tl.Activity(w))].Add(interval.Span{Start: w.Start, End: w.End()})
	}
	for i := range builders {
		d.Layers[i] = builders[i].Set()
	}
}

// Layer returns the index of an activity's class in summary.Singles.
func (tl *Timeline) Layer(a *trace.Activity) int {
	switch a.Kind {
	case trace.Memcpy:
		return 2
	case trace.Memset:
		return 3
	}
	if tl.Classes[a.Name].Class == classify.Comm {
		return 0
	}
	return 1
}

func compare(a, b int64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// DeviceName returns the model name of a device, or "". ROCm numbers devices differently in
// events and in properties, so an unknown ordinal gets the name that all devices share, if any.
func DeviceName(m trace.Meta, ordinal int64) string {
	if name, ok := m.Devices[ordinal]; ok {
		return name
	}
	only := ""
	for _, name := range m.Devices {
		if only != "" && only != name {
			return ""
		}
		only = name
	}
	return only
}

// maxDevices is the maximum number of devices measured per input. A process drives a few dozen
// at most.
const maxDevices = 4096

// lastDevice returns the highest ordinal to measure, so that there are at most maxDevices.
func lastDevice(t *trace.Trace) int64 {
	seen := make(map[int64]bool)
	for i := range t.Tracks {
		if t.Tracks[i].OnDevice {
			seen[t.Tracks[i].Device] = true
		}
	}
	if len(seen) <= maxDevices {
		return math.MaxInt64
	}
	return slices.Sorted(maps.Keys(seen))[maxDevices-1]
}

// noteDevices adds an issue for the events of devices that were left out.
func noteDevices(events int64, issues *diag.Ledger) {
	issues.AddN(diag.Issue{Code: "devices-left-out", Severity: diag.DataLoss,
		Help: fmt.Sprintf("The input names more than %d devices, so ids may have been written instead of device numbers. Events on further devices are missing from every total. Check what wrote the trace.", maxDevices)}, events)
}

// IsWholeGraph reports whether events of this name represent a whole graph launch.
func (tl *Timeline) IsWholeGraph(name trace.Sym) bool { return name != 0 && name == tl.wholeGraph }
