package plot

import (
	"bytes"
	"fmt"
	"image/png"
	"math"
	"strconv"
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

// TestScatterNumbers: of dots in a crowd all numbers are drawn, with a gap between any two.
func TestScatterNumbers(t *testing.T) {
	s := Scatter{X: Axis{To: 100}, Y: Axis{To: 100}, Curves: []Curve{{Points: [][2]float64{{0, 52}, {100, 52}}}}}
	for i := range 10 {
		s.Dots = append(s.Dots, Dot{X: 50 + float64(i%3), Y: 50 + float64(i/3), Radius: 12 - float64(i)/2, Number: fmt.Sprint(i + 1)})
	}
	c, err := Chart{Title: "t", Body: s}.Paint()
	if err != nil {
		t.Fatal(err)
	}
	numbers := map[string]box{}
	for _, b := range c.Boxes {
		if n, err := strconv.Atoi(b.Text); err == nil && n > 0 && b.X0 > scatterX && b.Y1 < 60+scatterTitle+scatterHeight {
			numbers[b.Text] = b
		}
	}
	if len(numbers) != 10 {
		t.Errorf("%d numbers are drawn, want 10", len(numbers))
	}
	for one, a := range numbers {
		for other, b := range numbers {
			if one != other && a.X0 < b.X1+2 && b.X0 < a.X1+2 && a.Y0 < b.Y1 && b.Y0 < a.Y1 {
				t.Errorf("%s and %s touch: %+v, %+v", one, other, a, b)
			}
		}
	}
}
