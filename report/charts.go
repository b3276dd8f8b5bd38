package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/compare"
	"assay/judge"
	"assay/summary"
	"assay/unit"
)

// The limits of pictures. What is over them is named in the caption.
const (
	allBars   = 16 // devices, all of which get a bar
	mostBars  = 15 // devices that get one if there are more
	mostLanes = 4  // devices with an activity panel
	mostRanks = 15 // kernels or spans
	mostSteps = 240
	mostMarks = 400 // steps per activity panel
)

// A picture is one of those that a report can have. Its draw returns false if
// the picture would show nothing.
type picture struct {
	name string // of the file, without its suffix
	draw func(*summary.Summary, judge.Result) (Chart, bool)
}

// all returns the pictures of reports. This is the list to add one to.
func all() []picture {
	return []picture{
		{"time-budget", measured(budgetChart)},
		{"activity", measured(activityChart)},
		{"steps", measured(stepChart)},
		{"phases", measured(phaseChart)},
		{"idle", measured(idleChart)},
		{"queue", measured(queueChart)},
		{"top-kernels", measured(kernelChart)},
		{"top-operators", measured(operatorChart)},
		{"top-modules", measured(moduleChart)},
		{"memory", measured(memoryChart)},
		{"durations", measured(durationChart)},
		{"top-spans", measured(spanChart)},
		{"flame", measured(flameChart)},
		{"memory-reserved", measured(reservedChart)},
		{"memory-owners", measured(ownersChart)},
		{"memory-categories", measured(categoriesChart)},
		{"table-kernels", tableChart(summary.OfKernel)},
		{"table-device-work", tableChart(summary.OfDeviceOp)},
		{"table-copies", tableChart(summary.OfCopy)},
		{"table-operators", tableChart(summary.OfOp)},
		{"table-functions", tableChart(summary.OfFunction)},
		{"table-threads", tableChart(summary.OfThread)},
		{"table-calls", tableChart(summary.OfCall)},
		{"table-ranges", tableChart(summary.OfRange)},
		{"table-rows", tableChart(summary.OfRow)},
		{"table-os-calls", tableChart(summary.OfOSCall)},
		{"kernels-peaks", counterChart},
	}
}

// measured is a picture of the summary alone.
func measured(draw func(*summary.Summary) (Chart, bool)) func(*summary.Summary, judge.Result) (Chart, bool) {
	return func(s *summary.Summary, _ judge.Result) (Chart, bool) { return draw(s) }
}

// diffPicture is a picture of two runs.
type diffPicture struct {
	name string
	draw func(*compare.Comparison) (Chart, bool)
}

// allDiff returns the pictures of comparisons. This is the list to add one to.
func allDiff() []diffPicture {
	return []diffPicture{
		{"diff-budget", diffBudget},
		{"diff-waterfall", diffWaterfall},
		{"diff-steps", diffSteps},
		{"diff-kernels", diffKernels},
		{"diff-idle", diffIdle},
	}
}

// ChartFiles returns the names of all picture files that any report can have.
// The caller may remove those that the report at hand does not have: they are of
// an older report.
func ChartFiles() (files []string) {
	for _, p := range all() {
		files = append(files, Chart{Name: p.name}.File())
	}
	return files
}

// Charts returns the pictures of a summary and its judgment that show anything,
// in the order of their list.
func Charts(s *summary.Summary, r judge.Result) (out []Chart) {
	for _, p := range all() {
		if c, ok := p.draw(s, r); ok {
			c.Name = p.name
			out = append(out, c)
		}
	}
	return out
}

// DiffChartFiles returns the names of all picture files of comparisons.
func DiffChartFiles() (files []string) {
	for _, p := range allDiff() {
		files = append(files, Chart{Name: p.name}.File())
	}
	return files
}

// DiffCharts returns the pictures of a comparison that show anything. One
// without times has none.
func DiffCharts(c *compare.Comparison) (out []Chart) {
	if c.Per == compare.PerNone || c.Budget.BaseNS+c.Budget.NewNS == 0 {
		return nil
	}
	for _, p := range allDiff() {
		if chart, ok := p.draw(c); ok {
			chart.Name = p.name
			out = append(out, chart)
		}
	}
	return out
}

