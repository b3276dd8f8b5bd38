package analyze

import (
	"slices"

	"assay/interval"
	"assay/summary"
	"assay/trace"
)

// activity cuts a window by the set of classes that run at the same time. The
// cells sum to the window's length.
func (d *device) activity(window interval.Span) (a summary.Activity) {
	// The layers are in the order of the class bits, so masks are class sets.
	copy(a[:], interval.Partition(window, d.layers[:]...))
	return a
}

// measure measures one device over its window, from the first start to the
// last end of its events. If that window is implausible, the strip and the
// gaps are left out, because nearly all of the window would be one gap of years.
func (tl *timeline) measure(d *device, rank, bins int) summary.Device {
	out := summary.Device{
		Rank: rank, Device: d.ordinal, Name: deviceName(tl.t.Meta, d.ordinal),
		StartNS: d.window.Start, WindowNS: d.window.Len(),
		Activity: d.activity(d.window),
		Events:   int64(len(d.work)),
	}
	for _, w := range d.work {
		if a := tl.activity(w); a.Kind == trace.Kernel && !tl.isWholeGraph(a.Name) {
			out.Durations.Add(w.Dur)
		}
	}
	if implausible(d.window) {
		return out
	}
	out.Strip, out.Utilization, out.Drift = strip(d, bins), newUtilization(d.window), driftOf(tl, d)
	busy := d.window.Start // since when
	work := func(until int64) {
		spread(out.Utilization.BusyNS, busy-d.window.Start, until-d.window.Start, out.Utilization.ChunkNS)
	}
	for gap := range d.gaps() {
		out.Gaps.Add(gap.Len())
		out.LargestGaps = keepLongest(out.LargestGaps, summary.Gap{StartNS: gap.Start, NS: gap.Len()})
		work(gap.Start)
		busy = gap.End
	}
	if busy < d.window.End {
		work(d.window.End)
	}
	return out
}

// keepLongest inserts g into gaps, which are sorted longest first, and drops
// those over summary.MaxLargestGaps. Gaps must come in the order of their start,
// so g is inserted after gaps of equal length.
func keepLongest(gaps []summary.Gap, g summary.Gap) []summary.Gap {
	i := len(gaps)
	for i > 0 && gaps[i-1].NS < g.NS {
		i--
	}
	if i == summary.MaxLargestGaps {
		return gaps
	}
	if len(gaps) == summary.MaxLargestGaps {
		gaps = gaps[:summary.MaxLargestGaps-1]
	}
	return slices.Insert(gaps, i, g)
}

// strip bins the window: for each class, how long at least one of its events
// ran within each bin.
func strip(d *device, bins int) *summary.Strip {
	if d.window.Empty() || bins <= 0 {
		return nil
	}
	bin := (d.window.Len() + int64(bins) - 1) / int64(bins)
	used := (d.window.Len() + bin - 1) / bin
	out := &summary.Strip{BinNS: bin, NS: make(map[string][]int64)}
	for i, class := range summary.Singles() {
		spans := d.layers[i].Spans()
		if len(spans) == 0 {
			continue
		}
		row := make([]int64, used)
		for _, s := range spans {
			spread(row, s.Start-d.window.Start, s.End-d.window.Start, bin)
		}
		out.NS[class.String()] = row
	}
	return out
}

// spread adds the time from start to end to the bins it falls into.
func spread(row []int64, start, end, bin int64) {
	for start < end {
		i := start / bin
		stop := min(end, (i+1)*bin)
		row[i] += stop - start
		start = stop
	}
}
