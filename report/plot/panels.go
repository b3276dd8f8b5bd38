package plot

import (
	"math"

	"assay/internal/unit"
)

// Panels are columns at the same places in several panels. Each panel has its own axis of time. Of
// several places on one pixel, the highest column is drawn.
type Panels struct {
	Places Places
	Panels []Panel
}

// A Panel is a column of parts for each place.
type Panel struct {
	Title   string
	Columns [][]Part // nil for unknown
}

const (
	panelHeight = 210.0
	panelTitle  = 30.0
	panelGap    = 12.0 // between panels
	panelRoom   = 20.0 // above the highest line, for values
	panelX      = Margin + 70.0
)

func (b Panels) placed(p *pen) placed { return b.Places.within(p, panelX, Width-Margin) }

func (b Panels) height(p *pen) float64 {
	at := b.placed(p)
	return at.head() + float64(len(b.Panels))*(panelTitle+panelHeight+at.scale()+panelGap) - panelGap
}

func (b Panels) draw(c *Canvas, top float64) {
	at := b.placed(c.pen)
	top = math.Round(top)
	for i, panel := range b.Panels {
		c.text(Margin, top+16, c.fit(panel.Title, sizeText, Width-2*Margin), textStyle{bold: true})
		top += panelTitle
		if i == 0 {
			at.drawHead(c, top)
			top += math.Round(at.head())
		}
		panel.draw(c, at, top)
		if i > 0 {
			at.drawTips(c, top+2)
		}
		top += panelHeight
		at.drawScale(c, top, "Several "+b.Places.Name+"s share a column, which shows the highest of them.")
		top += at.scale() + panelGap
	}
}

func (b Panel) draw(c *Canvas, at placed, top float64) {
	highest := int64(1)
	for _, parts := range b.Columns {
		highest = max(highest, SumParts(parts))
	}
	step := tickStep(highest, 5)
	lines := (highest-1)/step + 1
	base := top + panelHeight
	scale := (panelHeight - panelRoom) / (float64(lines) * float64(step))
	for i := range lines + 1 {
		y := base - scale*float64(i)*float64(step)
		c.line(float64(at.x0), y, float64(at.x0+at.length), y, 1, colorGrid)
		c.text(panelX-8, y+5, tickText(i*step), textStyle{size: sizeSmall, color: colorGrey, align: right})
	}
	for i := 0; i < len(b.Columns); {
		last, parts := at.sharing(i), b.Columns[i]
		for _, other := range b.Columns[i : last+1] {
			if SumParts(other) > SumParts(parts) {
				parts = other
			}
		}
		b.drawColumn(c, at, i, parts, base, scale)
		i = last + 1
	}
	c.line(float64(at.x0), base, float64(at.x0+at.length), base, 1, colorGrey)
}

// sharing returns the last place on the pixel of place i.
func (p placed) sharing(i int) int {
	from, _ := p.ends(i)
	for p.pitch == 0 && i+1 < len(p.Labels) {
		if next, _ := p.ends(i + 1); next != from {
			break
		}
		i++
	}
	return i
}

// drawColumn draws one column, with the values that fit.
func (b Panel) drawColumn(c *Canvas, at placed, i int, parts []Part, base, scale float64) {
	from, to := at.ends(i)
	if gap := to - from; gap >= 4 {
		gap = min(40, gap/4)
		from, to = from+gap/2, to-(gap-gap/2)
	}
	mid, total := float64(from+to)/2, SumParts(parts)
	inside := textStyle{size: sizeSmall, align: center}
	done := 0.0
	for _, part := range parts {
		low, high := base-scale*done, base-scale*(done+float64(max(0, part.NS)))
		done += float64(max(0, part.NS))
		c.pixels(from, round(high), to, round(low), part.Color)
		if len(parts) == 1 || low-high < 19 || to-from < textPlace {
			continue
		}
		if text := unit.Duration(part.NS); c.width(text, inside)+8 <= float64(to-from) {
			c.text(mid, (low+high)/2+5, text, textStyle{size: sizeSmall, align: center, color: inkOn(part.Color)})
		}
	}
	if text := unit.Duration(total); total > 0 && at.pitch >= textPlace && c.width(text, inside)+6 <= float64(at.pitch) {
		w := c.width(text, inside)
		c.rect(mid-w/2-2, base-scale*done-17, w+4, 14, ColorWhite) // no line through the text
		c.text(mid, base-scale*done-5, text, inside)
	}
}
