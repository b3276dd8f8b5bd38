package plot

import (
	"math"

	"assay/internal/label"
)

// A Scatter shows points in a plane, each with a size, a colour and perhaps a number that refers to
// a list below.
type Scatter struct {
	X, Y    Axis
	Regions []Region
	Curves  []Curve
	Dots    []Dot // drawn in order, so the smallest should come last
	Low     bool  // half the height, for one of several
}

// An Axis is one direction of the plane.
type Axis struct {
	Title    string
	From, To float64
	Log      bool
	Ticks    []Tick
}

// A Tick is a value on an axis with its text.
type Tick struct {
	At   float64
	Text string
}

// A Region is a part of the plane with a meaning. Its label is in its upper
// left corner, or at its lower right.
type Region struct {
	Corners [][2]float64
	Color   Color
	Label   string
	At      [2]float64 // of the label's start
	Right   bool       // the label ends there
}

// A Curve is a line through points, with its label above its end.
type Curve struct {
	Points [][2]float64
	Color  Color
	Label  string
}

// A Dot is one point.
type Dot struct {
	X, Y   float64
	Radius float64 // in pixels
	Color  Color
	Number string // next to the dot, and in front of Key; "" for none
	Label  string // next to the dot, if it has no number
	Key    string // a line below the plane
	Name   string // a kernel, which ends that line
}

const (
	scatterX      = Margin + 92.0
	scatterLength = Width - Margin - 20 - scatterX
	scatterTitle  = 30.0 // above the plane
	scatterHeight = 520.0
	scatterAxis   = 72.0 // below the plane
	scatterKey    = 22.0 // a line of the list
)

// plane is the height of the plane.
func (s Scatter) plane() float64 {
	if s.Low {
		return scatterHeight / 2
	}
	return scatterHeight
}

func (s Scatter) height(*pen) float64 {
	return scatterTitle + s.plane() + scatterAxis + scatterKey*float64(len(s.keyed()))
}

func (s Scatter) keyed() (out []Dot) {
	for _, d := range s.Dots {
		if d.Number != "" {
			out = append(out, d)
		}
	}
	return out
}

// place returns the position of a value on an axis, from 0 to 1. Values beyond an end are clamped.
func (a Axis) place(v float64) float64 {
	from, to := a.From, a.To
	if a.Log {
		if v <= 0 {
			return 0
		}
		v, from, to = math.Log10(v), math.Log10(from), math.Log10(to)
	}
	return min(1, max(0, (v-from)/(to-from)))
}

func (s Scatter) at(top float64, p [2]float64) (x, y float64) {
	return scatterX + scatterLength*s.X.place(p[0]), top + s.plane() - s.plane()*s.Y.place(p[1])
}

func (s Scatter) draw(c *Canvas, top float64) {
	top += scatterTitle
	c.rect(scatterX, top, scatterLength, s.plane(), ColorPlane)
	for _, r := range s.Regions {
		var corners [][2]float64
		for _, p := range r.Corners {
			x, y := s.at(top, p)
			corners = append(corners, [2]float64{x, y})
		}
		c.area(r.Color, corners...)
	}
	s.drawAxes(c, top)
	for _, r := range s.Regions {
		x, y := s.at(top, r.At)
		st := textStyle{size: sizeSmall, color: colorGrey}
		if r.Right {
			st.align = right
			x -= 16
		}
		c.text(x+8, y+18, r.Label, st)
	}
	for _, k := range s.Curves {
		s.drawCurve(c, top, k)
	}
	s.scattered(top).draw(c)
}

func (s Scatter) drawAxes(c *Canvas, top float64) {
	bottom := top + s.plane()
	for _, t := range s.X.Ticks {
		x := scatterX + scatterLength*s.X.place(t.At)
		c.line(x, top, x, bottom, 1, colorGrid)
		c.text(x, bottom+19, t.Text, textStyle{size: sizeSmall, color: colorGrey, align: center})
	}
	for _, t := range s.Y.Ticks {
		y := bottom - s.plane()*s.Y.place(t.At)
		c.line(scatterX, y, scatterX+scatterLength, y, 1, colorGrid)
		c.text(scatterX-8, y+5, t.Text, textStyle{size: sizeSmall, color: colorGrey, align: right})
	}
	c.text(scatterX+scatterLength, bottom+40, s.X.Title, textStyle{align: right})
	c.text(Margin, top-10, s.Y.Title, textStyle{})
}

