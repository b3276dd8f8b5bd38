package pictures

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

// memory shows allocated and reserved memory over time.
func memory(s *summary.Summary) (plot.Chart, bool) {
	rows := view.Memory(s)
	labels := view.MemoryLabels(s, rows)
	var body plot.Timeline
	drawable, reserved := 0, false
	for i, m := range rows {
		p, ok := memoryPanel(m, labels[i])
		if !ok {
			continue
		}
		if drawable++; drawable <= mostLanes {
			body.Panels = append(body.Panels, p)
			reserved = reserved || len(p.Tracks[0].Series) > 1
		}
	}
	if drawable == 0 {
		return plot.Chart{}, false
	}
	c := plot.Chart{
		Title:    "Memory over time",
		Subtitle: "reported by the framework's allocator, maximum of each bin; time from the first report",
		Legend:   []plot.Swatch{{Color: plot.ColorWork, Text: "allocated"}},
		Alt:      fmt.Sprintf("Memory over time of %s", label.Plural(int64(len(body.Panels)), "device")),
		Body:     body,
	}
	if reserved {
		c.Legend = append(c.Legend, plot.Swatch{Color: plot.ColorIdle, Text: "reserved"})
	}
	if rest := drawable - len(body.Panels); rest > 0 {
		c.Caption = fmt.Sprintf("The %d with the highest peaks; %d more.", len(body.Panels), rest)
	}
	return c, true
}

// memoryPanel returns false if m has no values over time.
func memoryPanel(m summary.Memory, label string) (plot.TimePanel, bool) {
	known := func(bins []int64) bool { return slices.ContainsFunc(bins, func(n int64) bool { return n > 0 }) }
	if m.Strip == nil || m.Strip.BinNS <= 0 || !known(m.Strip.Allocated) && !known(m.Strip.Reserved) {
		return plot.TimePanel{}, false
	}
	bins := int64(max(len(m.Strip.Allocated), len(m.Strip.Reserved)))
	track := plot.Track{Unit: plot.SizeAxis}
	if known(m.Strip.Reserved) {
		track.Series = append(track.Series, plot.Series{Color: plot.ColorIdle, BinNS: m.Strip.BinNS, Values: m.Strip.Reserved})
	}
	track.Series = append(track.Series, plot.Series{Color: plot.ColorWork, BinNS: m.Strip.BinNS, Values: m.Strip.Allocated})
	p := plot.TimePanel{Title: label, SpanNS: m.Strip.BinNS}
	if m.Strip.BinNS <= (1<<62)/bins {
		p.SpanNS = m.Strip.BinNS * bins
	}
	if m.PeakReserved != nil {
		p.Title += ", peak " + unit.Bytes(*m.PeakReserved) + " reserved"
	}
	if m.PeakAllocated != nil && *m.PeakAllocated > 0 {
		at := summary.Plus(m.PeakNS, -max(m.Strip.StartNS, -1<<62))
		track.Peak = &plot.Peak{NS: at, Value: *m.PeakAllocated, Label: "peak " + unit.Bytes(*m.PeakAllocated) + " allocated"}
	}
	p.Tracks = []plot.Track{track}
	return p, true
}
