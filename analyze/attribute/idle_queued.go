package attribute

import (
	"assay/analyze/calls"
	"assay/summary"
	"assay/trace"
)

// waitingFor returns the cause of the last ns of a gap, in which the work that ends the gap had
// been launched already.
func (x *idleness) waitingFor(device int, g calls.Gap, ns int64) idleOwner {
	switch {
	case ns <= maxLaunchNS:
		return byBetween
	case ns >= summary.UnrecordedNS && x.beginsStream(device, g.After):
		return byNotRecorded
	}
	return byDependency
}

// beginsStream reports whether the work is the first of its stream. In a window that does not
// start with the device's first work this is unknown: false.
func (x *idleness) beginsStream(device int, work *trace.Activity) bool {
	if w := x.a.t.Window; w != nil && w.Start > w.Extent[x.a.tl.Devices[device].Ordinal].Start {
		return false
	}
	if x.begins == nil {
		x.begins = make([]map[trace.TrackID]int64, len(x.rows))
	}
	first := x.begins[device]
	if first == nil {
		first = make(map[trace.TrackID]int64)
		for _, w := range x.a.tl.Devices[device].Work {
			if track := x.a.tl.Activity(w).Track; first[track] == 0 {
				first[track] = w.Start
			}
		}
		x.begins[device] = first
	}
	return first[work.Track] == work.Start
}
