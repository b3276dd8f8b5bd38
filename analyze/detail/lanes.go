package detail

import (
	"cmp"
	"slices"

	"assay/analyze/gpu"
	"assay/analyze/steps"
	"assay/summary"
)

// lanes fills the operations of each stream, at most so many of all. If there are more,
// all of them are kept in the focus windows, and elsewhere the longest.
func (d *device) lanes(budget int) {
	work := d.d.Work
	var kept []bool // nil for all
	if len(work) > budget {
		k := newKeeping(work, budget)
		d.out.Focus = k.focus(d)
		k.longest()
		kept = k.kept
	}
	index := make(map[int64]int) // by stream
	size := d.streams(kept, index)
	for i, w := range work {
		if kept != nil && !kept[i] {
			d.out.SpansLeft++
			d.out.SpansLeftNS = summary.Plus(d.out.SpansLeftNS, w.Dur)
			continue
		}
		a := d.Timeline.Activity(w)
		lane := &d.out.Lanes[index[d.Timeline.Stream(w)]]
		if lane.Spans == nil {
			lane.Spans = make([]summary.DetailSpan, 0, size[lane.Stream])
		}
		lane.Spans = append(lane.Spans, summary.DetailSpan{
			AtNS: d.at(w.Start), NS: w.Dur, Name: d.names.symbol(a.Name), Class: summary.Singles()[d.Timeline.Layer(a)],
		})
	}
}

// streams makes the lanes of all streams with work that is kept, by their numbers, notes
// where they are, and returns how many operations each has.
func (d *device) streams(kept []bool, index map[int64]int) map[int64]int {
	size := make(map[int64]int)
	for i, w := range d.d.Work {
		if kept == nil || kept[i] {
			size[d.Timeline.Stream(w)]++
		}
	}
	for stream := range size {
		d.out.Lanes = append(d.out.Lanes, summary.Lane{Stream: stream})
	}
	slices.SortFunc(d.out.Lanes, func(a, b summary.Lane) int { return cmp.Compare(a.Stream, b.Stream) })
	for i, l := range d.out.Lanes {
		index[l.Stream] = i
	}
	return size
}

// drawnShare is the share of the time of all operations that the ones that are kept cover
// if the budget allows it.
const drawnShare = 0.95

// A keeping chooses the operations of a device that are kept.
type keeping struct {
	work []gpu.Work
	kept []bool
	room int // how many more may be kept
	// forFocus is how many of them may be in focus windows.
	forFocus int
	ended    []int64 // by index of work: when the last of it and of what started before ends
}

// newKeeping returns a keeping of so many operations. Focus windows get what is not needed
// to cover drawnShare by the longest operations, and always at least a quarter.
func newKeeping(work []gpu.Work, budget int) *keeping {
	k := &keeping{work: work, kept: make([]bool, len(work)), room: budget, ended: make([]int64, len(work))}
	durations := make([]int64, len(work))
	all, end := 0.0, work[0].End()
	for i, w := range work {
		end = max(end, w.End())
		k.ended[i], durations[i] = end, w.Dur
		all += float64(w.Dur)
	}
	slices.Sort(durations)
	needed, covered := 0, 0.0
	for i := len(durations) - 1; i >= 0 && covered < drawnShare*all && needed < budget; i-- {
		covered += float64(durations[i])
		needed++
	}
	k.forFocus = max(budget-needed, budget/4)
	return k
}

// keep keeps an operation.
func (k *keeping) keep(i int) {
	if !k.kept[i] {
		k.kept[i] = true
		k.room--
	}
}

// longest fills the room with the longest operations; of equal ones the earlier stay.
func (k *keeping) longest() {
	var rest []int64
	for i, w := range k.work {
		if !k.kept[i] {
			rest = append(rest, w.Dur)
		}
	}
	if k.room <= 0 || len(rest) == 0 {
		return
	}
	slices.Sort(rest)
	least := rest[max(0, len(rest)-k.room)] // all that are longer have room
	for i, w := range k.work {
		if w.Dur > least && !k.kept[i] {
			k.keep(i)
		}
	}
	for i, w := range k.work {
		if k.room == 0 {
			break
		}
		if w.Dur == least {
			k.keep(i)
		}
	}
}

// atMost returns at most so many runs of phases, by start: all of a depth or, where not
// all of a depth have room, the longest of it.
func atMost(runs []steps.DeviceRun, most int) []steps.DeviceRun {
	if len(runs) <= most {
		return runs
	}
	kept := slices.Clone(runs)
	slices.SortStableFunc(kept, func(a, b steps.DeviceRun) int {
		return cmp.Or(cmp.Compare(a.Depth, b.Depth), cmp.Compare(b.Len(), a.Len()))
	})
	kept = kept[:most]
	slices.SortStableFunc(kept, func(a, b steps.DeviceRun) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.Depth, b.Depth))
	})
	return kept
}
