package plot

import (
	"bytes"
	"image/png"
	"math"
	"testing"
)

// TestScatterPixels looks for a dot where its axes put it.
func TestScatterPixels(t *testing.T) {
	s := Scatter{X: Axis{Title: "x", To: 100}, Y: Axis{Title: "y", From: 1, To: 100, Log: true}, Dots: []Dot{{X: 25, Y: 10, Radius: 10, Color: ColorComm}}}
	var buf bytes.Buffer
	if err := (Chart{Title: "t", Body: s}).PNG(&buf); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&buf)
	if err != nil {
		t.Fatal(err)
	}
	sumX, sumY, n := 0, 0, 0
	for y := range img.Bounds().Dy() {
		for x := range img.Bounds().Dx() {
			if r, g, b, _ := img.At(x, y).RGBA(); Color(r>>8<<16|g>>8<<8|b>>8) == ColorComm {
				sumX, sumY, n = sumX+x, sumY+y, n+1
			}
		}
	}
	wantX, wantY := scatterX+scatterLength/4, 60+scatterTitle+scatterHeight/2
	if n < 250 || n > 320 || math.Abs(float64(sumX)/float64(n)-wantX) > 1 || math.Abs(float64(sumY)/float64(n)-wantY) > 1 {
		t.Errorf("%d pixels around %d, %d, want 314 around %v, %v", n, sumX/max(1, n), sumY/max(1, n), wantX, wantY)
	}
}
