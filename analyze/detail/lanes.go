package detail

import (
	"cmp"
	"slices"

	"assay/analyze/gpu"
	"assay/analyze/steps"
	"assay/summary"
)

// lanes adds the operations of each stream, at most budget in all. If there are more, it keeps all
// operations in the focus windows, and the longest ones elsewhere.
func (d *device) lanes(budget int) {
	work := d.d.Work
	var kept []bool // nil if all are kept
	if len(work) > budget {
		k := newSelection(work, budget)
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

// streams makes a lane for each stream with kept operations, by stream number. It sets index to
// the lane of each stream and returns the number of operations of each.
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

// drawnShare is the share of the total time of all operations that the longest kept ones cover, if
// the budget allows.
const drawnShare = 0.95

// A selection chooses the operations of a device to keep.
type selection struct {
	work     []gpu.Work
	kept     []bool
	left     int     // number of operations that may still be kept
	forFocus int     // number of these for focus windows
	ended    []int64 // by index of work: latest end of it and all work before it
}

// newSelection returns a selection of budget operations. The longest operations get as many as cover
// drawnShare of the time; focus windows get the rest, and at least a quarter.
func newSelection(work []gpu.Work, budget int) *selection {
	k := &selection{work: work, kept: make([]bool, len(work)), left: budget, ended: make([]int64, len(work))}
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
func (k *selection) keep(i int) {
	if !k.kept[i] {
		k.kept[i] = true
		k.left--
	}
}

// longest keeps the longest operations that are left, as many as the budget allows. Ties go to the
// earlier ones.
func (k *selection) longest() {
	var rest []int64
	for i, w := range k.work {
		if !k.kept[i] {
			rest = append(rest, w.Dur)
		}
	}
	if k.left <= 0 || len(rest) == 0 {
		return
	}
	rest = largest(rest, k.left)
	least := rest[len(rest)-1] // all longer operations are kept
	for i, w := range k.work {
		if w.Dur > least && !k.kept[i] {
			k.keep(i)
		}
	}
	for i, w := range k.work {
		if k.left == 0 {
			break
		}
		if w.Dur == least {
			k.keep(i)
		}
	}
}

// largest returns the n largest values of a list, in descending order, or all if there are fewer.
// It reorders the list. It does not sort the other values, to save time.
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
		switch { // values before i are >= pivot, values after j are <= pivot
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

// atMost returns at most most runs of phases, by start. It keeps all runs of the outer depths, and
// the longest runs of the first depth that does not fit.
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
