package torchprof

import (
	"fmt"
	"math"
	"slices"

	"assay/diag"
	"assay/profile"
)

// end ends a table: what it holds is added to what was read, and what is odd
// about it is said.
func (f *Finder) end(o *opened) {
	f.open = slices.DeleteFunc(f.open, func(p *opened) bool { return p == o })
	if f.printed++; f.printed > maxTables {
		f.issueAt(o.at, "too-many-tables", diag.DataLoss, fmt.Sprintf("tables over the limit of %d in one input were left out", maxTables), 1)
		return
	}
	tables := o.tables()
	f.out.List = append(f.out.List, tables...)
	f.say(o)
	f.checkShares(o)
	for _, t := range tables {
		f.checkTotal(o, t)
	}
}

// say turns the oddities of a table into issues.
func (f *Finder) say(o *opened) {
	c := &o.counts
	f.issueAt(c.malformed.at, "row-malformed", diag.DataLoss,
		"lines within a table that have other cells than its header were skipped; their times are missing from every sum", c.malformed.n)
	f.issueAt(c.unreadable.at, "cell-unreadable", diag.DataLoss,
		"rows have values without a unit, or that are no numbers; these values are left out, the others stand", c.unreadable.n)
	f.issueAt(c.between.at, "lines-between-rows", diag.Info,
		"lines of other writers stand between the rows of a table; a row that one of them has broken is missing", c.between.n)
	f.issueAt(c.omitted.at, "rows-omitted", diag.Info,
		"dots stand in the place of rows that somebody has left out", c.omitted.n)
	f.issueAt(c.cut.at, "names-cut", diag.Info,
		"the profiler cuts names, to 55 characters if it is not told otherwise; rows whose names are cut alike stay apart, and categories go by what is left: print with table(max_name_column_width=None) for whole names", c.cut.n)
	if o.swapped {
		f.issueAt(o.at, "columns-swapped", diag.Info,
			"the profiler mixes up the columns Source Location and Total FLOPs when both are on; they were put right", 1)
	}
	if !o.footer {
		f.issueAt(o.at, "table-unfinished", diag.DataLoss, "a table ends without its last rule: rows may be missing; copy the text again", 1)
	}
	if n := o.left[ofCPU] + o.left[ofDevice]; n > 0 {
		f.issueAt(o.at, "table-rows-pooled", diag.DataLoss,
			"an input may have no more rows, fewer if names are very long; those counted here are added up in one: every sum stands, but not which names they had", n)
	}
	for _, t := range o.totals {
		if !t.cell.Known {
			f.issueAt(t.line, "cell-unreadable", diag.DataLoss, "the total below a table has no unit or is no number; sums of its rows stand in its place", 1)
		}
	}
}

// checkShares compares the shares that were printed with those that follow from
// the times and the printed totals, as far as rounding allows. Without a total
// there is nothing to compare: rows may have been left out.
func (f *Finder) checkShares(o *opened) {
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
			example = fmt.Sprintf("the first says %.2f%% where its time is %.2f%% of the total", s.percent, want)
		}
	}
	f.issueAt(wrong.at, "share-mismatch", diag.Suspect,
		"shares in percent do not follow from the times beside them and the total below the table: "+example+"; the text was changed, or is of two tables. The times are used", wrong.n)
}

// checkTotal compares the total that was printed with what the rows add up to.
// Less is usual: the profiler prints 100 rows if nothing else is asked for.
func (f *Finder) checkTotal(o *opened, t *profile.Table) {
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
		// Each row is rounded by half its last digit, and the total too.
		slack := all.res + o.rounding(place)
		switch {
		case !sum.Known:
		case sum.Value > said.Value+slack:
			f.issueAt(all.line, "total-mismatch", diag.Suspect, fmt.Sprintf(
				"the rows of a table add up to more than the total below it: %s of %s time, %s are printed; ranges may be among the kernels, or rows there twice",
				millis(sum.Value), place, millis(said.Value)), 1)
		case sum.Value < said.Value-slack:
			f.issueAt(all.line, "rows-not-printed", diag.Info, fmt.Sprintf(
				"the rows of a table add up to less than the total below it, %s of %s of %s time in the first such table: it lists the largest only, or only the outermost; print all with table(row_limit=-1)",
				millis(sum.Value), millis(said.Value), place), 1)
		default:
			t.Totals[i] = profile.Cell{} // the rows have the more exact sum
		}
	}
}

// rounding returns how far the rows of a place may be from their sum.
func (o *opened) rounding(place string) (slack int64) {
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
