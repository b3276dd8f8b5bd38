package pictures

import (
	"assay/report/plot"
	"assay/summary"
)

// mostRanks is the largest number of bars in a ranking.
const mostRanks = 15

// ranked returns the bars of the first rows of a sorted list, and their total time in
// ns. It omits rows without time.
func ranked[R any](list []R, most int, bar func(R) plot.RankRow) (bars []plot.RankRow, shown int64) {
	for _, row := range list[:min(most, len(list))] {
		b := bar(row)
		if b.NS <= 0 {
			break
		}
		bars = append(bars, b)
		shown = summary.Plus(shown, b.NS)
	}
	return bars, shown
}
