package compare

import (
	"fmt"
	"math"

	"golang.org/x/perf/benchmath"

	"assay/summary"
)

// enough is the recommended minimum number of runs per side.
const enough = 4

// confidence is the confidence of the intervals of estimates.
const confidence = 0.95

// estimates compares repeated runs statistically, if there are several. One observation is the
// value of one run, a mean over its steps or windows. Steps are not observations, because steps of
// one run are more similar than those of different runs.
func (d *differ) estimates(base, new []Run) []Estimate {
	if d.c.Per == PerNone || len(base) < 2 && len(new) < 2 {
		return nil
	}
	whole := d.c.Per
	figures := []struct {
		name string
		of   func(*facts) float64
	}{
		{whole, func(f *facts) float64 { return f.mean(summary.Activity.Window) }},
		{BudgetCompute, func(f *facts) float64 { return f.mean(summary.Activity.Compute) }},
		{BudgetComm, func(f *facts) float64 { return f.mean(summary.Activity.ExposedComm) }},
		{BudgetCopies, func(f *facts) float64 { return f.mean(summary.Activity.ExposedCopy) }},
		{BudgetIdle, func(f *facts) float64 { return f.mean(summary.Activity.Idle) }},
		{"total kernel time", (*facts).kernelWork},
	}
	b, n := d.each(base), d.each(new)
	if len(b) == 0 || len(n) == 0 {
		return nil
	}
	var out []Estimate
	for _, f := range figures {
		out = append(out, estimate(f.name, values(b, f.of), values(n, f.of)))
	}
	return out
}

// each gathers the runs one by one, except those without a timeline.
func (d *differ) each(runs []Run) (out []*facts) {
	for _, r := range runs {
		f := gather([]Run{r})
		if f.use(d.c.Per); len(f.walls) > 0 {
			out = append(out, f)
		}
	}
	return out
}

func values(list []*facts, of func(*facts) float64) (out []float64) {
	for _, f := range list {
		out = append(out, of(f))
	}
	return out
}

func (f *facts) mean(of func(summary.Activity) int64) float64 {
	return float64(of(f.cells)) / float64(f.n)
}

func (f *facts) kernelWork() float64 {
	ns := int64(0)
	for _, k := range f.kernels {
		ns += k.ns
	}
	return float64(ns) / float64(f.n)
}

// estimate compares the values of repeated runs without assuming their distribution.
func estimate(name string, base, new []float64) Estimate {
	th := benchmath.DefaultThresholds
	b, n := benchmath.NewSample(base, &th), benchmath.NewSample(new, &th)
	cmp := benchmath.AssumeNothing.Compare(b, n)
	e := Estimate{Name: name, Base: interval(b), New: interval(n), P: cmp.P, Alpha: cmp.Alpha, Confidence: confidence}
	// With fewer runs, even values that do not overlap are not significant.
	if n := min(len(base), len(new)); n < enough && len(cmp.Warnings) > 0 {
		e.Warnings = append(e.Warnings, fmt.Sprintf("%d and %d runs are too few for a significant difference: want %d or more on each side", len(base), len(new), enough))
	}
	return e
}

// interval returns the median of a sample, with its bounds if there are enough runs.
func interval(s *benchmath.Sample) Interval {
	sum := benchmath.AssumeNothing.Summary(s, confidence)
	i := Interval{Runs: len(s.Values), MedianNS: int64(math.Round(sum.Center))}
	if !math.IsInf(sum.Lo, 0) && !math.IsInf(sum.Hi, 0) {
		low, high := int64(math.Round(sum.Lo)), int64(math.Round(sum.Hi))
		i.LowNS, i.HighNS = &low, &high
	}
	return i
}
