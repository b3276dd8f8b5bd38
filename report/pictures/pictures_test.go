package pictures

import (
	"bytes"
	"flag"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/report/plot"
	"assay/summary"
	"assay/summary/view"
)

var written = flag.String("pictures", "", "write the pictures of all sample runs to this `directory`")

// TestPictures paints every chart of every sample run. A picture has the promised
// width, no text of it is clipped, and no two texts overlap.
func TestPictures(t *testing.T) {
	for name, s := range samplerun.All() {
		for _, c := range Of(s, judge.Result{}) {
			painted, err := c.Paint()
			if err != nil {
				t.Fatalf("%s: %s: %v", name, c.Name, err)
			}
			if size := painted.Image().Bounds().Size(); size.X != plot.Width || size.Y != int(painted.H) {
				t.Errorf("%s: %s is %v pixels large", name, c.Name, size)
			}
			checkTexts(t, name+": "+c.Name, painted)
			if *written == "" {
				continue
			}
			f, err := os.Create(filepath.Join(*written, strings.ReplaceAll(name, " ", "-")+"-"+c.File()))
			if err != nil {
				t.Fatal(err)
			}
			if err := c.PNG(f); err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
}

func checkTexts(t *testing.T, name string, c *plot.Canvas) {
	t.Helper()
	for i, a := range c.Boxes {
		if a.X0 < 0 || a.Y0 < 0 || a.X1 > plot.Width || a.Y1 > c.H {
			t.Errorf("%s: %q is clipped: %+v of %d x %g", name, a.Text, a, plot.Width, c.H)
		}
		for _, b := range c.Boxes[:i] {
			if a.X0 < b.X1 && b.X0 < a.X1 && a.Y0 < b.Y1 && b.Y0 < a.Y1 {
				t.Errorf("%s: %q overlaps %q", name, a.Text, b.Text)
			}
		}
	}
	if len(c.Boxes) < 2 {
		t.Errorf("%s: the picture has only %d texts", name, len(c.Boxes))
	}
}

// TestPNG decodes a picture and looks for its data: the colours of the parts
// in the proportions of the budget.
func TestPNG(t *testing.T) {
	var s summary.Summary
	s.Devices = []summary.Device{{WindowNS: 100, Activity: summary.Activity{samplerun.Comp: 40, samplerun.Comm: 30, samplerun.Copies: 20, 0: 10}}}
	c := Of(&s, judge.Result{})[0]
	var buf bytes.Buffer
	if err := c.PNG(&buf); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&buf)
	if err != nil {
		t.Fatal(err)
	}
	// The row of pixels through the lower edge of the bar, where no text is,
	// has one run of each colour.
	length := map[plot.Color]int{}
	const frame, scale, space = 18, 34, 6 // pixels below the bar
	y := img.Bounds().Dy() - frame - scale - space - 3
	for x := range img.Bounds().Dx() {
		r, g, b, _ := img.At(x, y).RGBA()
		length[plot.Color(r>>8<<16|g>>8<<8|b>>8)]++
	}
	total := length[plot.ColorCompute] + length[plot.ColorComm] + length[plot.ColorCopy] + length[plot.ColorIdle]
	if total < 400 {
		t.Fatalf("the bar has %d pixels: %v", total, length)
	}
	for color, want := range map[plot.Color]float64{plot.ColorCompute: 0.4, plot.ColorComm: 0.3, plot.ColorCopy: 0.2, plot.ColorIdle: 0.1} {
		if got := float64(length[color]) / float64(total); got < want-0.01 || got > want+0.01 {
			t.Errorf("colour %06x is %.3f of the bar, want %.2f", color, got, want)
		}
	}
}

// TestChartData holds the numbers drawn to those of the summary.
func TestChartData(t *testing.T) {
	for name, s := range samplerun.All() {
		for _, c := range Of(s, judge.Result{}) {
			if !slices.Contains(Files(), c.File()) {
				t.Errorf("%s: %s is not among the files that a report can have", name, c.File())
			}
			if c.Title == "" || c.Alt == "" || c.Name == "" {
				t.Errorf("%s: %+v has no title, name or text in its place", name, c)
			}
			switch body := c.Body.(type) {
			case plot.Bars:
				if body.Compare {
					checkPhaseBars(t, name, s, body)
					break
				}
				checkBars(t, name, s, body)
			case plot.Titled:
				if strings.HasPrefix(c.Name, "log-") {
					break
				}
				checkIdleBars(t, name, s, body[0].Body.(plot.Bars))
				checkRanking(t, name, c, body[1].Body.(plot.Ranking))
			case plot.Ranking:
				checkRanking(t, name, c, body)
			case plot.Columns:
				for _, b := range body.Bars {
					if b.Of < 1 {
						t.Errorf("%s: bar %q is of %d windows", name, b.Label, b.Of)
					}
				}
			case plot.Timeline:
				for _, p := range body.Panels {
					if p.SpanNS <= 0 || len(p.Tracks) == 0 || len(body.Panels) > mostLanes {
						t.Errorf("%s: %s: panel %+v of %d", name, c.Name, p, len(body.Panels))
					}
				}
				if c.Name == "activity" {
					checkLanes(t, name, body)
				}
			case plot.Histograms:
				for _, p := range body.Panels {
					if !slices.ContainsFunc(p.Bins, func(b plot.Bin) bool { return b.Count > 0 && b.ToNS > b.FromNS }) {
						t.Errorf("%s: panel %q is empty", name, p.Title)
					}
				}
			}
		}
	}
}

func checkBars(t *testing.T, name string, s *summary.Summary, body plot.Bars) {
	t.Helper()
	label, roles := map[string]int64{}, map[string]int64{}
	for i, l := range view.DeviceLabels(s) {
		label[l] = s.Devices[i].WindowNS
		for _, role := range []string{", slowest", ", fastest", ", median"} {
			roles[l+role] = s.Devices[i].WindowNS
		}
	}
	if len(label) != len(s.Devices) {
		t.Errorf("%s: %d labels for %d devices", name, len(label), len(s.Devices))
	}
	if len(body.Rows) == 0 || len(body.Rows) > allBars {
		t.Errorf("%s: %d bars", name, len(body.Rows))
	}
	for name, window := range roles {
		label[name] = window
	}
	for _, r := range body.Rows {
		if window, ok := label[r.Label]; !ok || plot.SumParts(r.Parts) != window {
			t.Errorf("%s: parts of %q sum to %d, window is %d", name, r.Label, plot.SumParts(r.Parts), window)
		}
	}
}

// checkIdleBars holds bars of idle time to that of their devices.
func checkIdleBars(t *testing.T, name string, s *summary.Summary, body plot.Bars) {
	t.Helper()
	idle := map[string]int64{}
	for i, l := range view.DeviceLabels(s) {
		idle[l] = s.Devices[i].Activity.Idle()
	}
	if len(body.Rows) == 0 || len(body.Rows) > allBars {
		t.Errorf("%s: %d bars", name, len(body.Rows))
	}
	for _, r := range body.Rows {
		if sum := plot.SumParts(r.Parts); sum != idle[r.Label] && !strings.HasPrefix(name, "hostile") {
			t.Errorf("%s: parts of %q sum to %d, idle time is %d", name, r.Label, sum, idle[r.Label])
		}
	}
}

func checkRanking(t *testing.T, name string, c plot.Chart, body plot.Ranking) {
	t.Helper()
	sum, last := int64(0), body.Total
	if body.Total == 0 { // bars without shares
		last, c.Caption = math.MaxInt64, "none"
		body.Total = last
	}
	for _, r := range body.Rows {
		if r.NS > last || r.NS <= 0 {
			t.Errorf("%s: %s: bar of %d after one of %d", name, c.Name, r.NS, last)
		}
		sum, last = summary.Plus(sum, r.NS), r.NS
	}
	if strings.HasPrefix(name, "hostile") {
		return // sums over all GPUs are as large as int64 holds, so that the mean is not one
	}
	if sum > body.Total || sum < body.Total-int64(len(body.Rows)) && c.Caption == "" {
		t.Errorf("%s: %s: bars sum to %d of %d, caption %q", name, c.Name, sum, body.Total, c.Caption)
	}
}

func checkLanes(t *testing.T, name string, body plot.Timeline) {
	t.Helper()
	if len(body.Panels) == 0 || len(body.Panels) > mostLanes {
		t.Errorf("%s: %d panels", name, len(body.Panels))
	}
	for _, p := range body.Panels {
		for _, l := range p.Tracks {
			if !l.Lane || l.Series[0].Color != classColor(l.Name) || len(l.Series[0].Values) == 0 || slices.Max(l.Series[0].Values) > plot.Full {
				t.Errorf("%s: %s: lane %+v", name, p.Title, l)
			}
		}
	}
}

// TestChartsOfTraining compares the charts with the sums in the comment of
// samplerun.Train.
func TestChartsOfTraining(t *testing.T) {
	var files []string
	for _, c := range Of(samplerun.Train(), judge.Result{}) {
		files = append(files, c.File())
		switch body := c.Body.(type) {
		case plot.Bars:
			want := []plot.Part{{Color: plot.ColorCompute, NS: 600 * samplerun.MS}, {Color: plot.ColorComm, NS: 230 * samplerun.MS}, {Color: plot.ColorCopy, NS: 20 * samplerun.MS}, {Color: plot.ColorIdle, NS: 150 * samplerun.MS}}
			for i, p := range body.Rows[3].Parts {
				if p != want[i] {
					t.Errorf("part %d of rank 3 is %+v, want %+v", i, p, want[i])
				}
			}
			if got, want := c.Legend[1].Text, "exposed communication 235 ms (23.5%)"; got != want {
				t.Errorf("the legend says %q, want %q", got, want)
			}
		case plot.Ranking:
			if body.Total != 7480*samplerun.MS/8 || len(body.Rows) != 5 || body.Rows[1].NS != 2680*samplerun.MS/8 || body.Rows[1].Color != plot.ColorComm {
				t.Errorf("kernels are %+v", body)
			}
		case plot.Columns:
			if len(body.Bars) != 4 || body.Bars[2].Of != 8 || plot.SumParts(body.Bars[2].Parts) != 8*252*samplerun.MS || body.Bars[2].Label != "step 12" {
				t.Errorf("steps are %+v", body)
			}
		case plot.Timeline:
			marks := body.Panels[0].Marks
			if len(marks) != 5 || marks[1] != (plot.Mark{NS: 250 * samplerun.MS, Label: "step 11"}) || marks[4].NS != 750*samplerun.MS+253*samplerun.MS {
				t.Errorf("marks are %+v", marks)
			}
			// Idle time falls with the rank.
			for i, p := range body.Panels {
				if want := "rank " + string(rune('0'+i)) + " "; !strings.HasPrefix(p.Title, want) {
					t.Errorf("panel %d is %q, want one of %q", i, p.Title, want)
				}
			}
			if c.Caption != "4 of 8 GPUs (most idle time)." {
				t.Errorf("the caption is %q", c.Caption)
			}
		}
	}
	want := "time-budget.png activity.png steps.png top-kernels.png durations.png ranks-budget.png"
	if got := strings.Join(files, " "); got != want {
		t.Errorf("pictures are %s, want %s", got, want)
	}
	for _, c := range Of(samplerun.Host(), judge.Result{}) {
		if body := c.Body.(plot.Ranking); c.File() != "top-spans.png" || body.Total != 100*samplerun.MS || body.Rows[0].NS != 60*samplerun.MS {
			t.Errorf("%s: %+v", c.File(), body)
		}
	}
	if charts := Of(samplerun.OneKernel(0), judge.Result{}); len(charts) != 1 || charts[0].Name != "durations" {
		t.Errorf("a run without duration has the charts %+v", charts)
	}
}

// TestManyDevices: of more than 16 devices, those with the largest share of
// idle time are drawn.
func TestManyDevices(t *testing.T) {
	s := samplerun.ManyDevices(64)
	c, _ := timeBudget(s, judge.Result{})
	rows := c.Body.(plot.Bars).Rows
	if len(rows) != mostBars || !strings.HasPrefix(c.Caption, "15 of 64 GPUs (") {
		t.Errorf("%d of 64 devices drawn, caption %q", len(rows), c.Caption)
	}
	share := func(a summary.Activity) float64 { return float64(a.Idle()) / float64(max(1, a.Window())) }
	drawn, least := map[string]bool{}, 1.0
	for _, r := range rows {
		drawn[r.Label] = true
		least = min(least, float64(r.Parts[3].NS)/float64(max(1, plot.SumParts(r.Parts))))
	}
	for i, label := range view.DeviceLabels(s) {
		if !drawn[label] && share(s.Devices[i].Activity) > least {
			t.Errorf("%s has %.3f idle time and is not drawn; one with %.3f is", label, share(s.Devices[i].Activity), least)
		}
	}
}

// TestBinShares: the share of a bin is based on its part inside the window.
func TestBinShares(t *testing.T) {
	got := binShares([]int64{0, 50, 100, 30, 7}, 100, 340)
	if want := []int64{0, plot.Full / 2, plot.Full, plot.Full * 3 / 4}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestMarks: a step that the host began before the device had work is marked
// at the start of the window; one that ended before is outside.
func TestMarks(t *testing.T) {
	s := samplerun.OneKernel(100)
	s.Devices[0].StartNS = 1000
	for i, start := range []int64{900, 940, 1050} {
		s.Steps = append(s.Steps, summary.Step{Name: "s", Number: int64(i), StartNS: start, WallNS: 50 + 50*int64(i)})
	}
	want := []plot.Mark{{NS: -100, Label: "s 0"}, {NS: 0, Label: "s 1"}, {NS: 50, Label: "s 2"}, {NS: 200, Label: ""}}
	if got := lanePanel(s, s.Devices[0], "").Marks; !slices.Equal(got, want) {
		t.Errorf("marks are %+v, want %+v", got, want)
	}
}

// TestChartFiles: every file that is promised is of some report.
func TestChartFiles(t *testing.T) {
	made := map[string]bool{}
	for _, s := range samplerun.All() {
		for _, c := range Of(s, judge.Result{}) {
			made[c.File()], made[c.SVGFile()] = true, true
		}
	}
	for _, c := range Of(samplerun.Counted(), samplerun.Judged(samplerun.Counted())) {
		made[c.File()], made[c.SVGFile()] = true, true
	}
	for _, file := range Files() {
		if !made[file] {
			t.Errorf("no sample run has the picture %s: add its data to a run of internal/test/samplerun", file)
		}
	}
	for file := range made {
		if !slices.Contains(Files(), file) {
			t.Errorf("%s is drawn, and Files does not name it", file)
		}
	}
}

// TestFoldShort: folding keeps count and time, and moves nothing else.
func TestFoldShort(t *testing.T) {
	var h summary.Histogram
	for _, ns := range []int64{0, 1, 15, 99, 100, 149, 5000} {
		h.Add(ns)
	}
	got := foldShort(h.Buckets)
	want := []summary.Bucket{{FromNS: 0, Count: 4, TotalNS: 115}, {FromNS: 100, Count: 2, TotalNS: 249}, {FromNS: 5000, Count: 1, TotalNS: 5000}}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if !slices.Contains(summary.Edges(), int64(plot.Shortest)) {
		t.Errorf("%d ns is no edge of a bucket", plot.Shortest)
	}
	for name, list := range map[string][]int64{"short": {3, 200, 40_000}, "long": {200, 40_000}} {
		var h summary.Histogram
		for _, ns := range list {
			h.Add(ns)
		}
		s := &summary.Summary{Devices: []summary.Device{{Durations: h, Gaps: h}}}
		c, _ := durations(s)
		painted, err := c.Paint()
		if err != nil {
			t.Fatal(err)
		}
		folded, ticks := 0, 0
		for _, b := range painted.Boxes {
			switch strings.ReplaceAll(b.Text, "\u00a0", " ") {
			case "<100 ns":
				folded++
			case "1 ns", "10 ns":
				t.Errorf("%s: the axis goes down to %s", name, b.Text)
			case "duration, log scale":
				ticks++
			}
		}
		if want := map[string]int{"short": 2, "long": 0}[name]; folded != want || ticks != 2 {
			t.Errorf("%s: %d buckets are called <100 ns, want %d; %d axes have titles, want 2", name, folded, want, ticks)
		}
	}
}

// checkPhaseBars: the bars of the outermost phases and of what is in none sum to
// the windows, unless some are left out.
func checkPhaseBars(t *testing.T, name string, s *summary.Summary, bars plot.Bars) {
	t.Helper()
	want, got := int64(0), int64(0)
	for _, d := range s.Devices {
		want += d.WindowNS
	}
	for _, r := range bars.Rows {
		if !strings.HasPrefix(r.Label, "· ") {
			got += plot.SumParts(r.Parts)
		}
	}
	want /= int64(max(1, len(s.Devices)))
	if len(bars.Rows) < mostPhaseBars && got != want {
		t.Errorf("%s: the bars of phases sum to %d, the windows to %d", name, got, want)
	}
}
