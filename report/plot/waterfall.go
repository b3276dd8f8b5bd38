package plot

import (
	"assay/internal/label"
	"assay/unit"
)

// A Waterfall leads from one total to another: each bar begins where the one
// above it ends.
type Waterfall struct {
	From, To  int64
	Steps     []WaterStep // sum to To less From
	FromLabel string
	ToLabel   string
}

// A WaterStep is one delta.
type WaterStep struct {
	Label string
	NS    int64
	Value string // what is said of it
}

const waterPitch = 38.0

func (w Waterfall) height(*pen) float64 { return waterPitch*float64(len(w.Steps)+2) + 34 }

// Span returns the lowest and highest total on the way. The axis begins at 0,
// or, where the deltas would be too short to be seen, shortly below the lowest.
func (w Waterfall) Span() (low, high int64) {
	low, high = min(w.From, w.To), max(w.From, w.To)
	at := w.From
	for _, s := range w.Steps {
		at = SumParts([]Part{{NS: at}, {NS: s.NS}})
		low, high = min(low, at), max(high, at)
	}
	if room := high - low; low > 0 && room < high/3 {
		return max(0, low-max(1, room/3)), max(high, low+1)
	}
	return min(0, low), max(1, high)
}

func (w Waterfall) draw(c *Canvas, top float64) {
	labels, values := []string{w.FromLabel}, []string{unit.Duration(w.From)}
	for _, s := range w.Steps {
		labels, values = append(labels, s.Label), append(values, s.Value)
	}
	labels, values = append(labels, w.ToLabel), append(values, unit.Duration(w.To))
	labels = c.labels(label.Plain, labels, 300)
	low, high := w.Span()
	left := Margin + c.widest(labels, textStyle{}) + 14
	length := Width - Margin - 14 - c.widest(values, textStyle{}) - left
	x := func(ns int64) float64 {
		return within(left+length*(float64(ns)-float64(low))/(float64(high)-float64(low)), left, left+length)
	}
	bottom := top + waterPitch*float64(len(labels))
	for _, tick := range ticksBetween(low, high) {
		c.line(x(tick), top, x(tick), bottom, 1, colorGrid)
		c.text(x(tick), bottom+18, tickText(tick), textStyle{size: sizeSmall, color: colorGrey, align: center})
	}
	at := w.From
	row := func(i int, from, to int64, col Color) {
		y := top + waterPitch*float64(i)
		a, b := x(min(from, to)), x(max(from, to))
		c.text(left-10, y+24, labels[i], textStyle{align: right})
		c.rect(a, y+6, max(1, b-a), waterPitch-12, col)
		c.text(b+8, y+24, values[i], textStyle{})
		if i < len(labels)-1 {
			c.line(x(to), y+waterPitch-6, x(to), y+waterPitch+6, 1, colorGrey)
		}
	}
	row(0, low, w.From, ColorSide)
	for i, s := range w.Steps {
		col := ColorMore
		if s.NS < 0 {
			col = ColorLess
		}
		to := SumParts([]Part{{NS: at}, {NS: s.NS}})
		row(i+1, at, to, col)
		at = to
	}
	row(len(labels)-1, low, w.To, ColorSide)
}
