package history

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"assay/gate"
	"assay/gate/metric"
)

// gatesOn returns gates on metrics, by name.
func gatesOn(t *testing.T, names ...string) (out []gate.Gate) {
	t.Helper()
	for _, name := range names {
		m, sel, err := metric.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, gate.Gate{Text: name, Metric: m, Selector: sel})
	}
	return out
}

// runsOf returns runs with the values of one list for each metric; a negative value is missing.
func runsOf(columns ...[]float64) (runs []Run) {
	for i := range columns[0] {
		r := Run{Name: fmt.Sprintf("night%02d", i), Path: fmt.Sprintf("n/night%02d", i)}
		for _, c := range columns {
			m := gate.Measured{Value: metric.Value{V: c[i]}}
			if c[i] < 0 {
				m.Why = "data-loss"
			}
			r.Values = append(r.Values, m)
		}
		runs = append(runs, r)
	}
	return runs
}

// noisy returns n values around a level, which is multiplied from index at on.
func noisy(r *rand.Rand, n int, level, noise float64, at int, factor float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		if out[i] = level * (1 + noise*r.NormFloat64()); i >= at {
			out[i] *= factor
		}
	}
	return out
}

// TestChangesOfHistories: forty runs with three metrics, two of which change by 3, 5 or 10% at one run
// under noise of 2%. The place is stated as a range that has the run, and both metrics are one change.
func TestChangesOfHistories(t *testing.T) {
	for _, c := range []struct {
		factor float64
		found  int // of 40, at least
	}{{1.03, 20}, {1.05, 36}, {1.10, 39}, {0.90, 39}} {
		r := rand.New(rand.NewPCG(3, uint64(1000*c.factor)))
		found := 0
		for range 40 {
			at := 8 + r.IntN(24)
			step := noisy(r, 40, 20e6, 0.02, at, c.factor)
			kernels := slices.Clone(step)
			for i := range kernels {
				kernels[i] *= 0.9
			}
			h := Of(runsOf(step, kernels, noisy(r, 40, 0.8, 0.01, 40, 1)), gatesOn(t, "step.median", "kernels.total_per_step", "gpu.busy_share"), nil)
			if len(h.Changes) != 1 {
				continue
			}
			x := h.Changes[0]
			if x.First <= at && at <= x.Last && len(x.Metrics) == 2 && x.Metrics[0].Worse == (c.factor > 1) && h.StableFrom == x.Last {
				found++
			}
		}
		t.Logf("factor %v: found in %d of 40 histories", c.factor, found)
		if found < c.found {
			t.Errorf("factor %v: found in %d of 40 histories, want %d", c.factor, found, c.found)
		}
	}
}

// TestHistoriesWithoutChange: no more false alarms than stated, over all metrics together.
func TestHistoriesWithoutChange(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 8))
	gates := gatesOn(t, "step.median", "kernels.total_per_step", "gpu.busy_share", "comm.exposed_share", "memory.peak", "kernels.count")
	alarms := 0
	for range 200 {
		columns := [][]float64{noisy(r, 40, 2e7, 0.02, 40, 1), noisy(r, 40, 1e7, 0.03, 40, 1), noisy(r, 40, 0.9, 0.01, 40, 1),
			noisy(r, 40, 0.1, 0.2, 40, 1), noisy(r, 40, 7e10, 0.001, 40, 1), noisy(r, 40, 480, 0, 40, 1)}
		if h := Of(runsOf(columns...), gates, nil); len(h.Changes) > 0 {
			alarms++
		}
	}
	if t.Logf("%d of 200", alarms); alarms > 6 {
		t.Errorf("a change in %d of 200 histories without one", alarms)
	}
}

