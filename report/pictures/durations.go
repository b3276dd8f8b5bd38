package pictures

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
)

func durations(s *summary.Summary) (plot.Chart, bool) {
	var kernels, gaps summary.Histogram
	for _, d := range s.Devices {
		kernels = kernels.Plus(d.Durations)
		gaps = gaps.Plus(d.Gaps)
	}
	var h plot.Histograms
	if n := kernels.Count(); n > 0 {
		title := fmt.Sprintf("Durations of %s, total %s", label.Plural(n, "kernel"), unit.Duration(kernels.TotalNS()))
		h.Panels = append(h.Panels, plot.HistogramPanel{Title: title, Bins: bins(kernels.Buckets)})
	}
	if n := gaps.Count(); n > 0 {
		title := fmt.Sprintf("Durations of %s (GPU idle), total %s", label.Plural(n, "gap"), unit.Duration(gaps.TotalNS()))
		h.Panels = append(h.Panels, plot.HistogramPanel{Title: title, Bins: bins(gaps.Buckets)})
	}
	if len(h.Panels) == 0 {
		return plot.Chart{}, false
	}
	return plot.Chart{
		Title:    "Durations of kernels and GPU gaps",
		Subtitle: "share of each range of durations, all GPUs; everything under 100 ns is one range, because clocks round it",
		Legend:   []plot.Swatch{{Color: plot.ColorCount, Text: "% of the count"}, {Color: plot.ColorTime, Text: "% of the time"}},
		Body:     h,
		Alt:      "Distributions of the durations of kernels and gaps, by count and by time",
	}, true
}

// foldShort joins the buckets below [Shortest] to one that starts at 0.
func foldShort(buckets []summary.Bucket) []summary.Bucket {
	var folded []summary.Bucket
	for _, b := range buckets {
		switch {
		case b.FromNS >= plot.Shortest:
			folded = append(folded, b)
		case len(folded) == 0:
			folded = append(folded, summary.Bucket{Count: b.Count, TotalNS: b.TotalNS})
		default:
			folded[0].Count += b.Count
			folded[0].TotalNS += b.TotalNS
		}
	}
	return folded
}

// upperEdge returns the end of the bucket that starts at ns. The last bucket has no end and is drawn as
// wide as those before it.
func upperEdge(ns int64) int64 {
	if ns < plot.Shortest {
		return plot.Shortest
	}
	edges := summary.Edges()
	i, _ := slices.BinarySearch(edges, ns)
	if i+1 < len(edges) {
		return edges[i+1]
	}
	return ns * 10 / 7
}

// bins returns the bins of a histogram.
func bins(buckets []summary.Bucket) (out []plot.Bin) {
	for _, b := range foldShort(buckets) {
		out = append(out, plot.Bin{FromNS: b.FromNS, ToNS: upperEdge(b.FromNS), Count: b.Count, TotalNS: b.TotalNS})
	}
	return out
}
