package raster

import (
	"image/color"
	"testing"

	"golang.org/x/image/font/opentype"
	"golang.org/x/image/math/fixed"
)

// TestGlyphs compares kept characters with those that the font draws at the same place:
// they cover the same pixels, to half a level, and are where a quarter of a pixel allows.
func TestGlyphs(t *testing.T) {
	fonts, err := NewFonts()
	if err != nil {
		t.Fatal(err)
	}
	font, err := opentype.NewFace(fonts.Regular.Font, &opentype.FaceOptions{Size: 15, DPI: 72})
	if err != nil {
		t.Fatal(err)
	}
	kept := NewGlyphs(fonts.Regular, font)
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