// TestHistoryOf: what is a change, what is none, and the headline.
func TestHistoryOf(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 9))
	level := func(parts ...[2]float64) (out []float64) { // number of runs, and their level
		for _, p := range parts {
			for range int(p[0]) {
				out = append(out, p[1]*(1+0.005*r.NormFloat64()))
			}
		}
		return out
	}
	line := func(n int, from, to float64) (out []float64) {
		for i := range n {
			out = append(out, (from+(to-from)*float64(i)/float64(n-1))*(1+0.0005*r.NormFloat64()))
		}
		return out
	}
	exact := func(n int, v float64) []float64 { return slices.Repeat([]float64{v}, n) }
	for _, c := range []struct {
		name, metric string
		values       []float64
		want         string // part of the headline
	}{
		{"steps of a count", "kernels.count", slices.Concat(exact(15, 480), exact(10, 500)), "from night15 on, kernels.count +4.2% (480 to 500)"},
		{"a share in points", "gpu.busy_share", level([2]float64{15, 0.9}, [2]float64{10, 0.8}), "from night15 on, gpu.busy_share -9."},
		{"under one percent", "step.median", slices.Concat(exact(15, 1e6), exact(15, 1.004e6)), "no change in 1 metric of 30 runs"},
		{"a new level of 0", "copies.bytes", slices.Concat(exact(15, 0), exact(15, 1<<30)), "copies.bytes new (0 B to 1 GiB)"},
		{"the newest run", "step.median", level([2]float64{25, 1e7}, [2]float64{1, 1.4e7}), "step.median of the newest run is at 1"},
		{"the newest two", "step.median", level([2]float64{25, 1e7}, [2]float64{2, 1.4e7}), "step.median of the newest 2 runs is at 1"},
		{"one bad night", "step.median", level([2]float64{15, 1e7}, [2]float64{1, 1.4e7}, [2]float64{15, 1e7}), "no change in 1 metric of 31 runs"},
		{"worse, then better", "step.median", level([2]float64{15, 1e7}, [2]float64{15, 1.2e7}, [2]float64{15, 0.9e7}), "2 changes in 45 runs; from night15 on"},
		{"a drift", "step.median", line(30, 1e7, 1.2e7), "30 runs; step.median drifts by +20."},
		{"a drift that is small", "step.median", line(30, 1e7, 1.005e7), "no change in 1 metric of 30 runs"},
		{"few runs", "step.median", level([2]float64{3, 1e7}, [2]float64{3, 2e7}), "6 runs, and no metric that 8 of them have"},
		{"missing values", "step.median", slices.Concat(exact(3, -1), exact(10, 1e7), exact(2, -1), exact(10, 2e7)), "from night15 on, step.median +100.0%"},
	} {
		h := Of(runsOf(c.values), gatesOn(t, c.metric), nil)
		if !strings.Contains(h.Headline, c.want) {
			t.Errorf("%s: %q, want %q", c.name, h.Headline, c.want)
		}
	}
	c := Change{Metrics: []Move{{Metric: "step.median", Before: 100, After: 92, Change: -0.08}, {Metric: "comm.exposed_share", Change: 0.016, Worse: true, of: metric.Share}}}
	if got := c.main(); got.Metric != "step.median" {
		t.Errorf("the main move of a shorter step is %s, which got worse only because the step is shorter", got.Metric)
	}
	wander := make([]float64, 60)
	for i := range wander {
		wander[i] = 1e7 * (1 + 0.2*float64(i/5%2) + 0.001*r.NormFloat64())
	}
	if h := Of(runsOf(wander), gatesOn(t, "step.median"), nil); len(h.Changes) > 0 || len(h.Newest) > 0 {
		t.Errorf("values that change every fifth run: %s", h.Headline)
	}
}

// TestOrderOfRuns: by time only if all runs state it.
func TestOrderOfRuns(t *testing.T) {
	runs := runsOf([]float64{1, 2, 3, 4, 5, 6, 7, 8, 9})
	at := time.Date(2026, 10, 9, 3, 0, 0, 0, time.UTC)
	for i := range runs {
		when := at.AddDate(0, 0, -i)
		runs[i].Time = &when
	}
	if h := Of(runs, gatesOn(t, "step.count"), nil); h.OrderedBy != ByTime || h.Runs[0].Name != "night08" || *h.Metrics[0].Values[0] != 9 {
		t.Errorf("by %s, %s first", h.OrderedBy, h.Runs[0].Name)
	}
	runs[4].Time = nil
	if h := Of(runs, gatesOn(t, "step.count"), nil); h.OrderedBy != ByName || h.Runs[0].Name != "night00" {
		t.Errorf("by %s, %s first", h.OrderedBy, h.Runs[0].Name)
	}
}
