package plot

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func at(img image.Image, x, y int) Color {
	r, g, b, _ := img.At(x, y).RGBA()
	return Color(r>>8<<16 | g>>8<<8 | b>>8)
}

func placesOf(n int, flags ...Flag) Places {
	p := Places{Name: "rank", Flags: flags}
	for i := range n {
		p.Labels = append(p.Labels, fmt.Sprint(i))
	}
	return p
}

// TestFlags: three flags at any places are all drawn, within the picture. None covers
// another, nor a line between another and its tip.
func TestFlags(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	pen, err := newPen()
	if err != nil {
		t.Fatal(err)
	}
	for range 3000 {
		n := 1 + rnd.IntN(1<<(1+rnd.IntN(12)))
		var flags []Flag
		for range 3 {
			flags = append(flags, Flag{rnd.IntN(n), strings.Repeat("rank 1 ", 1+rnd.IntN(7))})
		}
		p := placesOf(n, flags...).within(pen, 98, 1172)
		if len(p.flags) != 3 {
			t.Fatalf("of %+v at %d places, %d are drawn", flags, n, len(p.flags))
		}
		for i, f := range p.flags {
			if f.x0 < 98 || f.x1 > 1172.5 || f.row >= p.rows || f.tip < f.x0-6 || f.tip > f.x1+6 {
				t.Fatalf("%d places: %+v of %+v", n, f, flags)
			}
			for j, o := range p.flags {
				if i != j && f.row == o.row && f.x0 < o.x1 && o.x0 < f.x1 {
					t.Fatalf("%d places: %+v overlaps %+v", n, f, o)
				}
				if i != j && f.row >= o.row && f.tip > o.x0 && f.tip < o.x1 {
					t.Fatalf("%d places: the line of %+v crosses %+v", n, f, o)
				}
			}
		}
	}
}

// TestFlagsLeftOut: a flag without a place is not drawn, and the rest are.
func TestFlagsLeftOut(t *testing.T) {
	pen, err := newPen()
	if err != nil {
		t.Fatal(err)
	}
	p := placesOf(4, Flag{-1, "no"}, Flag{2, "yes"}, Flag{4, "no"}).within(pen, 98, 1172)
	if len(p.flags) != 1 || p.flags[0].Text != "yes" || p.rows != 1 {
		t.Errorf("flags are %+v", p.flags)
	}
}

// TestPlaces: places have equal numbers of pixels, in order, and only more places than
// pixels share some.
func TestPlaces(t *testing.T) {
	pen, err := newPen()
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n < 6000; n += 1 + n/7 {
		p := placesOf(n).within(pen, 98, 1172)
		end := 98
		for i := range n {
			from, to := p.ends(i)
			if n <= 1074 && (from != end || to != from+p.pitch || p.pitch < 1 || p.sharing(i) != i) || from < 98 || to > 1172 {
				t.Fatalf("place %d of %d is from %d to %d, want from %d", i, n, from, to, end)
			}
			end = to
			if last := p.sharing(i); last+1 < n {
				if next, _ := p.ends(last + 1); next == from {
					t.Fatalf("place %d of %d is on the pixel of %d", last+1, n, i)
				}
			}
		}
	}
}

// TestPanelPixels: each of 1,000 columns has its own pixel, its parts have their heights,
// and of 3,000 columns the highest of each pixel is drawn.
func TestPanelPixels(t *testing.T) {
	const high = 70
	for _, n := range []int{1000, 3000} {
		columns := make([][]Part, n)
		for i := range columns {
			columns[i] = []Part{{ColorCompute, 20}, {ColorComm, 30}}
		}
		columns[n/2] = []Part{{ColorCompute, 20}, {ColorComm, high}, {ColorCopy, -5}}
		b := Panels{Places: placesOf(n), Panels: []Panel{{Title: "t", Columns: columns}}}
		painted, err := Chart{Title: "t", Body: b}.Paint()
		if err != nil {
			t.Fatal(err)
		}
		img := painted.Image()
		p := b.placed(painted.pen)
		count := func(i int, col Color) (pixels int) {
			x, _ := p.ends(i)
			for y := range img.Bounds().Dy() {
				if at(img, x, y) == col {
					pixels++
				}
			}
			return pixels
		}
		const full = 100 // the axis ends at a line
		scale := (panelHeight - panelRoom) / full
		for i, want := range map[int]float64{0: 30, n/2 - 5: 30, n / 2: high, n/2 + 5: 30, n - 1: 30} {
			if got := float64(count(i, ColorComm)); math.Abs(got-want*scale) > 1.5 {
				t.Errorf("column %d of %d has %g pixels of communication, want %g", i, n, got, want*scale)
			}
			// The line at the foot covers a pixel.
			if got := float64(count(i, ColorCompute)); math.Abs(got-20*scale) > 2 {
				t.Errorf("column %d of %d has %g pixels of compute, want %g", i, n, got, 20*scale)
			}
		}
	}
}

