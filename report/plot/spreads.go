package plot

import (
	"assay/internal/unit"
)

// Spreads show the single durations of several sets on one axis, with their medians.
type Spreads struct{ Rows []SpreadRow }

// A SpreadRow is one set of durations, in ascending order.
type SpreadRow struct {
	Label  string
	Color  Color
	NS     []int64
	Median int64
}

func (s Spreads) height(*pen) float64 { return 76*float64(len(s.Rows)) + 34 }

func (s Spreads) draw(c *Canvas, top float64) {
	var labels []string
	low, high := s.Rows[0].NS[0], int64(0)
	for _, r := range s.Rows {
		labels = append(labels, r.Label)
		low, high = min(low, r.NS[0]), max(high, r.NS[len(r.NS)-1])
	}
	pad := max(1, (high-low)/20)
	low, high = max(0, low-pad), SumParts([]Part{{NS: high}, {NS: pad}})
	left := Margin + c.widest(labels, textStyle{}) + 34
	length := Width - Margin - 60 - left
	a := axis{float64(low), float64(high), left, length}
	x := func(ns int64) float64 { return a.at(float64(ns)) }
	bottom := top + 76*float64(len(s.Rows))
	c.grid(a, ticksBetween(low, high, 6), top, bottom)
	for i, r := range s.Rows {
		y := top + 76*float64(i)
		c.text(left-24, y+48, labels[i], textStyle{align: right})
		c.rect(left, y+24, length, 40, ColorPlane)
		for _, ns := range r.NS {
			c.rect(x(ns)-1, y+28, 2, 32, r.Color)
		}
		c.rect(x(r.Median)-2, y+22, 4, 44, ColorInk)
		c.text(x(r.Median), y+16, "median "+unit.Duration(r.Median), textStyle{size: sizeSmall, align: center})
	}
}
