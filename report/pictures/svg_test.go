package pictures

import (
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/draw"
	"image/png"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
	"assay/internal/test/browser"
	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/report/plot"
)

// An svgFile is what a reader of XML finds in an SVG: how often which element is there, and
// the texts.
type svgFile struct {
	elements map[string]int
	texts    []string
	title    string
}

// svgElements are the elements that a picture may have, with their attributes.
var svgElements = map[string]string{
	"svg": "xmlns role aria-labelledby width height viewBox font-family", "title": "id", "desc": "id", "defs": "", "pattern": "id width height patternUnits",
	"rect": "x y width height fill shape-rendering", "path": "d fill stroke stroke-width", "line": "x1 y1 x2 y2 stroke stroke-width",
	"text": "x y font-size font-weight fill textLength lengthAdjust",
}

// readSVG reads an SVG strictly and reports everything that a picture does not need.
func readSVG(t testing.TB, text []byte) (f svgFile) {
	t.Helper()
	f.elements = map[string]int{}
	d := xml.NewDecoder(bytes.NewReader(text))
	var open []string
	content := ""
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not XML: %v", err)
		}
		switch token := token.(type) {
		case xml.StartElement:
			name := token.Name.Local
			allowed, ok := svgElements[name]
			if !ok {
				t.Errorf("an element %s", name)
			}
			for _, a := range token.Attr {
				if !slices.Contains(strings.Fields(allowed), a.Name.Local) {
					t.Errorf("an attribute %s of %s", a.Name.Local, name)
				}
			}
			f.elements[name]++
			open, content = append(open, name), ""
		case xml.EndElement:
			switch open[len(open)-1] {
			case "text":
				f.texts = append(f.texts, content)
			case "title":
				f.title = content
			}
			open = open[:len(open)-1]
		case xml.CharData:
			content += string(token)
		default:
			t.Errorf("a %T", token)
		}
	}
	return f
}

func svgOf(t testing.TB, c plot.Chart) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := c.SVG(&b); err != nil {
		t.Fatalf("%s: %v", c.Name, err)
	}
	return b.Bytes()
}

// TestSVG reads the SVG of each picture of each sample run: it has the texts of the PNG in
// their order, and no element but shapes and texts.
func TestSVG(t *testing.T) {
	plain := func(s string) string { return strings.ReplaceAll(s, "\u00a0", " ") }
	for name, s := range samplerun.All() {
		for _, c := range Of(s, judge.Result{}) {
			painted, err := c.Paint()
			if err != nil {
				t.Fatal(err)
			}
			got := readSVG(t, svgOf(t, c))
			var want []string
			for _, b := range painted.Boxes {
				want = append(want, plain(b.Text))
			}
			for i := range got.texts {
				got.texts[i] = plain(got.texts[i])
			}
			if !slices.Equal(got.texts, want) {
				t.Errorf("%s: %s has the texts %q, the PNG has %q", name, c.Name, got.texts, want)
			}
			if got.title != c.Title {
				t.Errorf("%s: the title is %q, want %q", c.Name, got.title, c.Title)
			}
		}
	}
}

// TestSVGHostile draws names that try to leave their element.
func TestSVGHostile(t *testing.T) {
	s := samplerun.Attributed(2)
	c := Of(s, judge.Result{})
	names := []string{"</text><script>alert(1)</script>", "]]><image href=\"https://example.com\"/>", "\" onload=\"alert(1)", "&lt;b&gt; &#x3c;svg&#x3e; &amp;", "\x00\x1b[31m\ufffe\xff", "<!--", "<?xml version='1.0'?><!DOCTYPE x [<!ENTITY a 'b'>]>"}
	for i := range s.Kernels {
		s.Kernels[i].Name = names[i%len(names)]
	}
	for i := range s.Ops {
		s.Ops[i].Name = names[i%len(names)]
	}
	for i := range s.Devices {
		s.Devices[i].Name = names[i%len(names)]
	}
	hostile, shown := Of(s, judge.Result{}), 0
	if len(hostile) != len(c) {
		t.Fatalf("%d pictures, want %d", len(hostile), len(c))
	}
	for i, h := range hostile {
		h.Title, h.Alt = names[i%len(names)], names[(i+1)%len(names)]
		got := readSVG(t, svgOf(t, h))
		for _, text := range got.texts {
			if strings.Contains(text, "<script>") || strings.Contains(text, "onload=") || strings.Contains(text, "&lt;b&gt;") {
				shown++
			}
		}
	}
	if shown == 0 {
		t.Error("no text has a name, so the test tests nothing")
	}
}