// budgetParts cuts a window into parts that sum to it.
func budgetParts(a summary.Activity) []Part {
	return []Part{
		{colorCompute, a.Compute()}, {colorComm, a.ExposedComm()}, {colorCopy, a.ExposedCopy()}, {colorIdle, a.Idle()},
	}
}

func budgetNames() []string {
	return []string{"compute", "exposed communication", "exposed copies", "idle"}
}

// budgetLegend names the parts with their times in a.
func budgetLegend(a summary.Activity) []Swatch {
	var legend []Swatch
	for i, p := range budgetParts(a) {
		legend = append(legend, Swatch{p.Color, fmt.Sprintf("%s %s (%s)", budgetNames()[i], unit.Duration(p.NS), unit.Share(p.NS, a.Window()))})
	}
	return legend
}

func budgetChart(s *summary.Summary) (Chart, bool) {
	var total summary.Activity
	for _, d := range s.Devices {
		total = total.Plus(d.Activity)
	}
	if total.Window() == 0 {
		return Chart{}, false
	}
	names := deviceLabels(s)
	c := Chart{Title: "Where the GPU time went", Legend: budgetLegend(total)}
	c.Subtitle = "share of the window of " + unit.Duration(total.Window())
	if n := len(s.Devices); n > 1 {
		c.Subtitle = fmt.Sprintf("share of each device's window; the windows of the %d devices sum to %s", n, unit.Duration(total.Window()))
	}
	if product := deviceNames(s); product != "" {
		c.Subtitle += "; " + product
	}
	shown := worstDevices(s, len(s.Devices))
	if len(shown) > allBars {
		shown = worstDevices(s, mostBars)
		c.Caption = fmt.Sprintf("The %d devices with the largest share of idle time; %s. The legend sums all.",
			len(shown), plural(int64(len(s.Devices)-len(shown)), "more device"))
	}
	c.Caption = joinSentences(c.Caption, inputCaption(s, shown))
	var bars Bars
	for _, i := range shown {
		bars.Rows = append(bars.Rows, BarRow{Label: names[i], Parts: budgetParts(s.Devices[i].Activity), Names: []string{"compute", "comm", "copies", "idle"}})
	}
	c.Body = bars
	var alt []string
	for _, sw := range c.Legend {
		alt = append(alt, sw.Text)
	}
	c.Alt = "Time budget: " + strings.Join(alt, ", ")
	return c, true
}

// classLegend explains the colours of the classes, in order.
func classLegend(classes ...string) []Swatch {
	words := map[string]string{"compute": "compute", "comm": "communication", "copy": "copies", "memset": "memsets"}
	var legend []Swatch
	for _, class := range classes {
		legend = append(legend, Swatch{classColor(class), words[class]})
	}
	return legend
}

func kernelChart(s *summary.Summary) (Chart, bool) {
	kernels := sumKernels(s)
	r := Ranking{Form: kernelForm}
	for _, k := range kernels {
		r.Total = summary.Plus(r.Total, k.total)
	}
	if r.Total == 0 {
		return Chart{}, false
	}
	shown, present := int64(0), map[string]bool{}
	for _, k := range kernels[:min(mostRanks, len(kernels))] {
		if k.total == 0 {
			break
		}
		class := k.class
		if class != "comm" {
			class = "compute"
		}
		r.Rows = append(r.Rows, RankRow{k.name, classColor(class), k.total})
		shown = summary.Plus(shown, k.total)
		present[class] = true
	}
	c := Chart{
		Title: "Kernels with the most GPU time",
		Subtitle: fmt.Sprintf("total duration and share of kernel time: %s in %s of %s", unit.Duration(r.Total),
			plural(countOf(kernels), "run"), plural(int64(len(kernels)), "kernel")),
		Body: r,
	}
	for _, class := range []string{"compute", "comm"} {
		if present[class] {
			c.Legend = append(c.Legend, classLegend(class)...)
		}
	}
	if rest := len(kernels) - len(r.Rows); rest > 0 {
		c.Caption = fmt.Sprintf("%s (%s of kernel time).", plural(int64(rest), "more kernel"), unit.Share(r.Total-shown, r.Total))
	}
	c.Alt = fmt.Sprintf("Bars of the %d kernels with the most time; the first has %s of it", len(r.Rows), unit.Share(r.Rows[0].NS, r.Total))
	return c, true
}

