package plot

import (
	"strings"

	"assay/internal/label"
	"assay/unit"
)

// Bars are horizontal bars of equal length, each cut into parts that sum to
// it.
type Bars struct {
	Rows    []BarRow
	Compare bool // bars are as long as the sums of their parts
}

// A BarRow is one bar.
type BarRow struct {
	Label string
	Parts []Part
	Names []string // of the parts; nil if the legend says enough of those that have no room for their share
	Note  string   // what else is said of the length, or ""
}

const (
	BarPitch  = 40.0 // pixels from bar to bar
	BarHeight = 28.0
)

func (b Bars) height(*pen) float64 {
	if b.Compare {
		return BarPitch*float64(len(b.Rows)) + 4
	}
	return BarPitch*float64(len(b.Rows)) + 34
}

// beside returns the length of the bar, and the shares that have no room
// within it if it is drawn as long as given.
func (r BarRow) beside(p *pen, length float64) string {
	total := SumParts(r.Parts)
	var outside []string
	for i, part := range r.Parts {
		if r.Names != nil && part.NS > 0 && !r.inside(p, i, length) {
			outside = append(outside, r.Names[i]+" "+unit.Share(part.NS, total))
		}
	}
	text := unit.Duration(total) + r.Note
	if outside == nil {
		return text
	}
	return text + " (" + strings.Join(outside, ", ") + ")"
}

// inside reports whether the share of part i has room within it.
func (r BarRow) inside(p *pen, i int, length float64) bool {
	total := SumParts(r.Parts)
	room := length * float64(r.Parts[i].NS) / float64(max(1, total))
	return p.width(unit.Share(r.Parts[i].NS, total), textStyle{})+8 <= room
}

func (b Bars) draw(c *Canvas, top float64) {
	var labels []string
	for _, r := range b.Rows {
		labels = append(labels, r.Label)
	}
	labels = c.labels(label.Plain, labels, 300)
	x := Margin + c.widest(labels, textStyle{}) + 14
	length := b.length(c.pen, Width-Margin-14-x)
	bottom := top + BarPitch*float64(len(b.Rows))
	if b.Compare {
		c.line(x, top, x, bottom, 1, colorGrey)
	}
	for i := range 5 {
		if b.Compare {
			break // shares of the longest say nothing
		}
		at := x + length*float64(i)/4
		c.line(at, top, at, bottom, 1, colorGrid)
		c.text(at, bottom+18, []string{"0%", "25%", "50%", "75%", "100%"}[i], textStyle{size: sizeSmall, color: colorGrey, align: center})
	}
	for i, r := range b.Rows {
		y := top + BarPitch*float64(i) + (BarPitch-BarHeight)/2
		c.text(x-10, y+20, labels[i], textStyle{align: right})
		own := length * b.fraction(r)
		b.drawRow(c, r, x, y, own)
		c.text(x+own+14, y+19, r.beside(c.pen, own), textStyle{size: sizeSmall, color: colorGrey})
	}
}

// fraction returns how long a bar is, over the longest.
func (b Bars) fraction(r BarRow) float64 {
	if !b.Compare {
		return 1
	}
	longest := int64(1)
	for _, other := range b.Rows {
		longest = max(longest, SumParts(other.Parts))
	}
	return float64(SumParts(r.Parts)) / float64(longest)
}

// length returns how long bars can be if they and the texts beside them have
// the given room. A longer bar leaves fewer shares to be written beside it, so
// what is found to fit beside a short bar fits beside a longer one.
func (b Bars) length(p *pen, room float64) float64 {
	length := 0.0
	for range 4 {
		widest := 0.0
		for _, r := range b.Rows {
			widest = max(widest, p.width(r.beside(p, length), textStyle{size: sizeSmall}))
		}
		length = room - widest
	}
	return length
}

func (b Bars) drawRow(c *Canvas, r BarRow, x, y, length float64) {
	total := SumParts(r.Parts)
	done := 0.0
	for i, part := range r.Parts {
		from := x + length*done/float64(max(1, total))
		done += float64(part.NS)
		to := x + length*done/float64(max(1, total))
		c.rect(from, y, to-from, BarHeight, part.Color)
		if part.NS > 0 && r.inside(c.pen, i, length) {
			c.text((from+to)/2, y+20, unit.Share(part.NS, total), textStyle{color: inkOn(part.Color), align: center})
		}
	}
}

// A Ranking is horizontal bars whose lengths compare, largest first.
type Ranking struct {
	Rows  []RankRow
	Total int64      // what shares are of; 0 if bars have none
	Form  label.Form // of the labels
}

// A RankRow is one bar.
type RankRow struct {
	Label string
	Color Color
	NS    int64
}

const rankPitch = 32.0

func (r Ranking) height(*pen) float64 { return rankPitch*float64(len(r.Rows)) + 8 }

func (r Ranking) draw(c *Canvas, top float64) {
	var names, values []string
	longest := int64(1)
	for _, row := range r.Rows {
		names = append(names, row.Label)
		value := unit.Duration(row.NS)
		if r.Total != 0 {
			value += "  " + unit.Share(row.NS, r.Total)
		}
		values = append(values, value)
		longest = max(longest, row.NS)
	}
	names = c.labels(r.Form, names, 560)
	x := Margin + c.widest(names, textStyle{}) + 14
	length := Width - Margin - 10 - c.widest(values, textStyle{}) - x
	for i, row := range r.Rows {
		y := top + rankPitch*float64(i)
		w := max(1, length*float64(row.NS)/float64(longest))
		c.text(x-10, y+20, names[i], textStyle{align: right})
		c.rect(x, y+4, w, rankPitch-10, row.Color)
		c.text(x+w+10, y+20, values[i], textStyle{})
	}
	c.line(x, top, x, top+rankPitch*float64(len(r.Rows)), 1, colorGrey)
}
