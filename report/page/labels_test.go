package page_test

import (
	"slices"
	"testing"

	"assay/internal/test/browser"
	"assay/summary"
)

// TestEvenLabels: the labels of an axis have the fewest digits after the point with which all differ.
func TestEvenLabels(t *testing.T) {
	b := browser.Start(t)
	for _, tt := range []struct {
		unit        string
		least, most float64
		want        []string // at the values, from below
	}{
		{"ns", 20.4e9, 21.6e9, []string{"20.5 s", "21.0 s", "21.5 s"}},
		{"ns", 5.55e9, 6.25e9, []string{"5.6 s", "5.8 s", "6.0 s", "6.2 s"}},
		{"ns", 0, 100e9, []string{"0", "50 s", "100 s"}},
		{"count", 900, 2100, []string{"0", "1,000", "2,000"}},
		{"count", 0.9, 2.1, []string{"0", "1", "2"}},
		{"count", 9.4, 10.6, []string{"9.5", "10.0", "10.5"}},
	} {
		middle, sum := (tt.least+tt.most)/2, tt.least+tt.most
		s := &summary.Summary{Inputs: []summary.Input{{Path: "a.log", Complete: true}}, Series: []summary.Series{{Metric: "train.loss", Name: "loss", Role: "other",
			Unit: tt.unit, Producer: "x", N: 2, Min: &tt.least, Max: &tt.most, Median: &middle, Mean: &middle, First: &tt.least, Last: &tt.most, Sum: &sum,
			Strip: &summary.SeriesStrip{By: "step", X: []int64{1, 2}, Values: []float64{tt.least, tt.most}}}}}
		shown := show(t, b, htmlOf(t, s), browser.View{Width: 1000, Height: 900}, "")
		shown.Eval(`window.texts = []; { const p = CanvasRenderingContext2D.prototype, old = p.fillText;
			p.fillText = function (text, x, y) { if (this.textAlign === 'right') texts.push([y, text]); old.call(this, text, x, y); }; }
			const box = document.querySelector('canvas.chart').getBoundingClientRect();
			document.querySelector('canvas.chart').dispatchEvent(new MouseEvent('mousemove', { bubbles: true, clientX: box.right - 20, clientY: box.top + 20 })); true`, new(bool))
		shown.Wait("texts.length > 0")
		var got []string
		shown.Eval("[...new Map(texts.map(([y, text]) => [y, text])).entries()].sort((a, b) => b[0] - a[0]).map(e => e[1])", &got)
		if !slices.Equal(got, tt.want) {
			t.Errorf("%v to %v %s: labels %q, want %q", tt.least, tt.most, tt.unit, got, tt.want)
		}
	}
}
