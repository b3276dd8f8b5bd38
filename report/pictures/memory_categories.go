package pictures

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// memoryCategories stacks the categories of memory timelines.
func memoryCategories(s *summary.Summary) (plot.Chart, bool) {
	var strips []stripOf
	for _, t := range s.MemoryTimelines {
		label := fmt.Sprintf("rank %d", t.Rank)
		if view.Numbered(s) || len(s.MemoryTimelines) > 1 {
			label = view.InputNumber(t.Input) + " " + label
		}
		if p := (stripOf{label: label + ", peak " + unit.Bytes(t.Peak), strip: t.Strip}); p.known() {
			strips = append(strips, p)
		}
	}
	c := plot.Chart{
		Title:    "Memory by category over time",
		Subtitle: "categories of PyTorch's profiler; each bin shows its maximum; time from the first sample",
	}
	return strataChart(c, strips, label.Plain)
}
