package raster

import (
	"image"
	"image/color"

	"golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// A Kit has the characters and the memory to draw pictures one after the other. Reuse matters: fresh
// memory for a picture takes as long as drawing it. A Kit must not be used by two goroutines at the
// same time.
type Kit struct {
	Fonts
	drawn map[setting]*Glyphs
	paper []byte // the pixels of the last picture
}

// A setting is a font in one size.
type setting struct {
	size float64
	bold bool
}

// NewKit returns an empty kit.
func NewKit() (*Kit, error) {
	f, err := NewFonts()
	return &Kit{Fonts: f, drawn: make(map[setting]*Glyphs)}, err
}

// usual is an area, in pixels, that is enough for most pictures.
const usual = 1200 * 512

// Blank returns an image with arbitrary pixels. It is valid until the next call.
func (k *Kit) Blank(width, height int) *image.RGBA {
	n := 4 * width * height
	if cap(k.paper) < n {
		k.paper = make([]byte, max(n, 4*usual))
	}
	return &image.RGBA{Pix: k.paper[:n], Stride: 4 * width, Rect: image.Rect(0, 0, width, height)}
}

// Font returns the font, bold or not.
func (f Fonts) Font(bold bool) *Font {
	if bold {
		return f.Bold
	}
	return f.Regular
}

// glyphs returns the characters of a font in a size in pixels.
func (k *Kit) glyphs(at setting) (*Glyphs, error) {
	if g := k.drawn[at]; g != nil {
		return g, nil
	}
	of := k.Font(at.bold)
	face, err := opentype.NewFace(of.Font, &opentype.FaceOptions{Size: at.size, DPI: 72}) // a point is a pixel
	if err != nil {
		return nil, err
	}
	k.drawn[at] = NewGlyphs(of, face)
	return k.drawn[at], nil
}

// Text draws s from x on with its baseline at y. A size that the font cannot have draws
// nothing.
func (k *Kit) Text(img *image.RGBA, x, y float64, s string, size float64, bold bool, ink color.RGBA) {
	g, err := k.glyphs(setting{size, bold})
	if err != nil {
		return
	}
	at := fixed.Point26_6{X: fixed.Int26_6(x*float64(pixel) + 0.5), Y: fixed.Int26_6(y*float64(pixel) + 0.5)}
	(&font.Drawer{Dst: img, Src: image.NewUniform(ink), Face: g, Dot: at}).DrawString(s)
}

// Hatch draws diagonal lines over a rectangle.
func Hatch(img *image.RGBA, r image.Rectangle, ink color.RGBA) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			if (x+y)%6 == 0 {
				img.SetRGBA(x, y, ink)
			}
		}
	}
}
