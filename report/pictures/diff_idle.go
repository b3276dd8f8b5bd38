package pictures

import (
	"fmt"

	"assay/compare"
	"assay/internal/label"
	"assay/report/plot"
	"assay/report/words"
)

func diffIdle(c *compare.Comparison) (plot.Chart, bool) {
	return moveChart(c.Idle.ByOwner(), "cause", plot.Moves{Form: label.Plain}, func(r compare.Row) plot.MoveRow {
		return plot.MoveRow{Label: words.Cause(r.Owner, r.State, r.Name), Parts: []plot.Part{{Color: ownerColor(r.Owner), NS: r.DeltaNS}}, Value: compare.Signed(r.DeltaNS)}
	}, plot.Chart{
		Title:    "Largest changes of idle time by cause",
		Subtitle: fmt.Sprintf("idle time %s; total change %s", ofWhole(c), compare.Signed(c.Idle.DeltaNS)),
	})
}