// TestShade: lightness falls to both ends, values beyond the scale have the colour of its
// end, and neither side is confused with the other by a reader without the red or green
// cones.
func TestShade(t *testing.T) {
	lightness := func(c Color) float64 {
		return 0.2126*float64(c>>16&255) + 0.7152*float64(c>>8&255) + 0.0722*float64(c&255)
	}
	for _, sign := range []float64{-1, 1} {
		last := math.Inf(1)
		for i := range shades + 1 {
			l := lightness(Shade(sign*0.2*float64(i)/shades, 0.2))
			if l >= last {
				t.Errorf("lightness %g of shade %g is not below %g", l, sign*float64(i), last)
			}
			last = l
		}
		if Shade(sign*9, 0.2) != Shade(sign*0.2, 0.2) {
			t.Errorf("the colour of %g is not that of the end", sign*9)
		}
	}
	// What such readers still see is blue against the rest.
	blueness := func(c Color) float64 { return float64(c&255) - (float64(c>>16&255)+float64(c>>8&255))/2 }
	for i := 3; i <= shades; i++ {
		v := float64(i) / shades
		if less, more := blueness(Shade(-v, 1)), blueness(Shade(v, 1)); less < 4 || more > -4 {
			t.Errorf("at %g, blueness is %g and %g", v, less, more)
		}
	}
	if Shade(0, 1) != heatMiddle || Shade(1, 1) != heatMore || Shade(-1, 1) != heatLess {
		t.Errorf("the middle is %06x, the ends are %06x and %06x", Shade(0, 1), Shade(-1, 1), Shade(1, 1))
	}
}

// TestHeatMapPixels: cells have the colours of their values, unknown ones are hatched,
// and of cells on one pixel the largest difference is drawn.
func TestHeatMapPixels(t *testing.T) {
	for _, n := range []int{9, 64, 1000, 4000} {
		rows := make([]HeatRow, 3)
		for r := range rows {
			rows[r] = HeatRow{Label: fmt.Sprint("row ", r), Note: "1 ms", Values: make([]float64, n)}
		}
		rows[1].Values[n/3], rows[2].Values[n-1] = 0.3, -0.15
		rows[0].Values = rows[0].Values[:0]
		for range n {
			rows[0].Values = append(rows[0].Values, math.NaN())
		}
		h := HeatMap{Places: placesOf(n), Rows: rows, Head: "median", Middle: "median"}
		painted, err := Chart{Title: "t", Body: h}.Paint()
		if err != nil {
			t.Fatal(err)
		}
		img, top := painted.Image(), 0.0
		p, _, _ := h.layout(painted.pen)
		for _, b := range painted.Boxes {
			if strings.ReplaceAll(b.Text, "\u00a0", " ") == "row 0" {
				top = b.Y0
			}
		}
		cell := func(row, i int) Color {
			x, _ := p.ends(i)
			return at(img, x, int(top)+28*row) // above the text of the cell
		}
		for _, tc := range []struct {
			row, at int
			want    Color
		}{{1, n / 3, Shade(0.3, 0.3)}, {2, n - 1, Shade(-0.15, 0.3)}, {1, 0, heatMiddle}, {2, n / 2, heatMiddle}} {
			if got := cell(tc.row, tc.at); got != tc.want {
				t.Errorf("%d places: cell %d of row %d is %06x, want %06x", n, tc.at, tc.row, got, tc.want)
			}
		}
		if got := cell(0, 2); got != ColorWhite && got != 0xa0a0a0 {
			t.Errorf("%d places: an unknown cell is %06x", n, got)
		}
	}
}

// TestHeatMapFull: the ends of the scale are round, and 100% is the last.
func TestHeatMapFull(t *testing.T) {
	for most, want := range map[float64]float64{0: 0.05, 0.05: 0.05, 0.06: 0.1, 0.33: 0.5, 0.9: 1, 12: 1} {
		h := HeatMap{Rows: []HeatRow{{Values: []float64{0, -most, math.NaN()}}}}
		if got := h.Full(); got != want {
			t.Errorf("the scale up to %g ends at %g, want %g", most, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0.0%", 0.123: "+12.3%", -0.1234: "-12.3%", 0.0001: "0.0%", -0.0001: "0.0%", 10.718: "+1071.8%"} {
		if got := Signed(v); got != want {
			t.Errorf("%g is %s, want %s", v, got, want)
		}
	}
}

// TestPanelOnAxis: a recorded part begins and ends at its moments, and its bins begin at
// its start.
func TestPanelOnAxis(t *testing.T) {
	p := TimePanel{Title: "t", SpanNS: 1000, FromNS: 250, ToNS: 750, Tracks: []Track{
		{Lane: true, Name: "compute", Series: []Series{{ColorCompute, 100, []int64{0, Full, 0, 0, 0}}}},
	}}
	painted, err := Chart{Title: "t", Body: Timeline{[]TimePanel{p}}}.Paint()
	if err != nil {
		t.Fatal(err)
	}
	img := painted.Image()
	y := img.Bounds().Dy() - 18 - 40 - 20 // within the lane
	for ns, want := range map[int64]Color{240: ColorWhite, 260: ColorPlane, 340: ColorPlane, 360: ColorCompute, 440: ColorCompute, 460: ColorPlane, 740: ColorPlane, 760: ColorWhite} {
		if got := at(img, int(p.x(ns)), y); got != want {
			t.Errorf("at %d ns, the lane is %06x, want %06x", ns, got, want)
		}
	}
}
