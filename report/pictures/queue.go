package pictures

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge"
	"assay/report/plot"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
)

// queue shows the queue length above the steps.
func queue(s *summary.Summary, r judge.Result) (plot.Chart, bool) {
	queues := map[summary.GPU]summary.Launches{}
	for _, l := range s.Launches {
		queues[summary.GPU{Input: l.Input, Rank: l.Rank, Device: l.Device}] = l
	}
	names := view.DeviceLabels(s)
	panels := make([]plot.TimePanel, len(s.Devices))
	var drawable []int
	for i, d := range s.Devices {
		l := queues[summary.GPU{Input: d.Input, Rank: d.Rank, Device: d.Device}]
		if d.Strip == nil || d.Strip.BinNS <= 0 || d.WindowNS <= 0 || !slices.ContainsFunc(l.QueueStrip, func(n int64) bool { return n > 0 }) {
			continue
		}
		panels[i] = plot.TimePanel{Title: names[i] + ", window " + unit.Duration(d.WindowNS), SpanNS: d.WindowNS, Tracks: []plot.Track{{
			Name: "queue length", Unit: plot.DepthAxis, Series: []plot.Series{{Color: plot.ColorHost, BinNS: d.Strip.BinNS, Values: l.QueueStrip}},
		}}}
		if columns := stepColumns(s, d); len(columns) > 0 {
			panels[i].Tracks = append(panels[i].Tracks, plot.Track{Name: "step time", Unit: plot.TimeAxis, Columns: columns})
		}
		drawable = append(drawable, i)
	}
	if len(drawable) == 0 {
		return plot.Chart{}, false
	}
	choice := choose(s, r, drawable, mostLanes)
	c := plot.Chart{
		Title:    "Launch queue and steps",
		Subtitle: "mean queue length of each bin: GPU operations queued, not started; time from the start of the GPU window",
		Alt:      fmt.Sprintf("Queue length and steps over time of %s", label.Plural(int64(len(choice.Devices)), "GPU")),
	}
	var body plot.Timeline
	steps := false
	for _, i := range choice.Devices {
		body.Panels = append(body.Panels, panels[i])
		steps = steps || len(panels[i].Tracks) > 1
	}
	c.Body = body
	c.Legend = []plot.Swatch{{Color: plot.ColorHost, Text: "queue length"}}
	if steps {
		c.Legend = append(c.Legend, partLegend(body)...)
	}
	c.Caption = joinSentences(words.Choice(choice, s.Devices), inputCaption(s, choice.Devices))
	return c, true
}

// partLegend returns the legend of the parts of a timeline's columns.
func partLegend(t plot.Timeline) (legend []plot.Swatch) {
	for i, kind := range budgetParts(summary.Activity{}) {
		if slices.ContainsFunc(t.Panels, func(p plot.TimePanel) bool { return hasPart(p, kind.Color) }) {
			legend = append(legend, plot.Swatch{Color: kind.Color, Text: budgetNames()[i]})
		}
	}
	return legend
}

// hasPart reports whether a column of p has a part of the colour.
func hasPart(p plot.TimePanel, color plot.Color) bool {
	for _, t := range p.Tracks {
		for _, col := range t.Columns {
			if slices.ContainsFunc(col.Parts, func(part plot.Part) bool { return part.Color == color && part.NS > 0 }) {
				return true
			}
		}
	}
	return false
}

// stepColumns returns the steps that overlap the GPU window.
func stepColumns(s *summary.Summary, d summary.Device) (columns []plot.TimeColumn) {
	for _, st := range s.Steps {
		if st.Input != d.Input || st.Rank != d.Rank || st.Device != d.Device || st.WallNS <= 0 || len(columns) == mostMarks {
			continue
		}
		from := summary.Plus(st.StartNS, -max(d.StartNS, -1<<62))
		if from < d.WindowNS && summary.Plus(from, st.WallNS) > 0 {
			columns = append(columns, plot.TimeColumn{FromNS: from, NS: st.WallNS, Label: stepLabel(st.Name, st.Kind, st.Number), Parts: budgetParts(st.Activity)})
		}
	}
	return columns
}
