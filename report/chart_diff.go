package report

import (
	"math"

	"assay/unit"
)

// The colours of a comparison: what costs more than before, and what less. They
// differ in lightness too.
const (
	colorMore Color = 0xc0392b
	colorLess Color = 0x2e8b57
	colorSide Color = 0x8c8c8c // totals before and now

	colorByCount    = colorDependency
	colorByDuration = colorWork
)

// ticksBetween returns round moments from low to high, about five.
func ticksBetween(low, high int64) (ticks []int64) {
	step := tickStep(max(1, high-low), 6)
	for t := low / step * step; t <= high; t += step {
		if t >= low {
			ticks = append(ticks, t)
		}
		if t > math.MaxInt64-step {
			break
		}
	}
	return ticks
}

// within keeps a place on an axis: sums of a damaged file may have wrapped.
func within(x, low, high float64) float64 {
	if math.IsNaN(x) {
		return low
	}
	return max(low, min(x, high))
}

// Stacks are horizontal bars whose lengths compare, each cut into parts.
type Stacks struct{ Rows []BarRow }

func (s Stacks) height(*pen) float64 { return 52*float64(len(s.Rows)) + 34 }

func (s Stacks) draw(c *canvas, top float64) {
	var labels, values []string
	longest := int64(1)
	for _, r := range s.Rows {
		labels = append(labels, r.Label)
		values = append(values, unit.Duration(sumParts(r.Parts))+r.Note)
		longest = max(longest, sumParts(r.Parts))
	}
	x := margin + c.widest(labels, textStyle{}) + 14
	length := ChartWidth - margin - 14 - c.widest(values, textStyle{}) - x
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

// span returns the lowest and highest total on the way. The axis begins at 0,
// or, where the deltas would be too short to be seen, shortly below the lowest.
func (w Waterfall) span() (low, high int64) {
	low, high = min(w.From, w.To), max(w.From, w.To)
	at := w.From
	for _, s := range w.Steps {
		at = sumParts([]Part{{NS: at}, {NS: s.NS}})
		low, high = min(low, at), max(high, at)
	}
	if room := high - low; low > 0 && room < high/3 {
		return max(0, low-max(1, room/3)), max(high, low+1)
	}
	return min(0, low), max(1, high)
}

func (w Waterfall) draw(c *canvas, top float64) {
	labels, values := []string{w.FromLabel}, []string{unit.Duration(w.From)}
	for _, s := range w.Steps {
		labels, values = append(labels, s.Label), append(values, s.Value)
	}
	labels, values = append(labels, w.ToLabel), append(values, unit.Duration(w.To))
	labels = c.labels(plainForm, labels, 300)
	low, high := w.span()
	left := margin + c.widest(labels, textStyle{}) + 14
	length := ChartWidth - margin - 14 - c.widest(values, textStyle{}) - left
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
	row(0, low, w.From, colorSide)
	for i, s := range w.Steps {
		col := colorMore
		if s.NS < 0 {
			col = colorLess
		}
		to := sumParts([]Part{{NS: at}, {NS: s.NS}})
		row(i+1, at, to, col)
		at = to
	}
	row(len(labels)-1, low, w.To, colorSide)
}

// Moves are deltas on both sides of a line, the largest first. Each is cut into
// two effects, of which one may be negative while the other is not.
type Moves struct {
	Rows []MoveRow
	Form nameForm // of the labels
}

// A MoveRow is one delta and the effects that sum to it.
type MoveRow struct {
	Label string
	Parts []Part
	Value string // what is said of it
}

func (m Moves) height(*pen) float64 { return rankPitch*float64(len(m.Rows)) + 8 }

func (m Moves) draw(c *canvas, top float64) {
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
	left := margin + c.widest(names, textStyle{}) + 14
	room := ChartWidth - margin - 14 - c.widest(values, textStyle{}) - left
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

// Spreads show single durations of some sets on one axis, with their medians.
type Spreads struct{ Rows []SpreadRow }

// A SpreadRow is one set, in rising order.
type SpreadRow struct {
	Label  string
	Color  Color
	NS     []int64
	Median int64
}

func (s Spreads) height(*pen) float64 { return 76*float64(len(s.Rows)) + 34 }

func (s Spreads) draw(c *canvas, top float64) {
	var labels []string
	low, high := s.Rows[0].NS[0], int64(0)
	for _, r := range s.Rows {
		labels = append(labels, r.Label)
		low, high = min(low, r.NS[0]), max(high, r.NS[len(r.NS)-1])
	}
	pad := max(1, (high-low)/20)
	low, high = max(0, low-pad), sumParts([]Part{{NS: high}, {NS: pad}})
	left := margin + c.widest(labels, textStyle{}) + 34
	length := ChartWidth - margin - 60 - left
	x := func(ns int64) float64 {
		return within(left+length*(float64(ns)-float64(low))/(float64(high)-float64(low)), left, left+length)
	}
	bottom := top + 76*float64(len(s.Rows))
	for _, tick := range ticksBetween(low, high) {
		c.line(x(tick), top, x(tick), bottom, 1, colorGrid)
		c.text(x(tick), bottom+18, tickText(tick), textStyle{size: sizeSmall, color: colorGrey, align: center})
	}
	for i, r := range s.Rows {
		y := top + 76*float64(i)
		c.text(left-24, y+48, labels[i], textStyle{align: right})
		c.rect(left, y+24, length, 40, colorPlane)
		for _, ns := range r.NS {
			c.rect(x(ns)-1, y+28, 2, 32, r.Color)
		}
		c.rect(x(r.Median)-2, y+22, 4, 44, colorInk)
		c.text(x(r.Median), y+16, "median "+unit.Duration(r.Median), textStyle{size: sizeSmall, align: center})
	}
}
