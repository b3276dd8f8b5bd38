package plot

import (
	"cmp"
	"image"
	"math"
	"slices"

	"assay/internal/label"
	"assay/report/plot/raster"
)

// Places are positions from left to right that several panels or rows share, such as ranks. All have
// the same width in whole pixels.
type Places struct {
	Name   string   // meaning of the labels, such as "rank"
	Labels []string // of all places; labels that do not fit are not drawn
	Flags  []Flag   // places to highlight, the most important first
}

// A Flag points at a place.
type Flag struct {
	At   int
	Text string
}

// Sizes in pixels.
const (
	flagRow    = 18.0 // height of a row of flags
	flagFoot   = 10.0 // below the flags: the tip of the mark
	lineRoom   = 4.0  // distance between a text and the line of another flag
	placeScale = 28.0 // height of the labels below
	widePlace  = 280
	textPlace  = 24 // pixels: smallest width of a place with a value
)

// A placed is a [Places] with its pixels. Several places share a pixel if there are more
// of them than pixels.
type placed struct {
	Places
	x0, length, pitch int // pitch is 0 if places share pixels
	flags             []flagBox
	rows              int // of flags
}

// A flagBox is the position of a flag's text: its row, from 0 for the lowest, and its ends.
type flagBox struct {
	Flag
	row    int
	tip    float64
	x0, x1 float64
}

// within lays the places out from x0 to x1.
func (p Places) within(pen *pen, x0, x1 float64) placed {
	out := placed{Places: p, x0: int(x0), length: int(x1) - int(x0)}
	n := max(1, len(p.Labels))
	out.pitch = min(widePlace, out.length/n)
	if out.pitch > 0 {
		out.length = out.pitch * n
	}
	out.placeFlags(pen, x1)
	return out
}

// placeFlags places the flags in as few rows as possible, so that none covers another or the line
// from another to its tip. If not all fit, it leaves out the last.
func (p *placed) placeFlags(pen *pen, limit float64) {
	var list []flagBox
	for _, f := range p.Flags {
		if f.At < 0 || f.At >= len(p.Labels) {
			continue
		}
		f.Text = pen.fit(f.Text, sizeSmall, limit-float64(p.x0))
		from, to := p.ends(f.At)
		list = append(list, flagBox{Flag: f, tip: float64(from+to) / 2, x1: pen.width(f.Text, textStyle{size: sizeSmall})})
	}
	for ; len(list) > 0; list = list[:len(list)-1] {
		for p.rows = 1; p.rows <= len(list); p.rows++ {
			if p.fits(list, limit) {
				return
			}
		}
	}
	p.rows = 0
}

// fits places the flags of the list in addition to those already placed, and reports whether all
// fit. Before, x1 of a flag is the width of its text.
func (p *placed) fits(list []flagBox, limit float64) bool {
	if len(list) == 0 {
		return true
	}
	f := list[0]
	w := f.x1
	around := max(float64(p.x0), min(f.tip-w/2, limit-w))
	for f.row = range p.rows {
		for _, x0 := range []float64{f.tip + 5, f.tip - 5 - w, around} {
			f.x0, f.x1 = x0, x0+w
			if x0 < float64(p.x0) || f.x1 > limit+0.5 || p.covered(f) {
				continue
			}
			p.flags = append(p.flags, f)
			if p.fits(list[1:], limit) {
				return true
			}
			p.flags = p.flags[:len(p.flags)-1]
		}
	}
	return false
}

// covered reports whether a flag would cover a placed flag, or a line to a tip.
func (p *placed) covered(b flagBox) bool {
	crosses := func(x float64, f flagBox) bool { return x > f.x0-lineRoom && x < f.x1+lineRoom }
	for _, f := range p.flags {
		switch {
		case b.row == f.row && b.x0 < f.x1+10 && f.x0 < b.x1+10, b.row >= f.row && crosses(b.tip, f), b.row <= f.row &&
			crosses(f.tip, b):
			return true
		}
	}
	return false
}

