package timeline

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// slowingKernels judges whether identical kernels slow down over time. One kernel may slow down
// because its input grows, so most of the time must be in kernels that slow down.
func (c *Evaluator) slowingKernels() []tree.Reading {
	limits := c.Limits[rule.SlowingKernels]
	var sum summary.Drift
	var where []finding.Place
	for _, d := range c.Devices {
		if d.Drift == nil || float64(d.Drift.SlowerNS) < limits.Margin*float64(d.Drift.NS) ||
			d.Drift.NS <= d.Drift.ExpectedNS {
			continue
		}
		sum.Kernels += d.Drift.Kernels
		sum.NS, sum.ExpectedNS = sum.NS+d.Drift.NS, sum.ExpectedNS+d.Drift.ExpectedNS
		sum.SlowerNS, sum.SteadyNS = sum.SlowerNS+d.Drift.SlowerNS, sum.SteadyNS+d.Drift.SteadyNS
		where = append(where, finding.PlaceOf(d.Input, d.Rank, d.Device))
	}
	const (
		fewest = 3   // kernels; a smaller number may all have growing inputs
		steady = 0.9 // part of the time; noise does not make so many kernels slower from third to third
	)
	over := sum.NS - sum.ExpectedNS
	if sum.Kernels < fewest || sum.ExpectedNS <= 0 {
		return nil
	}
	steadily := float64(sum.SteadyNS) >= steady*float64(sum.NS)
	if steadily {
		limits.Warn /= 2
	}
	f, limit, ok := rule.Measured(limits, over, sum.ExpectedNS)
	if !ok {
		return nil
	}
	what := fmt.Sprintf("Identical kernels slow down: +%s (%s)", unit.Share(over, sum.ExpectedNS),
		unit.DurationOf(over, sum.ExpectedNS))
	f.Title = what + rule.Over(limit)
	f.Evidence = []string{
		fmt.Sprintf("%s with the same grid took %s in the last two thirds of the window, and %s at the speed of the first third", label.Plural(sum.Kernels, "kernel"), unit.Duration(sum.NS), unit.Duration(sum.ExpectedNS)),
		fmt.Sprintf("kernels with %s of this time are at least %s slower in the last third",
			unit.Share(sum.SlowerNS, sum.NS), unit.Percent(summary.DriftShare)),
	}
	if steadily {
		f.Evidence = append(f.Evidence, fmt.Sprintf("kernels with %s of this time are slower in each third of the window than in the one before",
			unit.Share(sum.SteadyNS, sum.NS)))
	}
	f.Evidence = append(f.Evidence, c.monitoredClocks(where)...)
	f.Where = where[:min(len(where), finding.MostPlaces)]
	c.GainOfWindow(&f, over)
	f.Next = []finding.Step{finding.Advise("check-the-clocks"), finding.Advise("check-other-processes")}
	return []tree.Reading{{Finding: f, Reached: true, What: what, Explains: map[string]int64{rule.ComputeBound: over}}}
}

// slowingFirst puts the finding on kernels that slow down before all others if compute or memory is
// the bottleneck: its loss is measured, while kernel types and dominant kernels only say what the
// GPU computed, and tuning a kernel does not restore its speed.
func slowingFirst(list []finding.Finding, v finding.Verdict) {
	if busyBound(v.Bound) != finding.BoundCompute {
		return
	}
	i := slices.IndexFunc(list, func(f finding.Finding) bool {
		return f.Rule == rule.SlowingKernels &&
			f.Level > finding.Info
	})
	if i < 0 {
		return
	}
	f := list[i]
	copy(list[1:i+1], list[:i])
	list[0] = f
}

// monitoredClocks returns what a monitor measured of the clocks of these places: in the first and
// last step, or over the whole capture if it is too short for samples of each step.
func (c *Evaluator) monitoredClocks(where []finding.Place) (out []string) {
	for _, m := range []struct{ metric, what string }{{"gpu.clock", "SM clock"}, {"gpu.power", "power"},
		{"gpu.throttled", "time throttled"}} {
		var whole, first, last *summary.Monitored
		for i := range c.Monitored {
			r := &c.Monitored[i]
			if r.Metric != m.metric || r.Place != "" || r.Mean == nil ||
				!slices.ContainsFunc(where, func(p finding.Place) bool { return p.Input == r.Beside }) {
				continue
			}
			switch {
			case r.Whole() && whole == nil:
				whole = r
			case r.Step == nil:
			case first == nil || *r.Step < *first.Step:
				first = r
			}
			if r.Step != nil && (last == nil || *r.Step > *last.Step) {
				last = r
			}
		}
		switch {
		case first != nil && last != nil && *first.Step < *last.Step:
			out = append(out, fmt.Sprintf("%s by the monitor: mean %s in step %d, %s in step %d", m.what,
				unit.Value(*first.Mean, first.Unit), *first.Step, unit.Value(*last.Mean, last.Unit), *last.Step))
		case whole != nil && whole.Min != nil && whole.Max != nil:
			out = append(out, fmt.Sprintf("%s by the monitor: mean %s, from %s to %s", m.what,
				unit.Value(*whole.Mean, whole.Unit), unit.Value(*whole.Min, whole.Unit), unit.Value(*whole.Max, whole.Unit)))
		}
	}
	return out
}
