package view

import (
	"fmt"
	"math"
	"slices"

	"assay/internal/unit"
	"assay/summary"
)

// leastGrowing is the least memory of activations that a smaller micro-batch is worth a sentence for.
const leastGrowing = 256 << 20

// MemoryFits says what of the memory of a snapshot grows with the micro-batch and, if its size was logged, which size
// fits. It is "" if no allocation failed and the memory of the GPU or the micro-batch is unknown.
//
// When an allocation fails, the pass is not complete: what it needed is a lower bound, and the size that fits is an
// upper one. At a peak the error is what the allocator could not use, and what is not distinguished.
func MemoryFits(s *summary.Summary, m *summary.Snapshot) string {
	if m.Moment == nil || m.Moment.At == "end" {
		return ""
	}
	grows, doubt := int64(0), max(0, m.Moment.Reserved-m.Moment.Live)
	for _, u := range MemoryUses(s, m) {
		switch u.Owner {
		case summary.UseActivations, summary.UseActivationGradients:
			grows = summary.Plus(grows, u.Bytes)
		case summary.UseUnknown, summary.UseKept:
			doubt = summary.Plus(doubt, u.Bytes)
		}
	}
	size, known := microBatch(s)
	failed := m.Moment.At == "failure" && len(m.OutOfMemory) > 0 && m.Capacity != nil
	limit := CapacityOf(s, m)
	if failed {
		limit = *m.Capacity
	}
	rest := m.Moment.Live - grows
	switch {
	case grows < leastGrowing || doubt > grows || !failed && (!known || limit <= 0):
		return ""
	case failed && !known:
		return fmt.Sprintf("activations (%s) grow with the micro-batch, the other %s do not: half of it frees about %s",
			unit.Bytes(grows), unit.Bytes(rest), unit.Bytes(grows/2))
	case failed:
		needs := summary.Plus(grows, m.OutOfMemory[len(m.OutOfMemory)-1].Wanted)
		fits := math.Floor(size * float64(limit-rest) / float64(needs))
		text := fmt.Sprintf("micro-batch %g does not fit: activations need %s or more, and %s are left for them", size, unit.Bytes(needs), unit.Bytes(max(0, limit-rest)))
		if limit-rest >= needs {
			return "" // the allocator could not use what was left
		}
		if fits < 1 {
			return text + "; no micro-batch fits"
		}
		return text + fmt.Sprintf("; at most %g fits", fits)
	}
	each := float64(grows) / size
	off := float64(doubt) / each
	fits := math.Floor(float64(limit-rest-doubt) / each)
	if fits < size {
		return "" // it fitted, so what is not distinguished is too much
	}
	return fmt.Sprintf("micro-batch %g would fit, %g would not: activations take %s for each sample (error ±%.1f samples, from what is not distinguished or fragmented)",
		fits, 1+math.Floor(float64(limit-rest)/each), unit.Bytes(int64(each)), off)
}

// microBatch returns the micro-batch that the logs state, if it is one number.
func microBatch(s *summary.Summary) (size float64, known bool) {
	for i := range s.Settings {
		set := &s.Settings[i]
		n, isNumber := set.Number()
		switch {
		case set.Name == "train.dynamic_batch" && set.Value == "true", set.Producer == "NeMo RL" && set.Name == "train.remove_padding" && set.Value == "true":
			return 0, false // filled up to a number of tokens
		case set.Name != "train.micro_batch":
		case set.Varies || !isNumber || n < 1 || known && n != size:
			return 0, false
		default:
			size, known = n, true
		}
	}
	return size, known
}

// CapacityOf returns the memory of the GPU of a snapshot that a trace states, or 0.
func CapacityOf(s *summary.Summary, m *summary.Snapshot) int64 {
	for _, o := range s.Memory {
		if !o.OnHost && o.Rank == m.Rank && o.Device == m.Device && o.Capacity != nil {
			return *o.Capacity
		}
	}
	return 0
}

// UnlikeOthers says which owner has clearly more memory than on the median of the other devices at their moments, if
// there are at least three devices. Peaks and failures are compared; ends of captures are not.
func UnlikeOthers(s *summary.Summary, of *summary.Snapshot) string {
	const leastRanks, least = 3, 256 << 20
	others := map[string][]int64{}
	n := 0
	for i := range s.Snapshots {
		o := &s.Snapshots[i]
		if o.Moment == nil || o.Moment.At == "end" || o.Rank == of.Rank && o.Device == of.Device {
			continue
		}
		n++
		for _, u := range MemoryUses(s, o) {
			others[u.Owner] = append(others[u.Owner], u.Bytes)
		}
	}
	if n+1 < leastRanks || of.Moment == nil {
		return ""
	}
	best, most := "", int64(0)
	for _, u := range MemoryUses(s, of) {
		if !u.Allocated() {
			continue
		}
		list := append(make([]int64, max(0, n-len(others[u.Owner]))), others[u.Owner]...)
		slices.Sort(list)
		median := list[len(list)/2]
		if over := u.Bytes - median; over > most && over >= least && 20*over >= of.Moment.Live {
			most = over
			best = fmt.Sprintf("%s: %s here, %s on the median of the other %d GPUs", summary.UseWords(u.Owner), unit.Bytes(u.Bytes), unit.Bytes(median), n)
		}
	}
	return best
}
