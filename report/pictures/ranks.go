package pictures

import (
	"fmt"
	"math"
	"strings"

	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// Helpers that the pictures of ranks share.

// rankPlaces returns the GPUs of several ranks in rank order, and the axis that they share. It returns nil
// if ranks cannot be compared.
func rankPlaces(s *summary.Summary) (devices []int, places plot.Places) {
	devices = view.RankDevices(s)
	if devices == nil {
		return nil, places
	}
	places.Name, places.Labels = view.RankNames(s, devices)
	return devices, places
}

// rankAt returns the name of a position for a sentence: "rank 3".
func rankAt(p plot.Places, i int) string {
	if rank, gpu, ok := strings.Cut(p.Labels[i], ":"); ok {
		return "rank " + rank + " GPU " + gpu
	}
	return p.Name + " " + p.Labels[i]
}

// paceFlags returns flags at the slowest, the fastest and the median rank.
func paceFlags(p view.Pace, places plot.Places) (flags []plot.Flag) {
	what := "exposed communication "
	if p.Waits {
		what = "own wait "
	}
	add := func(name string, i int) {
		if i >= 0 {
			flags = append(flags, plot.Flag{At: i, Text: name + ": " + rankAt(places, i) + ", " + what + unit.Duration(p.OwnNS[i])})
		}
	}
	add("slowest", p.Slowest)
	add("fastest", p.Fastest)
	add("median", p.Median)
	return flags
}

// paceCaption states how ranks are ordered, or why they are not.
func paceCaption(p view.Pace) string {
	switch p.Unknown {
	case view.PaceNoWaiting:
		return "Without communication on every rank it is unknown which rank is slow."
	case view.PaceUneven:
		return "The captures of the ranks differ in length or in the number of steps, so the slowest rank is unknown."
	case view.PaceStages:
		return "With send/recv, ranks may be stages of a pipeline, which do different work. So no rank is called slow."
	case view.PaceEqual:
		return "The waiting of the ranks differs by at most 1% of the longest window, so no rank is called slow."
	}
	if p.Waits {
		return "The slowest rank is the one that the others wait for longest in collectives; the fastest has the longest own wait."
	}
	return "The slowest rank has the least exposed communication, which includes the waiting for other ranks; the fastest has the most."
}

// relative returns the differences from the median, as shares of it. Times that are not
// recorded are NaN.
func relative(r view.RankRow) []float64 {
	out := make([]float64, len(r.NS))
	for i, ns := range r.NS {
		out[i] = math.NaN()
		if ns >= 0 && r.Median > 0 {
			out[i] = (float64(ns) - float64(r.Median)) / float64(r.Median)
		}
	}
	return out
}

// namedCells is the maximum number of positions for which each cell can show its value.
const namedCells = 14

// mostFlags is the maximum number of flags in a picture.
const mostFlags = 3

// leastLate is the minimum excess of a flagged time over the median, as a share of the median.
const leastLate = 0.1

// lateFlags returns flags at the positions with the largest differences, if cells cannot show their values.
func lateFlags(h plot.HeatMap) (flags []plot.Flag) {
	n := len(h.Places.Labels)
	if n <= namedCells {
		return nil
	}
	most, of := make([]float64, n), make([]int, n)
	for r, row := range h.Rows {
		for i, v := range row.Values {
			if v > most[i] {
				most[i], of[i] = v, r
			}
		}
	}
	least := max(leastLate, h.Full()/2)
	for range mostFlags {
		at := 0
		for i, v := range most {
			if v > most[at] {
				at = i
			}
		}
		if most[at] < least {
			break
		}
		flags = append(flags, plot.Flag{At: at, Text: fmt.Sprintf("%s: %s %s", rankAt(h.Places, at), h.Rows[of[at]].Label, plot.Signed(most[at]))})
		most[at] = 0
	}
	return flags
}
