package pictures

import (
	"fmt"
	"slices"

	"assay/compare"
	"assay/internal/label"
	"assay/report/plot"
)

func diffKernels(c *compare.Comparison) (plot.Chart, bool) {
	return moveChart(c.Kernels, "kernel", plot.Moves{Form: label.Kernel}, func(r compare.Row) plot.MoveRow {
		return plot.MoveRow{Label: r.Name, Parts: []plot.Part{{Color: plot.ColorByCount, NS: r.CountNS}, {Color: plot.ColorByDuration, NS: r.DurationNS}}, Value: compare.Signed(r.DeltaNS)}
	}, plot.Chart{
		Title:    "Kernels with the largest changes",
		Subtitle: fmt.Sprintf("total kernel time %s; total change %s", ofWhole(c), compare.Signed(c.Kernels.DeltaNS)),
		Legend:   []plot.Swatch{{Color: plot.ColorByCount, Text: "count effect"}, {Color: plot.ColorByDuration, Text: "duration effect"}},
	})
}

// moveChart adds the rows that changed, and counts the rows that it leaves out.
func moveChart(p compare.Part, noun string, m plot.Moves, row func(compare.Row) plot.MoveRow, chart plot.Chart) (plot.Chart, bool) {
	moved := slices.DeleteFunc(slices.Clone(p.Rows), func(r compare.Row) bool { return r.DeltaNS == 0 })
	if len(moved) == 0 {
		return plot.Chart{}, false
	}
	rest := moved[min(mostRanks, len(moved)):]
	for _, r := range moved[:len(moved)-len(rest)] {
		m.Rows = append(m.Rows, row(r))
	}
	if len(rest) > 0 {
		sum := int64(0)
		for _, r := range rest {
			sum += r.DeltaNS
		}
		chart.Caption = fmt.Sprintf("%s, total change %s.", label.Plural(int64(len(rest)), "more "+noun), compare.Signed(sum))
	}
	chart.Body = m
	chart.Alt = fmt.Sprintf("Changes of %s", label.Plural(int64(len(m.Rows)), noun))
	return chart, true
}
