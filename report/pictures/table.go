package pictures

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// table draws the largest table of a kind.
func table(of string) func(*summary.Summary, judge.Result) (plot.Chart, bool) {
	return func(s *summary.Summary, _ judge.Result) (plot.Chart, bool) {
		v, ok := view.LargestTable(s, of)
		if !ok {
			return plot.Chart{}, false
		}
		c, ok := tableRanking(v)
		if at := v.Input; len(s.Inputs) > 1 && at >= 0 && at < len(s.Inputs) {
			short, _ := view.ShortPaths(s)
			c.Subtitle += ", from " + label.Clip(label.Clean(short[at]), 60)
		}
		return c, ok
	}
}

// tableRanking draws the rows with the largest shares. If there are no shares, it draws
// the rows with the largest totals, which may be nested.
func tableRanking(v view.ToolTable) (plot.Chart, bool) {
	column, shares := v.ShareColumn, v.ShareColumn >= 0 && v.Columns[v.ShareColumn].Unit == "ns"
	if !shares {
		column = v.RankColumn
	}
	at := func(r summary.TableRow) int64 { n, _ := r.Value(column); return n }
	rows := slices.Clone(v.Rows)
	slices.SortStableFunc(rows, func(a, b summary.TableRow) int { return cmp.Compare(at(b), at(a)) })
	present := map[string]bool{}
	var bars []plot.RankRow
	shown := int64(0)
	for _, row := range rows[:min(mostRanks, len(rows))] {
		if at(row) <= 0 {
			break
		}
		color := plot.ColorHost
		if row.Class != "" {
			color = classColor(row.Class)
			present[row.Class] = true
		}
		bars, shown = append(bars, plot.RankRow{Label: row.Name, Color: color, NS: at(row)}), shown+at(row)
	}
	if len(bars) < 2 {
		return plot.Chart{}, false // a single bar shows nothing
	}
	r := plot.Ranking{Form: v.NameForm(), Rows: bars}
	if shares {
		r.Total = v.ShareTotal
	}
	title := v.ColumnTitle(column)
	c := plot.Chart{Title: v.Heading(), Body: r}
	c.Subtitle = fmt.Sprintf("%s, in a table of %s; rows may be nested", title, label.Clip(label.Clean(v.Tool), 30))
	c.Alt = fmt.Sprintf("Bars of the %d %s with the most time; the first has %s", len(r.Rows), v.Kind.Plural, unit.Duration(r.Rows[0].NS))
	if shares {
		c.Subtitle = fmt.Sprintf("%s in %% of %s, in a table of %s", title, v.ShareOfText(), label.Clip(label.Clean(v.Tool), 30))
	}
	c.Legend = classLegend(present)
	if rest := len(rows) - len(r.Rows) + int(max(0, min(v.Left, 1<<30))); rest > 0 {
		c.Caption = label.Plural(int64(rest), "more row") + "."
		if shares {
			c.Caption = fmt.Sprintf("%s (%s of %s).", label.Plural(int64(rest), "more row"), unit.Share(v.RowsTotal-shown, v.ShareTotal), v.ShareOf())
		}
	}
	return c, true
}
