package attribute

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	"assay/analyze/limits"
	"assay/internal/diag"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// maxPlaces is the maximum number of devices whose memory is measured in one input.
const maxPlaces = 128

// An allocation is memory that was in use at the peak of its device.
type allocation struct {
	*trace.MemoryEvent
	context contextID // what was open on the thread that allocated it
}

// allocations are the memory events by device, and the allocations in use at the peaks by
// thread. The walk sets the context of the latter.
type allocations struct {
	places   []memoryPlace // by kind and device, at most maxPlaces
	over     int64         // number of devices beyond maxPlaces
	atPeaks  []allocation
	byThread map[trace.TrackID][]int32 // indices into atPeaks, by time
}

// A memoryPlace is a device with its memory events.
type memoryPlace struct {
	kind, device int32
	list         []*trace.MemoryEvent // by time
	peak         int                  // index of the event that reached the peak
	live         []int32              // indices into allocations.atPeaks
}

func allocationsOf(t *trace.Trace) *allocations {
	m := &allocations{byThread: make(map[trace.TrackID][]int32)}
	type key struct{ kind, device int32 }
	byKey := make(map[key][]*trace.MemoryEvent)
	for e := range t.Memory.All() {
		k := key{e.DeviceType, e.Device}
		byKey[k] = append(byKey[k], e)
	}
	keys := slices.SortedFunc(maps.Keys(byKey), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.device, b.device))
	})
	if over := len(keys) - maxPlaces; over > 0 {
		m.over, keys = int64(over), keys[:maxPlaces]
	}
	for _, k := range keys {
		p := memoryPlace{kind: k.kind, device: k.device, list: byKey[k]}
		slices.SortStableFunc(p.list, func(a, b *trace.MemoryEvent) int { return cmp.Compare(a.Start, b.Start) })
		p.peak = peakOf(p.list)
		for _, e := range inUse(p.list[:p.peak+1]) {
			i := int32(len(m.atPeaks))
			p.live = append(p.live, i)
			m.byThread[e.Track] = append(m.byThread[e.Track], i)
			m.atPeaks = append(m.atPeaks, allocation{MemoryEvent: e})
		}
		m.places = append(m.places, p)
	}
	for _, list := range m.byThread {
		slices.SortFunc(list, func(a, b int32) int { return cmp.Compare(m.atPeaks[a].Start, m.atPeaks[b].Start) })
	}
	return m
}

// peakOf returns the index of the first event that reached the most allocated memory. Without
// totals from the profiler, memory from before the capture is not counted.
func peakOf(list []*trace.MemoryEvent) (peak int) {
	running, highest := int64(0), int64(0)
	for i, e := range list {
		running = summary.Plus(running, e.Bytes)
		value := running
		if e.Allocated >= 0 {
			value = e.Allocated
		}
		if i == 0 || value > highest {
			highest, peak = value, i
		}
	}
	return peak
}

// inUse returns the allocations that were not freed by the end of the list, by address.
func inUse(list []*trace.MemoryEvent) map[int64]*trace.MemoryEvent {
	live := make(map[int64]*trace.MemoryEvent)
	for _, e := range list {
		if e.Bytes >= 0 {
			live[e.Address] = e
		} else {
			delete(live, e.Address)
		}
	}
	return live
}

// memory measures the memory of each device for which there are memory events.
func (a *Attribution) memory(rank, bins int, issues *diag.Ledger) (out []summary.Memory) {
	issues.AddN(diag.Issue{Code: "too-many-memories", Severity: diag.DataLoss,
		Help: fmt.Sprintf("Memory is measured on at most %d devices per input. Further devices were left out. Give them as separate inputs.", maxPlaces)}, a.memories.over)
	for i := range a.memories.places {
		p := &a.memories.places[i]
		m := summary.Memory{Rank: rank, OnHost: p.kind == trace.HostMemory, Device: int64(p.device)}
		if n, ok := a.t.Meta.Capacity[m.Device]; ok && !m.OnHost {
			m.Capacity = &n
		}
		a.measureMemory(&m, p)
		m.Strip = memoryStrip(p.list, bins)
		out = append(out, m)
	}
	return out
}

func (a *Attribution) measureMemory(m *summary.Memory, p *memoryPlace) {
	for _, e := range p.list {
		if e.Bytes >= 0 {
			m.Allocs++
		} else {
			m.Frees++
		}
		if e.Allocated >= 0 {
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
	}
	m.PeakNS = p.list[p.peak].Start
	a.liveAt(m, p.live)
}

// liveAt sums the bytes in use at the peak by operator and module.
func (a *Attribution) liveAt(m *summary.Memory, live []int32) {
	type name struct{ op, module string } // several contexts may share a name
	rows := make(map[name]*summary.Live)
	names := make(map[contextID]name)
	for _, i := range live {
		e := &a.memories.atPeaks[i]
		key, ok := names[e.context]
		if !ok {
			c := a.ctx.at(e.context)
			key = name{a.ctx.name(c.op), a.modulePath(c.module)}
			names[e.context] = key
		}
		r := rows[key]
		if r == nil {
			r = &summary.Live{Op: key.op, Module: key.module}
			rows[key] = r
		}
		m.LiveBytes = summary.Plus(m.LiveBytes, e.Bytes)
		r.Bytes = summary.Plus(r.Bytes, e.Bytes)
		r.Count++
	}
	for _, r := range rows {
		m.Live = append(m.Live, *r)
	}
	slices.SortFunc(m.Live, func(a, b summary.Live) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Module, b.Module))
	})
	m.Live = slices.Clone(m.Live[:min(len(m.Live), summary.MaxLive)])
}

// memoryStrip returns the memory over time in equal bins, in bytes: the highest total of each
// bin. It returns nil if the profiler wrote no totals.
func memoryStrip(list []*trace.MemoryEvent, bins int) *summary.MemoryStrip {
	known := slices.ContainsFunc(list, func(e *trace.MemoryEvent) bool { return e.Allocated >= 0 })
	window := interval.Span{Start: list[0].Start, End: list[len(list)-1].Start + 1}
	if !known || bins <= 0 || limits.Implausible(window) {
		return nil
	}
	bin := (window.Len() + int64(bins) - 1) / int64(bins)
	used := (window.Len() + bin - 1) / bin
	s := &summary.MemoryStrip{StartNS: window.Start, BinNS: bin, Allocated: make([]int64, used),
		Reserved: make([]int64, used)}
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
