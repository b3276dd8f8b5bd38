package plot

import (
	"bytes"
	"testing"

	"assay/report/plot/raster"
)

// TestRect: a rectangle covers what the drawing library covers, within the picture.
func TestRect(t *testing.T) {
	const size = 12
	var pens [2]*pen // each has the pixels of one picture
	for i := range pens {
		var err error
		if pens[i], err = newPen(); err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range [][4]float64{
		{1, 1, 5, 5}, {1.25, 2.5, 3.75, 2.25}, {3.5, 3.5, 0.25, 0.25}, {2.75, 4, 0.5, 1}, {0.1, 0.9, 7.3, 0.2},
		{-5, -5, 8, 8}, {3, 3, 9000, 2}, {-1e300, 2, 1e300, 1}, {4, size - 1.5, 2, 40}, {-9, -9, 3, 3},
	} {
		x, y, w, h := r[0], r[1], r[2], r[3]
		got, want := newCanvas(pens[0], size), newCanvas(pens[1], size)
		for _, c := range []*Canvas{got, want} {
			c.pixels(0, 0, Width, size/2, ColorComm)
		}
		got.rect(x, y, w, h, ColorCompute)
		want.area(ColorCompute, [2]float64{x, y}, [2]float64{x + w, y}, [2]float64{x + w, y + h}, [2]float64{x, y + h})
		for i := range got.img.Pix {
			if apart(got.img.Pix[i], want.img.Pix[i]) > 4 {
				t.Fatalf("%v: byte %d of pixel %d, %d is %d, want %d", r, i%4, i/4%Width, i/4/Width, got.img.Pix[i], want.img.Pix[i])
			}
		}
	}
}

func apart(a, b uint8) int { return max(int(a)-int(b), int(b)-int(a)) }

// TestNextPicture: a picture does not depend on the one that was drawn before it.
func TestNextPicture(t *testing.T) {
	charts := []Chart{
		{Title: "tall", Body: Bars{Rows: []BarRow{{Label: "a", Parts: []Part{{ColorComm, 5}, {ColorInk, 7}}}, {Label: "b", Parts: []Part{{ColorComm, 1}}}}}},
		{Title: "low", Body: Ranking{Rows: []RankRow{{Label: "AVATAR", Color: ColorComm, NS: 9}}, Total: 10}},
	}
	draw := func(c Chart) string {
		var b bytes.Buffer
		if err := c.PNG(&b); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	var alone []string
	for _, c := range charts {
		painted, err := c.Paint() // in new memory
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := raster.WritePNG(&b, painted.img); err != nil {
			t.Fatal(err)
		}
		alone = append(alone, b.String())
	}
	for _, i := range []int{0, 1, 1, 0} {
		if draw(charts[i]) != alone[i] {
			t.Errorf("%q differs after another picture", charts[i].Title)
		}
	}
}
