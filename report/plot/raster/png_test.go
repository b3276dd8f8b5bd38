package raster

import (
	"bytes"
	"image"
	"image/color"
	"image/png"
	"math/rand/v2"
	"testing"
)

// decoded writes an image and reads it.
func decoded(t *testing.T, img *image.RGBA) image.Image {
	t.Helper()
	var b bytes.Buffer
	if err := WritePNG(&b, img); err != nil {
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

// TestRepeats reads back images of any width whose rows repeat or not, one after the other:
// the decoder checks the sums over all rows.
func TestRepeats(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		wide, high := 1+rng.IntN(300), 1+rng.IntN(40)
		img := image.NewRGBA(image.Rect(0, 0, wide, high))
		for y := range high {
			if y > 0 && rng.IntN(2) == 0 {
				copy(img.Pix[y*img.Stride:], img.Pix[(y-1)*img.Stride:][:img.Stride])
				continue
			}
			for x := 0; x < wide; {
				c := color.RGBA{uint8(rng.IntN(6)), uint8(rng.IntN(6)), uint8(rng.IntN(6)), 255}
				for n := 1 + rng.IntN(20); n > 0 && x < wide; n, x = n-1, x+1 {
					img.SetRGBA(x, y, c)
				}
			}
		}
		got := decoded(t, img)
		if got.Bounds() != img.Bounds() {
			t.Fatalf("the image has bounds %v, want %v", got.Bounds(), img.Bounds())
		}
		for y := range high {
			for x := range wide {
				if want, have := img.RGBAAt(x, y), color.RGBAModel.Convert(got.At(x, y)); want != have {
					t.Fatalf("%d x %d: pixel %d, %d is %v, want %v", wide, high, x, y, have, want)
				}
			}
		}
	}
}

func apart(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }
