package plot

import (
	"image"
	"image/color"
	"strings"
	"sync"

	"git.sr.ht/~sbinet/gg"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/vgimg"

	"assay/internal/label"
	"assay/report/plot/raster"
)

// fitHead cuts s at its end until it is at most limit pixels wide.
func (p *pen) fitHead(s string, size, limit float64) string {
	const narrowest = 2.5 // pixels of a character; names may be of any length
	s = label.Head(s, int(limit/narrowest))
	cut := s
	for columns := label.Width(s); columns > 1 && p.width(cut, textStyle{size: size}) > limit; {
		columns = min(columns-1, columns*9/10+1)
		cut = label.Head(s, columns)
	}
	return cut
}

// Pictures are drawn at 72 dots per inch, so that a point of the drawing
// library is a pixel and text can be measured in pixels.
const (
	dpi       = 72
	Margin    = 28
	sizeTitle = 24
	sizeText  = 15
	sizeSmall = 13
)

// A textStyle says how text is set. The zero style is regular text in ink.
type textStyle struct {
	size  float64 // in pixels; 0 is sizeText
	bold  bool
	color Color // 0 is ink
	align align
}

// An align says which point of a text its x is.
type align uint8

const (
	left align = iota
	center
	right
)

// A pen measures text and draws pictures, one at a time. It must not be used by two goroutines at
// the same time.
type pen struct{ *raster.Kit }

func newPen() (*pen, error) {
	kit, err := raster.NewKit()
	return &pen{kit}, err
}

// pens holds unused pens.
var pens sync.Pool

// takePen returns a pen that is not used, or a new one.
func takePen() (*pen, error) {
	if p, ok := pens.Get().(*pen); ok {
		return p, nil
	}
	return newPen()
}

// inPixels returns the size of a style, or the default size.
func (st textStyle) inPixels() float64 {
	if st.size == 0 {
		return sizeText
	}
	return st.size
}

// drawable replaces characters that the font lacks by a box, and spaces by non-breaking spaces: the
// font's kerning removes plain spaces between capitals.
func (p *pen) drawable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == ' ' {
			return '\u00a0'
		}
		if !p.Regular.Has(r) {
			return '□'
		}
		return r
	}, label.Clean(s))
}

// width returns how many pixels wide s is drawn.
func (p *pen) width(s string, st textStyle) float64 {
	return p.Font(st.bold).Width(p.drawable(s), st.inPixels())
}

// fit cuts s in the middle until it is at most limit pixels wide.
func (p *pen) fit(s string, size, limit float64) string {
	for columns := label.Width(s); columns > 1 && p.width(s, textStyle{size: size, bold: size == sizeTitle}) > limit; {
		columns = min(columns-1, columns*9/10+1)
		s = label.Clip(s, columns)
	}
	return s
}

// wrap breaks s at spaces into lines of at most limit pixels.
func (p *pen) wrap(s string, size, limit float64) (lines []string) {
	line := ""
	for _, word := range strings.Fields(s) {
		word = p.fit(word, size, limit)
		switch longer := line + " " + word; {
		case line == "":
			line = word
		case p.width(longer, textStyle{size: size}) <= limit:
			line = longer
		default:
			lines = append(lines, line)
			line = word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// labels returns the longest labels for the names that are at most limit pixels wide.
func (p *pen) labels(form label.Form, names []string, limit float64) []string {
	for columns := 90; ; columns -= 2 {
		list := label.Short(form, names, columns)
		if columns <= label.MinLabel || p.widest(list, textStyle{}) <= limit {
			return list
		}
	}
}

// widest returns the width of the widest of the texts.
func (p *pen) widest(texts []string, st textStyle) (w float64) {
	for _, s := range texts {
		w = max(w, p.width(s, st))
	}
	return w
}

// A box is where a text was drawn.
type box struct {
	Text           string
	X0, Y0, X1, Y1 float64
}

// A Canvas is a picture that is being drawn. Coordinates are pixels from the top left.
type Canvas struct {
	*pen
	img   *image.RGBA
	vg    *vgimg.Canvas // draws on img; nil if svg is drawn on
	svg   *vector
	H     float64
	Boxes []box // every text drawn, for tests of clipping and overlap
}

func newCanvas(p *pen, height float64) *Canvas {
	height = wholePixels(height)
	// With only a size, vgimg would allocate and fill the image twice.
	img := p.Blank(Width, int(height))
	ctx := gg.NewContextForRGBA(img)
	ctx.SetLineCapButt()
	ctx.InvertY()
	return &Canvas{pen: p, H: height, img: img, vg: vgimg.NewWith(vgimg.UseImageWithContext(img, ctx), vgimg.UseDPI(dpi))}
}

func wholePixels(height float64) float64 { return float64(int(height + 0.5)) }

// Image returns the picture as drawn so far. It is valid until the pen draws the next picture.
func (c *Canvas) Image() image.Image { return c.img }

func (c *Canvas) use(col Color) {
	c.vg.SetColor(opaque(col))
}

func opaque(col Color) color.RGBA {
	return color.RGBA{uint8(col >> 16), uint8(col >> 8), uint8(col), 255}
}

// point returns a point of the drawing library, rounded to a quarter of a pixel, so that edges have
// few shades and files are small.
func (c *Canvas) point(x, y float64) vg.Point {
	return vg.Point{X: vg.Length(raster.Quarters(x)) / 4, Y: vg.Length(c.H) - vg.Length(raster.Quarters(y))/4}
}

// rect fills a rectangle, if it has an area.
func (c *Canvas) rect(x, y, w, h float64, col Color) {
	switch {
	case w <= 0 || h <= 0:
	case c.svg != nil:
		c.svg.rect(x, y, w, h, col)
	default:
		raster.FillRect(c.img, image.Rect(raster.Quarters(x), raster.Quarters(y), raster.Quarters(x+w),
			raster.Quarters(y+h)), opaque(col))
	}
}

// area fills a polygon.
func (c *Canvas) area(col Color, corners ...[2]float64) {
	if c.svg != nil {
		c.svg.area(col, corners)
		return
	}
	var path vg.Path
	for i, p := range corners {
		if i == 0 {
			path.Move(c.point(p[0], p[1]))
		} else {
			path.Line(c.point(p[0], p[1]))
		}
	}
	path.Close()
	c.use(col)
	c.vg.Fill(path)
}

func (c *Canvas) line(x0, y0, x1, y1, width float64, col Color) {
	if c.svg != nil {
		c.svg.line(x0, y0, x1, y1, width, col)
		return
	}
	var path vg.Path
	path.Move(c.point(x0, y0))
	path.Line(c.point(x1, y1))
	c.use(col)
	c.vg.SetLineWidth(vg.Length(width))
	c.vg.Stroke(path)
}

// text draws s with its baseline at y.
func (c *Canvas) text(x, y float64, s string, st textStyle) {
	s = c.drawable(s)
	if s == "" {
		return
	}
	size := st.inPixels()
	w := c.Font(st.bold).Width(s, size)
	switch st.align {
	case center:
		x -= w / 2
	case right:
		x -= w
	}
	if st.color == 0 {
		st.color = ColorInk
	}
	if c.svg != nil {
		c.svg.text(x, y, w, s, size, st)
	} else {
		c.Text(c.img, x, y, s, size, st.bold, opaque(st.color))
	}
	c.Boxes = append(c.Boxes, box{s, x, y - 0.75*size, x + w, y + 0.22*size})
}
