package attribute

import (
	"cmp"
	"slices"

	"assay/internal/interval"
	"assay/trace"
)

// The state of the launching thread over time comes from the same questions as the causes of
// gaps. The question about the time up to the end of a launch goes to the thread of that
// launch, so forward and backward passes on different threads are both covered.

// hostStateMark marks questions about the state of the launching thread, not about a gap.
const hostStateMark gapMark = -1

// A ThreadState is a state of a thread, with the name of the call, operator or function that it
// is in. It is packed into a number, because there is one for each event of a thread.
type ThreadState idleKey

// States is the number of values of [ThreadState.State].
const States = len(stateNames)

// State returns the number of the state, for [StateName].
func (s ThreadState) State() int { return int(idleKey(s).state()) }

// StateName returns one of the states of idle time, or "" for the profiler's own work.
func StateName(state int) string { return stateNames[state] }

// NameOf returns the name of a state: of the call, operator, function or annotation.
func (a *Attribution) NameOf(s ThreadState) string { return a.idle.names[idleKey(s).name()] }

// askHost adds questions that cover the window of a device. Each goes to the thread that makes
// the next launch and ends with that launch.
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
			x.ask(l.track, question{interval.Span{Start: at, End: end}, int32(device), hostStateMark})
			at = end
		}
	}
}

// wait passes a part of a gap on if a late launch is its cause.
func (x *idleness) wait(device int, s interval.Span, key idleKey) {
	if x.late != nil && idleOwner(key>>40) == byHost {
		x.late(device, s, ThreadState(key))
	}
}
