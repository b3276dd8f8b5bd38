package plot

import (
	"math"

	"assay/internal/stat"
)

// Lines are panels of curves, one below the other, over one axis.
type Lines struct {
	X      Axis
	Panels []LinePanel
}

// A LinePanel has the curves of one quantity. Its axis begins at Y.From.
type LinePanel struct {
	Y     Axis // its title is above the panel
	Lines []Line
}

// A Line is a curve through points in the order of the axis, with the range of values around
// each if Low and High are not nil.
type Line struct {
	Color     Color
	Points    [][2]float64
	Low, High []float64
}

const (
	linesX      = Margin + 78.0
	linesLength = Width - Margin - 24 - linesX
	linesHeight = 130.0
	linesHead   = 28.0 // of a panel, for its title
	linesFoot   = 14.0
	linesScale  = 44.0 // of the axis below all panels
)

func (l Lines) height(*pen) float64 {
	return float64(len(l.Panels))*(linesHead+linesHeight+linesFoot) + linesScale
}

func (l Lines) draw(c *Canvas, top float64) {
	for _, p := range l.Panels {
		l.drawPanel(c, p, top)
		top += linesHead + linesHeight + linesFoot
	}
	bottom := top - linesFoot
	st := textStyle{size: sizeSmall, color: colorGrey, align: center}
	free := 0.0
	for _, t := range l.X.Ticks {
		x := linesX + linesLength*l.X.place(t.At)
		if w := c.width(t.Text, st); x-w/2 >= free && x+w/2 <= Width-6 {
			c.line(x, bottom, x, bottom+5, 1, colorGrey)
			c.text(x, bottom+19, t.Text, st)
			free = x + w/2 + 10
		}
	}
	c.text(Margin, bottom+19, l.X.Title, textStyle{size: sizeSmall, color: colorGrey})
}

func (l Lines) drawPanel(c *Canvas, p LinePanel, top float64) {
	c.text(Margin, top+16, c.fit(p.Y.Title, sizeText, Width-2*Margin), textStyle{bold: true})
	top += linesHead
	bottom := top + linesHeight
	c.rect(linesX, top, linesLength, linesHeight, ColorPlane)
	for _, t := range l.X.Ticks {
		x := linesX + linesLength*l.X.place(t.At)
		c.line(x, top, x, bottom, 1, colorGrid)
	}
	y := func(v float64) float64 { return bottom - linesHeight*p.Y.place(v) }
	for _, t := range p.Y.Ticks {
		c.line(linesX, y(t.At), linesX+linesLength, y(t.At), 1, colorGrid)
		c.text(linesX-8, y(t.At)+5, t.Text, textStyle{size: sizeSmall, color: colorGrey, align: right})
	}
	x := func(v float64) float64 { return linesX + linesLength*l.X.place(v) }
	for _, k := range p.Lines {
		if k.High == nil {
			continue
		}
		for i, at := range k.Points {
			c.line(x(at[0]), y(k.Low[i]), x(at[0]), y(k.High[i]), 3, lighter(k.Color))
		}
	}
	for _, k := range p.Lines {
		most := k.longestGap(l.X.To - l.X.From)
		joined := false
		for i, b := range k.Points {
			next := i+1 < len(k.Points) && k.Points[i+1][0]-b[0] <= most
			if next {
				c.line(x(b[0]), y(b[1]), x(k.Points[i+1][0]), y(k.Points[i+1][1]), 2, k.Color)
			}
			if !next && !joined {
				c.disc(x(b[0]), y(b[1]), 2.5, k.Color)
			}
			joined = next
		}
	}
	c.line(linesX, bottom, linesX+linesLength, bottom, 1, colorGrey)
}

// longestGap returns the largest distance of two points that the curve connects: ten times the
// median distance, and at least a twentieth of the axis. Values are missing in a longer gap.
func (k Line) longestGap(span float64) float64 {
	var gaps []float64
	for i := 1; i < len(k.Points); i++ {
		gaps = append(gaps, k.Points[i][0]-k.Points[i-1][0])
	}
	if len(gaps) == 0 {
		return 0
	}
	return max(10*stat.Median(gaps), span/20)
}

// lighter returns a tint of a colour.
func lighter(col Color) Color {
	mix := func(shift uint) Color {
		return Color(math.Round(float64(col>>shift&255)*0.3+255*0.7)) << shift
	}
	return mix(16) | mix(8) | mix(0)
}
