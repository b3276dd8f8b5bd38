package steps

import (
	"slices"

	"assay/analyze/launches"
	"assay/internal/interval"
	"assay/trace"
)

// fewestOps is the part of the launching operators of a usual step that a step must have to count as
// one whose calls were not recorded. A step with less does something else.
const fewestOps = 0.5

// Dark returns the steps whose calls were not recorded, sorted: they have no call at all, and
// operators that launch GPU work in other steps. A profiler can switch the collection of GPU work off
// for a while. Steps after the last launch do not count: there the capture may have ended.
func Dark(t *trace.Trace, l *launches.Links, marks []Mark) (out []interval.Span) {
	without := withoutCalls(t, l, marks)
	if without == nil {
		return nil
	}
	starts, latest := launchStarts(l), int64(0)
	for _, list := range starts {
		latest = max(latest, list[len(list)-1])
	}
	launching := make([]bool, t.Names()) // by name: an operator that launched work
	for o := range t.Ops.All() {
		list := starts[o.Track]
		if i, _ := slices.BinarySearch(list, o.Start); i < len(list) && list[i] < o.Start+o.Dur {
			launching[o.Name] = true
		}
	}
	ops, others := make([]int, len(marks)), 0
	for o := range t.Ops.All() {
		if i := At(marks, o.Start); i >= 0 && launching[o.Name] {
			if ops[i]++; !without[i] {
				others++
			}
		}
	}
	lit := len(marks)
	for _, dark := range without {
		if dark {
			lit--
		}
	}
	for i, dark := range without {
		if dark && lit > 0 && marks[i].Span.End <= latest && ops[i] > 0 && float64(ops[i]*lit) >= fewestOps*float64(others) {
			out = append(out, marks[i].Span)
		}
	}
	return out
}

// withoutCalls says which steps have no call, or returns nil if all have one. Most traces are recognized by
// their launches.
func withoutCalls(t *trace.Trace, l *launches.Links, marks []Mark) []bool {
	if len(marks) == 0 || l.Called == 0 {
		return nil
	}
	without, left := make([]bool, len(marks)), len(marks)
	for i := range without {
		without[i] = true
	}
	last := 0
	see := func(start int64) {
		if s := marks[last].Span; start < s.Start || start >= s.End {
			i := At(marks, start)
			if i < 0 {
				return
			}
			last = i
		}
		if without[last] {
			without[last] = false
			left--
		}
	}
	for i := 0; i < len(l.List) && left > 0; i++ {
		see(l.List[i].Start)
	}
	if left == 0 {
		return nil
	}
	for c := range t.Calls.All() {
		if see(c.Start); left == 0 {
			return nil
		}
	}
	return without
}
