package plot

import (
	"testing"

	"assay/internal/test/samplerun"
)

// TestColumnsUnderLine: the highest line behind the bars is not below any.
func TestColumnsUnderLine(t *testing.T) {
	for _, longest := range []int64{1, 7, 253 * samplerun.MS, 999 * samplerun.MS, 61 * samplerun.Sec, 36_000 * samplerun.Sec} {
		for _, n := range []int{1, 2, 4, 30} {
			col := Columns{}
			for i := range n {
				col.Bars = append(col.Bars, ColumnBar{"s", []Part{{ColorCompute, longest / int64(i+1)}}, 1})
			}
			p, err := newPen()
			if err != nil {
				t.Fatal(err)
			}
			c := newCanvas(p, col.height(p))
			col.draw(c, 0)
			// Texts at the left are those of the lines; all others are above bars.
			highest, label := c.H, c.H
			for _, b := range c.Boxes {
				if b.X1 < Margin+70 {
					highest = min(highest, b.Y0)
				} else {
					label = min(label, b.Y0)
				}
			}
			// A label is about 17 pixels above the top that it names.
			if label+17 < highest-6 || highest < 0 {
				t.Errorf("%d bars up to %d ns: a label is at %g, the text of the highest line at %g", n, longest, label, highest)
			}
		}
	}
}
