package plot

import (
	"math"
	"strconv"
	"strings"

	"assay/internal/unit"
)

// A Timeline shows quantities over time, with a panel per device. The tracks of a panel share its
// axis of time.
type Timeline struct {
	Panels []TimePanel
}

// A TimePanel is a span of time that starts at 0.
type TimePanel struct {
	Title  string
	SpanNS int64
	Tracks []Track
	Marks  []Mark // above the tracks, with lines through all of them

	// FromNS and ToNS are the recorded part, if it is not the whole span. Series start at
	// FromNS.
	FromNS, ToNS int64
}

// A Mark is a time with a label.
type Mark struct {
	NS    int64 // from the start of the panel
	Label string
}

// A Track is one quantity over time: filled curves, drawn over each other in
// their order, or columns.
type Track struct {
	Name    string
	Unit    axisUnit
	Series  []Series
	Columns []TimeColumn
	Peak    *Peak
	Marks   []TrackMark
	Tall    bool // higher, for many series
	Lane    bool // values are shares of [Full]; the name is at the left, without a scale
}

// Full is the value of a bin that a lane fills completely.
const Full = 1_000_000

// A TrackMark marks a time of a track.
type TrackMark struct {
	NS    int64
	Color Color
}

// A Series has a value for each bin, or -1 for none.
type Series struct {
	Color  Color
	BinNS  int64
	Values []int64
}

// A TimeColumn reaches from its start to its end in time; its height shows its duration, divided into
// parts.
type TimeColumn struct {
	FromNS, NS int64
	Label      string
	Parts      []Part
}

// A Peak is a value to highlight.
type Peak struct {
	NS, Value int64
	Label     string
}

// An axisUnit is what the values of a track are.
type axisUnit uint8

const (
	DepthAxis axisUnit = iota // thousandths
	TimeAxis                  // ns
	SizeAxis                  // bytes
)

const (
	trackHeight = 120.0
	tallTrack   = 300.0
	trackHead   = 26.0 // of a track, for its name
	trackRoom   = 26.0 // above the highest value, for labels
)

const (
	lanePitch  = 52.0
	laneHeight = 46.0
	laneX      = Margin + 78.0
	laneLength = Width - Margin - 24 - laneX
)

// markRoom returns the height of the labels of marks.
func (p TimePanel) markRoom() float64 {
	if len(p.Marks) == 0 {
		return 0
	}
	return 18
}

func (p TimePanel) height() float64 {
	h := 30.0 + 40 + p.markRoom()
	for _, t := range p.Tracks {
		h += t.height()
	}
	return h
}

// height returns the height of the plane and of the name above it.
func (t Track) height() float64 {
	switch {
	case t.Lane:
		return lanePitch
	case t.Name == "":
		return t.plane()
	}
	return t.plane() + trackHead
}

func (t Track) plane() float64 {
	switch {
	case t.Lane:
		return laneHeight
	case t.Tall:
		return tallTrack
	}
	return trackHeight
}

func (t Timeline) height(*pen) (h float64) {
	for _, p := range t.Panels {
		h += p.height()
	}
	return h
}

func (t Timeline) draw(c *Canvas, top float64) {
	for _, p := range t.Panels {
		p.draw(c, top)
		top += p.height()
	}
}

// axis returns the time axis of all tracks.
func (p TimePanel) axis() axis { return axis{0, float64(max(1, p.SpanNS)), laneX, laneLength} }

// x returns the position of a time, clamped to the panel.
func (p TimePanel) x(ns int64) float64 { return p.axis().at(float64(ns)) }

func (p TimePanel) draw(c *Canvas, top float64) {
	c.text(Margin, top+18, c.fit(p.Title, sizeText, Width-2*Margin), textStyle{bold: true})
	first := top + 30 + p.markRoom()
	bottom := first
	for _, t := range p.Tracks {
		bottom += t.height()
		t.draw(c, p, bottom)
	}
	p.drawMarks(c, first, bottom)
	c.scale(p.axis(), ticksBetween(0, p.SpanNS, 10), bottom)
}

// drawMarks draws the marks within the panel, and the labels that fit.
func (p TimePanel) drawMarks(c *Canvas, top, bottom float64) {
	free := laneX - 1.0
	for _, m := range p.Marks {
		if m.NS < 0 || m.NS > p.SpanNS {
			continue
		}
		x := p.x(m.NS)
		c.line(x, top-4, x, bottom, 1, colorGrey)
		st := textStyle{size: sizeSmall, color: colorGrey}
		if w := c.width(m.Label, st); x >= free && x+3+w <= Width-Margin {
			c.text(x+3, top-6, m.Label, st)
			free = x + 3 + w + 8
		}
	}
}

// highest returns the largest value of the track, at least 1.
func (t Track) highest() int64 {
	most := int64(1)
	for _, s := range t.Series {
		for _, v := range s.Values {
			most = max(most, v)
		}
	}
	for _, col := range t.Columns {
		most = max(most, col.NS)
	}
	if t.Peak != nil {
		most = max(most, t.Peak.Value)
	}
	return most
}

