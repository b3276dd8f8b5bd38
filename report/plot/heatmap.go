package plot

import (
	"cmp"
	"math"
	"strconv"

	"assay/internal/label"
)

// A HeatMap has a row of cells for each subject, coloured by the difference of a value from the
// middle of its row. Of several places on one pixel, the one with the largest difference is drawn.
type HeatMap struct {
	Places Places
	Rows   []HeatRow
	Head   string // heading of the notes at the right
	Middle string // meaning of the middle of a row, for the legend
	// Less and More name the ends of the scale; "shorter" and "longer" if they are empty.
	Less, More string
}

// A HeatRow is one row.
type HeatRow struct {
	Label string
	Note  string // at the right of the row
	// Values are relative differences from the middle: 0.1 is 10% more. NaN is unknown.
	Values []float64
}

const (
	heatLegend = 52.0
	heatHead   = 20.0 // above the rows, for the heads of the columns of text
	heatLabels = 250.0
	shades     = 24 // on each side of the middle
)

// The ends and the middle of the scale. Blue and orange can be distinguished by readers who are
// red-green colour blind, and both ends are darker than the middle.
const (
	heatLess   Color = 0x1d4e89
	heatMiddle Color = 0xf4f4f2
	heatMore   Color = 0xa63c06
)

// Shade returns the colour of a relative difference if the ends of the scale are at
// -full and full.
func Shade(value, full float64) Color {
	share := math.Round(max(-1, min(1, value/full))*shades) / shades
	end := heatMore
	if share < 0 {
		end, share = heatLess, -share
	}
	mix := func(shift uint) Color {
		low, high := float64(heatMiddle>>shift&255), float64(end>>shift&255)
		return Color(math.Round(low+(high-low)*share)) << shift
	}
	return mix(16) | mix(8) | mix(0)
}

// Full returns the end of the scale: a round share that the largest difference does not
// exceed, at least 5% and at most 100%.
func (h HeatMap) Full() float64 {
	most := 0.0
	for _, r := range h.Rows {
		for _, v := range r.Values {
			if !math.IsNaN(v) {
				most = max(most, math.Abs(v))
			}
		}
	}
	for _, full := range []float64{0.05, 0.1, 0.15, 0.2, 0.3, 0.5} {
		if most <= full {
			return full
		}
	}
	return 1
}

// pitch is the height of a row.
func (h HeatMap) pitch() float64 {
	switch n := len(h.Rows); {
	case n <= 24:
		return 28
	case n <= 80:
		return 10
	}
	return 4
}

// layout returns the places between the labels and the notes, which it shortens.
func (h HeatMap) layout(p *pen) (at placed, labels, notes []string) {
	for _, r := range h.Rows {
		labels = append(labels, r.Label)
		notes = append(notes, r.Note)
	}
	labels = p.labels(label.Plain, labels, heatLabels)
	left := Margin + max(p.widest(labels, textStyle{size: sizeSmall}),
		p.width(h.Places.Name, textStyle{size: sizeSmall})+12) + 12
	right := Width - Margin - max(p.widest(notes, textStyle{size: sizeSmall}),
		p.width(h.Head, textStyle{size: sizeSmall})) - 12
	return h.Places.within(p, math.Round(left), math.Round(right)), labels, notes
}

func (h HeatMap) height(p *pen) float64 {
	at, _, _ := h.layout(p)
	return heatLegend + at.head() + heatHead + h.pitch()*float64(len(h.Rows)) + at.scale()
}

