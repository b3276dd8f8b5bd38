package memory

import (
	"cmp"
	"slices"

	"assay/summary"
	"assay/torchprof/memory"
)

// moment sets the moment of a row whose history is known, and returns what its memory is for.
func (r *replay) moment(row *summary.Snapshot, w *walked) []summary.MemoryUse {
	m := &summary.MemoryMoment{At: "peak", Live: w.live, Reserved: w.reserved}
	entry := int32(w.peak)
	if n := len(w.failures); n > 0 {
		last := w.failures[n-1]
		m.At, m.Live, m.Reserved, entry = "failure", last.live, last.reserved, int32(last.entry)
	}
	if m.Live < 0 || m.Reserved < m.Live {
		return nil // the history is inconsistent
	}
	m.NS = r.timeOf(int(entry))
	row.Moment = m
	u := r.newUses()
	if m.At == "failure" {
		r.placeOfFailure(m, entry)
		row.Growing = u.growing(w, entry)
	}
	return u.rowsOf(row, u.sumsAt(entry), r.freeAt(entry, m))
}

// endMoment is moment for a snapshot whose history is unknown: frames alone tell the owners, and what the backward pass
// allocated is not distinguished.
func (r *replay) endMoment(row *summary.Snapshot) []summary.MemoryUse {
	sums := map[useKey]*useSum{}
	rounding := int64(0)
	for _, b := range r.d.Blocks {
		if b.State == memory.Inactive {
			continue
		}
		k := useKey{summary.UseUnknown, notTold(b.Stack)}
		if owner := useOfKind[r.owners.list[r.owners.owner(b.Stack)].kind]; owner != "" {
			k = useKey{owner, byFrames}
		}
		if sums[k] == nil {
			sums[k] = &useSum{}
		}
		size := b.Size
		if b.Requested > 0 && b.Requested < size {
			size = b.Requested
			rounding = summary.Plus(rounding, b.Size-size)
		}
		sums[k].count, sums[k].bytes = sums[k].count+1, summary.Plus(sums[k].bytes, size)
	}
	row.Moment = &summary.MemoryMoment{At: "end", Live: row.Allocated + row.Waiting - rounding, Reserved: row.Reserved}
	return (&uses{r: r}).rowsOf(row, sums, free{rounding: rounding, split: row.Split, cached: row.Cached})
}

// placeOfFailure sets in which step an allocation failed, and at which of the calls of its stack.
func (r *replay) placeOfFailure(m *summary.MemoryMoment, entry int32) {
	failed := &r.d.Entries[entry]
	if r.times != nil {
		for _, a := range r.m.Annotations {
			if a.Device != r.d.Number || !stepName().MatchString(a.Name) {
				continue
			}
			switch {
			case !a.End && a.Time <= r.times[entry]:
				m.Step = a.Name
			case a.End && a.Name == m.Step && a.Time < r.times[entry]:
				m.Step = ""
			}
		}
	}
	if failed.Stack == 0 {
		return
	}
	live, most := int64(0), int64(0)
	for i := int32(0); i < entry; i++ {
		e := &r.d.Entries[i]
		switch at := r.pair[i]; {
		case e.Action == memory.Alloc && e.Stack == failed.Stack:
			live++
			most = max(most, live)
		case e.Action == memory.FreeCompleted && at != noPair && r.d.Entries[at].Stack == failed.Stack:
			live--
		}
	}
	if most >= live+1 && most > 1 {
		m.Call, m.Calls = live+1, most
	}
}

// A free is the reserved memory that no tensor has, in bytes.
type free struct{ rounding, split, cached, unclear int64 }

// A liveSegment is a segment at a moment, and the bytes of the blocks in it.
type liveSegment struct {
	start, end, used int64
}

// freeAt divides the memory that was reserved and not allocated after an entry. The segments of that moment are those
// of the snapshot, with what the history did to them undone.
func (r *replay) freeAt(entry int32, m *summary.MemoryMoment) free {
	all := m.Reserved - m.Live
	segments, growing, ok := r.segmentsAt(entry)
	sum := growing
	for _, s := range segments {
		sum = summary.Plus(sum, s.end-s.start)
	}
	if !ok || sum != m.Reserved {
		return free{unclear: all}
	}
	var f free
	used := int64(0) // in expandable segments
	r.eachBlock(entry, func(address, size int64) {
		rounded := size
		if !r.rounded {
			rounded = (size + 511) / 512 * 512
		}
		f.rounding = summary.Plus(f.rounding, rounded-size)
		i, found := slices.BinarySearchFunc(segments, address, func(s liveSegment, a int64) int { return cmp.Compare(s.start, a) })
		if !found {
			i--
		}
		if i >= 0 && address < segments[i].end {
			segments[i].used += rounded
		} else {
			used += rounded
		}
	})
	if used > growing {
		return free{unclear: all}
	}
	f.cached = growing - used
	for _, s := range segments {
		switch rest := s.end - s.start - s.used; {
		case rest < 0:
			return free{unclear: all}
		case s.used > 0:
			f.split += rest
		default:
			f.cached += rest
		}
	}
	return f
}

// segmentsAt returns the segments after an entry by address, and the bytes of expandable ones, whose free pages can be
// released.
func (r *replay) segmentsAt(entry int32) (list []liveSegment, growing int64, ok bool) {
	at := map[int64]int64{}
	for _, s := range r.d.Segments {
		if s.Expandable {
			growing += s.Size
		} else {
			at[s.Address] = s.Size
		}
	}
	for i := int32(len(r.d.Entries)) - 1; i > entry; i-- {
		switch e := &r.d.Entries[i]; e.Action {
		case memory.SegmentAlloc:
			if at[e.Address] != e.Size {
				return nil, 0, false
			}
			delete(at, e.Address)
		case memory.SegmentFree:
			at[e.Address] = e.Size
		case memory.SegmentMap:
			growing -= e.Size
		case memory.SegmentUnmap:
			growing += e.Size
		}
	}
	for address, size := range at {
		list = append(list, liveSegment{start: address, end: address + size})
	}
	slices.SortFunc(list, func(a, b liveSegment) int { return cmp.Compare(a.start, b.start) })
	return list, growing, growing >= 0
}

// eachBlock calls f with the address and the size of each block that was live after an entry.
func (r *replay) eachBlock(entry int32, f func(address, size int64)) {
	for _, b := range r.older {
		if b.freed > entry {
			f(b.address, b.bytes)
		}
	}
	for i := int32(0); i <= entry; i++ {
		if e := &r.d.Entries[i]; e.Action == memory.Alloc && (r.pair[i] == noPair || r.pair[i] > entry) {
			f(e.Address, e.Size)
		}
	}
}
