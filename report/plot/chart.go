package plot

import (
	"assay/report/plot/raster"
	"io"
	"math"
)

// Width is the width of every picture in pixels.
const Width = 1200

// A Chart is a picture as data.
type Chart struct {
	Name     string // of the file, without its suffix
	Title    string
	Subtitle string   // quantity and denominator of the lengths
	Legend   []Swatch // nil if no colour needs an explanation
	Caption  string   // what the picture leaves out, drawn below it
	Alt      string   // the picture in a sentence, for screen readers
	Body     Body
}

// Say replaces words of the texts around the drawing, and of the titles of parts. words may be nil.
func (c *Chart) Say(words func(string) string) {
	if words == nil {
		return
	}
	for _, text := range []*string{&c.Title, &c.Subtitle, &c.Caption, &c.Alt} {
		*text = words(*text)
	}
	if parts, ok := c.Body.(Titled); ok {
		for i := range parts {
			parts[i].Title = words(parts[i].Title)
		}
	}
}

// A Body is the data of a chart and how it is drawn: [Bars], [Ranking], [Stacks],
// [Moves], [Waterfall], [Spreads], [Columns], [Panels], [HeatMap], [Histograms],
// [Timeline], [Gantt], [Scatter], [FlameGraph], or [Titled] bodies below each other.
type Body interface {
	height(p *pen) float64       // of the drawing, in pixels
	draw(c *Canvas, top float64) // fills that height from top on
}

// Titled is a stack of bodies, each below its title.
type Titled []TitledBody

// A TitledBody is a body with a title.
type TitledBody struct {
	Title string
	Body  Body
}

const titleHeight = 34.0

func (t Titled) height(p *pen) (h float64) {
	for _, b := range t {
		h += titleHeight + b.Body.height(p)
	}
	return h
}

func (t Titled) draw(c *Canvas, top float64) {
	for _, b := range t {
		c.text(Margin, top+18, c.fit(b.Title, sizeText, Width-2*Margin), textStyle{bold: true})
		b.Body.draw(c, top+titleHeight)
		top += titleHeight + b.Body.height(c.pen)
	}
}

// A Swatch explains a colour of a picture.
type Swatch struct {
	Color Color
	Text  string
}

// A Part is a length of a bar.
type Part struct {
	Color Color
	NS    int64
}

// SumParts returns the sum of the parts, at most math.MaxInt64.
func SumParts(parts []Part) (ns int64) {
	for _, p := range parts {
		if sum := ns + p.NS; (sum < ns) == (p.NS < 0) {
			ns = sum
		} else {
			ns = math.MaxInt64
		}
	}
	return ns
}

// File returns the name of the PNG file of the picture.
func (c Chart) File() string { return c.Name + ".png" }

// PNG writes the picture, [Width] pixels wide.
func (c Chart) PNG(w io.Writer) error {
	p, err := takePen()
	if err != nil {
		return err
	}
	defer pens.Put(p)
	return raster.WritePNG(w, c.paint(p, newCanvas).img)
}

// Paint draws the picture in pixels.
func (c Chart) Paint() (*Canvas, error) {
	p, err := newPen()
	if err != nil {
		return nil, err
	}
	return c.paint(p, newCanvas), nil
}

// paint draws the title, legend and caption, and the body between them.
func (c Chart) paint(p *pen, on func(p *pen, height float64) *Canvas) *Canvas {
	const space = Width - 2*Margin
	subtitle := p.wrap(c.Subtitle, sizeText, space)
	caption := p.wrap(c.Caption, sizeSmall, space)
	legend := p.legendRows(c.Legend)
	top := 60.0 + 21*float64(len(subtitle))
	if len(legend) > 0 {
		top += 14 + 26*float64(len(legend))
	}
	body := c.Body.height(p)
	bottom := 18.0
	if len(caption) > 0 {
		bottom += 4 + 18*float64(len(caption))
	}
	canvas := on(p, top+body+bottom)
	canvas.text(Margin, 40, p.fit(c.Title, sizeTitle, space), textStyle{size: sizeTitle, bold: true})
	for i, line := range subtitle {
		canvas.text(Margin, 64+21*float64(i), line, textStyle{color: colorGrey})
	}
	canvas.drawLegend(legend, 62+21*float64(len(subtitle)))
	c.Body.draw(canvas, top)
	for i, line := range caption {
		canvas.text(Margin, top+body+18+18*float64(i), line, textStyle{size: sizeSmall, color: colorGrey})
	}
	return canvas
}

// legendRows breaks a legend into rows that fit.
func (p *pen) legendRows(legend []Swatch) (rows [][]Swatch) {
	used := 0.0
	for _, s := range legend {
		w := p.swatchWidth(s)
		if len(rows) == 0 || used+w > Width-2*Margin {
			rows = append(rows, nil)
			used = 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], s)
		used += w
	}
	return rows
}

func (p *pen) swatchWidth(s Swatch) float64 { return 20 + p.width(s.Text, textStyle{}) + 28 }

func (c *Canvas) drawLegend(rows [][]Swatch, top float64) {
	for _, row := range rows {
		x := float64(Margin)
		for _, s := range row {
			c.rect(x, top+4, 14, 14, s.Color)
			c.text(x+20, top+16, s.Text, textStyle{})
			x += c.swatchWidth(s)
		}
		top += 26
	}
}
