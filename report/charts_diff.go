package report

import (
	"fmt"
	"slices"

	"assay/compare"
	"assay/unit"
)

// ofWhole says what the times of a picture are.
func ofWhole(c *compare.Comparison) string {
	if c.Per == compare.PerStep {
		return "of one step on one device, mean over " + unit.Count(c.Base.Parts) + " and " + plural(c.New.Parts, "step")
	}
	return "of the window of one device"
}

func diffBudget(c *compare.Comparison) (Chart, bool) {
	colors := []Color{colorCompute, colorComm, colorCopy, colorIdle}
	chart := Chart{Title: "Where the time went, before and now", Subtitle: "time " + ofWhole(c)}
	base, new := BarRow{Label: "base"}, BarRow{Label: "new"}
	for i, r := range c.Budget.Rows {
		chart.Legend = append(chart.Legend, Swatch{colors[i], fmt.Sprintf("%s %s", budgetNames()[i], compare.Signed(r.DeltaNS))})
		base.Parts, new.Parts = append(base.Parts, Part{colors[i], r.BaseNS}), append(new.Parts, Part{colors[i], r.NewNS})
	}
	new.Note = " (" + compare.SignedShare(c.Budget.DeltaNS, c.Budget.BaseNS) + ")"
	chart.Body = Stacks{[]BarRow{base, new}}
	chart.Alt = fmt.Sprintf("Time budget before and now: %s and %s", unit.Duration(c.Budget.BaseNS), unit.Duration(c.Budget.NewNS))
	return chart, true
}

func diffWaterfall(c *compare.Comparison) (Chart, bool) {
	w := Waterfall{From: c.Budget.BaseNS, To: c.Budget.NewNS, FromLabel: "base", ToLabel: "new"}
	for i, r := range c.Budget.Rows {
		if r.DeltaNS != 0 {
			w.Steps = append(w.Steps, WaterStep{budgetNames()[i], r.DeltaNS, compare.Signed(r.DeltaNS)})
		}
	}
	if len(w.Steps) == 0 {
		return Chart{}, false
	}
	chart := Chart{
		Title: "From base to new, part by part", Subtitle: "time " + ofWhole(c), Body: w,
		Legend: []Swatch{{colorMore, "more time"}, {colorLess, "less time"}},
		Alt:    fmt.Sprintf("Waterfall from %s to %s", unit.Duration(w.From), unit.Duration(w.To)),
	}
	if low, _ := w.span(); low > 0 {
		chart.Caption = "The axis does not begin at 0, so that the differences can be seen."
	}
	return chart, true
}

func diffSteps(c *compare.Comparison) (Chart, bool) {
	if c.Per != compare.PerStep || len(c.Base.Walls) < 2 || len(c.New.Walls) < 2 {
		return Chart{}, false
	}
	return Chart{
		Title: "How long steps are", Subtitle: "wall time of every step on every device; steps of one run tell nothing of how runs differ",
		Body: Spreads{[]SpreadRow{
			{fmt.Sprintf("base, %s", plural(int64(len(c.Base.Walls)), "step")), colorSide, c.Base.Walls, c.Base.MedianNS},
			{fmt.Sprintf("new, %s", plural(int64(len(c.New.Walls)), "step")), colorHost, c.New.Walls, c.New.MedianNS},
		}},
		Alt: fmt.Sprintf("Durations of steps, medians %s and %s", unit.Duration(c.Base.MedianNS), unit.Duration(c.New.MedianNS)),
	}, true
}

func diffKernels(c *compare.Comparison) (Chart, bool) {
	return moveChart(c.Kernels, "kernel", Moves{Form: kernelForm}, func(r compare.Row) MoveRow {
		return MoveRow{r.Name, []Part{{colorByCount, r.CountNS}, {colorByDuration, r.DurationNS}}, compare.Signed(r.DeltaNS)}
	}, Chart{
		Title:    "Kernels that moved most",
		Subtitle: fmt.Sprintf("work %s; kernel work moved by %s", ofWhole(c), compare.Signed(c.Kernels.DeltaNS)),
		Legend:   []Swatch{{colorByCount, "by count"}, {colorByDuration, "by duration"}},
	})
}

func diffIdle(c *compare.Comparison) (Chart, bool) {
	return moveChart(c.Idle.ByOwner(), "reason", Moves{Form: plainForm}, func(r compare.Row) MoveRow {
		return MoveRow{reasonText(r.Owner, r.State, r.Name), []Part{{ownerColor(r.Owner), r.DeltaNS}}, compare.Signed(r.DeltaNS)}
	}, Chart{
		Title:    "Idle time that moved most, by who owned it",
		Subtitle: fmt.Sprintf("idle time %s; it moved by %s", ofWhole(c), compare.Signed(c.Idle.DeltaNS)),
	})
}

// moveChart fills in the rows that moved, and says what is left out.
func moveChart(p compare.Part, noun string, m Moves, row func(compare.Row) MoveRow, chart Chart) (Chart, bool) {
	moved := slices.DeleteFunc(slices.Clone(p.Rows), func(r compare.Row) bool { return r.DeltaNS == 0 })
	if len(moved) == 0 {
		return Chart{}, false
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
		chart.Caption = fmt.Sprintf("%s moved by %s together.", plural(int64(len(rest)), "more "+noun), compare.Signed(sum))
	}
	chart.Body = m
	chart.Alt = fmt.Sprintf("Deltas of the %s that moved most", plural(int64(len(m.Rows)), noun))
	return chart, true
}
