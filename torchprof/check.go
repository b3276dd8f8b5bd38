package torchprof

import (
	"fmt"
	"math"
	"slices"

	"assay/internal/diag"
	"assay/internal/profile"
)

// end ends a table: it adds the rows to the result and an issue for each
// oddity.
func (f *Finder) end(o *openTable) {
	f.open = slices.DeleteFunc(f.open, func(p *openTable) bool { return p == o })
	if f.printed++; f.printed > maxTables {
		f.issueAt(o.at, "too-many-tables", diag.DataLoss,
			fmt.Sprintf("tables over the limit of %d in one input were left out", maxTables), 1)
		return
	}
	tables := o.tables()
	f.out.List = append(f.out.List, tables...)
	f.addIssues(o)
	f.checkShares(o)
	for _, t := range tables {
		f.checkTotal(o, t)
	}
}

// addIssues adds an issue for each oddity of a table.
func (f *Finder) addIssues(o *openTable) {
	c := &o.counts
	f.issueAt(c.malformed.at, "row-malformed", diag.DataLoss,
		"Lines within a table whose cells do not match its header were skipped. Their times are missing from every total.", c.malformed.n)
	f.issueAt(c.unreadable.at, "cell-unreadable", diag.DataLoss,
		"rows have values without a unit, or that are not numbers; these values are left out, the others are used", c.unreadable.n)
	f.issueAt(c.between.at, "lines-between-rows", diag.Info,
		"lines of other programs are between the rows of a table; a row that is split by one of them is missing", c.between.n)
	f.issueAt(c.omitted.at, "rows-omitted", diag.Info,
		"the table contains dots instead of rows that were left out", c.omitted.n)
	f.issueAt(c.cut.at, "names-cut", diag.Info,
		"The profiler shortened names (to 55 characters by default). Rows with equal shortened names stay separate. For full names and categories, print with table(max_name_column_width=None).", c.cut.n)
	if o.swapped {
		f.issueAt(o.at, "columns-swapped", diag.Info,
			"the profiler swaps the columns Source Location and Total FLOPs if both are on; assay corrected this", 1)
	}
	if !o.footer {
		f.issueAt(o.at, "table-unfinished", diag.DataLoss, "A table ends without its last rule: rows may be missing. Copy the text again.", 1)
	}
	if n := o.left[ofCPU] + o.left[ofDevice]; n > 0 {
		f.issueAt(o.at, "table-rows-pooled", diag.DataLoss,
			"the row limit was reached (it is lower if names are very long); the rows counted here were added up in one row: all sums are correct, but their names are missing", n)
	}
	for _, t := range o.totals {
		if !t.cell.Known {
			f.issueAt(t.line, "cell-unreadable", diag.DataLoss, "The total below a table has no unit or is not a number. The sum of the rows is used instead.", 1)
		}
	}
}

// checkShares compares the printed shares with the shares computed from the
// times and the printed totals, within the rounding error. Without a total it
// compares nothing, because rows may have been left out.
func (f *Finder) checkShares(o *openTable) {
	var wrong oddity
	var example string
	for _, s := range o.shares {
		all, ok := o.totalOf(s.place)
		if !ok || all.cell.Value <= 0 {
			continue
		}
		whole := float64(all.cell.Value)
		want := 100 * float64(s.time) / whole
		slack := 0.0051 + 100*(float64(s.res)+math.Abs(want)/100*float64(all.res))/whole
		if math.Abs(want-s.percent) <= slack {
			continue
		}
		if wrong.add(s.line); wrong.n == 1 {
			example = fmt.Sprintf("the first is %.2f%%, but its time is %.2f%% of the total", s.percent, want)
		}
	}
	f.issueAt(wrong.at, "share-mismatch", diag.Suspect,
		"shares in percent do not match the times in their rows and the total below the table: "+example+"; the text was changed, or comes from two tables. The times are used", wrong.n)
}

// checkTotal compares the printed total with the sum of the rows. A smaller sum
// is usual: the profiler prints 100 rows by default.
func (f *Finder) checkTotal(o *openTable, t *profile.Table) {
	for i := range t.Totals {
		said := t.Totals[i]
		if !said.Known {
			continue
		}
		place := o.device
		if t.Columns[i].Name == "self_cpu" {
			place = cpu
		}
		all, _ := o.totalOf(place)
		sum := t.Sum(i)
		// Each row and the total are rounded by at most half of their last
		// digit.
		slack := all.res + o.rounding(place)
		switch {
		case !sum.Known:
		case sum.Value > said.Value+slack:
			f.issueAt(all.line, "total-mismatch", diag.Suspect, fmt.Sprintf(
				"the rows of a table add up to more than the total below it: %s of %s time, the printed total is %s; the kernels may include ranges or duplicate rows",
				millis(sum.Value), place, millis(said.Value)), 1)
		case place != cpu && o.explains(said.Value-sum.Value, slack):
			t.Totals[i] = profile.Cell{} // the total counts the time of some kernels twice
		case sum.Value < said.Value-slack:
			f.issueAt(all.line, "rows-not-printed", diag.Info, fmt.Sprintf(
				"The rows of a table add up to less than the total below it (first such table: %s of %s of %s time). The profiler printed only some rows. Print all with table(row_limit=-1).",
				millis(sum.Value), millis(said.Value), place), 1)
		default:
			t.Totals[i] = profile.Cell{} // the rows give the more exact sum
		}
	}
}

// explains reports whether the rows that count time twice make the difference between the printed
// total and the sum of the kernels.
func (o *openTable) explains(surplus, slack int64) bool {
	return slices.ContainsFunc(o.twice, func(n int64) bool { return n > slack && surplus >= n-slack && surplus <= n+slack })
}

// rounding returns the maximum rounding error of the sum of a place's rows.
func (o *openTable) rounding(place string) (slack int64) {
	for _, s := range o.shares {
		if s.place == place {
			slack += s.res
		}
	}
	if slack == 0 {
		slack = int64(len(o.rows)) * 1000
	}
	return slack
}

func millis(ns int64) string { return fmt.Sprintf("%.3f ms", float64(ns)/1e6) }
