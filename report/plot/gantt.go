package plot

import (
	"assay/internal/label"
	"assay/internal/unit"
)

// A Gantt shows when things ran: a row for each, in order, on a common axis of time.
type Gantt struct {
	Rows   []GanttRow
	SpanNS int64
	Form   label.Form // of the labels
}

// A GanttRow is one thing.
type GanttRow struct {
	Label    string
	Note     string // after its duration, or ""
	Color    Color
	AtNS, NS int64
}

const ganttPitch = 26.0

func (g Gantt) bars() hbars {
	b := hbars{high: float64(max(1, g.SpanNS)), form: g.Form, space: 420, pitch: ganttPitch, ticks: ticksBetween(0, max(1, g.SpanNS), 8)}
	for _, r := range g.Rows {
		b.rows = append(b.rows, hbar{label: r.Label, value: unit.Duration(r.NS) + r.Note, from: float64(r.AtNS), parts: []Part{{r.Color, r.NS}}})
	}
	return b
}

func (g Gantt) height(*pen) float64 { return g.bars().height() }

func (g Gantt) draw(c *Canvas, top float64) { g.bars().draw(c, top) }
