package pictures

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
)

// memoryReserved shows reserved and allocated memory over time, and failed allocations.
func memoryReserved(s *summary.Summary) (plot.Chart, bool) {
	strips := snapshotStrips(s)
	if len(strips) == 0 {
		return plot.Chart{}, false
	}
	var body plot.Timeline
	failed := false
	for _, p := range strips[:min(mostStrips, len(strips))] {
		body.Panels = append(body.Panels, reservedPanel(p))
		failed = failed || p.row.Failed > 0
	}
	c := plot.Chart{
		Title:    "GPU memory over time",
		Subtitle: "reserved and allocated memory, maximum of each bin; time from the first entry of the history",
		Legend:   []plot.Swatch{{Color: plot.ColorWork, Text: "allocated"}, {Color: plot.ColorIdle, Text: "reserved"}},
		Alt:      fmt.Sprintf("Reserved and allocated memory over time of %s", label.Plural(int64(len(body.Panels)), "GPU")),
		Body:     body,
	}
	if failed {
		c.Legend = append(c.Legend, plot.Swatch{Color: plot.ColorComm, Text: "out of memory"})
	}
	if rest := len(strips) - len(body.Panels); rest > 0 {
		c.Caption = fmt.Sprintf("The %d GPUs with the most memory; %s.", len(body.Panels), label.Plural(int64(rest), "more GPU"))
	}
	return c, true
}

func reservedPanel(p stripOf) plot.TimePanel {
	track := plot.Track{Unit: plot.SizeAxis}
	if len(p.strip.Reserved) > 0 {
		track.Series = append(track.Series, plot.Series{Color: plot.ColorIdle, BinNS: p.strip.BinNS, Values: p.strip.Reserved})
	}
	track.Series = append(track.Series, plot.Series{Color: plot.ColorWork, BinNS: p.strip.BinNS, Values: p.strip.Live})
	panel := plot.TimePanel{Title: p.label, SpanNS: binsSpan(p.strip.BinNS, len(p.strip.Live))}
	from := func(ns int64) int64 { return summary.Plus(ns, -max(0, p.strip.StartNS)) }
	if k := p.row.Peak; k != nil {
		panel.Title += ", peak reserved " + unit.Bytes(k.HighestReserved)
		if k.NS != nil {
			track.Peak = &plot.Peak{NS: from(*k.NS), Value: k.Live, Label: "peak " + unit.Bytes(k.Live) + " allocated"}
		}
	}
	for _, o := range p.row.OutOfMemory {
		if o.NS != nil {
			track.Marks = append(track.Marks, plot.TrackMark{NS: from(*o.NS), Color: plot.ColorComm})
		}
	}
	panel.Tracks = []plot.Track{track}
	return panel
}