func (t Track) draw(c *Canvas, p TimePanel, base float64) {
	most, space := t.highest(), t.plane()-trackRoom
	if t.Lane {
		most, space = Full, laneHeight
	}
	y := func(v int64) float64 { return base - space*float64(v)/float64(most) }
	from, to := laneX, laneX+laneLength
	if p.ToNS > 0 {
		from, to = p.x(p.FromNS), p.x(p.ToNS)
	}
	c.rect(from, base-t.plane(), to-from, t.plane(), ColorPlane)
	if t.Lane {
		c.text(laneX-10, base-4, t.Name, textStyle{align: right})
	} else {
		c.text(laneX, base-t.plane()-6, t.Name, textStyle{size: sizeSmall, color: colorGrey})
		for _, v := range t.Unit.ticks(most) {
			c.line(laneX, y(v), laneX+laneLength, y(v), 1, colorGrid)
			c.text(laneX-8, y(v)+5, t.Unit.text(v), textStyle{size: sizeSmall, color: colorGrey, align: right})
		}
	}
	for _, s := range t.Series {
		s.draw(c, p, base, y)
	}
	t.drawColumns(c, p, y)
	for _, m := range t.Marks {
		c.line(p.x(m.NS), base-t.plane(), p.x(m.NS), base, 2, m.Color)
	}
	foot := colorGrey
	if t.Lane {
		foot = ColorIdle
	}
	c.line(laneX, base, laneX+laneLength, base, 1, foot)
	if t.Peak != nil {
		t.Peak.draw(c, p, y)
	}
}

// draw fills each range of consecutive known values as one shape, because single bins would show
// seams.
func (s Series) draw(c *Canvas, p TimePanel, base float64, y func(int64) float64) {
	var corners [][2]float64
	flush := func() {
		if n := len(corners); n > 0 {
			c.area(s.Color, append(corners, [2]float64{corners[n-1][0], base})...)
		}
		corners = nil
	}
	for i, v := range s.Values {
		from := (float64(p.FromNS) + float64(i)*float64(s.BinNS)) / float64(max(1, p.SpanNS))
		to := (float64(p.FromNS) + float64(i+1)*float64(s.BinNS)) / float64(max(1, p.SpanNS))
		if from >= 1 {
			break
		}
		if v < 0 {
			flush()
			continue
		}
		x0, x1 := laneX+float64(laneLength*from), laneX+float64(laneLength*min(1, to))
		if corners == nil {
			corners = append(corners, [2]float64{x0, base})
		}
		corners = append(corners, [2]float64{x0, y(v)}, [2]float64{x1, y(v)})
	}
	flush()
}

// drawColumns draws the columns, and the labels that fit.
func (t Track) drawColumns(c *Canvas, p TimePanel, y func(int64) float64) {
	small := textStyle{size: sizeSmall, align: center}
	for _, col := range t.Columns {
		from, to := p.x(col.FromNS), p.x(col.FromNS+min(col.NS, math.MaxInt64-max(0, col.FromNS)))
		if to-from > 4 {
			to-- // a gap between equal neighbours
		}
		done := 0.0
		for _, part := range col.Parts {
			h := y(0) - y(max(0, part.NS))
			c.rect(from, y(0)-done-h, max(1, to-from), h, part.Color)
			done += h
		}
		mid := (from + to) / 2
		for _, text := range []string{col.Label + ", " + unit.Duration(col.NS), col.Label,
			strings.TrimPrefix(col.Label, "step ")} {
			if w := c.width(text, small); w+8 <= to-from {
				c.rect(mid-w/2-2, y(col.NS)-19, w+4, 16, ColorPlane) // no line through the text
				c.text(mid, y(col.NS)-6, text, small)
				break
			}
		}
	}
}

// draw draws a dot at the peak, and its label on the side with more space.
func (k Peak) draw(c *Canvas, p TimePanel, y func(int64) float64) {
	x, at := p.x(k.NS), y(k.Value)
	st := textStyle{size: sizeSmall}
	left := x + 10
	if w := c.width(k.Label, st); x > laneX+laneLength/2 {
		left = x - 10 - w
	}
	c.rect(left-3, at-20, c.width(k.Label, st)+6, 16, ColorPlane)
	c.text(left, at-8, k.Label, st)
	c.rect(x-4, at-4, 8, 8, ColorWhite)
	c.rect(x-3, at-3, 6, 6, ColorInk)
}

// ticks returns at most five values from 0 to most that are round numbers of the unit.
func (u axisUnit) ticks(most int64) []int64 {
	if u == TimeAxis {
		return ticksBetween(0, most, 4)
	}
	step := int64(1)
	for k := 0; most/step > 4; k++ {
		switch {
		case u == SizeAxis:
			step *= 2 // sizes are round in powers of two
		case k%3 == 1:
			step = step / 2 * 5
		default:
			step *= 2
		}
	}
	var ticks []int64
	for i := int64(0); i <= most/step; i++ {
		ticks = append(ticks, i*step)
	}
	return ticks
}

func (u axisUnit) text(v int64) string {
	switch {
	case v == 0:
		return "0"
	case u == TimeAxis:
		return tickText(v)
	case u == SizeAxis:
		return unit.Bytes(v)
	case v >= 1e9: // longer than any real queue; all digits would not fit
		return strconv.FormatFloat(float64(v)/1000, 'e', 0, 64)
	case v%1000 == 0:
		return unit.Count(v / 1000)
	}
	return strconv.FormatFloat(float64(v)/1000, 'f', -1, 64)
}
