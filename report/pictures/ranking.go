package pictures

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary/row"
)

// mostRanks is the maximum number of bars in a ranking.
const mostRanks = 15

// ranked returns the bars of the first rows per GPU, and a sentence on those that are not shown, with their
// share of a total. It omits rows without time.
func ranked(t *row.Table, most, gpus int, total int64, of string, bar func(*row.Row) plot.RankRow) (bars []plot.RankRow, rest string) {
	left, shown := int64(0), int64(0)
	for i := range t.Rows {
		r := &t.Rows[i]
		switch ns := t.Main(r); {
		case ns <= 0:
		case len(bars) == most:
			left++
		default:
			b := bar(r)
			b.NS = perGPU(ns, gpus)
			bars, shown = append(bars, b), shown+ns
		}
	}
	if left > 0 {
		rest = fmt.Sprintf("%s (%s of %s).", label.Plural(left, "more "+t.Noun), unit.Share(max(0, t.Whole-shown), total), of)
	}
	return bars, rest
}
