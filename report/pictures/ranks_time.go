package pictures

import (
	"fmt"
	"math"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

const (
	// timeRows is the number of equal parts into which the common window is divided.
	timeRows = 24
	// leastTimeDifference is the smallest maximum difference that is drawn; less cannot be seen.
	leastTimeDifference = 0.02
)

// ranksTime shows in which parts of the window a rank communicates less than the median rank. The
// others wait for it there, whether it computes or is idle.
func ranksTime(s *summary.Summary) (plot.Chart, bool) {
	devices, places := rankPlaces(s)
	waits := view.RankWaits(s, devices)
	if devices == nil || waits == nil {
		return plot.Chart{}, false
	}
	from, span, ok := commonWindow(s, devices, waits)
	if !ok {
		return plot.Chart{}, false
	}
	h := plot.HeatMap{Places: places, Head: "median", Middle: "median of the ranks", Less: "less communication", More: "more communication"}
	most := 0.0
	for row := range timeRows {
		a, b := span*float64(row)/timeRows, span*float64(row+1)/timeRows
		values := make([]float64, len(devices))
		var known []float64
		for i, at := range devices {
			values[i] = math.NaN()
			if !math.IsNaN(from[i]) {
				values[i] = commShare(&s.Devices[at], a-from[i], b-from[i])
			}
			if !math.IsNaN(values[i]) {
				known = append(known, values[i])
			}
		}
		if len(known) == 0 {
			return plot.Chart{}, false
		}
		median := stat.Median(known)
		for i := range values {
			if values[i] -= median; math.Abs(values[i]) > most { // NaN is not
				most = math.Abs(values[i])
			}
		}
		at := "0"
		if row > 0 {
			at = unit.Duration(int64(a))
		}
		h.Rows = append(h.Rows, plot.HeatRow{Label: at, Note: fmt.Sprintf("%.0f%%", 100*median), Values: values})
	}
	if most < leastTimeDifference {
		return plot.Chart{}, false
	}
	if pace := view.PaceOf(s, devices); pace.Unknown == view.PaceKnown && len(devices) > namedCells {
		h.Places.Flags = paceFlags(pace, places)
	}
	return plot.Chart{
		Title:    "Communication by rank over time",
		Subtitle: fmt.Sprintf("part of each %s in which communication ran: difference from the median of the ranks, in %% of the bin; time runs downwards", unit.Duration(int64(span/timeRows))),
		Body:     h,
		Caption:  "Where a rank communicates less than the median rank, the others may be waiting for it. Clocks are aligned by the ends of matched collectives.",
		Alt:      fmt.Sprintf("Heat map of the communication of %s over time", label.Plural(int64(len(devices)), "GPU")),
	}, true
}

// commonWindow returns where the window of each GPU begins on an axis with aligned clocks, in ns
// from the first begin, NaN for GPUs whose clock is not aligned, and the length of the axis. It is
// false if under two GPUs or under half of them are aligned, or if their windows are far apart.
func commonWindow(s *summary.Summary, devices []int, waits []*summary.RankWait) (from []float64, span float64, ok bool) {
	starts := make([]int64, len(devices))
	first, longest, n := int64(math.MaxInt64), int64(0), 0
	aligned := func(i int) bool {
		return waits[i] != nil && waits[i].OffsetNS != nil && s.Devices[devices[i]].Strip != nil && s.Devices[devices[i]].WindowNS > 0
	}
	for i, at := range devices {
		if aligned(i) {
			d := &s.Devices[at]
			starts[i] = summary.Plus(summary.Plus(d.StartNS, baseTime(s, d.Input)), -*waits[i].OffsetNS)
			first, longest = min(first, starts[i]), max(longest, d.WindowNS)
			n++
		}
	}
	if n < 2 || 2*n < len(devices) {
		return nil, 0, false
	}
	for i, at := range devices {
		if !aligned(i) {
			from = append(from, math.NaN())
			continue
		}
		from = append(from, float64(starts[i]-first))
		span = max(span, float64(starts[i]-first)+float64(s.Devices[at].WindowNS))
	}
	return from, span, span <= maxStretch*float64(longest)
}

// commShare returns the part of an interval in which compute ran, from the strip of the GPU.
// The interval is in ns from the begin of the window. It is NaN if the window covers under half of it.
func commShare(d *summary.Device, from, to float64) float64 {
	length := to - from
	from, to = max(0, from), min(float64(d.WindowNS), to)
	if to-from < length/2 || d.Strip.BinNS <= 0 {
		return math.NaN()
	}
	bin, sum := float64(d.Strip.BinNS), 0.0
	bins := d.Strip.NS[summary.ClassComm.String()]
	for i := int(from / bin); i < len(bins) && float64(i)*bin < to; i++ {
		overlap := min(to, float64(i+1)*bin) - max(from, float64(i)*bin)
		sum += float64(float64(bins[i])*overlap) / bin
	}
	return sum / (to - from)
}
