package plot

import (
	"assay/internal/label"
)

// Moves are deltas on both sides of a line, the largest first. Each is cut into
// two effects, of which one may be negative while the other is not.
type Moves struct {
	Rows []MoveRow
	Form label.Form // of the labels
}

// A MoveRow is one delta and the effects that sum to it.
type MoveRow struct {
	Label string
	Parts []Part
	Value string // what is said of it
}

func (m Moves) height(*pen) float64 { return rankPitch*float64(len(m.Rows)) + 8 }

func (m Moves) draw(c *Canvas, top float64) {
	var names, values []string
	less, more := 0.0, 1.0
	for _, r := range m.Rows {
		names = append(names, r.Label)
		values = append(values, r.Value)
		down, up := 0.0, 0.0
		for _, part := range r.Parts {
			down, up = down+max(0, -float64(part.NS)), up+max(0, float64(part.NS))
		}
		less, more = max(less, down), max(more, up)
	}
	names = c.labels(m.Form, names, 460)
	left := Margin + c.widest(names, textStyle{}) + 14
	room := Width - Margin - 14 - c.widest(values, textStyle{}) - left
	scale := room / (less + more)
	zero := within(left+less*scale, left, left+room)
	for i, r := range m.Rows {
		y := top + rankPitch*float64(i)
		c.text(left-10, y+20, names[i], textStyle{align: right})
		up, down := zero, zero
		for _, part := range r.Parts {
			w := within(float64(part.NS)*scale, -room, room)
			if w >= 0 {
				c.rect(up, y+4, w, rankPitch-10, part.Color)
				up += w
			} else {
				c.rect(down+w, y+4, -w, rankPitch-10, part.Color)
				down += w
			}
		}
		c.text(up+10, y+20, values[i], textStyle{})
	}
	c.line(zero, top, zero, top+rankPitch*float64(len(m.Rows)), 1, colorGrey)
}
