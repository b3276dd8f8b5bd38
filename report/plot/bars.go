package plot

import (
	"cmp"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
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
	Names []string // names of the parts, for shares that do not fit into their part; nil to omit these
	Note  string   // text after the length, or ""
	Total int64    // shown as the length, if it is not the sum of the parts; 0 if it is
}

const (
	barPitch  = 40.0 // pixels from bar to bar
	barHeight = 28.0
)

func (b Bars) height(*pen) float64 {
	if b.Compare {
		return barPitch*float64(len(b.Rows)) + 4
	}
	return barPitch*float64(len(b.Rows)) + 34
}

// textAfter returns the text after a bar of the given length in pixels: its duration, and the shares
// that do not fit inside.
func (r BarRow) textAfter(p *pen, length float64) string {
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

// inside reports whether the share of part i fits inside the part.
func (r BarRow) inside(p *pen, i int, length float64) bool {
	total := SumParts(r.Parts)
	space := length * float64(r.Parts[i].NS) / float64(max(1, total))
	return p.width(unit.Share(r.Parts[i].NS, total), textStyle{})+8 <= space
}

func (b Bars) draw(c *Canvas, top float64) {
	var labels []string
	for _, r := range b.Rows {
		labels = append(labels, r.Label)
	}
	labels = c.labels(label.Plain, labels, 300)
	x := Margin + c.widest(labels, textStyle{}) + 14
	length := b.length(c.pen, Width-Margin-14-x)
	bottom := top + barPitch*float64(len(b.Rows))
	if b.Compare {
		c.line(x, top, x, bottom, 1, colorGrey)
	}
	for i := range 5 {
		if b.Compare {
			break // here shares would be relative to the longest bar
		}
		at := x + length*float64(i)/4
		c.line(at, top, at, bottom, 1, colorGrid)
		c.text(at, bottom+18, []string{"0%", "25%", "50%", "75%", "100%"}[i],
			textStyle{size: sizeSmall, color: colorGrey, align: center})
	}
	for i, r := range b.Rows {
		y := top + barPitch*float64(i) + (barPitch-barHeight)/2
		c.text(x-10, y+20, labels[i], textStyle{align: right})
		own := length * b.fraction(r)
		b.drawRow(c, r, x, y, own)
		c.text(x+own+14, y+19, r.textAfter(c.pen, own), textStyle{size: sizeSmall, color: colorGrey})
	}
}

// fraction returns the length of a bar relative to the longest.
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

// length returns the length, in pixels, of the longest bar if bars and the texts after them must fit
// into the given width. A longer bar has fewer shares after it, so a text that fits after a short bar
// also fits after a longer one.
func (b Bars) length(p *pen, space float64) float64 {
	length := 0.0
	for range 4 {
		widest := 0.0
		for _, r := range b.Rows {
			widest = max(widest, p.width(r.textAfter(p, length), textStyle{size: sizeSmall}))
		}
		length = space - widest
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
		c.rect(from, y, to-from, barHeight, part.Color)
		if part.NS > 0 && r.inside(c.pen, i, length) {
			c.text((from+to)/2, y+20, unit.Share(part.NS, total), textStyle{color: inkOn(part.Color), align: center})
		}
	}
}

// hbars draws horizontal bars on one axis. All bodies of this file except [Bars] use it.
type hbars struct {
	rows      []hbar
	low, high float64    // values at the ends of the axis
	form      label.Form // of the labels
	space     float64    // for the labels, in pixels
	pitch     float64    // from bar to bar, in pixels
	ticks     []int64    // nil for an axis without a scale
	times     bool       // parts show their durations
	linked    bool       // the end of a bar is linked to the next
}

// An hbar is one bar. Its parts are to the right of its start, and negative parts are to
// the left.
type hbar struct {
	label, value string
	from         float64
	parts        []Part
}

// height returns the height of the bars and of their scale, if there is one.
func (b hbars) height() float64 {
	h := b.pitch*float64(len(b.rows)) + 8
	if b.ticks != nil {
		h += 26
	}
	return h
}

func (b hbars) draw(c *Canvas, top float64) {
	var labels, values []string
	for _, r := range b.rows {
		labels, values = append(labels, r.label), append(values, r.value)
	}
	labels = c.labels(b.form, labels, b.space)
	x := Margin + c.widest(labels, textStyle{}) + 14
	a := axis{b.low, b.high, x, Width - Margin - 14 - c.widest(values, textStyle{}) - x}
	bottom := top + b.pitch*float64(len(b.rows))
	c.grid(a, b.ticks, top, bottom)
	for i, r := range b.rows {
		y := top + b.pitch*float64(i)
		c.text(x-10, y+b.pitch/2+5, labels[i], textStyle{align: right})
		to := c.hbar(a, r, y+b.pitch/8, b.pitch*3/4, b.times)
		c.text(a.at(max(r.from, to))+10, y+b.pitch/2+5, values[i], textStyle{})
		if end := r.from + float64(SumParts(r.parts)); b.linked && i+1 < len(b.rows) {
			c.line(a.at(end), y+b.pitch*7/8, a.at(end), y+b.pitch*9/8, 1, colorGrey)
		}
	}
	if b.ticks == nil {
		c.line(a.at(0), top, a.at(0), bottom, 1, colorGrey)
	}
}

// hbar draws one bar and returns the end of its parts to the right. A bar of one part is at least
// one visible line.
func (c *Canvas) hbar(a axis, r hbar, y, height float64, times bool) (up float64) {
	up = r.from
	down := r.from
	for _, part := range r.parts {
		from, to := up, up+float64(part.NS)
		if part.NS < 0 {
			from, to = down+float64(part.NS), down
			down = from
		} else {
			up = to
		}
		w := a.at(to) - a.at(from)
		if len(r.parts) == 1 {
			w = max(1, w)
		}
		c.rect(a.at(from), y, w, height, part.Color)
		if !times || part.NS <= 0 {
			continue
		}
		if text := unit.Duration(part.NS); c.width(text, textStyle{})+8 <= w {
			c.text(a.at(from)+w/2, y+height/2+6, text, textStyle{color: inkOn(part.Color), align: center})
		}
	}
	return up
}

// A Ranking is horizontal bars on a common scale, largest first.
type Ranking struct {
	Rows  []RankRow
	Total int64      // denominator of the shares; 0 for no shares
	Form  label.Form // of the labels
}

// A RankRow is one bar.
type RankRow struct {
	Label string
	Color Color
	NS    int64
}

func (r Ranking) bars() hbars {
	b := hbars{form: r.Form, space: 560, pitch: 32, high: 1}
	for _, row := range r.Rows {
		value := unit.Duration(row.NS)
		if r.Total != 0 {
			value += "  " + unit.Share(row.NS, r.Total)
		}
		b.rows = append(b.rows, hbar{label: row.Label, value: value, parts: []Part{{row.Color, row.NS}}})
		b.high = max(b.high, float64(row.NS))
	}
	return b
}

func (r Ranking) height(*pen) float64         { return r.bars().height() }
func (r Ranking) draw(c *Canvas, top float64) { r.bars().draw(c, top) }

// Stacks are horizontal bars on a common scale, each divided into parts that show their durations.
type Stacks struct {
	Rows []BarRow
	Wide bool // labels are long
}

func (s Stacks) bars() hbars {
	b := hbars{space: 300, pitch: 52, high: 1, times: true}
	if s.Wide {
		b.space, b.pitch = 460, 40
	}
	for _, r := range s.Rows {
		total := SumParts(r.Parts)
		b.rows = append(b.rows, hbar{label: r.Label, value: unit.Duration(cmp.Or(r.Total, total)) + r.Note, parts: r.Parts})
		b.high = max(b.high, float64(total))
	}
	b.ticks = ticksBetween(0, int64(b.high), 8)
	return b
}

func (s Stacks) height(*pen) float64         { return s.bars().height() }
func (s Stacks) draw(c *Canvas, top float64) { s.bars().draw(c, top) }

// Moves are changes on both sides of a line, the largest first. Each consists of two effects, whose
// signs may differ.
type Moves struct {
	Rows []MoveRow
	Form label.Form // of the labels
}

// A MoveRow is one change and the effects that sum to it.
type MoveRow struct {
	Label string
	Parts []Part
	Value string // the change as text
}

func (m Moves) bars() hbars {
	b := hbars{form: m.Form, space: 460, pitch: 32, high: 1}
	for _, r := range m.Rows {
		b.rows = append(b.rows, hbar{label: r.Label, value: r.Value, parts: r.Parts})
		down, up := 0.0, 0.0
		for _, part := range r.Parts {
			down, up = down+min(0, float64(part.NS)), up+max(0, float64(part.NS))
		}
		b.low, b.high = min(b.low, down), max(b.high, up)
	}
	return b
}

func (m Moves) height(*pen) float64         { return m.bars().height() }
func (m Moves) draw(c *Canvas, top float64) { m.bars().draw(c, top) }

// A Waterfall leads from one total to another: each bar starts at the end of the bar above.
type Waterfall struct {
	From, To  int64
	Steps     []WaterStep // sum to To - From
	FromLabel string
	ToLabel   string
}

// A WaterStep is one change.
type WaterStep struct {
	Label string
	NS    int64
	Value string // the change as text
}

// Span returns the ends of the axis. It starts at 0 or, if the changes would be too short to see,
// slightly below the lowest running total.
func (w Waterfall) Span() (low, high int64) {
	low, high = min(w.From, w.To), max(w.From, w.To)
	at := w.From
	for _, s := range w.Steps {
		at = SumParts([]Part{{NS: at}, {NS: s.NS}})
		low, high = min(low, at), max(high, at)
	}
	if space := high - low; low > 0 && space < high/3 {
		return max(0, low-max(1, space/3)), max(high, low+1)
	}
	return min(0, low), max(1, high)
}

func (w Waterfall) bars() hbars {
	low, high := w.Span()
	b := hbars{low: float64(low), high: float64(high), space: 300, pitch: 38, linked: true,
		ticks: ticksBetween(low, high, 6)}
	total := func(label string, ns int64) {
		b.rows = append(b.rows, hbar{label, unit.Duration(ns), b.low, []Part{{ColorSide, ns - low}}})
	}
	total(w.FromLabel, w.From)
	at := float64(w.From)
	for _, s := range w.Steps {
		color := ColorMore
		if s.NS < 0 {
			color = ColorLess
		}
		b.rows = append(b.rows, hbar{s.Label, s.Value, at, []Part{{color, s.NS}}})
		at += float64(s.NS)
	}
	total(w.ToLabel, w.To)
	return b
}

func (w Waterfall) height(*pen) float64         { return w.bars().height() }
func (w Waterfall) draw(c *Canvas, top float64) { w.bars().draw(c, top) }
