package pictures

import (
	"slices"
	"testing"

	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/report/plot"
)

// TestQueueChart: queue and steps are on one axis, and each step is as high as
// it is long.
func TestQueueChart(t *testing.T) {
	s := samplerun.Attributed(1)
	c, ok := queue(s, judge.Result{})
	p := c.Body.(plot.Timeline).Panels[0]
	if !ok || len(p.Tracks) != 2 || p.SpanNS != 1000*samplerun.MS || p.Tracks[0].Series[0].BinNS != 10*samplerun.MS || slices.Max(p.Tracks[0].Series[0].Values) != 6500 {
		t.Fatalf("the panel is %+v", p)
	}
	for i, col := range p.Tracks[1].Columns {
		if i64 := int64(i); col.FromNS != i64*240*samplerun.MS || col.NS != (210+10*i64)*samplerun.MS || plot.SumParts(col.Parts) != col.NS {
			t.Errorf("step %d is %+v", i, col)
		}
	}
	s.Launches[0].QueueStrip = nil
	if _, ok := queue(s, judge.Result{}); ok {
		t.Error("there is a picture of no queue")
	}
}
