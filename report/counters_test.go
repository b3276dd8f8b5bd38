package report

import (
	"bytes"
	"image/png"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"assay/judge"
	"assay/summary"
)

func pctOf(v float64) *float64 { return &v }

func whole(n int64) *int64 { return &n }

// countedSummary has three kernels with a side each, the first of several
// shapes, and one of which nothing was collected.
func countedSummary() *summary.Summary {
	row := func(name string, ns int64, compute, memory float64) summary.Counter {
		return summary.Counter{Kernel: name, Capability: "9.0", Launches: 4, Shapes: 1, Timed: 4, TotalNS: ns, ComputePct: &compute, MemoryPct: &memory, Category: "gemm"}
	}
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "ncu.csv", Format: "ncu", Compression: "none", Events: 40, Complete: true}},
		Counters: []summary.Counter{row("near", 600_000, 20, 92), row("slow", 300_000, 20, 10), row("busy", 80_000, 70, 20), {Kernel: "bare", Launches: 2, Timed: 2, TotalNS: 20_000}}}
	k := &s.Counters[0]
	k.Shapes, k.OccupancyPct, k.TheoreticalPct, k.Limiters = 3, pctOf(40.25), pctOf(50), []string{"registers"}
	k.DRAMBytes, k.BytesNS = whole(1_200_000_000), 600_000
	k.Rules = []summary.Advice{{Name: "R", Type: "OPT", Text: "Do it | so. Then not.", Launches: 1, SpeedupPct: pctOf(12.5), SpeedupKind: "global"}}
	return s
}

// withWork gives the first two kernels arithmetic: 2 and 8 operations for each
// byte, at 4 and 8 TFLOP/s.
func withWork(s *summary.Summary) *summary.Summary {
	for i, w := range []summary.Work{{FLOPs: 2_400_000_000, NS: 600_000, DRAMBytes: whole(1_200_000_000)}, {FLOPs: 2_400_000_000, NS: 300_000, DRAMBytes: whole(300_000_000)}} {
		w.Precision, w.PeakFLOPs, w.PeakDRAMRate = "fp32", whole(60e12), whole(3e12)
		s.Counters[i].Work = []summary.Work{w}
	}
	return s
}

func buildCounted(s *summary.Summary) Doc { return Build(s, judge.Judge(s, judge.DefaultThresholds())) }

func TestCountedKernels(t *testing.T) {
	d := buildCounted(withWork(countedSummary()))
	markdown := render(t, d.Markdown)
	got := tableOf(t, markdown, "Kernels against the peaks of the device")
	want := [][]string{
		{"kernel", "share", "launches", "mean (µs)", "compute", "memory", "held back by", "DRAM rate", "occupancy", "possible", "limited by", "arithmetic", "shapes", "category"},
		{"`near`", "60.0%", "4", "150.00", "20.0%", "92.0%", "memory, near the limit", "2 TB/s", "40.2%", "50.0%", "registers", "4 TFLOP/s fp32 (6.7% of its peak)", "3", "gemm"},
		{"`slow`", "30.0%", "4", "75.00", "20.0%", "10.0%", "latency", "", "", "", "", "8 TFLOP/s fp32 (13.3% of its peak)", "", "gemm"},
		{"`busy`", "8.0%", "4", "20.00", "70.0%", "20.0%", "compute", "", "", "", "", "", "", "gemm"},
		{"`bare`", "2.0%", "2", "10.00", "–", "–", "–", "", "", "", "", "", "", ""},
	}
	if !slices.EqualFunc(got, want, slices.Equal) {
		t.Errorf("got\n%q\nwant\n%q", got, want)
	}
	for _, part := range []string{"## Verdict: latency-bound", "**OPT** R (up to 12.5% global, 1 of 4 launches): Do it | so. Then not.",
		"14 launches of 4 kernels, compute capability 9.0, complete.", "![Roofline: ", "Shares are of 1 ms kernel time"} {
		if !strings.Contains(strings.ReplaceAll(markdown, `\|`, "|"), part) {
			t.Errorf("the report lacks %q:\n%s", part, markdown)
		}
	}
	if strings.Contains(markdown, "no GPU events") || strings.Contains(markdown, "time budget") {
		t.Errorf("the report asks counters for a timeline:\n%s", markdown)
	}
	screen := text(t, d, 80)
	if !strings.Contains(screen, "Kernels against peaks: share of 1 ms kernel time, profiled one by one") || !strings.Contains(screen, " 60.0%    20.0%   92.0%      40.2%  memory, near the limit  near\n") {
		t.Errorf("screen:\n%s", screen)
	}
	if json := render(t, d.JSON); !strings.Contains(json, `"sides": [`) || !strings.Contains(json, `"near_limit": true`) {
		t.Errorf("the JSON has no sides")
	}
}