func (s Scatter) drawCurve(c *Canvas, top float64, k Curve) {
	for i := 1; i < len(k.Points); i++ {
		x0, y0 := s.at(top, k.Points[i-1])
		x1, y1 := s.at(top, k.Points[i])
		c.line(x0, y0, x1, y1, 2, k.Color)
	}
	if k.Label == "" || len(k.Points) == 0 {
		return
	}
	x, y := s.at(top, k.Points[len(k.Points)-1])
	st := textStyle{size: sizeSmall, color: colorGrey, align: right}
	w := c.width(k.Label, st)
	for _, dy := range []float64{-7, 17, -25, 35} {
		if y+dy > top+12 && c.free(x-6-w, y+dy-12, x-6, y+dy+4) {
			c.text(x-6, y+dy, k.Label, st)
			return
		}
	}
}

// free reports whether a box contains no text yet.
func (c *Canvas) free(x0, y0, x1, y1 float64) bool {
	for _, b := range c.Boxes {
		if x0 < b.X1 && b.X0 < x1 && y0 < b.Y1 && b.Y0 < y1 {
			return false
		}
	}
	return true
}

// A scattered caches the pixels of a scatter's curves and dots, because each number is tried in many
// places and logarithms are slow.
type scattered struct {
	Scatter
	top    float64
	curves [][2][2]float64 // the two ends of each line
	dots   [][2]float64
}

func (s Scatter) scattered(top float64) *scattered {
	out := &scattered{Scatter: s, top: top}
	at := func(p [2]float64) [2]float64 {
		x, y := s.at(top, p)
		return [2]float64{x, y}
	}
	for _, k := range s.Curves {
		for i := 1; i < len(k.Points); i++ {
			out.curves = append(out.curves, [2][2]float64{at(k.Points[i-1]), at(k.Points[i])})
		}
	}
	for _, d := range s.Dots {
		out.dots = append(out.dots, at([2]float64{d.X, d.Y}))
	}
	return out
}

func (s *scattered) draw(c *Canvas) {
	for i, d := range s.Dots {
		x, y := s.dots[i][0], s.dots[i][1]
		c.disc(x, y, d.Radius+1.5, ColorWhite)
		c.disc(x, y, d.Radius, d.Color)
	}
	row := s.top + s.plane() + scatterAxis
	for _, d := range s.Dots {
		if d.Number == "" && d.Label != "" {
			s.number(c, d, d.Label)
		}
	}
	for _, d := range s.keyed() {
		s.number(c, d, d.Number)
		c.disc(Margin+8, row-5, 6, d.Color)
		c.text(Margin+22, row, d.Number, textStyle{bold: true})
		c.text(Margin+48, row, d.Key, textStyle{})
		from := Margin + 48 + c.width(d.Key, textStyle{}) + 12
		c.text(from, row, c.labels(label.Kernel, []string{d.Name}, Width-Margin-from)[0], textStyle{color: colorGrey})
		row += scatterKey
	}
}

// number writes the number or label of a dot next to it. A number that does not fit there is
// written farther away, with a line to the dot.
func (s *scattered) number(c *Canvas, d Dot, text string) {
	x, y := s.at(s.top, [2]float64{d.X, d.Y})
	st := textStyle{bold: true, size: sizeSmall}
	w := c.width(text, st)
	far := d.Radius + 4
	places := [][2]float64{{x + far, y + 5}, {x - far - w, y + 5}, {x - w/2, y - far}, {x - w/2, y + far + 11},
		{x + far, y - far}, {x + far, y + far + 9}}
	if d.Number == "" {
		places[0], places[2] = [2]float64{x - w, y - far}, places[0] // a curve goes up to the right
	}
	for _, clear := range []bool{true, false} { // first look for a place without curves
		for _, p := range places {
			if s.fits(c, p, w, clear) {
				c.text(p[0], p[1], text, st)
				return
			}
		}
		if clear && d.Number != "" && (s.numberAfar(c, d, w, true) || s.numberAfar(c, d, w, false)) {
			return
		}
	}
}

