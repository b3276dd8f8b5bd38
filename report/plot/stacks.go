package plot

import (
	"assay/unit"
)

// Stacks are horizontal bars whose lengths compare, each cut into parts.
type Stacks struct{ Rows []BarRow }

func (s Stacks) height(*pen) float64 { return 52*float64(len(s.Rows)) + 34 }

func (s Stacks) draw(c *Canvas, top float64) {
	var labels, values []string
	longest := int64(1)
	for _, r := range s.Rows {
		labels = append(labels, r.Label)
		values = append(values, unit.Duration(SumParts(r.Parts))+r.Note)
		longest = max(longest, SumParts(r.Parts))
	}
	x := Margin + c.widest(labels, textStyle{}) + 14
	length := Width - Margin - 14 - c.widest(values, textStyle{}) - x
	bottom := top + 52*float64(len(s.Rows))
	for _, tick := range timeTicks(longest, 8) {
		at := x + length*float64(tick)/float64(longest)
		c.line(at, top, at, bottom, 1, colorGrid)
		c.text(at, bottom+18, tickText(tick), textStyle{size: sizeSmall, color: colorGrey, align: center})
	}
	for i, r := range s.Rows {
		y, done := top+52*float64(i)+6, 0.0
		c.text(x-10, y+26, labels[i], textStyle{align: right})
		for _, part := range r.Parts {
			from := x + length*done/float64(longest)
			w := within(length*float64(part.NS)/float64(longest), 0, length)
			c.rect(from, y, w, 40, part.Color)
			if text := unit.Duration(part.NS); part.NS > 0 && c.width(text, textStyle{})+8 <= w {
				c.text(from+w/2, y+26, text, textStyle{color: inkOn(part.Color), align: center})
			}
			done += float64(part.NS)
		}
		c.text(x+length*done/float64(longest)+10, y+26, values[i], textStyle{})
	}
}
