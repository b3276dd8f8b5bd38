package logs

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/plot"
	"assay/summary"
)

// The metrics that the pictures of logs show.
const (
	loggedStep  = "step.time"
	loggedPhase = "step.phase"
)

// fewestLogged is the minimum number of steps for a picture.
const fewestLogged = 5

// mostMarkedSteps is how many outliers are listed below the picture.
const mostMarkedSteps = 5

// longestTime is the longest time in ns that a picture shows.
const longestTime = 1 << 60

// longestLogged returns the row of the times of steps with the most time, or nil.
func longestLogged(s *summary.Summary) (best *summary.Series) {
	for i := range s.Series {
		r := &s.Series[i]
		if r.Metric != loggedStep || r.Pooled > 0 || r.Strip == nil || len(r.Strip.Values) < fewestLogged || r.Sum == nil || *r.Max > longestTime || *r.Min < 0 {
			continue
		}
		if best == nil || *r.Sum > *best.Sum {
			best = r
		}
	}
	return best
}

// Steps shows the step time over the steps of a log, with its median and outliers.
func Steps(s *summary.Summary) (plot.Chart, bool) {
	r := longestLogged(s)
	if r == nil || *r.Median <= 0 {
		return plot.Chart{}, false
	}
	st := r.Strip
	from, to := float64(st.X[0]), float64(st.X[len(st.X)-1])
	highest := *r.Median
	line := plot.Curve{Color: plot.ColorWork}
	for i, v := range st.Values {
		line.Points = append(line.Points, [2]float64{float64(st.X[i]), v})
		highest = max(highest, v, highOf(st, i))
	}
	body := plot.Scatter{
		X: plot.Axis{Title: axisOf(st), From: from, To: max(from+1, to), Ticks: stepTicks(st)},
		Y: plot.Axis{Title: "step time", From: 0, To: highest * 1.08, Ticks: timeTicks(highest)},
		Curves: []plot.Curve{line, {Color: plot.ColorInk, Label: "median " + unit.Duration(int64(*r.Median)),
			Points: [][2]float64{{from, *r.Median}, {max(from+1, to), *r.Median}}}},
	}
	marked := 0
	for n, i := range outliers(r) {
		d := plot.Dot{X: float64(st.X[i]), Y: max(st.Values[i], highOf(st, i)), Radius: 5, Color: plot.ColorMore}
		if n < mostMarkedSteps {
			d.Number = fmt.Sprint(n + 1)
			d.Key = fmt.Sprintf("%.1f times the median", d.Y / *r.Median)
			d.Name = fmt.Sprintf("%s: %s", groupText(st, i), unit.Duration(int64(d.Y)))
		}
		body.Dots = append(body.Dots, d)
		marked++
	}
	c := plot.Chart{Title: "Step time", Subtitle: "logged by " + label.Clip(label.Clean(r.Producer), 40), Body: body,
		Legend: []plot.Swatch{{Color: plot.ColorWork, Text: "step time"}}}
	if marked > 0 {
		c.Legend = append(c.Legend, plot.Swatch{Color: plot.ColorMore, Text: "over 1.5 times the median"})
	}
	if st.High != nil {
		c.Caption = fmt.Sprintf("The line has the medians of %d groups of %s; dots are the longest step of a group.", len(st.X), label.Plural(r.N, "step"))
	}
	c.Alt = fmt.Sprintf("Step time of %s, median %s", label.Plural(r.N, "step"), unit.Duration(int64(*r.Median)))
	return c, true
}

// highOf returns the largest value of a group.
func highOf(st *summary.SeriesStrip, i int) float64 {
	if st.High != nil {
		return st.High[i]
	}
	return st.Values[i]
}

// outliers returns the indices of values that are far above the median, the largest first.
func outliers(r *summary.Series) (out []int) {
	limit := 1.5 * *r.Median
	if r.MAD != nil {
		limit = max(limit, *r.Median+4*1.4826**r.MAD)
	}
	for i := range r.Strip.Values {
		if highOf(r.Strip, i) >= limit {
			out = append(out, i)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(highOf(r.Strip, b), highOf(r.Strip, a)) })
	return out
}

func axisOf(st *summary.SeriesStrip) string {
	switch st.By {
	case "time":
		return "time"
	case "step":
		return "step"
	}
	return "record"
}

func positionText(st *summary.SeriesStrip, i int) string {
	if st.By == "time" {
		return unit.Duration(st.X[i])
	}
	return unit.Count(st.X[i])
}

// groupText returns the position of a group of steps: "step 12", "steps 12 to 15".
func groupText(st *summary.SeriesStrip, i int) string {
	if st.By == "step" && i+1 < len(st.X) && st.X[i+1] > st.X[i]+1 && st.High != nil {
		return fmt.Sprintf("steps %s to %s", positionText(st, i), unit.Count(st.X[i+1]-1))
	}
	return axisOf(st) + " " + positionText(st, i)
}

// mostStepTicks is the approximate number of ticks on an axis of steps.
const mostStepTicks = 10

// stepTicks returns round positions on the axis of a strip.
func stepTicks(st *summary.SeriesStrip) []plot.Tick {
	from, to := slices.Min(st.X), slices.Max(st.X)
	if st.By == "time" {
		return plot.TimeTicks(from, to, mostStepTicks)
	}
	return plot.CountTicks(from, to, mostStepTicks)
}

// barTicks returns round positions of a strip that is drawn as bars. The steps of a group are side by side
// within its bar. If step numbers decrease, some bars are labelled with their first step.
func barTicks(st *summary.SeriesStrip) (ticks []plot.Tick) {
	if !slices.IsSorted(st.X) {
		for i := 0; i < len(st.X); i += max(1, len(st.X)/mostStepTicks) {
			ticks = append(ticks, plot.Tick{At: float64(i), Text: positionText(st, i)})
		}
		return ticks
	}
	for _, t := range stepTicks(st) {
		at := sort.Search(len(st.X), func(k int) bool { return float64(st.X[k]) > t.At }) - 1
		if st.High != nil && at+1 < len(st.X) {
			first, next := float64(st.X[at]), float64(st.X[at+1])
			ticks = append(ticks, plot.Tick{At: float64(at) - 0.5 + (t.At-first+0.5)/(next-first), Text: t.Text})
		} else if float64(st.X[at]) == t.At {
			ticks = append(ticks, plot.Tick{At: float64(at), Text: t.Text})
		}
	}
	return ticks
}

// timeTicks returns about five round times from 0.
func timeTicks(highest float64) (ticks []plot.Tick) {
	step := math.Pow(10, math.Floor(math.Log10(highest/5)))
	for _, m := range []float64{1, 2, 5, 10} {
		if highest/(step*m) <= 6 {
			step *= m
			break
		}
	}
	for v := 0.0; v <= highest*1.08; v += step {
		text := "0"
		if v > 0 {
			text = unit.Duration(int64(math.Round(v)))
		}
		ticks = append(ticks, plot.Tick{At: v, Text: text})
	}
	return ticks
}