func countOf(kernels []kernelSum) (n int64) {
	for _, k := range kernels {
		n = summary.Plus(n, k.count)
	}
	return n
}

func activityChart(s *summary.Summary) (Chart, bool) {
	names := deviceLabels(s)
	panels := make([]LanePanel, len(s.Devices))
	var drawable []int
	for i, d := range s.Devices {
		if panels[i] = lanePanel(s, d, names[i]); len(panels[i].Lanes) > 0 {
			drawable = append(drawable, i)
		}
	}
	if len(drawable) == 0 {
		return Chart{}, false
	}
	shown := worstOf(s, drawable, mostLanes)
	var lanes Lanes
	for _, i := range shown {
		lanes.Panels = append(lanes.Panels, panels[i])
	}
	c := Chart{
		Title:    "GPU activity over time",
		Subtitle: "height: share of each bin in which the class ran; time from the start of the device's window",
		Body:     lanes,
	}
	if rest := len(drawable) - len(shown); rest > 0 {
		c.Caption = fmt.Sprintf("The %d devices with the largest share of idle time; %s.", len(shown), plural(int64(rest), "more device"))
	}
	c.Caption = joinSentences(c.Caption, inputCaption(s, shown))
	c.Alt = fmt.Sprintf("Activity over time of %s", plural(int64(len(lanes.Panels)), "device"))
	return c, true
}

// joinSentences joins two texts of which either may be empty.
func joinSentences(a, b string) string { return strings.TrimSpace(a + " " + b) }

// lanePanel has no lanes if the device's strip has nothing to show.
func lanePanel(s *summary.Summary, d summary.Device, name string) LanePanel {
	p := LanePanel{Title: name, WindowNS: d.WindowNS}
	if product := clean(d.Name); product != "" {
		p.Title += ", " + product
	}
	p.Title += ", window " + unit.Duration(d.WindowNS)
	if d.Strip == nil || d.Strip.BinNS <= 0 || d.WindowNS <= 0 {
		return p
	}
	p.BinNS = d.Strip.BinNS
	p.Title += ", bins of " + unit.Duration(p.BinNS)
	for _, class := range []string{"compute", "comm", "copy", "memset"} {
		if bins := d.Strip.NS[class]; slices.ContainsFunc(bins, func(ns int64) bool { return ns > 0 }) {
			p.Lanes = append(p.Lanes, Lane{class, classColor(class), bins})
		}
	}
	end, last := int64(-1), false
	for _, st := range s.Steps {
		if st.Input != d.Input || st.Rank != d.Rank || st.Device != d.Device || len(p.Marks) == mostMarks {
			continue
		}
		from := st.StartNS - d.StartNS
		end, last = from+st.WallNS, true
		if from < 0 && end > 0 {
			from = 0 // the host began the step before the device had work
		}
		p.Marks = append(p.Marks, Mark{from, stepLabel(st.Name, st.Kind, st.Number)})
	}
	if last {
		p.Marks = append(p.Marks, Mark{end, ""})
	}
	return p
}

// stepLabel shortens "ProfilerStep#12" to "step 12", and the names of batches to
// "decode 12".
func stepLabel(name, kind string, number int64) string {
	if kind != "" {
		return fmt.Sprintf("%s %d", clip(clean(kind), 14), number)
	}
	digits := strconv.FormatInt(number, 10)
	switch {
	case strings.HasSuffix(name, "#"+digits), !strings.Contains(name, digits) && len(name) > 12:
		return "step " + digits
	case !strings.Contains(name, digits):
		return clip(clean(name), 14) + " " + digits // all have one name
	}
	return clip(clean(name), 20)
}

func stepChart(s *summary.Summary) (Chart, bool) {
	steps := sumSteps(s)
	var total summary.Activity
	var windows int64
	for _, st := range steps {
		total = total.Plus(st.a)
		windows += st.windows
	}
	if len(steps) < 2 || total.Window() == 0 {
		return Chart{}, false
	}
	c := Chart{Title: "Where the time of each step went", Legend: budgetLegend(total)}
	c.Subtitle = "wall time of the step"
	if windows > int64(len(steps)) {
		c.Subtitle = "wall time of the step, mean over its devices; the legend sums all devices"
	}
	var columns Columns
	for _, st := range steps[:min(mostSteps, len(steps))] {
		columns.Bars = append(columns.Bars, ColumnBar{stepLabel(st.name, st.kind, st.number), budgetParts(st.a), st.windows})
	}
	if rest := len(steps) - len(columns.Bars); rest > 0 {
		c.Caption = fmt.Sprintf("The first %d steps; %s.", len(columns.Bars), plural(int64(rest), "more step"))
	}
	c.Body = columns
	c.Alt = fmt.Sprintf("Stacked bars of the time budgets of %s", plural(int64(len(columns.Bars)), "step"))
	return c, true
}

