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
	needed, covered := 0, 0.0
	for _, ns := range largest(durations, budget) {
		if covered >= drawnShare*all {
			break
		}
		covered += float64(ns)
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
	rest = largest(rest, k.room)
	least := rest[len(rest)-1] // all that are longer have room
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

// largest returns the n largest values of a list, or all if there are fewer, in falling
// order. It reorders the list. The others are not sorted, which would take most of the time.
func largest(list []int64, n int) []int64 {
	n = min(n, len(list))
	for from, to := 0, len(list); to-from > 1; {
		pivot := list[from+(to-from)/2]
		i, j := from, to-1
		for i <= j {
			switch {
			case list[i] > pivot:
				i++
			case list[j] < pivot:
				j--
			default:
				list[i], list[j] = list[j], list[i]
				i, j = i+1, j-1
			}
		}
		switch { // before i nothing is less than the pivot, and after j nothing is more
		case n <= j+1:
			to = j + 1
		case n >= i:
			from = i
		default:
			to = from
		}
	}
	slices.SortFunc(list[:n], func(a, b int64) int { return cmp.Compare(b, a) })
	return list[:n]
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
