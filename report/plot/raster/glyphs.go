package raster

import (
	"image"
	"image/color"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
)

// Glyphs are a font in one size. A character is drawn from its outline only the first time, then
// copied. Glyphs must not be used by two goroutines at the same time.
//
// Characters start at a quarter of a pixel, their baseline is at a whole pixel, and their edges have
// [levels] shades. So texts repeat the same pixels and pictures have few colours, which makes files
// smaller.
type Glyphs struct {
	font.Face
	of    *Font
	drawn map[glyphKey]glyph
}

// NewGlyphs returns the characters of a font in the size of a face, none of them drawn yet.
func NewGlyphs(of *Font, face font.Face) *Glyphs {
	return &Glyphs{face, of, make(map[glyphKey]glyph)}
}

// Kern returns the same value as the face: in units of the font, whatever the size.
func (g *Glyphs) Kern(a, b rune) fixed.Int26_6 {
	return g.of.kern(g.of.character(a).index, g.of.character(b).index)
}

type glyphKey struct {
	r     rune
	start fixed.Int26_6 // from the left edge of a pixel
}

type glyph struct {
	box     image.Rectangle // around the origin
	mask    *image.Alpha
	advance fixed.Int26_6
	ok      bool
}

const (
	pixel  = fixed.Int26_6(64)
	levels = 16 // of coverage, with none and all
)

// Glyph returns the mask of a character and where it is drawn, as [font.Face] wants it.
func (g *Glyphs) Glyph(dot fixed.Point26_6, r rune) (image.Rectangle, image.Image, image.Point, fixed.Int26_6, bool) {
	x := (dot.X + pixel/8) &^ (pixel/4 - 1)
	key := glyphKey{r, x & (pixel - 1)}
	c, known := g.drawn[key]
	if !known {
		c = g.outlined(key)
		g.drawn[key] = c
	}
	origin := image.Pt(x.Floor(), dot.Y.Round())
	return c.box.Add(origin), c.mask, image.Point{}, c.advance, c.ok
}

// outlined draws a character from its outline.
func (g *Glyphs) outlined(key glyphKey) (c glyph) {
	box, mask, at, advance, ok := g.Face.Glyph(fixed.Point26_6{X: key.start}, key.r)
	c = glyph{box: box, mask: image.NewAlpha(image.Rectangle{Max: box.Size()}), advance: advance, ok: ok}
	covered, isAlpha := mask.(*image.Alpha)
	if !isAlpha {
		return c
	}
	const step = 255 / (levels - 1)
	for y := range box.Dy() {
		for x := range box.Dx() {
			part := int(covered.AlphaAt(at.X+x, at.Y+y).A)
			c.mask.SetAlpha(x, y, color.Alpha{A: uint8((part + step/2) / step * step)})
		}
	}
	return c
}
