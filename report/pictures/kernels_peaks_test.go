package pictures

import (
	"math"
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/judge/rule"
	"assay/report/plot"
	"assay/summary"
)

// TestCounterCharts: the dots are where the figures are, the roofs where the
// peaks are, and no text is clipped or covered.
func TestCounterCharts(t *testing.T) {
	chart := func(s *summary.Summary) (plot.Chart, plot.Scatter) {
		list := Of(s, judge.Judge(s, rule.DefaultThresholds()))
		if len(list) != 1 || list[0].File() != "kernels-peaks.png" {
			t.Fatalf("pictures %+v", list)
		}
		c := list[0]
		painted, err := c.Paint()
		if err != nil {
			t.Fatal(err)
		}
		checkTexts(t, c.Title, painted)
		if c.Alt == "" {
			t.Errorf("%s: no words", c.Title)
		}
		return c, c.Body.(plot.Scatter)
	}
	c, peaks := chart(samplerun.Counted())
	if c.Title != "Kernel counters: % of peak" || len(peaks.Dots) != 3 || peaks.Dots[0].X != 92 || peaks.Dots[0].Y != 20 || peaks.Dots[0].Color != colorNear || peaks.Dots[1].Color != colorLatency || peaks.Dots[2].Color != plot.ColorCompute {
		t.Errorf("%s: %+v", c.Title, peaks.Dots)
	}
	// The area above the least radius is the share of the time.
	if a, b := peaks.Dots[0].Radius-4, peaks.Dots[1].Radius-4; math.Abs(a*a/(b*b)-2) > 1e-9 {
		t.Errorf("60%% and 30%% have radii %v and %v", a+4, b+4)
	}
	c, roof := chart(samplerun.Roofline(samplerun.Counted()))
	if c.Title != "Roofline of 2 kernels" || len(roof.Dots) != 2 || roof.Dots[0].X != 2 || roof.Dots[0].Y != 4e12 || roof.Dots[1].X != 8 || roof.Dots[1].Y != 8e12 {
		t.Errorf("%s: %+v", c.Title, roof.Dots)
	}
	if !strings.Contains(c.Caption, "; 2 more have") {
		t.Errorf("the caption is %q", c.Caption)
	}
	slope, flat := roof.Curves[0], roof.Curves[1]
	if end := slope.Points[1]; end[0] != 20 || end[1] != 60e12 || flat.Points[0] != end || flat.Points[1][1] != 60e12 || flat.Label != "fp32 peak, 60 TFLOP/s" {
		t.Errorf("roofs %+v", roof.Curves)
	}
	for _, p := range slope.Points {
		if math.Abs(p[1]/p[0]/3e12-1) > 1e-9 {
			t.Errorf("the slope is not that of 3 TB/s at %v", p)
		}
	}
	if _, ok := kernelsPeaks(samplerun.Counted(), judge.Result{}); ok {
		t.Error("a chart without judgment")
	}
}
