package plot

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestAxisTicks: at most five ticks, from 0 to no more than the highest value,
// and at least two unless that is nothing.
func TestAxisTicks(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	for _, u := range []axisUnit{DepthAxis, TimeAxis, SizeAxis} {
		for i := range 2000 {
			most := 1 + rnd.Int64N(1<<(1+rnd.IntN(62)))
			if i == 0 {
				most = math.MaxInt64
			}
			ticks := u.ticks(most)
			if len(ticks) < 2 || len(ticks) > 5 || ticks[0] != 0 || ticks[len(ticks)-1] > most || !slices.IsSorted(ticks) {
				t.Fatalf("unit %d: ticks up to %d are %v", u, most, ticks)
			}
		}
	}
	for v, want := range map[int64]string{0: "0", 1: "0.001", 1500: "1.5", 2000: "2", 5_000_000: "5,000", 2e15: "2e+12"} {
		if got := DepthAxis.text(v); got != want {
			t.Errorf("depth %d is %s, want %s", v, got, want)
		}
	}
}

// TestTimelinePixels paints a panel and measures it: values are heights, the
// parts of a column have their shares of it, and unknown bins stay empty.
func TestTimelinePixels(t *testing.T) {
	const half, quarter = (trackHeight - trackRoom) / 2, (trackHeight - trackRoom) / 4
	p := TimePanel{SpanNS: 400, Tracks: []Track{
		{Unit: SizeAxis, Series: []Series{{ColorWork, 100, []int64{-1, 100, 50, 0}}}},
		{Unit: TimeAxis, Columns: []TimeColumn{{100, 200, "", []Part{{ColorCompute, 50}, {ColorComm, -7}, {ColorIdle, 150}}}}},
	}}
	painted, err := Chart{Title: "t", Body: Timeline{[]TimePanel{p}}}.Paint()
	if err != nil {
		t.Fatal(err)
	}
	img := painted.Image()
	heights := func(ns int64) map[Color]int {
		n := map[Color]int{}
		for y := range img.Bounds().Dy() {
			r, g, b, _ := img.At(int(p.x(ns)), y).RGBA()
			n[Color(r>>8<<16|g>>8<<8|b>>8)]++
		}
		return n
	}
	for _, tc := range []struct {
		ns    int64
		color Color
		want  float64
	}{
		{50, ColorWork, 0}, {150, ColorWork, 2 * half}, {250, ColorWork, half}, {350, ColorWork, 0},
		{50, ColorCompute, 0}, {170, ColorCompute, quarter}, {170, ColorIdle, 3 * quarter}, {170, ColorComm, 0}, {350, ColorCompute, 0},
	} {
		if got := float64(heights(tc.ns)[tc.color]); got < tc.want-3 || got > tc.want+1 {
			t.Errorf("at %d ns, %06x is %g pixels high, want %g", tc.ns, tc.color, got, tc.want)
		}
	}
}