func durationChart(s *summary.Summary) (Chart, bool) {
	var kernels, gaps summary.Histogram
	for _, d := range s.Devices {
		kernels = kernels.Plus(d.Durations)
		gaps = gaps.Plus(d.Gaps)
	}
	var h Histograms
	if n := kernels.Count(); n > 0 {
		title := fmt.Sprintf("Durations of %s, %s in all", plural(n, "kernel"), unit.Duration(kernels.TotalNS()))
		h.Panels = append(h.Panels, HistogramPanel{title, bins(kernels.Buckets)})
	}
	if n := gaps.Count(); n > 0 {
		title := fmt.Sprintf("Lengths of %s in which nothing ran, %s in all", plural(n, "gap"), unit.Duration(gaps.TotalNS()))
		h.Panels = append(h.Panels, HistogramPanel{title, bins(gaps.Buckets)})
	}
	if len(h.Panels) == 0 {
		return Chart{}, false
	}
	return Chart{
		Title:    "How long kernels and gaps are",
		Subtitle: "share that each bucket of durations has, all devices; what is shorter than 100 ns is one bucket, for clocks round it",
		Legend:   []Swatch{{colorCount, "share of the count"}, {colorTime, "share of the time"}},
		Body:     h,
		Alt:      "Distributions of the durations of kernels and gaps, by count and by time",
	}, true
}

func spanChart(s *summary.Summary) (Chart, bool) {
	if len(s.Devices) > 0 {
		return Chart{}, false
	}
	spans, self := sumSpans(s)
	if self == 0 {
		return Chart{}, false
	}
	r := Ranking{Total: self, Form: plainForm}
	shown := int64(0)
	for _, sp := range spans[:min(mostRanks, len(spans))] {
		if sp.self == 0 {
			break
		}
		r.Rows = append(r.Rows, RankRow{sp.name, colorHost, sp.self})
		shown = summary.Plus(shown, sp.self)
	}
	c := Chart{
		Title:    "Host spans with the most self time",
		Subtitle: fmt.Sprintf("self time and its share of %s, the self time of all spans on all threads", unit.Duration(self)),
		Body:     r,
		Alt:      fmt.Sprintf("Bars of the %d host spans with the most self time; the first has %s of it", len(r.Rows), unit.Share(r.Rows[0].NS, self)),
	}
	if rest := len(spans) - len(r.Rows); rest > 0 {
		c.Caption = fmt.Sprintf("%s (%s of self time).", plural(int64(rest), "more host span"), unit.Share(self-shown, self))
	}
	return c, true
}

// foldShort joins the buckets under [Shortest] to one that starts at 0.
func foldShort(buckets []summary.Bucket) []summary.Bucket {
	var folded []summary.Bucket
	for _, b := range buckets {
		switch {
		case b.FromNS >= Shortest:
			folded = append(folded, b)
		case len(folded) == 0:
			folded = append(folded, summary.Bucket{Count: b.Count, TotalNS: b.TotalNS})
		default:
			folded[0].Count = summary.Plus(folded[0].Count, b.Count)
			folded[0].TotalNS = summary.Plus(folded[0].TotalNS, b.TotalNS)
		}
	}
	return folded
}

// upperEdge returns the end of the bucket that starts at ns. The last has
// none and is drawn as wide as those before it.
func upperEdge(ns int64) int64 {
	if ns < Shortest {
		return Shortest
	}
	edges := summary.Edges()
	i, _ := slices.BinarySearch(edges, ns)
	if i+1 < len(edges) {
		return edges[i+1]
	}
	return ns * 10 / 7
}

// bins returns the bins of a histogram.
func bins(buckets []summary.Bucket) (out []Bin) {
	for _, b := range foldShort(buckets) {
		out = append(out, Bin{b.FromNS, upperEdge(b.FromNS), b.Count, b.TotalNS})
	}
	return out
}
