package plot

import (
	"bytes"
	"encoding/xml"
	"io"
	"strconv"
	"strings"
)

// A Form says which files are written of each picture.
type Form uint8

// The forms of pictures.
const (
	Raster Form = iota // PNG
	Vector             // SVG
	Both               // documents show the PNG and link it to the SVG
)

// Forms returns the forms by the names that users give them.
func Forms() map[string]Form {
	return map[string]Form{"png": Raster, "svg": Vector, "both": Both}
}

// SVGFile returns the name of the SVG file of the picture.
func (c Chart) SVGFile() string { return c.Name + ".svg" }

// SVG writes the picture as SVG: the same drawing as [Chart.PNG], in the same places.
//
// Note: vgsvg of gonum is not used. It writes texts without their lengths, so that another
// font than ours makes them overlap, and it has no title for who cannot see the picture.
func (c Chart) SVG(w io.Writer) error {
	p, err := takePen()
	if err != nil {
		return err
	}
	defer pens.Put(p)
	_, err = w.Write(c.paint(p, newVectorCanvas).svg.document(c))
	return err
}

// A vector is an SVG document in the making. Texts come from the program under test, so
// they are escaped, and they are never part of an attribute.
type vector struct {
	height float64
	hatch  bool // the pattern of [Canvas.hatch] is needed
	body   bytes.Buffer
}

func newVectorCanvas(p *pen, height float64) *Canvas {
	height = wholePixels(height)
	return &Canvas{pen: p, H: height, svg: &vector{height: height}}
}

// fonts are Liberation Sans, with which texts are measured, and fonts of the same widths.
const fonts = "Liberation Sans, Arimo, Arial, Helvetica, sans-serif"

func (v *vector) document(c Chart) []byte {
	var b bytes.Buffer
	b.WriteString(`<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title desc" width="` + strconv.Itoa(Width) + `" height="` + number(v.height) +
		`" viewBox="0 0 ` + strconv.Itoa(Width) + " " + number(v.height) + `" font-family="` + fonts + `">` + "\n")
	b.WriteString(`<title id="title">` + escaped(c.Title) + "</title>\n" + `<desc id="desc">` + escaped(c.Alt) + "</desc>\n")
	if v.hatch {
		b.WriteString(`<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#ffffff"/><path d="M-1 1L1 -1M0 6L6 0M5 7L7 5" stroke="#a0a0a0" stroke-width="0.8"/></pattern></defs>` + "\n")
	}
	b.WriteString(`<rect width="100%" height="100%" fill="#ffffff"/>` + "\n")
	b.Write(v.body.Bytes())
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// escaped returns s for the content of an element.
func escaped(s string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(s)) // a strings.Builder returns no error
	return b.String()
}

// number prints a coordinate: a hundredth of a pixel cannot be seen.
func number(f float64) string {
	s := strconv.FormatFloat(f, 'f', 2, 64)
	if s = strings.TrimRight(strings.TrimRight(s, "0"), "."); s == "-0" {
		return "0"
	}
	return s
}

func (c Color) hex() string {
	s := strconv.FormatUint(uint64(c&0xffffff), 16)
	return "#" + strings.Repeat("0", 6-len(s)) + s
}

// element writes an element without content. Names and values alternate.
func (v *vector) element(name string, attributes ...string) {
	v.body.WriteString("<" + name)
	for i := 0; i+1 < len(attributes); i += 2 {
		v.body.WriteString(" " + attributes[i] + `="` + attributes[i+1] + `"`)
	}
	v.body.WriteString("/>\n")
}

func (v *vector) area(col Color, corners [][2]float64) {
	var d strings.Builder
	for i, p := range corners {
		d.WriteString([]string{"M", "L"}[min(i, 1)] + number(p[0]) + " " + number(p[1]))
	}
	v.element("path", "d", d.String()+"Z", "fill", col.hex())
}

func (v *vector) rect(x, y, w, h float64, col Color) {
	v.element("rect", "x", number(x), "y", number(y), "width", number(w), "height", number(h), "fill", col.hex())
}

// pixels fills whole pixels. Their edges stay sharp if the picture is shown at its size.
func (v *vector) pixels(x0, y0, x1, y1 int, fill string) {
	v.element("rect", "x", strconv.Itoa(x0), "y", strconv.Itoa(y0), "width", strconv.Itoa(x1-x0), "height",
		strconv.Itoa(y1-y0), "fill", fill, "shape-rendering", "crispEdges")
}

func (v *vector) line(x0, y0, x1, y1, width float64, col Color) {
	v.element("line", "x1", number(x0), "y1", number(y0), "x2", number(x1), "y2", number(y1), "stroke", col.hex(),
		"stroke-width", number(width))
}

// text sets s, which is drawn with so many pixels from x on. With another font it is made
// to fit.
func (v *vector) text(x, y, width float64, s string, size float64, st textStyle) {
	weight := ""
	if st.bold {
		weight = ` font-weight="bold"`
	}
	// Spaces that do not break are for the measuring of our font alone.
	// Two spaces would become one.
	s = strings.ReplaceAll(strings.ReplaceAll(s, "\u00a0", " "), "  ", " \u00a0")
	v.body.WriteString(`<text x="` + number(x) + `" y="` + number(y) + `" font-size="` + number(size) + `"` + weight + ` fill="` + st.color.hex() +
		`" textLength="` + number(width) + `" lengthAdjust="spacingAndGlyphs">` + escaped(s) + "</text>\n")
}
