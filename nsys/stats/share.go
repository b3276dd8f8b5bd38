package stats

import (
	"fmt"
	"math"

	"assay/diag"
)

// A printed is the share that a row was printed with, in thousandths of a
// percent, beside its total.
type printed struct {
	share int64
	total int64
	line  int
}

// shareOf reads a share in percent, or returns -1.
func shareOf(text string) int64 {
	n, known, err := number(text, 1000, false)
	if err != nil || !known || n < 0 {
		return -1
	}
	return n
}

// checkShares compares the shares that nsys has printed with those of the rows
// that are there: rows that were cut off, by head or by ":rows=N", leave shares
// that are too small, and anything else is wrong.
func (r *reader) checkShares(o *opened) {
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
			Help: "the shares that the tool printed are not those of its own totals: values were changed, or are in other units than their headers say; the totals count here"}, small+other)
	case small > 0:
		help := "the shares that the tool printed are of more rows than are here: some were cut off (head, or :rows=N); every share here is of the rows that are left, so print all of them"
		if largest.share > 0 {
			all := float64(largest.total) / float64(largest.share) * 100_000
			help = fmt.Sprintf("%s; the rows that are here are about %.0f%% of what the tool summed", help, 100*float64(sum)/all)
		}
		r.issues.AddN(diag.Issue{Code: "table-cut", Severity: diag.DataLoss, First: pos, Help: help}, small)
	}
}