// TestCounterCharts: the dots are where the figures are, the roofs where the
// peaks are, and no text is clipped or covered.
func TestCounterCharts(t *testing.T) {
	chart := func(s *summary.Summary) (Chart, Scatter) {
		list := Charts(s, judge.Judge(s, judge.DefaultThresholds()))
		if len(list) != 1 || list[0].File() != "kernels-peaks.png" {
			t.Fatalf("pictures %+v", list)
		}
		c := list[0]
		painted, err := c.paint()
		if err != nil {
			t.Fatal(err)
		}
		checkTexts(t, c.Title, painted)
		if c.Alt == "" {
			t.Errorf("%s: no words", c.Title)
		}
		return c, c.Body.(Scatter)
	}
	c, peaks := chart(countedSummary())
	if c.Title != "Kernels against the peaks of the device" || len(peaks.Dots) != 3 || peaks.Dots[0].X != 92 || peaks.Dots[0].Y != 20 || peaks.Dots[0].Color != colorNear || peaks.Dots[1].Color != colorLatency || peaks.Dots[2].Color != colorCompute {
		t.Errorf("%s: %+v", c.Title, peaks.Dots)
	}
	// The area above the least radius is the share of the time.
	if a, b := peaks.Dots[0].Radius-4, peaks.Dots[1].Radius-4; math.Abs(a*a/(b*b)-2) > 1e-9 {
		t.Errorf("60%% and 30%% have radii %v and %v", a+4, b+4)
	}
	c, roof := chart(withWork(countedSummary()))
	if c.Title != "Roofline of 2 kernels" || len(roof.Dots) != 2 || roof.Dots[0].X != 2 || roof.Dots[0].Y != 4e12 || roof.Dots[1].X != 8 || roof.Dots[1].Y != 8e12 {
		t.Errorf("%s: %+v", c.Title, roof.Dots)
	}
	if !strings.Contains(c.Caption, "of 2 more") {
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
	if _, ok := counterChart(countedSummary(), judge.Result{}); ok {
		t.Error("a chart without judgment")
	}
}

// TestScatterPixels looks for a dot where its axes put it.
func TestScatterPixels(t *testing.T) {
	s := Scatter{X: Axis{Title: "x", To: 100}, Y: Axis{Title: "y", From: 1, To: 100, Log: true}, Dots: []Dot{{X: 25, Y: 10, Radius: 10, Color: colorComm}}}
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
			if r, g, b, _ := img.At(x, y).RGBA(); Color(r>>8<<16|g>>8<<8|b>>8) == colorComm {
				sumX, sumY, n = sumX+x, sumY+y, n+1
			}
		}
	}
	wantX, wantY := scatterX+scatterLength/4, 60+scatterTitle+scatterHeight/2
	if n < 250 || n > 320 || math.Abs(float64(sumX)/float64(n)-wantX) > 1 || math.Abs(float64(sumY)/float64(n)-wantY) > 1 {
		t.Errorf("%d pixels around %d, %d, want 314 around %v, %v", n, sumX/max(1, n), sumY/max(1, n), wantX, wantY)
	}
}

// TestHostileCounters: names and texts of others are harmless everywhere.
func TestHostileCounters(t *testing.T) {
	s := withWork(countedSummary())
	for i, name := range hostileNames() {
		if i < len(s.Counters) {
			k := &s.Counters[i]
			k.Kernel, k.Category, k.Capability, k.Limiters = name, name, name, []string{name}
			k.Rules = []summary.Advice{{Name: name, Type: name, Text: strings.Repeat(name, 100), SpeedupKind: name, SpeedupPct: pctOf(1)}}
			for j := range k.Work {
				k.Work[j].Precision = name
			}
		}
	}
	d := buildCounted(s)
	for _, write := range []func(io.Writer) error{d.Markdown, d.StepSummary, d.JSON, func(w io.Writer) error { return d.Text(w, 80) }} {
		for _, r := range render(t, write) {
			if r < ' ' && r != '\n' || r == 0x7f || r == 0x202e {
				t.Fatalf("%U is printed", r)
			}
		}
	}
	for _, c := range d.Charts() {
		if _, err := c.paint(); err != nil {
			t.Error(err)
		}
	}
}

func TestNumbaNames(t *testing.T) {
	for name, want := range map[string]string{
		"copy_blocked[v1,cw51cXTLSUwv1sDUaKthrqNgqqmjgOR3W3C](Array<long long, 1, C, mutable, aligned>, long long)": "copy_blocked",
		"axpy[abi:v2](Array<float, 1>)": "axpy", "f[i]": "f[i]", "f[vector]": "f[vector]", "[v1]": "[v1]", "f[v1": "f[v1",
	} {
		if got := tidyKernel(name); got != want {
			t.Errorf("%q is shown as %q, want %q", name, got, want)
		}
	}
}
