package memory

import (
	"cmp"
	"slices"

	"assay/analyze/limits"
	"assay/internal/interval"
	"assay/summary"
	"assay/torchprof/memory"
)

// MeasureTimeline measures a timeline of memory by category: the peak of the total, each category at
// that time, and the peak of each category alone, in bytes. The strip has the given number of bins.
func MeasureTimeline(m *memory.Timeline, in summary.Input, bins int) *summary.Summary {
	in.Events, in.Complete = m.Records, m.Complete
	s := &summary.Summary{Schema: summary.Schema, Devices: []summary.Device{}, Kernels: []summary.Kernel{}}
	row := summary.MemoryTimeline{Rank: in.Rank, Moments: int64(len(m.Times)), Older: sumSizes(m.Start)}
	at, highest := m.Start, m.Start
	row.Peak = row.Older
	if n := len(m.Times); n > 0 {
		row.StartNS, row.NS = m.Times[0], summary.Plus(m.Times[n-1], -m.Times[0])
		row.PeakNS = row.StartNS
	}
	for i, sizes := range m.Sizes {
		if sum := sumSizes(sizes); sum > row.Peak {
			row.Peak, row.PeakNS, at = sum, m.Times[i], sizes
		}
		for c := range sizes {
			highest[c] = max(highest[c], sizes[c])
		}
	}
	for c := range memory.Category(memory.Categories) {
		if highest[c] != 0 || at[c] != 0 {
			row.Categories = append(row.Categories, summary.CategoryBytes{Name: c.String(), AtPeak: at[c], Highest: highest[c]})
		}
	}
	slices.SortFunc(row.Categories, func(a, b summary.CategoryBytes) int {
		return cmp.Or(cmp.Compare(b.AtPeak, a.AtPeak), cmp.Compare(b.Highest, a.Highest), cmp.Compare(a.Name, b.Name))
	})
	row.Strip = timelineStrip(m, row, bins)
	s.Inputs = []summary.Input{in}
	s.MemoryTimelines = []summary.MemoryTimeline{row}
	return s
}

func sumSizes(sizes memory.Sizes) (sum int64) {
	for _, n := range sizes {
		sum = summary.Plus(sum, n)
	}
	return sum
}

// timelineStrip returns the categories over time in bins, those with the most at the peak first. A
// bin shows the time within it at which the most was in use.
func timelineStrip(m *memory.Timeline, row summary.MemoryTimeline, bins int) *summary.OwnerStrip {
	window := interval.Span{Start: row.StartNS, End: summary.Plus(summary.Plus(row.StartNS, row.NS), 1)}
	if len(m.Times) == 0 || bins <= 0 || limits.Implausible(window) {
		return nil
	}
	bin := (window.Len() + int64(bins) - 1) / int64(bins)
	used := int((window.Len() + bin - 1) / bin)
	s := &summary.OwnerStrip{StartNS: row.StartNS, BinNS: bin, Live: make([]int64, used)}
	var order []memory.Category
	for _, c := range row.Categories {
		for k := range memory.Category(memory.Categories) {
			if k.String() == c.Name {
				order = append(order, k)
			}
		}
		s.Owners = append(s.Owners, summary.Stratum{Name: c.Name, Bytes: make([]int64, used)})
	}
	now, next := m.Start, 0
	put := func(b int) {
		s.Live[b] = sumSizes(now)
		for i, c := range order {
			s.Owners[i].Bytes[b] = now[c]
		}
	}
	for b := range used {
		put(b)
		for ; next < len(m.Times) && (m.Times[next]-row.StartNS)/bin == int64(b); next++ {
			if now = m.Sizes[next]; sumSizes(now) > s.Live[b] {
				put(b)
			}
		}
	}
	return s
}
