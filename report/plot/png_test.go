package plot

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"testing"

	"golang.org/x/image/math/fixed"
)

// decoded writes an image and reads it.
func decoded(t *testing.T, img *image.RGBA) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := writePNG(&b, img); err != nil {
		t.Fatal(err)
	}
	got, err := png.Decode(&b)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// TestPalette: an image of up to 256 colours is exact and has a palette; so is one of more
// if they differ, without a palette. The few pixels of a colour near others may differ by
// nearColor.
func TestPalette(t *testing.T) {
	const wide = 256
	for _, tc := range []struct {
		name    string
		at      func(x, y int) color.RGBA
		palette bool
		exact   bool
	}{
		{"256 colours", func(x, y int) color.RGBA { return color.RGBA{uint8(x), uint8(255 - x), 7, 255} }, true, true},
		{"colours that differ", func(x, y int) color.RGBA { return color.RGBA{uint8(x), uint8(85 * y), 255, 255} }, false, true},
		{"a shade more", func(x, y int) color.RGBA {
			if x == 9 && y == 2 {
				return color.RGBA{12, 3, 0, 255}
			}
			return color.RGBA{uint8(x), 0, 0, 255}
		}, true, false},
	} {
		img := image.NewRGBA(image.Rect(0, 0, wide, 4))
		for y := range 4 {
			for x := range wide {
				img.SetRGBA(x, y, tc.at(x, y))
			}
		}
		got := decoded(t, img)
		if _, ok := got.(*image.Paletted); ok != tc.palette {
			t.Errorf("%s: palette %v, want %v", tc.name, ok, tc.palette)
		}
		for y := range 4 {
			for x := range wide {
				want, have := tc.at(x, y), color.RGBAModel.Convert(got.At(x, y)).(color.RGBA)
				far := max(apart(want.R, have.R), apart(want.G, have.G), apart(want.B, have.B))
				if far > nearColor || tc.exact && far > 0 {
					t.Fatalf("%s: pixel %d, %d is %v, want %v", tc.name, x, y, have, want)
				}
			}
		}
	}
}

func apart(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }

// TestGlyphs compares kept characters with those that the font draws at the same place:
// they cover the same pixels, to half a level, and are where a quarter of a pixel allows.
func TestGlyphs(t *testing.T) {
	p, err := newPen()
	if err != nil {
		t.Fatal(err)
	}
	face := p.face(textStyle{})
	kept, font := p.glyphs(face, false), face.FontFace(dpi)
	for _, r := range "Ag#□\u00a0" {
		for x := fixed.Int26_6(0); x < 2*pixel; x += 5 {
			for range 2 { // drawn, then kept
				box, mask, _, advance, ok := kept.Glyph(fixed.Point26_6{X: x, Y: 20*pixel + 9}, r)
				near := (x + pixel/8) / (pixel / 4) * (pixel / 4)
				wantBox, wantMask, _, wantAdvance, wantOK := font.Glyph(fixed.Point26_6{X: near, Y: 20 * pixel}, r)
				if box != wantBox || advance != wantAdvance || ok != wantOK {
					t.Fatalf("%q at %d: %v %d %v, want %v %d %v", r, x, box, advance, ok, wantBox, wantAdvance, wantOK)
				}
				for y := range box.Dy() {
					for x := range box.Dx() {
						got, want := mask.At(x, y).(color.Alpha).A, wantMask.At(x, y).(color.Alpha).A
						if apart(got, want) > 255/(levels-1)/2 {
							t.Fatalf("%q: pixel %d, %d is %d, want %d", r, x, y, got, want)
						}
					}
				}
			}
		}
	}
}

// TestFillRect: a rectangle covers what the drawing library covers, within the picture.
func TestFillRect(t *testing.T) {
	const size = 12
	p, err := newPen()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range [][4]float64{
		{1, 1, 5, 5}, {1.25, 2.5, 3.75, 2.25}, {3.5, 3.5, 0.25, 0.25}, {2.75, 4, 0.5, 1}, {0.1, 0.9, 7.3, 0.2},
		{-5, -5, 8, 8}, {3, 3, 9000, 2}, {-1e300, 2, 1e300, 1}, {4, size - 1.5, 2, 40}, {-9, -9, 3, 3},
	} {
		x, y, w, h := r[0], r[1], r[2], r[3]
		got, want := newCanvas(p, size), newCanvas(p, size)
		for _, c := range []*Canvas{got, want} {
			c.pixels(0, 0, Width, size/2, ColorComm)
		}
		got.rect(x, y, w, h, ColorCompute)
		want.area(ColorCompute, [2]float64{x, y}, [2]float64{x + w, y}, [2]float64{x + w, y + h}, [2]float64{x, y + h})
		for i := range got.img.Pix {
			if apart(got.img.Pix[i], want.img.Pix[i]) > 4 {
				t.Fatalf("%v: byte %d of pixel %d, %d is %d, want %d", r, i%4, i/4%Width, i/4/Width, got.img.Pix[i], want.img.Pix[i])
			}
		}
	}
}
