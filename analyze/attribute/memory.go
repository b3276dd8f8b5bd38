package attribute

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"assay/analyze/limits"
	"assay/diag"
	"assay/interval"
	"assay/summary"
	"assay/trace"
)

// maxPlaces is how many devices may have memory in one input.
const maxPlaces = 128

// An allocation is one change of the allocated memory.
type allocation struct {
	*trace.MemoryEvent
	context contextID // what was open on the thread
}

// allocations are the changes of memory by thread, for the walk to find out
// what was open, and by device.
type allocations struct {
	list     []allocation
	byThread map[trace.TrackID][]int32
}

func allocationsOf(t *trace.Trace) *allocations {
	m := &allocations{list: make([]allocation, 0, t.Memory.Len()), byThread: make(map[trace.TrackID][]int32)}
	for e := range t.Memory.All() {
		m.byThread[e.Track] = append(m.byThread[e.Track], int32(len(m.list)))
		m.list = append(m.list, allocation{MemoryEvent: e})
	}
	for _, list := range m.byThread {
		slices.SortStableFunc(list, func(a, b int32) int { return cmp.Compare(m.list[a].Start, m.list[b].Start) })
	}
	return m
}

// memory measures the memory of each device that the allocator reported.
func (a *Attribution) memory(rank, bins int, issues *diag.Ledger) (out []summary.Memory) {
	type place struct{ kind, device int32 }
	byPlace := make(map[place][]allocation)
	for _, e := range a.memories.list {
		p := place{e.DeviceType, e.Device}
		byPlace[p] = append(byPlace[p], e)
	}
	places := slices.SortedFunc(maps.Keys(byPlace), func(a, b place) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.device, b.device))
	})
	if over := len(places) - maxPlaces; over > 0 {
		issues.AddN(diag.Issue{Code: "too-many-memories", Severity: diag.DataLoss,
			Help: fmt.Sprintf("Memory is measured on at most %d devices per input. Further devices were left out. Give them as separate inputs.", maxPlaces)}, int64(over))
		places = places[:maxPlaces]
	}
	for _, p := range places {
		list := byPlace[p]
		slices.SortStableFunc(list, func(a, b allocation) int { return cmp.Compare(a.Start, b.Start) })
		m := summary.Memory{Rank: rank, OnHost: p.kind == trace.HostMemory, Device: int64(p.device)}
		if n, ok := a.t.Meta.Capacity[m.Device]; ok && !m.OnHost {
			m.Capacity = &n
		}
		a.measureMemory(&m, list, bins)
		out = append(out, m)
	}
	return out
}

func (a *Attribution) measureMemory(m *summary.Memory, list []allocation, bins int) {
	peak := 0
	running, highest := int64(0), int64(0) // bytes since the capture began
	for i, e := range list {
		if e.Bytes >= 0 {
			m.Allocs++
		} else {
			m.Frees++
		}
		running = summary.Plus(running, e.Bytes)
		value := running
		if e.Allocated >= 0 {
			value = e.Allocated
			if m.PeakAllocated == nil {
				m.StartAllocated = new(max(0, summary.Plus(e.Allocated, -max(e.Bytes, -math.MaxInt64))))
				m.PeakAllocated = new(e.Allocated)
			}
			*m.PeakAllocated = max(*m.PeakAllocated, e.Allocated)
		}
		if e.Reserved >= 0 {
			if m.PeakReserved == nil {
				m.PeakReserved = new(e.Reserved)
			}
			*m.PeakReserved = max(*m.PeakReserved, e.Reserved)
		}
		if i == 0 || value > highest {
			highest, peak = value, i
		}
	}
	m.PeakNS = list[peak].Start
	a.liveAt(m, list[:peak+1])
	m.Strip = memoryStrip(list, bins)
}

// liveAt adds up what was allocated and not freed by the end of the list.
func (a *Attribution) liveAt(m *summary.Memory, list []allocation) {
	live := make(map[int64]allocation)
	for _, e := range list {
		if e.Bytes >= 0 {
			live[e.Address] = e
		} else {
			delete(live, e.Address)
		}
	}
	rows := make(map[contextID]*summary.Live)
	for _, e := range live {
		m.LiveBytes = summary.Plus(m.LiveBytes, e.Bytes)
		c := a.ctx.at(e.context)
		key := e.context
		r := rows[key]
		if r == nil {
			r = &summary.Live{Op: a.ctx.name(c.op), Module: a.modulePath(c.module)}
			rows[key] = r
		}
		r.Bytes = summary.Plus(r.Bytes, e.Bytes)
		r.Count++
	}
	// Several contexts may have one operator and module.
	byName := make(map[[2]string]*summary.Live)
	for _, r := range rows {
		key := [2]string{r.Op, r.Module}
		if have := byName[key]; have != nil {
			have.Bytes, have.Count = summary.Plus(have.Bytes, r.Bytes), have.Count+r.Count
		} else {
			byName[key] = r
		}
	}
	for _, r := range byName {
		m.Live = append(m.Live, *r)
	}
	slices.SortFunc(m.Live, func(a, b summary.Live) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Module, b.Module))
	})
	m.Live = slices.Clone(m.Live[:min(len(m.Live), summary.MaxLive)])
}

// memoryStrip bins the memory over time. It is nil where the profiler wrote no
// totals.
func memoryStrip(list []allocation, bins int) *summary.MemoryStrip {
	known := slices.ContainsFunc(list, func(e allocation) bool { return e.Allocated >= 0 })
	window := interval.Span{Start: list[0].Start, End: list[len(list)-1].Start + 1}
	if !known || bins <= 0 || limits.Implausible(window) {
		return nil
	}
	bin := (window.Len() + int64(bins) - 1) / int64(bins)
	used := (window.Len() + bin - 1) / bin
	s := &summary.MemoryStrip{StartNS: window.Start, BinNS: bin, Allocated: make([]int64, used), Reserved: make([]int64, used)}
	at, allocated, reserved := 0, int64(-1), int64(-1)
	for i := range s.Allocated {
		s.Allocated[i], s.Reserved[i] = allocated, reserved
		for ; at < len(list) && (list[at].Start-window.Start)/bin == int64(i); at++ {
			if n := list[at].Allocated; n >= 0 {
				allocated = n
				s.Allocated[i] = max(s.Allocated[i], n)
			}
			if n := list[at].Reserved; n >= 0 {
				reserved = n
				s.Reserved[i] = max(s.Reserved[i], n)
			}
		}
	}
	return s
}
