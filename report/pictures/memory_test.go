package pictures

import (
	"bytes"
	"fmt"
	"image/png"
	"slices"
	"testing"

	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/report/plot"
	"assay/summary"
)

// TestMemoryChart: the peak is marked where and as high as it was, over what
// was reserved then.
func TestMemoryChart(t *testing.T) {
	c, _ := memory(samplerun.Attributed(8))
	body := c.Body.(plot.Timeline)
	if len(body.Panels) != mostLanes || c.Caption != "The 4 with the highest peaks; 4 more." {
		t.Errorf("%d panels, caption %q", len(body.Panels), c.Caption)
	}
	track := body.Panels[0].Tracks[0]
	if *track.Peak != (plot.Peak{NS: 405 * samplerun.MS, Value: 67 << 30, Label: "peak 67 GiB allocated"}) || slices.Max(track.Series[0].Values) != 79<<30 || track.Series[0].Color != plot.ColorIdle {
		t.Errorf("the track is %+v, its peak %+v", track, track.Peak)
	}
}

// TestSnapshotCharts: the bands of a picture stack up to what was live, the same
// owner has one colour in all panels, and the pictures can be drawn.
func TestSnapshotCharts(t *testing.T) {
	s := samplerun.Memory()
	s.Snapshots[1].Strip = &summary.OwnerStrip{StartNS: 0, BinNS: samplerun.Sec, Live: []int64{3 * samplerun.GiB}, Owners: []summary.Stratum{
		{Name: "/app/model.py:3 __init__", Bytes: []int64{samplerun.GiB}}, {Kind: summary.KindUnknown, Bytes: []int64{samplerun.GiB / 2}}, {Bytes: []int64{3 * samplerun.GiB / 2}},
	}}
	var names []string
	for _, c := range Of(s, judge.Result{}) {
		names = append(names, c.Name)
		var b bytes.Buffer
		if err := c.PNG(&b); err != nil {
			t.Fatal(err)
		}
		if img, err := png.Decode(&b); err != nil || img.Bounds().Dx() != plot.Width {
			t.Errorf("%s: %v", c.Name, err)
		}
		if c.Name != "memory-owners" {
			continue
		}
		var legend []string
		for _, sw := range c.Legend {
			legend = append(legend, sw.Text)
		}
		// Steady memory is below memory that changes.
		if want := []string{"app/model.py:3 __init__", "no stack recorded", "app/model.py:7 forward", "other"}; !slices.Equal(legend, want) {
			t.Errorf("legend %q, want %q", legend, want)
		}
		panels := c.Body.(plot.Timeline).Panels
		if got := fmt.Sprint(panels[0].Tracks[0].Series); got != fmt.Sprint([]plot.Series{
			{Color: c.Legend[2].Color, BinNS: samplerun.Sec / 2, Values: []int64{2 * samplerun.GiB, 4 * samplerun.GiB, 6 * samplerun.GiB, 5 * samplerun.GiB}}, {Color: c.Legend[1].Color, BinNS: samplerun.Sec / 2, Values: []int64{2 * samplerun.GiB, 2 * samplerun.GiB, 2 * samplerun.GiB, 2 * samplerun.GiB}}, {Color: c.Legend[0].Color, BinNS: samplerun.Sec / 2, Values: []int64{2 * samplerun.GiB, 2 * samplerun.GiB, 2 * samplerun.GiB, 2 * samplerun.GiB}},
		}) {
			t.Errorf("series %s", got)
		}
		if top := panels[1].Tracks[0].Series[0]; top.Color != plot.ColorNothing || top.Values[0] != 3*samplerun.GiB {
			t.Errorf("the rest is %+v", top)
		}
	}
	if want := []string{"memory-reserved", "memory-owners"}; !slices.Equal(names, want) {
		t.Errorf("charts %v, want %v", names, want)
	}
	track := mustChart(t, s, "memory-reserved").Body.(plot.Timeline).Panels[0].Tracks[0]
	if len(track.Marks) != 1 || track.Marks[0].NS != 3*samplerun.Sec/2 || track.Peak.NS != samplerun.Sec || track.Peak.Value != 6*samplerun.GiB {
		t.Errorf("%+v %+v", track.Marks, track.Peak)
	}
}

func mustChart(t *testing.T, s *summary.Summary, name string) plot.Chart {
	t.Helper()
	for _, c := range Of(s, judge.Result{}) {
		if c.Name == name {
			return c
		}
	}
	t.Fatalf("no chart %s", name)
	return plot.Chart{}
}

// TestCategoryLegend: each category has its colour.
func TestCategoryLegend(t *testing.T) {
	if c := mustChart(t, samplerun.MemoryTimeline(), "memory-categories"); c.Legend[0].Text != "activations" || len(c.Legend) != 2 {
		t.Errorf("%+v", c.Legend)
	}
}
