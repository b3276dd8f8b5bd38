package memory

import (
	"slices"

	"assay/analyze/limits"
	"assay/internal/interval"
	"assay/summary"
	"assay/torchprof/memory"
)

// mostStrata is the number of owners with a band of their own in a strip.
const mostStrata = 8

// strip returns the live memory over time in bins, by the owners with the most at the peak. A bin
// shows the time within it at which the most was live, so that its bands sum to the total.
func (r *replay) strip(w *walked, t *tally) *summary.OwnerStrip {
	if r.times == nil || r.bins <= 0 {
		return nil
	}
	window := interval.Span{Start: r.times[0], End: r.times[len(r.times)-1] + 1}
	if limits.Implausible(window) {
		return nil
	}
	slot, s := r.strata(t)
	bin := (window.Len() + int64(r.bins) - 1) / int64(r.bins)
	used := int((window.Len() + bin - 1) / bin)
	s.StartNS, s.BinNS = window.Start, bin
	s.Live, s.Reserved = make([]int64, used), make([]int64, used)
	for i := range s.Owners {
		s.Owners[i].Bytes = make([]int64, used)
	}
	now := make([]int64, len(s.Owners))
	for _, b := range r.older {
		now[slot(b.stack)] = summary.Plus(now[slot(b.stack)], b.bytes)
	}
	live, reserved, entry := r.olderSum, r.reserved, 0
	put := func(b int) {
		s.Live[b] = live
		for i := range now {
			s.Owners[i].Bytes[b] = now[i]
		}
	}
	freed := 0 // of the older blocks, which are in the order of their frees
	for b := range used {
		put(b)
		s.Reserved[b] = reserved
		for ; entry < len(r.times) && (r.times[entry]-window.Start)/bin == int64(b); entry++ {
			freed = r.apply(entry, now, slot, freed)
			live, reserved = w.liveAt[entry], w.reservedA[entry]
			if live > s.Live[b] {
				put(b)
			}
			s.Reserved[b] = max(s.Reserved[b], reserved)
		}
	}
	last := len(s.Owners) - 1
	if !slices.ContainsFunc(s.Owners[last].Bytes, func(n int64) bool { return n != 0 }) {
		s.Owners = s.Owners[:last]
	}
	return s
}

// strata returns the bands of a strip, and a function that returns the band of a stack.
func (r *replay) strata(t *tally) (slot func(memory.StackID) int, s *summary.OwnerStrip) {
	s = &summary.OwnerStrip{}
	index := make(map[int32]int)
	for i, n := range t.ranked() {
		if i == mostStrata {
			break
		}
		key := r.owners.list[n]
		index[n] = i
		s.Owners = append(s.Owners, summary.Stratum{Name: key.frame, Kind: key.kind})
	}
	rest := len(s.Owners)
	s.Owners = append(s.Owners, summary.Stratum{})
	return func(id memory.StackID) int {
		if i, ok := index[r.owners.owner(id)]; ok {
			return i
		}
		return rest
	}, s
}

// apply changes the bands by an entry. freed is the number of older blocks that were freed before;
// apply returns the new number.
func (r *replay) apply(i int, now []int64, slot func(memory.StackID) int, freed int) int {
	e := &r.d.Entries[i]
	add := func(id memory.StackID, n int64) { now[slot(id)] = summary.Plus(now[slot(id)], n) }
	switch e.Action {
	case memory.Alloc:
		if before, ok := r.replaced[int32(i)]; ok {
			old := &r.d.Entries[before]
			add(old.Stack, -old.Size)
		}
		add(e.Stack, e.Size)
	case memory.FreeCompleted:
		if at := r.pair[i]; at != noPair {
			add(r.d.Entries[at].Stack, -r.d.Entries[at].Size)
			break
		}
		if r.twice[int32(i)] {
			break
		}
		add(r.older[freed].stack, -e.Size)
		freed++
	}
	return freed
}
