package report

import (
	"image/png"
	"io"
	"math"

	"assay/summary"
)

// ChartWidth is the width of every picture in pixels.
const ChartWidth = 1200

// A Chart is a picture as data.
type Chart struct {
	Name     string // of the file, without its suffix
	Title    string
	Subtitle string   // what the lengths in the picture are, or are shares of
	Legend   []Swatch // nil if no colour needs a word
	Caption  string   // what is missing in the picture, drawn below it
	Alt      string   // the picture in a sentence, for who cannot see it
	Body     Body
}

// A Body is what a chart shows: [Bars], [Ranking], [Lanes], [Columns],
// [Histograms], [Timeline], [FlameGraph] or [Titled] ones below each other.
type Body interface {
	height(p *pen) float64       // of the drawing, in pixels
	draw(c *canvas, top float64) // fills that height from top on
}

// Titled are bodies below each other, each under its title.
type Titled []TitledBody

// A TitledBody is one of them.
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

func (t Titled) draw(c *canvas, top float64) {
	for _, b := range t {
		c.text(margin, top+18, c.fit(b.Title, sizeText, ChartWidth-2*margin), textStyle{bold: true})
		b.Body.draw(c, top+titleHeight)
		top += titleHeight + b.Body.height(c.pen)
	}
}

// A Swatch explains a colour of a picture.
type Swatch struct {
	Color Color
	Text  string
}

// A Color is a colour as 0xRRGGBB.
type Color uint32

// The colours of the classes, the same in all pictures. They are told apart by
// eyes that do not see red and green as different, and on grey paper.
const (
	colorCompute Color = 0x0072b2
	colorComm    Color = 0xd55e00
	colorCopy    Color = 0xe69f00
	colorMemset  Color = 0xcc79a7
	colorIdle    Color = 0xd9d9d9
	colorHost    Color = 0x009e73
	colorCount   Color = 0x8c8c8c // of distributions, beside colorTime
	colorTime    Color = 0x009e73
)

// The colours of what is no class: device work of all of them, owners of idle
// time, and memory. Idle time that nobody can do anything about is grey.
const (
	colorWork       Color = 0x56b4e9
	colorDependency Color = 0x7b5ea7
	colorLaunch     Color = 0xf0e442
	colorBetween    Color = 0xc9b458
	colorNothing    Color = 0xc4c4c4
	colorOpaque     Color = 0x8c8c8c
	colorUnknown    Color = 0x555555
)

// ownerColor returns the colour of an owner of idle time.
func ownerColor(owner string) Color {
	switch owner {
	case summary.OwnerHost:
		return colorHost
	case summary.OwnerDependency:
		return colorDependency
	case summary.OwnerLaunch:
		return colorLaunch
	case summary.OwnerBetween:
		return colorBetween
	case summary.OwnerNothing:
		return colorNothing
	case summary.OwnerOpaque:
		return colorOpaque
	}
	return colorUnknown
}

// The colours of what is not data.
const (
	colorInk   Color = 0x222222
	colorGrey  Color = 0x5a5a5a
	colorGrid  Color = 0xe3e3e3
	colorPlane Color = 0xf6f6f6
	colorWhite Color = 0xffffff
)

// classColor returns the colour of the class of a kernel or strip.
func classColor(class string) Color {
	switch class {
	case "comm":
		return colorComm
	case "copy":
		return colorCopy
	case "memset":
		return colorMemset
	}
	return colorCompute
}

// A Part is a length of a bar.
type Part struct {
	Color Color
	NS    int64
}

// sumParts returns the length of the bar, at most what int64 holds.
func sumParts(parts []Part) (ns int64) {
	for _, p := range parts {
		if sum := ns + p.NS; (sum < ns) == (p.NS < 0) {
			ns = sum
		} else {
			ns = math.MaxInt64
		}
	}
	return ns
}

// File returns the name of the file of the picture.
func (c Chart) File() string { return c.Name + ".png" }

// PNG writes the picture, [ChartWidth] pixels wide.
func (c Chart) PNG(w io.Writer) error {
	painted, err := c.paint()
	if err != nil {
		return err
	}
	return png.Encode(w, painted.image())
}

// paint draws the frame that all charts share, and the body in it.
func (c Chart) paint() (*canvas, error) {
	p, err := newPen()
	if err != nil {
		return nil, err
	}
	const room = ChartWidth - 2*margin
	subtitle := p.wrap(c.Subtitle, sizeText, room)
	caption := p.wrap(c.Caption, sizeSmall, room)
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
	canvas := newCanvas(p, top+body+bottom)
	canvas.text(margin, 40, p.fit(c.Title, sizeTitle, room), textStyle{size: sizeTitle, bold: true})
	for i, line := range subtitle {
		canvas.text(margin, 64+21*float64(i), line, textStyle{color: colorGrey})
	}
	canvas.drawLegend(legend, 62+21*float64(len(subtitle)))
	c.Body.draw(canvas, top)
	for i, line := range caption {
		canvas.text(margin, top+body+18+18*float64(i), line, textStyle{size: sizeSmall, color: colorGrey})
	}
	return canvas, nil
}

// legendRows breaks a legend into rows that fit.
func (p *pen) legendRows(legend []Swatch) (rows [][]Swatch) {
	used := 0.0
	for _, s := range legend {
		w := p.swatchWidth(s)
		if len(rows) == 0 || used+w > ChartWidth-2*margin {
			rows = append(rows, nil)
			used = 0
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], s)
		used += w
	}
	return rows
}

func (p *pen) swatchWidth(s Swatch) float64 { return 20 + p.width(s.Text, textStyle{}) + 28 }

func (c *canvas) drawLegend(rows [][]Swatch, top float64) {
	for _, row := range rows {
		x := float64(margin)
		for _, s := range row {
			c.rect(x, top+4, 14, 14, s.Color)
			c.text(x+20, top+16, s.Text, textStyle{})
			x += c.swatchWidth(s)
		}
		top += 26
	}
}
