package raster

import (
	"testing"

	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
)

// TestWidth compares widths with those of the drawing library, which keeps nothing, for
// texts with kerns and with characters that the font lacks.
func TestWidth(t *testing.T) {
	fonts, err := NewFonts()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range []*Font{fonts.Regular, fonts.Bold} {
		for _, s := range []string{"", "A", "AVATAR To. Yes, We", "12.4 ms  71.3%", "naïve Ωμέγα\u00a0Вт", "核 □"} {
			for _, size := range []float64{13, 15, 24} {
				face := font.Face{Font: font.Font{Size: font.Length(size)}, Face: (*opentype.Font)(f.Font)}
				for range 2 { // looked up, then kept
					if got, want := f.Width(s, size), float64(face.Width(s)); got != want {
						t.Errorf("%q in %v is %v wide, want %v", s, size, got, want)
					}
				}
			}
		}
	}
}
