package report

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

	"assay/judge"
	"assay/summary"
)

var written = flag.String("pictures", "", "write the pictures of all fixtures to this `directory`")

// TestPictures paints every chart of every fixture. A picture has the promised
// width, no text of it is clipped, and no two texts overlap.
func TestPictures(t *testing.T) {
	for name, s := range fixtures() {
		for _, c := range Charts(s, judge.Result{}) {
			painted, err := c.paint()
			if err != nil {
				t.Fatalf("%s: %s: %v", name, c.Name, err)
			}
			if size := painted.image().Bounds().Size(); size.X != ChartWidth || size.Y != int(painted.h) {
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

func checkTexts(t *testing.T, name string, c *canvas) {
	t.Helper()
	for i, a := range c.boxes {
		if a.x0 < 0 || a.y0 < 0 || a.x1 > ChartWidth || a.y1 > c.h {
			t.Errorf("%s: %q is clipped: %+v of %d x %g", name, a.text, a, ChartWidth, c.h)
		}
		for _, b := range c.boxes[:i] {
			if a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1 {
				t.Errorf("%s: %q overlaps %q", name, a.text, b.text)
			}
		}
	}
	if len(c.boxes) < 2 {
		t.Errorf("%s: the picture has only %d texts", name, len(c.boxes))
	}
}

// TestPNG decodes a picture and looks for its data: the colours of the parts
// in the proportions of the budget.
func TestPNG(t *testing.T) {
	var s summary.Summary
	s.Devices = []summary.Device{{WindowNS: 100, Activity: summary.Activity{comp: 40, comm: 30, copies: 20, 0: 10}}}
	c := Charts(&s, judge.Result{})[0]
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
	length := map[Color]int{}
	y := img.Bounds().Dy() - 18 - 34 - int(barPitch-barHeight)/2 - 3
	for x := range img.Bounds().Dx() {
		r, g, b, _ := img.At(x, y).RGBA()
		length[Color(r>>8<<16|g>>8<<8|b>>8)]++
	}
	total := length[colorCompute] + length[colorComm] + length[colorCopy] + length[colorIdle]
	if total < 400 {
		t.Fatalf("the bar has %d pixels: %v", total, length)
	}
	for color, want := range map[Color]float64{colorCompute: 0.4, colorComm: 0.3, colorCopy: 0.2, colorIdle: 0.1} {
		if got := float64(length[color]) / float64(total); got < want-0.01 || got > want+0.01 {
			t.Errorf("colour %06x is %.3f of the bar, want %.2f", color, got, want)
		}
	}
}

// TestChartData holds the numbers drawn to those of the summary.
func TestChartData(t *testing.T) {
	for name, s := range fixtures() {
		for _, c := range Charts(s, judge.Result{}) {
			if !slices.Contains(ChartFiles(), c.File()) {
				t.Errorf("%s: %s is not among the files that a report can have", name, c.File())
			}
			if c.Title == "" || c.Alt == "" || c.Name == "" {
				t.Errorf("%s: %+v has no title, name or text in its place", name, c)
			}
			switch body := c.Body.(type) {
			case Bars:
				if body.Compare {
					checkPhaseBars(t, name, s, body)
					break
				}
				checkBars(t, name, s, body)
			case Titled:
				checkIdleBars(t, name, s, body[0].Body.(Bars))
				checkRanking(t, name, c, body[1].Body.(Ranking))
			case Ranking:
				checkRanking(t, name, c, body)
			case Lanes:
				checkLanes(t, name, body)
			case Columns:
				for _, b := range body.Bars {
					if b.Of < 1 {
						t.Errorf("%s: bar %q is of %d windows", name, b.Label, b.Of)
					}
				}
			case Timeline:
				for _, p := range body.Panels {
					if p.SpanNS <= 0 || len(p.Tracks) == 0 || len(body.Panels) > mostLanes {
						t.Errorf("%s: %s: panel %+v of %d", name, c.Name, p, len(body.Panels))
					}
				}
			case Histograms:
				for _, p := range body.Panels {
					if !slices.ContainsFunc(p.Bins, func(b Bin) bool { return b.Count > 0 && b.ToNS > b.FromNS }) {
						t.Errorf("%s: panel %q is empty", name, p.Title)
					}
				}
			}
		}
	}
}

func checkBars(t *testing.T, name string, s *summary.Summary, body Bars) {
	t.Helper()
	label := map[string]int64{}
	for i, l := range deviceLabels(s) {
		label[l] = s.Devices[i].WindowNS
	}
	if len(label) != len(s.Devices) {
		t.Errorf("%s: %d labels for %d devices", name, len(label), len(s.Devices))
	}
	if len(body.Rows) == 0 || len(body.Rows) > allBars {
		t.Errorf("%s: %d bars", name, len(body.Rows))
	}
	for _, r := range body.Rows {
		if window, ok := label[r.Label]; !ok || sumParts(r.Parts) != window {
			t.Errorf("%s: parts of %q sum to %d, window is %d", name, r.Label, sumParts(r.Parts), window)
		}
	}
}

// checkIdleBars holds bars of idle time to that of their devices.
func checkIdleBars(t *testing.T, name string, s *summary.Summary, body Bars) {
	t.Helper()
	idle := map[string]int64{}
	for i, l := range deviceLabels(s) {
		idle[l] = s.Devices[i].Activity.Idle()
	}
	if len(body.Rows) == 0 || len(body.Rows) > allBars {
		t.Errorf("%s: %d bars", name, len(body.Rows))
	}
	for _, r := range body.Rows {
		if sum := sumParts(r.Parts); sum != idle[r.Label] && !strings.HasPrefix(name, "hostile") {
			t.Errorf("%s: parts of %q sum to %d, idle time is %d", name, r.Label, sum, idle[r.Label])
		}
	}
}

func checkRanking(t *testing.T, name string, c Chart, body Ranking) {
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
	if sum > body.Total || sum < body.Total && c.Caption == "" {
		t.Errorf("%s: %s: bars sum to %d of %d, caption %q", name, c.Name, sum, body.Total, c.Caption)
	}
}

func checkLanes(t *testing.T, name string, body Lanes) {
	t.Helper()
	if len(body.Panels) == 0 || len(body.Panels) > mostLanes {
		t.Errorf("%s: %d panels", name, len(body.Panels))
	}
	for _, p := range body.Panels {
		for _, l := range p.Lanes {
			if l.Color != classColor(l.Name) || len(l.NS) == 0 {
				t.Errorf("%s: %s: lane %+v", name, p.Title, l)
			}
		}
	}
}

// TestChartsOfTraining compares the charts with the sums in the comment of
// trainRun.
func TestChartsOfTraining(t *testing.T) {
	var files []string
	for _, c := range Charts(trainRun(), judge.Result{}) {
		files = append(files, c.File())
		switch body := c.Body.(type) {
		case Bars:
			want := []Part{{colorCompute, 600 * ms}, {colorComm, 230 * ms}, {colorCopy, 20 * ms}, {colorIdle, 150 * ms}}
			for i, p := range body.Rows[3].Parts {
				if p != want[i] {
					t.Errorf("part %d of rank 3 is %+v, want %+v", i, p, want[i])
				}
			}
			if got, want := c.Legend[1].Text, "exposed communication 1.88 s (23.5%)"; got != want {
				t.Errorf("the legend says %q, want %q", got, want)
			}
		case Ranking:
			if body.Total != 7480*ms || len(body.Rows) != 5 || body.Rows[1].NS != 2680*ms || body.Rows[1].Color != colorComm {
				t.Errorf("kernels are %+v", body)
			}
		case Columns:
			if len(body.Bars) != 4 || body.Bars[2].Of != 8 || sumParts(body.Bars[2].Parts) != 8*252*ms || body.Bars[2].Label != "step 12" {
				t.Errorf("steps are %+v", body)
			}
		case Lanes:
			marks := body.Panels[0].Marks
			if len(marks) != 5 || marks[1] != (Mark{250 * ms, "step 11"}) || marks[4].NS != 750*ms+253*ms {
				t.Errorf("marks are %+v", marks)
			}
			// Idle time falls with the rank.
			for i, p := range body.Panels {
				if want := "rank " + string(rune('0'+i)) + " "; !strings.HasPrefix(p.Title, want) {
					t.Errorf("panel %d is %q, want one of %q", i, p.Title, want)
				}
			}
			if c.Caption != "The 4 devices with the largest share of idle time; 4 more devices." {
				t.Errorf("the caption is %q", c.Caption)
			}
		}
	}
	want := "time-budget.png activity.png steps.png top-kernels.png durations.png"
	if got := strings.Join(files, " "); got != want {
		t.Errorf("pictures are %s, want %s", got, want)
	}
	for _, c := range Charts(hostRun(), judge.Result{}) {
		if body := c.Body.(Ranking); c.File() != "top-spans.png" || body.Total != 100*ms || body.Rows[0].NS != 60*ms {
			t.Errorf("%s: %+v", c.File(), body)
		}
	}
	if charts := Charts(oneKernel(0), judge.Result{}); len(charts) != 1 || charts[0].Name != "durations" {
		t.Errorf("a run without duration has the charts %+v", charts)
	}
}

// TestManyDevices: of more than 16 devices, those with the largest share of
// idle time are drawn.
func TestManyDevices(t *testing.T) {
	s := manyDevices(64)
	c, _ := budgetChart(s)
	rows := c.Body.(Bars).Rows
	if len(rows) != mostBars || !strings.Contains(c.Caption, "49 more devices") {
		t.Errorf("%d of 64 devices drawn, caption %q", len(rows), c.Caption)
	}
	share := func(a summary.Activity) float64 { return float64(a.Idle()) / float64(max(1, a.Window())) }
	drawn, least := map[string]bool{}, 1.0
	for _, r := range rows {
		drawn[r.Label] = true
		least = min(least, float64(r.Parts[3].NS)/float64(max(1, sumParts(r.Parts))))
	}
	for i, label := range deviceLabels(s) {
		if !drawn[label] && share(s.Devices[i].Activity) > least {
			t.Errorf("%s has %.3f idle time and is not drawn; one with %.3f is", label, share(s.Devices[i].Activity), least)
		}
	}
}

// TestMarks: a step that the host began before the device had work is marked
// at the start of the window; one that ended before is outside.
func TestMarks(t *testing.T) {
	s := oneKernel(100)
	s.Devices[0].StartNS = 1000
	for i, start := range []int64{900, 940, 1050} {
		s.Steps = append(s.Steps, summary.Step{Name: "s", Number: int64(i), StartNS: start, WallNS: 50 + 50*int64(i)})
	}
	want := []Mark{{-100, "s 0"}, {0, "s 1"}, {50, "s 2"}, {200, ""}}
	if got := lanePanel(s, s.Devices[0], "").Marks; !slices.Equal(got, want) {
		t.Errorf("marks are %+v, want %+v", got, want)
	}
}

func TestTimeTicks(t *testing.T) {
	for span := int64(1); span > 0 && span < 1<<61; span = span*3 + 1 {
		ticks := timeTicks(span, 10)
		if len(ticks) > 11 || len(ticks) < 2 || ticks[0] != 0 || ticks[len(ticks)-1] > span {
			t.Errorf("ticks of %d ns are %v", span, ticks)
		}
		if rest := span - ticks[len(ticks)-1]; rest >= ticks[1] {
			t.Errorf("ticks of %d ns end at %d", span, ticks[len(ticks)-1])
		}
	}
	for span, want := range map[int64]string{9: "1 ns", 450 * ms: "50 ms", 60 * sec: "10 s", 36_000 * sec: "1 h", 86_400 * sec: "5 h"} {
		if got := tickText(timeTicks(span, 10)[1]); got != want {
			t.Errorf("the first tick of %d ns is at %s, want %s", span, got, want)
		}
	}
}

// TestChartFiles: every file that is promised is of some report.
func TestChartFiles(t *testing.T) {
	made := map[string]bool{}
	for _, s := range fixtures() {
		for _, c := range Charts(s, judge.Result{}) {
			made[c.File()] = true
		}
	}
	for _, c := range Charts(countedSummary(), judged(countedSummary())) {
		made[c.File()] = true
	}
	for _, file := range ChartFiles() {
		if !made[file] {
			t.Errorf("no fixture has the picture %s", file)
		}
	}
	if len(ChartFiles()) != len(made) {
		t.Errorf("%d files are promised, %d made", len(ChartFiles()), len(made))
	}
}

// TestSameWorst: text, budget table and pictures show the same devices where
// they cannot show all.
func TestSameWorst(t *testing.T) {
	s := trainRun()
	slices.Reverse(s.Devices) // now rank 7, with the least idle time, comes first
	d := Build(s, judged(s))
	at := slices.IndexFunc(d.Charts(), func(c Chart) bool { return c.Name == "activity" })
	if at < 0 {
		t.Fatal("no picture of the activity")
	}
	c := d.Charts()[at]
	out := text(t, d, 80)
	_, budget, _ := strings.Cut(out, "Time budget")
	for _, label := range deviceLabels(s)[4:] {
		if !strings.Contains(budget, label) {
			t.Errorf("%s is not in the text:\n%s", label, out)
		}
		if !slices.ContainsFunc(c.Body.(Lanes).Panels, func(p LanePanel) bool { return strings.HasPrefix(p.Title, label) }) {
			t.Errorf("%s has no panel", label)
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
	if !slices.Contains(summary.Edges(), int64(Shortest)) {
		t.Errorf("%d ns is no edge of a bucket", Shortest)
	}
	for name, list := range map[string][]int64{"short": {3, 200, 40_000}, "long": {200, 40_000}} {
		var h summary.Histogram
		for _, ns := range list {
			h.Add(ns)
		}
		s := &summary.Summary{Devices: []summary.Device{{Durations: h, Gaps: h}}}
		c, _ := durationChart(s)
		painted, err := c.paint()
		if err != nil {
			t.Fatal(err)
		}
		folded, ticks := 0, 0
		for _, b := range painted.boxes {
			switch strings.ReplaceAll(b.text, "\u00a0", " ") {
			case "<100 ns":
				folded++
			case "1 ns", "10 ns":
				t.Errorf("%s: the axis goes down to %s", name, b.text)
			case "duration, log scale":
				ticks++
			}
		}
		if want := map[string]int{"short": 2, "long": 0}[name]; folded != want || ticks != 2 {
			t.Errorf("%s: %d buckets are called <100 ns, want %d; %d axes have titles, want 2", name, folded, want, ticks)
		}
	}
}

// TestColumnsUnderLine: the highest line behind the bars is not below any.
func TestColumnsUnderLine(t *testing.T) {
	for _, longest := range []int64{1, 7, 253 * ms, 999 * ms, 61 * sec, 36_000 * sec} {
		for _, n := range []int{1, 2, 4, 30} {
			col := Columns{}
			for i := range n {
				col.Bars = append(col.Bars, ColumnBar{"s", []Part{{colorCompute, longest / int64(i+1)}}, 1})
			}
			p, err := newPen()
			if err != nil {
				t.Fatal(err)
			}
			c := newCanvas(p, col.height(p))
			col.draw(c, 0)
			// Texts at the left are those of the lines; all others stand on bars.
			highest, label := c.h, c.h
			for _, b := range c.boxes {
				if b.x1 < margin+70 {
					highest = min(highest, b.y0)
				} else {
					label = min(label, b.y0)
				}
			}
			// A label is some 17 pixels above the top that it names.
			if label+17 < highest-6 || highest < 0 {
				t.Errorf("%d bars up to %d ns: a label is at %g, the text of the highest line at %g", n, longest, label, highest)
			}
		}
	}
}