func TestMain(m *testing.M) { os.Exit(browser.Run(m)) }

// TestSVGLooksLikePNG shows SVGs in a browser and compares them with the PNGs. Fonts are
// smoothed differently, so both are compared in squares of 10 pixels. At full size the test
// compares all pictures.
func TestSVGLooksLikePNG(t *testing.T) {
	b, dir := browser.Start(t), t.TempDir()
	runs, drawn := samplerun.All(), map[string]bool{}
	for _, run := range slices.Sorted(maps.Keys(runs)) {
		for _, c := range Of(runs[run], judge.Result{}) {
			if drawn[c.Name] {
				continue // its form was compared
			}
			drawn[c.Name] = true
			if len(drawn)%test.Every(8) != 0 {
				continue
			}
			file := filepath.Join(dir, c.SVGFile())
			if err := os.WriteFile(file, svgOf(t, c), 0o666); err != nil {
				t.Fatal(err)
			}
			painted, err := c.Paint()
			if err != nil {
				t.Fatal(err)
			}
			tab := b.Open("file://"+file, browser.View{Width: plot.Width, Height: int(painted.H)})
			tab.Wait("document.readyState === 'complete' && document.documentElement.tagName === 'svg'")
			got, err := png.Decode(bytes.NewReader(tab.Screenshot()))
			if err != nil {
				t.Fatal(err)
			}
			if list := tab.Complaints(); len(list) > 0 || len(tab.Requests()) != 1 {
				t.Errorf("%s: complaints %q, requests %q", c.Name, list, tab.Requests())
			}
			tab.Close()
			worst, mean := difference(got, painted.Image())
			t.Logf("%s: %.1f at most, %.2f on average", c.Name, worst, mean)
			if worst > 50 || mean > 1 {
				t.Errorf("%s of %s: squares differ by %.0f at most and %.2f on average, of 255", c.Name, run, worst, mean)
			}
		}
	}
	if len(drawn) < 20 {
		t.Errorf("there are only %d pictures", len(drawn))
	}
}

// difference compares the mean colours of squares of two pictures.
func difference(a, b image.Image) (worst, mean float64) {
	const side = 10
	size := b.Bounds().Size()
	ca, cb := squares(a, size, side), squares(b, size, side)
	for i := range ca {
		most := 0.0
		for k := range ca[i] {
			most = max(most, math.Abs(ca[i][k]-cb[i][k]))
		}
		worst, mean = max(worst, most), mean+most/float64(len(ca))
	}
	return worst, mean
}

// squares returns the mean colours of all whole squares of a picture.
func squares(m image.Image, size image.Point, side int) [][3]float64 {
	in := image.NewRGBA(image.Rectangle{Max: size})
	draw.Draw(in, in.Rect, m, m.Bounds().Min, draw.Src)
	wide, high := size.X/side, size.Y/side
	out := make([][3]float64, wide*high)
	for y := range high * side {
		for x := range wide * side {
			for k := range 3 {
				out[y/side*wide+x/side][k] += float64(in.Pix[in.PixOffset(x, y)+k]) / float64(side*side)
			}
		}
	}
	return out
}

// TestFilesOfAllForms: whoever removes the pictures of an older report removes both forms.
func TestFilesOfAllForms(t *testing.T) {
	files := slices.Concat(Files(), ComparisonFiles())
	for _, p := range all() {
		c := plot.Chart{Name: p.name}
		if !slices.Contains(files, c.File()) || !slices.Contains(files, c.SVGFile()) {
			t.Errorf("%s is not among the files", p.name)
		}
	}
	for _, p := range allDiff() {
		c := plot.Chart{Name: p.name}
		if !slices.Contains(files, c.File()) || !slices.Contains(files, c.SVGFile()) {
			t.Errorf("%s is not among the files of comparisons", p.name)
		}
	}
}