// numberAfar writes a number of width w away from its dot, with a line between them, and reports
// whether it found a place. With pass, the line may cross other dots.
func (s *scattered) numberAfar(c *Canvas, d Dot, w float64, pass bool) bool {
	const nearest, farthest, step = 18, 90, 6
	x, y := s.at(s.top, [2]float64{d.X, d.Y})
	for away := d.Radius + nearest; away < d.Radius+farthest; away += step {
		for _, angle := range [...]float64{90, 270, 60, 120, 300, 240, 30, 330, 150, 210} {
			sin, cos := math.Sincos(angle * math.Pi / 180)
			along := func(r float64) (float64, float64) { return x + float64(r*cos), y - float64(r*sin) }
			tipX, tipY := along(away)
			p := [2]float64{tipX - w/2 + float64(w/2*cos), tipY + 4 - float64(6*sin)}
			clear := s.fits(c, p, w, true)
			for r := d.Radius + 2; clear && r < away-2; r += 3 {
				lineX, lineY := along(r)
				clear = c.free(lineX-2, lineY-2, lineX+2, lineY+2) && !(pass && s.covers(lineX, lineY, lineX, lineY))
			}
			if clear {
				fromX, fromY := along(d.Radius)
				c.line(fromX, fromY, tipX, tipY, 1, ColorInk)
				c.text(p[0], p[1], d.Number, textStyle{bold: true, size: sizeSmall})
				return true
			}
		}
	}
	return false
}

// fits reports whether a text of width w fits at p: with a gap to other texts, over no dot and, with
// clear, over no curve.
func (s *scattered) fits(c *Canvas, p [2]float64, w float64, clear bool) bool {
	const gap = 3
	x0, y0, x1, y1 := p[0], p[1]-11, p[0]+w, p[1]+4
	inside := x0 > scatterX && x1 < scatterX+scatterLength && y0 > s.top && y1 < s.top+s.plane()
	return inside && c.free(x0-gap, y0, x1+gap, y1) && !s.covers(x0, y0, x1, y1-2) &&
		!(clear && s.crossed(x0, y0, x1, y1-2))
}

// crossed reports whether a curve is drawn in a box.
func (s *scattered) crossed(x0, y0, x1, y1 float64) bool {
	for _, k := range s.curves {
		fromX, fromY, toX, toY := k[0][0], k[0][1], k[1][0], k[1][1]
		if max(fromX, toX) < x0-1 || min(fromX, toX) > x1+1 || max(fromY, toY) < y0-1 || min(fromY, toY) > y1+1 {
			continue
		}
		steps := math.Ceil(max(math.Abs(toX-fromX), math.Abs(toY-fromY)))
		for at := range int(steps) + 1 {
			part := float64(at) / max(1, steps)
			x, y := fromX+float64((toX-fromX)*part), fromY+float64((toY-fromY)*part)
			if x >= x0 && x <= x1 && y >= y0 && y <= y1 {
				return true
			}
		}
	}
	return false
}

// covers reports whether a dot is drawn in a box.
func (s *scattered) covers(x0, y0, x1, y1 float64) bool {
	for i, d := range s.Dots {
		x, y := s.dots[i][0], s.dots[i][1]
		dx, dy := x-min(max(x, x0), x1), y-min(max(y, y0), y1)
		if float64(dx*dx)+float64(dy*dy) < d.Radius*d.Radius {
			return true
		}
	}
	return false
}

// disc fills a circle.
func (c *Canvas) disc(x, y, radius float64, col Color) {
	const corners = 32
	var around [][2]float64
	for i := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		around = append(around, [2]float64{x + float64(radius*cos), y + float64(radius*sin)})
	}
	c.area(col, around...)
}

// Decades sets the ends of a logarithmic axis to whole powers of ten, and its
// ticks to at most a dozen of these.
func (a *Axis) Decades(from, to float64, text func(float64) string) {
	low, high := math.Floor(math.Log10(max(from, 1e-12))), math.Ceil(math.Log10(min(to, 1e30)))
	high = max(high, low+1)
	a.From, a.To = math.Pow(10, low), math.Pow(10, high)
	step := math.Ceil((high - low) / 12)
	for e := low; e <= high; e += step {
		a.Ticks = append(a.Ticks, Tick{math.Pow(10, e), text(math.Pow(10, e))})
	}
}
