package judge

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/summary"
	"assay/unit"
)

// causeOfIdle returns the reading of a rule about ns of idle time of all GPUs.
func (c *evaluator) causeOfIdle(rule, what string, ns int64) reading {
	f, limit, ok := measured(c.rules[rule], ns, c.total.Window())
	f.Title = what + c.ofWindow(ns) + over(limit)
	f.gain(ns, c.total.Window(), c.windowWhole())
	return reading{Finding: f, reached: ok, explains: map[string]int64{RuleGPUIdle: ns}}
}

// ifReached returns r if it reached a limit.
func (r reading) ifReached() []reading {
	if !r.reached {
		return nil
	}
	return []reading{r}
}

// owned returns the idle time with a cause that owns accepts, and the places of its
// largest gaps.
func (c *evaluator) owned(owns func(summary.Idle) bool) (ns int64, where []Place) {
	for _, r := range c.Idle {
		if owns(r) {
			ns = summary.Plus(ns, r.NS)
		}
	}
	for _, d := range c.Devices {
		for _, g := range d.LargestGaps {
			if owns(summary.Idle{Owner: g.Owner, State: g.State}) {
				where = append(where, placeOf(d.Input, d.Rank, d.Device).at(g.StartNS, g.NS))
			}
		}
	}
	return ns, longest(where)
}

// untracedGraphs judges the idle time during which CUDA graphs without node trace may
// have run.
func (c *evaluator) untracedGraphs() []reading {
	ns, where := c.owned(func(r summary.Idle) bool { return r.Owner == summary.OwnerOpaque })
	r := c.causeOfIdle(RuleOpaqueGraphs, "Idle or in untraced CUDA graphs: ", ns)
	r.Where = where
	return r.ifReached()
}

// dataLoading judges the idle time in a data loader. A program can name the phase itself.
func (c *evaluator) dataLoading() []reading {
	ns, where := c.owned(func(r summary.Idle) bool { return r.State == summary.StateData })
	r := c.causeOfIdle(RuleDataLoading, "Waiting for data loading: ", max(ns, c.idleIn("data")))
	r.Where, r.Next = where, []Step{advise("load-data-ahead")}
	return r.ifReached()
}

// allocating judges the idle time in calls that allocate or free GPU memory.
func (c *evaluator) allocating() []reading {
	ns, where := c.owned(func(r summary.Idle) bool { return r.State == summary.StateAlloc })
	r := c.causeOfIdle(RuleAllocating, "Waiting for cudaMalloc/cudaFree: ", ns)
	r.Where, r.Next = where, []Step{advise("allocate-less"), advise("expandable-segments")}
	r.Evidence = c.allocationsInSteps()
	return r.ifReached()
}

// launchBound judges the idle time in short gaps between two launches, or between a
// launch and its start on the GPU.
func (c *evaluator) launchBound() []reading {
	ns := int64(0)
	for _, r := range c.Idle {
		if isLaunching(r) {
			ns = summary.Plus(ns, r.ShortGapsNS)
		}
	}
	r := c.causeOfIdle(RuleLaunchBound, fmt.Sprintf("Launch-bound: gaps under %s take ", unit.Duration(summary.ShortGapNS)), ns)
	r.Next = []Step{advise("launch-less"), advise("launch-more-each")}
	r.Evidence = c.launchEvidence()
	return r.ifReached()
}

// isLaunching reports whether the CPU was between two launches during idle time: in
// a launch call, in an operator, in Python code, or in nothing that was recorded.
// Waiting, copying and allocating are other causes.
func isLaunching(r summary.Idle) bool {
	switch r.Owner {
	case summary.OwnerLaunch, summary.OwnerBetween:
		return true
	case summary.OwnerHost:
		return slices.Contains([]string{summary.StateLaunch, summary.StateCall, summary.StateOp, summary.StatePython, summary.StateAnnotation, summary.StateUnrecorded}, r.State)
	}
	return false
}

// launchEvidence returns the number of launches per step and for how long the launch
// queue was empty.
func (c *evaluator) launchEvidence() (out []string) {
	var steps, empty, all int64
	var launches []int64
	for _, l := range c.Launches {
		launches = append(launches, l.PerStep...)
		for _, q := range l.Queue {
			if all = summary.Plus(all, q.NS); q.From == 0 {
				empty = summary.Plus(empty, q.NS)
			}
		}
	}
	if steps = int64(len(launches)); steps > 0 {
		slices.Sort(launches)
		out = append(out, fmt.Sprintf("%s per step (median of %s)", label.Plural(launches[len(launches)/2], "launch call"), label.Plural(steps, "step")))
	}
	if all > 0 {
		out = append(out, fmt.Sprintf("the launch queue was empty for %s of the time (%s)", unit.Share(empty, all), fraction(empty, all)))
	}
	return out
}

// allocationsInSteps returns how often steps called the driver for memory.
func (c *evaluator) allocationsInSteps() (out []string) {
	for _, r := range c.Calls {
		if r.InSteps > 0 && (r.Kind == "alloc" || r.Kind == "free") {
			out = append(out, fmt.Sprintf("%s: %s within steps, %s CPU time; a warm caching allocator needs none", r.Name, label.Plural(r.InSteps, "call"), unit.Duration(r.TotalNS)))
		}
	}
	return out
}
