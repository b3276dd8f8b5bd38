package pictures

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view/efficiency"
)

// colorRecoverable is the colour of time above the roofline. It is lighter than the colours of bounds.
const colorRecoverable plot.Color = 0xa8d5ba

// mostRecoverable is the maximum number of operators in the picture of recoverable time.
const mostRecoverable = 10

// efficiencyRecoverable divides the GPU time of operators into the time at the roofline
// and the rest.
func efficiencyRecoverable(s *summary.Summary) (plot.Chart, bool) {
	total := efficiency.Sum(s)
	gpus, work := int64(max(1, total.GPUs)), efficiency.Work(&total.EfficiencySums)
	var rows []plot.BarRow
	var shown []efficiency.Operator
	sum, more := int64(0), 0
	for _, o := range efficiency.Operators(s) {
		if o.RooflineNS == nil || o.GPUNS <= 0 {
			continue
		}
		if len(rows) == mostRecoverable || o.RecoverableNS <= 0 {
			more++
			continue
		}
		sum += o.RecoverableNS
		shown = append(shown, o)
		rows = append(rows, plot.BarRow{Label: o.Name(), Parts: []plot.Part{
			{Color: boundColor(o.Bound), NS: max(0, o.GPUNS-o.RecoverableNS) / gpus}, {Color: colorRecoverable, NS: o.RecoverableNS / gpus},
		}, Note: "  " + unit.Share(max(0, o.GPUNS-o.RecoverableNS), o.GPUNS) + " of roofline"})
	}
	if len(rows) == 0 {
		return plot.Chart{}, false
	}
	per := ""
	if gpus > 1 {
		per = fmt.Sprintf(" per GPU, mean of %d", gpus)
	}
	legend := boundLegend(shown)
	for i := range legend {
		legend[i].Text = "roofline: " + legend[i].Text
	}
	c := plot.Chart{
		Title: "Recoverable time: GPU time above the roofline",
		Subtitle: fmt.Sprintf("up to %s%s; FLOPs known for %s of total GPU time, bytes for %s", unit.Duration(total.RecoverableNS/gpus), per,
			unit.Share(total.FLOPsKnownNS, work), unit.Share(min(total.BytesKnownNS, work), work)),
		Legend: append(legend, plot.Swatch{Color: colorRecoverable, Text: "recoverable"}), Body: plot.Stacks{Rows: rows, Wide: true},
		Alt: fmt.Sprintf("GPU time of %d operators, divided into roofline and recoverable time; the first accounts for %s of the recoverable time",
			len(rows), unit.Share(shown[0].RecoverableNS, total.RecoverableNS)),
	}
	if more > 0 {
		c.Caption = fmt.Sprintf("%s (%s of recoverable time).", label.Plural(int64(more), "more operator"), unit.Share(max(0, total.RecoverableNS-sum), total.RecoverableNS))
	}
	return c, true
}
