package plot

import (
	"math"
	"strconv"
	"strings"

	"assay/unit"
)

// A Timeline shows quantities over time, a panel for each device. The tracks
// of a panel share its axis of time.
type Timeline struct {
	Panels []TimePanel
}

// A TimePanel is a stretch of time from 0 on.
type TimePanel struct {
	Title  string
	SpanNS int64
	Tracks []Track
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
	Tall    bool // it has many series, which need room
}

// A TrackMark is a moment at which something happened.
type TrackMark struct {
	NS    int64
	Color Color
}

// A Series has a value for each bin, and -1 where there is none.
type Series struct {
	Color  Color
	BinNS  int64
	Values []int64
}

// A TimeColumn stands from its start to its end; it is as high as it is long,
// and so are the parts that sum to it.
type TimeColumn struct {
	FromNS, NS int64
	Label      string
	Parts      []Part
}

// A Peak is a value to point at.
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

func (p TimePanel) height() float64 {
	h := 30.0 + 40
	for _, t := range p.Tracks {
		h += t.height()
	}
	return h
}

// height is that of the plane and of the name above it.
func (t Track) height() float64 {
	if t.Name == "" {
		return t.plane()
	}
	return t.plane() + trackHead
}

func (t Track) plane() float64 {
	if t.Tall {
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

// x returns where a moment is, within the panel.
func (p TimePanel) x(ns int64) float64 {
	return laneX + float64(laneLength*min(1, max(0, float64(ns)/float64(max(1, p.SpanNS)))))
}

func (p TimePanel) draw(c *Canvas, top float64) {
	c.text(Margin, top+18, c.fit(p.Title, sizeText, Width-2*Margin), textStyle{bold: true})
	bottom := top + 30
	for _, t := range p.Tracks {
		bottom += t.height()
		t.draw(c, p, bottom)
	}
	for _, tick := range ticksBetween(0, p.SpanNS, 10) {
		at := p.x(tick)
		c.line(at, bottom, at, bottom+5, 1, colorGrey)
		c.text(at, bottom+19, tickText(tick), textStyle{size: sizeSmall, color: colorGrey, align: center})
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
	most := t.highest()
	y := func(v int64) float64 { return base - (t.plane()-trackRoom)*float64(v)/float64(most) }
	c.text(laneX, base-t.plane()-6, t.Name, textStyle{size: sizeSmall, color: colorGrey})
	c.rect(laneX, base-t.plane(), laneLength, t.plane(), ColorPlane)
	ticks := t.Unit.ticks(most)
	for _, v := range ticks {
		c.line(laneX, y(v), laneX+laneLength, y(v), 1, colorGrid)
		c.text(laneX-8, y(v)+5, t.Unit.text(v), textStyle{size: sizeSmall, color: colorGrey, align: right})
	}
	for _, s := range t.Series {
		s.draw(c, p, base, y)
	}
	t.drawColumns(c, p, y)
	for _, m := range t.Marks {
		c.line(p.x(m.NS), base-t.plane(), p.x(m.NS), base, 2, m.Color)
	}
	c.line(laneX, base, laneX+laneLength, base, 1, colorGrey)
	if t.Peak != nil {
		t.Peak.draw(c, p, y)
	}
}

// draw fills each stretch of known values as one shape: bins drawn one by one
// would show seams between them.
func (s Series) draw(c *Canvas, p TimePanel, base float64, y func(int64) float64) {
	var corners [][2]float64
	flush := func() {
		if n := len(corners); n > 0 {
			c.area(s.Color, append(corners, [2]float64{corners[n-1][0], base})...)
		}
		corners = nil
	}
	for i, v := range s.Values {
		from := float64(i) * float64(s.BinNS) / float64(max(1, p.SpanNS))
		to := float64(i+1) * float64(s.BinNS) / float64(max(1, p.SpanNS))
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

// drawColumns draws the columns, and the labels that have room.
func (t Track) drawColumns(c *Canvas, p TimePanel, y func(int64) float64) {
	small := textStyle{size: sizeSmall, align: center}
	for _, col := range t.Columns {
		from, to := p.x(col.FromNS), p.x(col.FromNS+min(col.NS, math.MaxInt64-max(0, col.FromNS)))
		if to-from > 4 {
			to-- // so that equal neighbours can be told apart
		}
		done := 0.0
		for _, part := range col.Parts {
			h := y(0) - y(max(0, part.NS))
			c.rect(from, y(0)-done-h, max(1, to-from), h, part.Color)
			done += h
		}
		mid := (from + to) / 2
		for _, text := range []string{col.Label + ", " + unit.Duration(col.NS), col.Label, strings.TrimPrefix(col.Label, "step ")} {
			if w := c.width(text, small); w+8 <= to-from {
				c.rect(mid-w/2-2, y(col.NS)-19, w+4, 16, ColorPlane) // no line through the text
				c.text(mid, y(col.NS)-6, text, small)
				break
			}
		}
	}
}

// draw sets a dot at the peak and its label beside it, where there is more
// room.
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

// ticks returns values from 0 to most that are round numbers of the unit, at
// most five.
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
	case v >= 1e9: // beyond any queue: there is no room for the digits
		return strconv.FormatFloat(float64(v)/1000, 'e', 0, 64)
	case v%1000 == 0:
		return unit.Count(v / 1000)
	}
	return strconv.FormatFloat(float64(v)/1000, 'f', -1, 64)
}
