package raster

import (
	"image"
	"image/color"
	"math/rand/v2"
	"testing"
)

// TestFillRect: each pixel is covered by as many sixteenths as have their centre in the
// rectangle, which may be outside of the image.
func TestFillRect(t *testing.T) {
	const wide, high = 9, 7
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		r := image.Rect(rng.IntN(60)-12, rng.IntN(50)-12, rng.IntN(60)-12, rng.IntN(50)-12)
		img := image.NewRGBA(image.Rect(0, 0, wide, high))
		for i := range img.Pix {
			img.Pix[i] = 255
		}
		FillRect(img, r, color.RGBA{200, 0, 37, 255})
		for y := range high {
			for x := range wide {
				covered := 0
				for i := range 16 {
					if (image.Point{X: 4*x + i%4, Y: 4*y + i/4}).In(r) {
						covered++
					}
				}
				mix := func(v int) uint8 { return uint8((v*covered + 255*(16-covered) + 8) / 16) }
				want := color.RGBA{mix(200), mix(0), mix(37), 255}
				if got := img.RGBAAt(x, y); got != want {
					t.Fatalf("%v: pixel %d, %d is %v, want %v", r, x, y, got, want)
				}
			}
		}
	}
}
