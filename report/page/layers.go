package page

import (
	"fmt"
	"math"

	"assay/report/doc"
	"assay/report/plot"
)

// gantt is a picture of what ran when in one layer of a model.
type gantt struct {
	Title  string     `json:"title"`
	SpanNS int64      `json:"span"`
	Colors []swatch   `json:"colors"`
	Rows   []ganttRow `json:"rows"`
}

type ganttRow struct {
	Name  string `json:"name"`
	AtNS  int64  `json:"at"`
	NS    int64  `json:"ns"`
	Color int    `json:"color"` // index of its swatch
	Note  string `json:"note,omitempty"`
}

// heat is a picture of the time of each layer: differences from the middle, null if unknown.
type heat struct {
	Title string    `json:"title"`
	Lead  string    `json:"lead"`
	Place string    `json:"place"`
	Full  float64   `json:"full"` // the difference with the full colour
	Rows  []heatRow `json:"rows"`
}

type heatRow struct {
	Label  string     `json:"label"`
	Note   string     `json:"note"`
	Values []*float64 `json:"values"`
}

// pictureOf returns the data of a picture of layers, or an empty block.
func pictureOf(c plot.Chart) block {
	switch body := c.Body.(type) {
	case plot.Gantt:
		return block{Gantt: ganttOf(c, body)}
	case plot.HeatMap:
		if c.Name == "layers" {
			return block{Heat: heatOf(c, body)}
		}
	}
	return block{}
}

func ganttOf(c plot.Chart, body plot.Gantt) *gantt {
	g := &gantt{Title: visible(c.Title), SpanNS: max(1, body.SpanNS)}
	at := map[plot.Color]int{}
	for _, s := range c.Legend {
		at[s.Color] = len(g.Colors)
		g.Colors = append(g.Colors, swatch{fmt.Sprintf("#%06x", uint32(s.Color)), visible(s.Text)})
	}
	for _, r := range body.Rows {
		if i, ok := at[r.Color]; ok {
			g.Rows = append(g.Rows, ganttRow{visible(doc.KernelLabel(r.Label)), r.AtNS, r.NS, i, visible(r.Note)})
		}
	}
	return g
}

func heatOf(c plot.Chart, body plot.HeatMap) *heat {
	h := &heat{Title: visible(c.Title), Lead: visible(c.Subtitle), Place: body.Places.Name, Full: body.Full()}
	for _, r := range body.Rows {
		row := heatRow{Label: visible(r.Label), Note: visible(r.Note)}
		for _, v := range r.Values {
			if known := v; math.IsNaN(v) {
				row.Values = append(row.Values, nil)
			} else {
				row.Values = append(row.Values, &known)
			}
		}
		h.Rows = append(h.Rows, row)
	}
	return h
}
