package analyze

import (
	"assay/summary"
	"assay/trace"
)

// waitingFor returns what launched work waits for at the end of a gap, for so long.
func (x *idleness) waitingFor(device int, g gap, ns int64) idleOwner {
	switch {
	case ns <= maxLaunchNS:
		return byBetween
	case ns >= summary.UnrecordedNS && x.beginsStream(device, g.after):
		return byNotRecorded
	}
	return byDependency
}

// beginsStream reports whether the work is the first of its stream.
func (x *idleness) beginsStream(device int, work *trace.Activity) bool {
	if x.begins == nil {
		x.begins = make([]map[trace.TrackID]int64, len(x.rows))
	}
	first := x.begins[device]
	if first == nil {
		first = make(map[trace.TrackID]int64)
		for _, w := range x.a.tl.devices[device].work {
			if track := x.a.tl.activity(w).Track; first[track] == 0 {
				first[track] = w.Start
			}
		}
		x.begins[device] = first
	}
	return first[work.Track] == work.Start
}