// ends returns the first pixel of a place and the one after its last.
func (p placed) ends(i int) (from, to int) {
	if p.pitch == 0 {
		from = p.x0 + i*p.length/len(p.Labels)
		return from, from + 1
	}
	return p.x0 + i*p.pitch, p.x0 + (i+1)*p.pitch
}

// head is the height of the flags.
func (p placed) head() float64 {
	if p.rows == 0 {
		return 0
	}
	return flagRow*float64(p.rows) + flagFoot
}

// drawHead draws the flags from top on, and marks the tips.
func (p placed) drawHead(c *Canvas, top float64) {
	bottom := top + p.head()
	for _, f := range p.flags {
		base := bottom - flagFoot - 5 - flagRow*float64(f.row)
		from := base - 9
		if f.x0 < f.tip && f.tip < f.x1 {
			from = base + 4 // the text is above the line
		}
		c.line(f.tip, from, f.tip, bottom-4, 1, colorGrey)
		c.text(f.x0, base, f.Text, textStyle{size: sizeSmall})
	}
	p.drawTips(c, bottom)
}

// drawTips marks the flagged places above a panel that begins at y.
func (p placed) drawTips(c *Canvas, y float64) {
	for _, f := range p.flags {
		c.area(ColorInk, [2]float64{f.tip - 5, y - 9}, [2]float64{f.tip + 5, y - 9}, [2]float64{f.tip, y - 1})
	}
}

// scale returns the height of the labels below, and of the note on places that share pixels.
func (p placed) scale() float64 {
	if p.pitch > 0 {
		return placeScale
	}
	return placeScale + 20
}

// drawScale draws the labels that fit below bottom, at equal distances. If places share pixels, a
// note says which place of a pixel is drawn.
func (p placed) drawScale(c *Canvas, bottom float64, drawn string) {
	if p.pitch == 0 {
		c.text(float64(p.x0), bottom+39, c.fit(drawn, sizeSmall, float64(p.length)),
			textStyle{size: sizeSmall, color: colorGrey})
	}
	st := textStyle{size: sizeSmall, color: colorGrey, align: center}
	each := float64(p.length) / float64(max(1, len(p.Labels)))
	every := 1
	texts := make([]string, len(p.Labels))
	for i, l := range p.Labels {
		texts[i] = label.Clip(l, 16)
	}
	// Measuring thousands of labels takes time, so measure the one with the most columns.
	longest := slices.MaxFunc(texts, func(a, b string) int { return cmp.Compare(label.Width(a), label.Width(b)) })
	for w := c.width(longest, st)*1.1 + 12; float64(every)*each < w; {
		every *= 2
	}
	for i := 0; i < len(p.Labels); i += every {
		from, to := p.ends(i)
		mid := float64(from+to) / 2
		if each < 24 {
			c.line(mid, bottom, mid, bottom+5, 1, colorGrey)
		}
		c.text(mid, bottom+19, texts[i], st)
	}
	from, _ := p.ends(0)
	w := c.width(texts[0], st) / 2
	c.text(min(float64(p.x0)-8, float64(from)-w+2), bottom+19, p.Name,
		textStyle{size: sizeSmall, color: colorGrey, align: right})
}

// pixels fills whole pixels, without the blurred edges of [Canvas.rect].
func (c *Canvas) pixels(x0, y0, x1, y1 int, col Color) {
	if x1 <= x0 || y1 <= y0 {
		return
	}
	if c.svg != nil {
		c.svg.pixels(x0, y0, x1, y1, col.hex())
		return
	}
	raster.FillRect(c.img, image.Rect(4*x0, 4*y0, 4*x1, 4*y1), opaque(col))
}

// hatch fills whole pixels with diagonal lines on white.
func (c *Canvas) hatch(x0, y0, x1, y1 int) {
	if c.svg != nil {
		c.svg.hatch = true
		c.svg.pixels(x0, y0, x1, y1, "url(#hatch)")
		return
	}
	c.pixels(x0, y0, x1, y1, ColorWhite)
	raster.Hatch(c.img, image.Rectangle{Min: image.Pt(x0, y0), Max: image.Pt(x1, y1)}, opaque(0xa0a0a0))
}

// round returns the nearest whole pixel.
func round(v float64) int { return int(math.Round(v)) }
