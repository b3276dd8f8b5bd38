package timeline

import (
	"fmt"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view"
)

// A profilerCost is the part of the idle time that the profiler itself may cause: it makes each operator and
// call slower, and so the launches later.
type profilerCost struct {
	least, most int64 // ns
	why         string
}

// costOfProfiler returns what the profiler may cost of the judged windows, at most the idle time in which the
// CPU was between launches. It is 0 if the judged part is not known in steps.
func costOfProfiler(c *Evaluator) profilerCost {
	events, between := int64(0), int64(0)
	if c.Judged != c.Total {
		return profilerCost{}
	}
	for _, l := range c.Launches {
		events += l.HostEvents
		next := 0 // the steps of a device are in the order of the row
		for i, st := range c.Steps {
			if st.Input != l.Input || st.Rank != l.Rank || st.Device != l.Device || next == len(l.HostEventsPerStep) {
				continue
			}
			if c.Placed && c.states[i] == StepWarmUp {
				events -= l.HostEventsPerStep[next]
			}
			next++
		}
	}
	for _, r := range c.Idle {
		if view.Launching(r) {
			between += r.NS
		}
	}
	if events <= 0 {
		return profilerCost{}
	}
	if cost, ok := measuredCost(c, between); ok {
		return cost
	}
	cost := view.CostOfEvents(events, between, c.Total.Window())
	return profilerCost{cost.Least, cost.Most,
		fmt.Sprintf("%s on the launching threads; PyTorch's profiler makes each %s to %s slower",
			label.Plural(events, "recorded operator or call"), unit.Duration(summary.ProfilerEventNS), unit.Duration(summary.ProfilerEventMostNS))}
}

// measuredCost returns what the profiler costs by the step times that a log of the same run has. A log whose
// steps are shorter than the GPU work of one step is of another run.
func measuredCost(c *Evaluator, between int64) (profilerCost, bool) {
	if len(c.groups) == 0 || c.logged == 0 {
		return profilerCost{}, false
	}
	g := c.groups[0]
	busy := stat.MedianBy(g.steps, func(i int) int64 { return c.Steps[i].Activity.Busy() })
	if g.MedianNS == 0 || c.logged < busy || len(g.steps) == 0 {
		return profilerCost{}, false
	}
	share := float64(max(0, g.MedianNS-c.logged)) / float64(g.MedianNS)
	ns := min(int64(share*float64(c.Total.Window())), between)
	return profilerCost{ns, ns, fmt.Sprintf("the median step is %s in this capture and %s in the log", unit.Duration(g.MedianNS),
		unit.Duration(c.logged))}, true
}

// hostBoundWithout reports whether idle time is over a limit also if the CPU launched all work earlier by ns.
func hostBoundWithout(c *Evaluator, ns int64) bool {
	short := int64(0)
	for _, r := range c.Idle {
		if view.Launching(r) {
			short += r.ShortGapsNS
		}
	}
	for id, of := range map[string]int64{rule.GPUIdle: c.Total.Idle(), rule.LaunchBound: short} {
		if float64(of-ns) >= c.Limits[id].Warn*float64(max(1, c.Total.Window()-ns)) {
			return true
		}
	}
	return false
}

// profilersOwn judges whether the run is host-bound only because it is profiled.
func profilersOwn(c *Evaluator, v finding.Verdict) []tree.Reading {
	if v.Bound != finding.BoundHost || v.Rule != rule.GPUIdle && v.Rule != rule.LaunchBound {
		return nil
	}
	cost := costOfProfiler(c)
	if cost.most == 0 || hostBoundWithout(c, cost.most) {
		return nil
	}
	idle := c.Total.Idle()
	f := finding.Finding{Rule: rule.ProfilerCost, Level: finding.Warn, Value: float64(cost.least) / float64(max(1, idle)),
		NumeratorNS: cost.least, DenominatorNS: idle}
	f.Title = fmt.Sprintf("Profiler's cost: %s or more of the idle time (%s)", unit.Share(cost.least, idle),
		c.PerGPU(cost.least, idle))
	if c.costDecides = !hostBoundWithout(c, cost.least); c.costDecides {
		f.Title += "; without it the GPU may be busy"
	}
	f.Evidence = []string{cost.why}
	f.Next = []finding.Step{finding.Advise("compare-without-profiler"), finding.Advise("record-less-per-operator")}
	return []tree.Reading{{Finding: f, Reached: true, First: f.Next}}
}

// withoutProfiler returns the verdict on a run in which the profiler may cause the idle time: none if its least
// cost is enough to explain it, and else the same one with a doubt. The idle time is no reason to act then.
func withoutProfiler(c *Evaluator, v finding.Verdict, list []finding.Finding) finding.Verdict {
	for _, f := range list {
		if f.Rule != rule.ProfilerCost {
			continue
		}
		if most := costOfProfiler(c).most; !c.costDecides {
			v.Doubt = &finding.Doubt{Code: f.Rule, OfCauses: true, Reason: fmt.Sprintf(
				"The profiler's own cost may be up to %s of the idle time (%s), so the run may be host-bound only while it is profiled",
				unit.Share(most, f.DenominatorNS), c.PerGPU(most, f.DenominatorNS))}
			return v
		}
		for i := range list {
			if list[i].Rule == v.Rule {
				list[i].Level = finding.Info
			}
		}
		for i := range c.groups {
			if c.groups[i].Bound == finding.BoundHost {
				c.groups[i].Bound, c.groups[i].Share = "", 0
			}
		}
		return finding.DecidedBy(finding.BoundUnknown, f)
	}
	return v
}

// LoggedStep returns the median time in ns of the steps that logs have, or 0 if they have too few for one.
func LoggedStep(s *summary.Summary) int64 {
	const fewest = 5
	var list []int64
	for i := range s.Steps {
		if st := &s.Steps[i]; st.Source == summary.SourceLog {
			list = append(list, st.WallNS)
		}
	}
	if len(list) < fewest {
		return 0
	}
	return stat.Median(list)
}
