package plot

import (
	"math"

	"assay/internal/unit"
)

// Columns are upright bars in the order of time, divided into parts.
type Columns struct {
	Bars []ColumnBar
	// Ticks, if any, replace the labels of the bars. Their positions are in bars: 0 is the
	// middle of the first one.
	Ticks []Tick
	Axis  string // what the ticks are, such as "step"
}

// A ColumnBar is one bar. Its height is the sum of its parts over Of.
type ColumnBar struct {
	Label string
	Parts []Part
	Of    int64 // number of windows that were added up, at least 1
}

const (
	columnsHeight = 340.0

	// Up to fewColumns bars share the whole width. The width of more bars is limited, so that
	// they still look like bars.
	fewColumns = 4
)

func (Columns) height(*pen) float64 { return columnsHeight + 40 }

func (b ColumnBar) size() float64 { return float64(SumParts(b.Parts)) / float64(b.Of) }

func (col Columns) draw(c *Canvas, top float64) {
	highest := 1.0
	for _, b := range col.Bars {
		highest = max(highest, b.size())
	}
	const x, length = Margin + 70.0, Width - 2*Margin - 70.0
	base := top + columnsHeight
	// The axis ends at a grid line, so that no bar is higher than the last line.
	step := tickStep(int64(math.Ceil(highest)), 6)
	lines := int64(math.Ceil(highest / float64(step)))
	scale := (columnsHeight - 24) / float64(lines*step)
	for i := range lines + 1 {
		y := base - scale*float64(i*step)
		c.line(x, y, x+length, y, 1, colorGrid)
		c.text(x-8, y+5, tickText(i*step), textStyle{size: sizeSmall, color: colorGrey, align: right})
	}
	pitch := length / float64(len(col.Bars))
	gap := pitch / 4
	if len(col.Bars) > fewColumns {
		pitch = min(150, pitch)
		gap = min(40, pitch/4)
	}
	first := x + (length-pitch*float64(len(col.Bars)))/2
	small := textStyle{size: sizeSmall, align: center}
	every := col.labelStride(c.pen, small, pitch)
	for i, b := range col.Bars {
		from := first + pitch*float64(i) + gap/2
		up := base
		for _, part := range b.Parts {
			h := scale * float64(part.NS) / float64(b.Of)
			up -= h
			c.rect(from, up, pitch-gap, h, part.Color)
		}
		mid := from + (pitch-gap)/2
		text := unit.Duration(int64(b.size() + 0.5))
		if w := c.width(text, small); w+4 <= pitch {
			c.rect(mid-w/2-3, up-20, w+6, 19, ColorWhite) // no line through the text
			c.text(mid, up-6, text, small)
		}
		if w := c.width(b.Label, small); col.Ticks == nil && i%every == 0 && mid+w/2 <= Width-6 {
			c.text(mid, base+18, b.Label, textStyle{size: sizeSmall, color: colorGrey, align: center})
		}
	}
	c.line(x, base, x+length, base, 1, colorGrey)
	col.drawTicks(c, first+pitch/2, pitch, base)
}

// drawTicks draws the ticks that fit, from the middle of the first bar on.
func (col Columns) drawTicks(c *Canvas, mid, pitch, base float64) {
	st := textStyle{size: sizeSmall, color: colorGrey, align: center}
	free := 0.0
	for _, t := range col.Ticks {
		x := mid + float64(pitch*t.At)
		w := c.width(t.Text, st)
		if x-w/2 < free || x+w/2 > Width-6 {
			continue
		}
		c.line(x, base, x, base+5, 1, colorGrey)
		c.text(x, base+20, t.Text, st)
		free = x + w/2 + 8
	}
	if col.Axis != "" {
		c.text(Margin, base+20, col.Axis, textStyle{size: sizeSmall, color: colorGrey})
	}
}

// labelStride returns n such that the label of every n-th bar fits.
func (col Columns) labelStride(p *pen, st textStyle, pitch float64) int {
	var labels []string
	for _, b := range col.Bars {
		labels = append(labels, b.Label)
	}
	return int(math.Ceil((p.widest(labels, st) + 12) / pitch))
}
