package report

import (
	"math"

	"assay/unit"
)

// Lanes show when each class of work ran on some devices, one panel each.
type Lanes struct {
	Panels []LanePanel
}

// A LanePanel is the window of one device.
type LanePanel struct {
	Title    string
	WindowNS int64
	BinNS    int64
	Lanes    []Lane
	Marks    []Mark
}

// A Lane says how long a class ran in each bin.
type Lane struct {
	Name  string
	Color Color
	NS    []int64
}

// A Mark is a moment with a name.
type Mark struct {
	NS    int64 // from the start of the window
	Label string
}

const (
	lanePitch  = 52.0
	laneHeight = 46.0
	laneX      = margin + 78.0
	laneLength = ChartWidth - margin - 24 - laneX
)

func (p LanePanel) height() float64 {
	h := 30 + lanePitch*float64(len(p.Lanes)) + 34
	if len(p.Marks) > 0 {
		h += 18
	}
	return h
}

func (l Lanes) height(*pen) (h float64) {
	for _, p := range l.Panels {
		h += p.height()
	}
	return h
}

func (l Lanes) draw(c *canvas, top float64) {
	for _, p := range l.Panels {
		p.draw(c, top)
		top += p.height()
	}
}

// x returns where a moment of the window is.
func (p LanePanel) x(ns int64) float64 {
	return laneX + laneLength*float64(ns)/float64(max(1, p.WindowNS))
}

func (p LanePanel) draw(c *canvas, top float64) {
	c.text(margin, top+18, c.fit(p.Title, sizeText, ChartWidth-2*margin), textStyle{bold: true})
	y := top + 30
	if len(p.Marks) > 0 {
		y += 18
	}
	bottom := y + lanePitch*float64(len(p.Lanes)) - (lanePitch - laneHeight)
	for i, lane := range p.Lanes {
		at := y + lanePitch*float64(i)
		c.text(laneX-10, at+laneHeight-4, lane.Name, textStyle{align: right})
		c.rect(laneX, at, laneLength, laneHeight, colorPlane)
		p.drawLane(c, lane, at+laneHeight)
		c.line(laneX, at+laneHeight, laneX+laneLength, at+laneHeight, 1, colorIdle)
	}
	p.drawMarks(c, y, bottom)
	for _, tick := range timeTicks(p.WindowNS, 10) {
		at := p.x(tick)
		c.line(at, bottom, at, bottom+5, 1, colorGrey)
		c.text(at, bottom+19, tickText(tick), textStyle{size: sizeSmall, color: colorGrey, align: center})
	}
}

// drawLane fills the steps of a lane as one shape: bins drawn one by one would
// show seams between them.
func (p LanePanel) drawLane(c *canvas, lane Lane, base float64) {
	corners := [][2]float64{{laneX, base}}
	for i, ns := range lane.NS {
		from := int64(i) * p.BinNS
		length := min(p.BinNS, p.WindowNS-from)
		if length <= 0 {
			break
		}
		up := base - laneHeight*min(1, float64(ns)/float64(length))
		corners = append(corners, [2]float64{p.x(from), up}, [2]float64{p.x(from + length), up})
	}
	last := corners[len(corners)-1][0]
	c.area(lane.Color, append(corners, [2]float64{last, base})...)
}

// drawMarks draws the marks within the window, and the labels that have room.
func (p LanePanel) drawMarks(c *canvas, top, bottom float64) {
	free := laneX - 1.0
	for _, m := range p.Marks {
		if m.NS < 0 || m.NS > p.WindowNS {
			continue
		}
		x := p.x(m.NS)
		c.line(x, top-4, x, bottom, 1, colorGrey)
		st := textStyle{size: sizeSmall, color: colorGrey}
		if w := c.width(m.Label, st); x >= free && x+3+w <= ChartWidth-margin {
			c.text(x+3, top-6, m.Label, st)
			free = x + 3 + w + 8
		}
	}
}

// timeTicks returns moments from 0 to span at distances that are round
// numbers of some unit of time, at most n and one.
func timeTicks(span int64, n int64) []int64 {
	step := tickStep(span, n)
	var ticks []int64
	for t := int64(0); t <= span; t += step {
		ticks = append(ticks, t)
		if t > math.MaxInt64-step {
			break
		}
	}
	return ticks
}

func tickStep(span, n int64) int64 {
	fits := func(step int64) bool { return span/step <= n }
	for ten := int64(1); ten <= 1e10; ten *= 10 {
		for _, k := range []int64{1, 2, 5} {
			if step := ten * k; step <= 1e10 && fits(step) {
				return step
			}
		}
	}
	const minute, hour = int64(60e9), int64(3600e9)
	for _, step := range []int64{30e9, minute, 2 * minute, 5 * minute, 10 * minute, 30 * minute} {
		if fits(step) {
			return step
		}
	}
	for ten := hour; ; ten *= 10 {
		for _, k := range []int64{1, 2, 5} {
			if fits(ten * k) {
				return ten * k
			}
		}
	}
}

func tickText(ns int64) string {
	if ns == 0 {
		return "0"
	}
	return unit.Duration(ns)
}

// Columns are upright bars, one after the other in time, whose parts sum to
// them.
type Columns struct {
	Bars []ColumnBar
}

// A ColumnBar is one bar. Its height is the sum of its parts over Of.
type ColumnBar struct {
	Label string
	Parts []Part
	Of    int64 // how many windows were added up, at least 1
}

const (
	columnsHeight = 340.0

	// fewColumns is how many bars share the whole width; more are narrower
	// than it allows, so that they stay bars.
	fewColumns = 4
)

func (Columns) height(*pen) float64 { return columnsHeight + 40 }

func (b ColumnBar) size() float64 { return float64(sumParts(b.Parts)) / float64(b.Of) }

func (col Columns) draw(c *canvas, top float64) {
	highest := 1.0
	for _, b := range col.Bars {
		highest = max(highest, b.size())
	}
	const x, length = margin + 70.0, ChartWidth - 2*margin - 70.0
	base := top + columnsHeight
	// The axis ends at a line, so that every bar stays under one.
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
			c.rect(mid-w/2, up-17, w, 15, colorWhite) // no line through the text
			c.text(mid, up-6, text, small)
		}
		if w := c.width(b.Label, small); i%every == 0 && mid+w/2 <= ChartWidth-6 {
			c.text(mid, base+18, b.Label, textStyle{size: sizeSmall, color: colorGrey, align: center})
		}
	}
	c.line(x, base, x+length, base, 1, colorGrey)
}

// labelStride returns every how many bars there is room for a label.
func (col Columns) labelStride(p *pen, st textStyle, pitch float64) int {
	var labels []string
	for _, b := range col.Bars {
		labels = append(labels, b.Label)
	}
	return int(math.Ceil((p.widest(labels, st) + 12) / pitch))
}
