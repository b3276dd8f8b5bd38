package gpu

import (
	"slices"

	"assay/analyze/limits"
	"assay/internal/interval"
	"assay/summary"
	"assay/trace"
)

// Activity divides a window by the set of classes that run at the same time. The parts, in ns,
// sum to the window's length.
func (d *Device) Activity(window interval.Span) (a summary.Activity) {
	// The layers have the order of the class bits, so masks of Partition are class sets.
	copy(a[:], interval.Partition(window, d.Layers[:]...))
	return a
}

// Measure measures one device over its window, from the first start to the last end of its
// events. If the window is implausible, strip and gaps are left out: nearly all of it would be
// one gap of years.
func (tl *Timeline) Measure(d *Device, rank, bins int) summary.Device {
	out := summary.Device{
		Rank: rank, Device: d.Ordinal, Name: DeviceName(tl.Trace.Meta, d.Ordinal),
		StartNS: d.Window.Start, WindowNS: d.Window.Len(),
		Activity: d.Activity(d.Window),
	}
	for _, w := range d.Work {
		if !tl.Starts(w) {
			continue
		}
		out.Events++
		if a := tl.Activity(w); a.Kind == trace.Kernel && !tl.IsWholeGraph(a.Name) {
			out.Durations.Add(a.Dur)
		}
	}
	if limits.Implausible(d.Window) {
		return out
	}
	out.Strip, out.Utilization, out.Drift = strip(d, bins), newUtilization(d.Window), driftOf(tl, d)
	busy := d.Window.Start // end of the last gap
	work := func(until int64) {
		Spread(out.Utilization.BusyNS, busy-d.Window.Start, until-d.Window.Start, out.Utilization.ChunkNS)
	}
	for gap := range d.Gaps() {
		out.Gaps.Add(gap.Len())
		out.LargestGaps = KeepLongest(out.LargestGaps, summary.Gap{StartNS: gap.Start, NS: gap.Len()})
		work(gap.Start)
		busy = gap.End
	}
	if busy < d.Window.End {
		work(d.Window.End)
	}
	return out
}

// KeepLongest inserts g into gaps, which are sorted longest first, and drops all but the first
// [summary.MaxLargestGaps]. Callers pass gaps in the order of start, so g goes after gaps of equal
// length.
func KeepLongest(gaps []summary.Gap, g summary.Gap) []summary.Gap {
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

// strip divides the window into bins: for each class, the ns of each bin during which at least
// one of its events ran.
func strip(d *Device, bins int) *summary.Strip {
	if d.Window.Empty() || bins <= 0 {
		return nil
	}
	bin, used := Bin(d.Window, bins), Bins(d.Window, bins)
	out := &summary.Strip{BinNS: bin, NS: make(map[string][]int64)}
	for i, class := range summary.Singles() {
		spans := d.Layers[i].Spans()
		if len(spans) == 0 {
			continue
		}
		row := make([]int64, used)
		for _, s := range spans {
			Spread(row, s.Start-d.Window.Start, s.End-d.Window.Start, bin)
		}
		out.NS[class.String()] = row
	}
	return out
}

// Bin returns the length, in ns, of equal bins that divide a window into at most maxBins. The
// last bin may extend beyond the window.
func Bin(window interval.Span, maxBins int) int64 { return (window.Len()-1)/int64(maxBins) + 1 }

// Bins returns the number of bins of length [Bin].
func Bins(window interval.Span, maxBins int) int {
	return int((window.Len()-1)/Bin(window, maxBins) + 1)
}

// Spread adds the time from start to end, relative to the first bin, to the bins of row.
func Spread(row []int64, start, end, bin int64) {
	for start < end {
		i := start / bin
		stop := min(end, (i+1)*bin)
		row[i] += stop - start
		start = stop
	}
}

// newUtilization cuts a window into chunks of equal length.
func newUtilization(window interval.Span) *summary.Utilization {
	if window.Empty() {
		return nil
	}
	chunk := (window.Len()-1)/summary.UtilizationChunks + 1
	return &summary.Utilization{ChunkNS: chunk, BusyNS: make([]int64, (window.Len()-1)/chunk+1)}
}