func (h HeatMap) draw(c *Canvas, top float64) {
	at, labels, notes := h.layout(c.pen)
	full := h.Full()
	h.drawLegend(c, top, full)
	top = math.Round(top + heatLegend)
	at.drawHead(c, top+heatHead)
	small := textStyle{size: sizeSmall, color: colorGrey}
	first := math.Round(top + at.head() + heatHead)
	after := float64(at.x0+at.length) + 12
	c.text(after, first-7, h.Head, small)
	pitch := h.pitch()
	every := int(math.Ceil(18 / pitch))
	mid := pitch / 2
	if pitch < 18 {
		mid = 9
	}
	for i, r := range h.Rows {
		y := first + pitch*float64(i)
		if i%every == 0 {
			c.text(float64(at.x0)-10, y+mid+4, labels[i], textStyle{size: sizeSmall, align: right})
			c.text(after, y+mid+4, notes[i], small)
		}
		r.draw(c, at, int(y), int(pitch), full)
	}
	at.drawScale(c, first+pitch*float64(len(h.Rows)),
		"Several "+h.Places.Name+"s share a column, which shows the largest difference.")
}

// draw draws the cells of a row, with the values that fit.
func (r HeatRow) draw(c *Canvas, at placed, y, pitch int, full float64) {
	st := textStyle{size: sizeSmall, align: center}
	gap := 0
	if pitch >= 10 {
		gap = 1
	}
	for i := 0; i < len(r.Values); {
		last, v := at.sharing(i), r.Values[i]
		for _, other := range r.Values[i : last+1] {
			if math.IsNaN(v) || math.Abs(other) > math.Abs(v) {
				v = other
			}
		}
		from, to := at.ends(i)
		if to-from >= 8 {
			to--
		}
		if i = last + 1; math.IsNaN(v) {
			c.hatch(from, y, to, y+pitch-gap)
			continue
		}
		shade := Shade(v, full)
		c.pixels(from, y, to, y+pitch-gap, shade)
		if pitch < 18 {
			continue
		}
		text, space := Signed(v), 6.0
		if c.width(text, st)+space > float64(to-from) {
			text, space = whole(v), 0
		}
		if c.width(text, st)+space <= float64(to-from) {
			c.text(float64(from+to)/2, float64(y)+float64(pitch)/2+5, text,
				textStyle{size: sizeSmall, align: center, color: inkOn(shade)})
		}
	}
}

// whole prints a relative difference as a whole number of percent, for cells that have no place for more; nothing if it is 0.
func whole(v float64) string {
	n := math.Round(100 * v)
	if n == 0 {
		return ""
	}
	return strconv.FormatFloat(n, 'f', 0, 64)
}

// Signed prints a relative difference as "+12.3%".
func Signed(v float64) string {
	text := strconv.FormatFloat(100*v, 'f', 1, 64) + "%"
	switch {
	case text == "-0.0%":
		return "0.0%"
	case v > 0 && text != "0.0%":
		return "+" + text
	}
	return text
}

// drawLegend draws the scale with its unit.
func (h HeatMap) drawLegend(c *Canvas, top, full float64) {
	small := textStyle{size: sizeSmall, color: colorGrey, align: center}
	const step = 6
	low, high := strconv.FormatFloat(-100*full, 'f', -1, 64)+"%", "+"+strconv.FormatFloat(100*full, 'f', -1, 64)+"%"
	unknown, over := false, false
	for _, r := range h.Rows {
		for _, v := range r.Values {
			unknown, over = unknown || math.IsNaN(v), over || v > full
		}
	}
	if over {
		high = "over " + high
	}
	less, more := cmp.Or(h.Less, "shorter"), cmp.Or(h.More, "longer")
	x := Margin + int(c.width(less, textStyle{})) + 10
	c.text(Margin, top+16, less, textStyle{})
	for i := range 2*shades + 1 {
		c.pixels(x+step*i, round(top+3), x+step*(i+1), round(top+19), Shade(float64(i-shades)/shades, 1))
	}
	end := x + step*(2*shades+1)
	c.text(float64(x)+step/2, top+36, low, small)
	c.text(float64(x+end)/2, top+36, h.Middle, small)
	c.text(float64(end)-step/2, top+36, high, small)
	c.text(float64(end)+10, top+16, more, textStyle{})
	if after := end + 10 + int(c.width(more, textStyle{})) + 40; unknown {
		c.hatch(after, round(top+4), after+14, round(top+18))
		c.text(float64(after)+20, top+16, "not recorded", textStyle{})
	}
}
