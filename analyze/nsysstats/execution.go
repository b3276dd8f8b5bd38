package nsysstats

import (
	"strings"

	"assay/analyze/launches"
	"assay/internal/interval"
	"assay/trace"
)

// executed are the columns of the report on launch and execution: four times
// per kernel. The queue time includes only kernels that were queued.
var executed = executedColumns()

func executedColumns() []Column {
	out := []Column{{"PID", false}, {"TID", false}, {"DevId", false}, {"Count", false}, {"QCount", false}}
	for _, of := range []string{"T", "A", "Q", "K"} { // total, call, queue, kernel
		for _, value := range []string{"Avg", "Med", "Min", "Max", "StdDev"} {
			out = append(out, Column{of + value + " (ns)", false})
		}
	}
	return append(out, Column{"API Name", true}, Column{"Kernel Name", true})
}

// An executionKey identifies the row of a kernel.
type executionKey struct {
	thread       trace.TrackID
	device       int64
	call, kernel trace.Sym
}

// executedRows measures each kernel from the start of its call: the call, the
// time from its end to the kernel's start if that is positive, the kernel, and
// the total, up to the end of the later of call and kernel.
func executedRows(m *maker, table *Table) {
	launches := m.launches()
	keys, groups, without := m.executions(launches)
	each := func(value func(c *trace.Call, a *trace.Activity) (int64, bool)) *sample {
		return sampleOf(func(yield func(int, int64) bool) {
			number := -1
			for a := range m.t.Activities.All() {
				if number++; groups[number] < 0 {
					continue
				}
				i, _ := launches.Of(number)
				if v, ok := value(launches.Call(i), a); ok && !yield(int(groups[number]), v) {
					return
				}
			}
		})
	}
	total := each(func(c *trace.Call, a *trace.Activity) (int64, bool) {
		return interval.Span{Start: c.Start, End: max(c.Start+c.Dur, a.End())}.Len(), true
	})
	name := func(g int) string {
		k, track := &keys.keys[g], &m.t.Tracks[keys.keys[g].thread]
		return strings.Join([]string{m.t.Name(k.kernel), m.callName(k.call), track.PID, track.TID, whole(k.device)}, " ")
	}
	order := m.order(total, table, name)
	// One sample at a time, because each is as large as the list of all
	// kernels.
	cells := make([][]string, len(order))
	add := func(s *sample) (counts []int64) {
		for i, g := range order {
			v := s.spread(g)
			counts = append(counts, v.count)
			if v.count == 0 {
				cells[i] = append(cells[i], "", "", "", "", "")
			} else {
				cells[i] = append(cells[i], v.cells()...)
			}
		}
		return counts
	}
	counts := add(total)
	total = nil
	add(each(func(c *trace.Call, _ *trace.Activity) (int64, bool) { return c.Dur, true }))
	queued := add(each(func(c *trace.Call, a *trace.Activity) (int64, bool) {
		wait := interval.Span{Start: c.Start + c.Dur, End: a.Start}.Len()
		return wait, wait > 0
	}))
	add(each(func(_ *trace.Call, a *trace.Activity) (int64, bool) { return a.Dur, true }))
	for i, g := range order {
		k, track := &keys.keys[g], &m.t.Tracks[keys.keys[g].thread]
		row := append([]string{track.PID, track.TID, whole(k.device), whole(counts[i]), whole(queued[i])}, cells[i]...)
		table.Rows = append(table.Rows, own(append(row, m.callName(k.call), m.t.Name(k.kernel))))
	}
	if without > 0 {
		table.Notes = append(table.Notes, plural(without, "kernel is not included because its launch call is unknown", "kernels are not included because their launch calls are unknown"))
	}
}

// executions returns the group of every activity, or -1 if it is not a kernel
// or its call is unknown, and the number of kernels with an unknown call.
func (m *maker) executions(launches *launches.Launches) (keys *index[executionKey], groups []int32, without int) {
	keys, groups = newIndex[executionKey](), make([]int32, 0, m.t.Activities.Len())
	opaque := m.opaqueGraph()
	number := -1
	for a := range m.t.Activities.All() {
		number++
		group := int32(-1)
		if a.Kind == trace.Kernel && (a.Name != opaque || opaque == 0) {
			i, ok := launches.Of(number)
			if ok && launches.Call(i) != nil {
				c := launches.Call(i)
				group = int32(keys.numberOf(executionKey{c.Track, m.t.Tracks[a.Track].Device, c.Name, a.Name}))
			} else {
				without++
			}
		}
		groups = append(groups, group)
	}
	return keys, groups, without
}
