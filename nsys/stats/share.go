package stats

import (
	"fmt"
	"math"

	"assay/internal/diag"
)

// A printed is the printed share of a row, in thousandths of a percent, with
// its total.
type printed struct {
	share int64
	total int64
	line  int
}

// shareOf parses a share in percent. It returns -1 if that fails.
func shareOf(text string) int64 {
	n, known, err := number(text, 1000, false)
	if err != nil || !known || n < 0 {
		return -1
	}
	return n
}

// checkShares compares the printed shares with those of the rows present.
// Shares that are too small mean that rows were cut off, by head or by
// ":rows=N"; any other difference is an error.
func (r *reader) checkShares(o *openTable) {
	total, ok := o.table.Column("total")
	if !ok || len(o.shares) == 0 {
		return
	}
	sum := o.table.Sum(total).Value
	if sum <= 0 || sum == math.MaxInt64 {
		return
	}
	const tolerance = 60 // thousandths of a percent: one decimal is printed
	var small, other int64
	first := 0
	largest := printed{}
	for _, p := range o.shares {
		want := float64(p.total) / float64(sum) * 100_000
		switch diff := want - float64(p.share); {
		case diff > tolerance:
			small++
		case diff < -tolerance:
			other++
		default:
			continue
		}
		if first == 0 {
			first = p.line
		}
		if p.total > largest.total {
			largest = p
		}
	}
	pos := diag.Pos{File: r.name, Line: first}
	switch {
	case other > 0:
		r.issues.AddN(diag.Issue{Code: "share-mismatch", Severity: diag.Suspect, First: pos,
			Help: "The printed shares do not match the printed totals: values were changed, or their units differ from the headers. The totals are used."}, small+other)
	case small > 0:
		help := "the printed shares refer to more rows than the input has: rows were cut off (head, or :rows=N); all shares here refer to the remaining rows, so print all rows"
		if largest.share > 0 {
			all := float64(largest.total) / float64(largest.share) * 100_000
			help = fmt.Sprintf("%s; the remaining rows are about %.0f%% of the tool's sum", help, 100*float64(sum)/all)
		}
		r.issues.AddN(diag.Issue{Code: "table-cut", Severity: diag.DataLoss, First: pos, Help: help}, small)
	}
}
