package attribute

import (
	"cmp"
	"slices"

	"assay/internal/interval"
	"assay/trace"
)

// The state of the launching thread over time is asked for as the state during a gap is: by
// questions to threads. A stretch up to the end of a launch asks the thread that launches, so
// where forward and backward passes have threads of their own, each has its turn.

// ofHost marks questions about the state of the launching thread, not about a gap.
const ofHost gapMark = -1

// A ThreadState is what a thread does, and the name of that. It is a number, because a
// thread has one for each activity.
type ThreadState idleKey

// States is how many values [ThreadState.State] has.
const States = len(stateNames)

// State returns the number of the state, for [StateName].
func (s ThreadState) State() int { return int(idleKey(s).state()) }

// StateName returns one of the states of idle time, or "" for the profiler's own work.
func StateName(state int) string { return stateNames[state] }

// NameOf returns the name of a state: of the call, operator, function or annotation.
func (a *Attribution) NameOf(s ThreadState) string { return a.idle.names[idleKey(s).name()] }

// askHost asks the threads that launch the work of a device what they do, all along its
// window: each until the end of a launch of its own.
func (x *idleness) askHost(device int) {
	d := x.a.tl.Devices[device]
	type launch struct {
		end   int64
		track trace.TrackID
	}
	var all []launch
	last := int32(-1)
	for _, w := range d.Work {
		if i := x.a.Links.Of[w.Number]; i >= 0 && i != last {
			all = append(all, launch{x.a.Links.Time(i).End, x.a.Links.List[i].Track})
			last = i
		}
	}
	slices.SortFunc(all, func(a, b launch) int { return cmp.Or(cmp.Compare(a.end, b.end), cmp.Compare(a.track, b.track)) })
	at := d.Window.Start
	for i, l := range all {
		end := min(l.end, d.Window.End)
		if i+1 == len(all) {
			end = d.Window.End
		} else if all[i+1].track == l.track {
			continue
		}
		if at < end {
			x.ask(l.track, question{interval.Span{Start: at, End: end}, int32(device), ofHost})
			at = end
		}
	}
}
