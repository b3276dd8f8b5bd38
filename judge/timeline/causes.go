package timeline

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/internal/stat"
	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view"
)

// causeOfIdle returns the reading of a rule about ns of idle time, summed over all GPUs.
func causeOfIdle(c *Evaluator, id, what string, ns int64) tree.Reading {
	f, limit, ok := rule.Measured(c.Limits[id], ns, c.Total.Window())
	f.Title = what + c.OfWindow(ns) + rule.Over(limit)
	c.GainOfWindow(&f, ns)
	return tree.Reading{Finding: f, Reached: ok, Explains: map[string]int64{rule.GPUIdle: ns}}
}

// idleWithCause returns the idle time in ns whose cause accept selects, and its largest gaps as
// places.
func idleWithCause(c *Evaluator, accept func(summary.Idle) bool) (ns int64, where []finding.Place) {
	for _, r := range c.Idle {
		if accept(r) {
			ns += r.NS
		}
	}
	for _, d := range c.Devices {
		for _, g := range d.LargestGaps {
			if accept(summary.Idle{Owner: g.Owner, State: g.State}) {
				where = append(where, finding.PlaceOf(d.Input, d.Rank, d.Device).At(g.StartNS, g.NS))
			}
		}
	}
	return ns, finding.Longest(where)
}

// untracedGraphs judges the idle time during which CUDA graphs without node trace may have run.
func (c *Evaluator) untracedGraphs() []tree.Reading {
	ns, where := idleWithCause(c, func(r summary.Idle) bool { return r.Owner == summary.OwnerOpaque })
	r := causeOfIdle(c, rule.OpaqueGraphs, "Idle or in untraced CUDA graphs: ", ns)
	r.Where = where
	return r.IfReached()
}

// dataLoading judges the idle time in a data loader, or in phases that the program named so.
func (c *Evaluator) dataLoading() []tree.Reading {
	ns, where := idleWithCause(c, func(r summary.Idle) bool { return r.State == summary.StateData })
	r := causeOfIdle(c, rule.DataLoading, "Waiting for data loading: ", max(ns, steadyIdleIn(c, "data")))
	r.Where, r.Next = where, []finding.Step{finding.Advise("load-data-ahead")}
	return r.IfReached()
}

// allocating judges the idle time in calls that allocate or free GPU memory.
func (c *Evaluator) allocating() []tree.Reading {
	ns, where := idleWithCause(c, func(r summary.Idle) bool { return r.State == summary.StateAlloc })
	pinned, _ := idleWithCause(c, func(r summary.Idle) bool { return r.State == summary.StateAlloc && pins(r.Name) })
	what, next := "Waiting for cudaMalloc/cudaFree: ",
		[]finding.Step{finding.Advise("allocate-less"), finding.Advise("expandable-segments")}
	if pinned > ns-pinned {
		what, next = "Allocating pinned memory: ", []finding.Step{finding.Advise("reuse-pinned")}
	}
	r := causeOfIdle(c, rule.Allocating, what, ns)
	r.Where, r.Next = where, next
	r.Evidence = allocationsInSteps(c)
	return r.IfReached()
}

// pins reports whether a call allocates or frees pinned CPU memory.
func pins(call string) bool { return strings.Contains(call, "Host") }

// synchronousLaunches judges the idle time between two launches if launch calls wait for their kernels:
// then the CPU cannot run ahead of the GPU.
func synchronousLaunches(c *Evaluator) []tree.Reading {
	held, of, ok := view.Synchronous(c.Summary)
	if !ok {
		return nil
	}
	ns, where := idleWithCause(c, view.Launching)
	r := causeOfIdle(c, rule.SynchronousLaunches, "Synchronous launches: GPU idle between them for ", ns)
	c.GainOfWindow(&r.Finding, min(ns, c.Total.Busy()))
	r.Where, r.Next = where, []finding.Step{finding.Advise("unset-launch-blocking")}
	r.Evidence = []string{fmt.Sprintf("%s of %s of %s and longer run within their launch call, which normally returns before the kernel starts",
		unit.Count(held), label.Plural(of, "kernel"), unit.Duration(summary.ShortKernelNS))}
	return r.IfReached()
}

// launchBound judges the idle time in short gaps in which the GPU had nothing queued. Gaps between
// queued kernels have another cause: see [Evaluator.kernelGaps].
func (c *Evaluator) launchBound() []tree.Reading {
	var ns, code, gaps int64
	for _, r := range c.Idle {
		if !view.Launching(r) {
			continue
		}
		ns += r.ShortGapsNS
		if r.State == summary.StatePython || r.State == summary.StateAnnotation {
			code, gaps = code+r.ShortGapsNS, gaps+r.Count
		}
	}
	what, next := "Launch-bound", []finding.Step{finding.Advise("launch-less"), finding.Advise("launch-more-each")}
	if code > ns-code && advice.IsCodeBetween(code, gaps) {
		what, next = "Code between launches", advice.CodeAdvice()
	}
	r := causeOfIdle(c, rule.LaunchBound, fmt.Sprintf("%s: gaps under %s take ", what, unit.Duration(summary.ShortGapNS)), ns)
	r.Next = next
	r.Cause, r.Evidence = causeOfIdleTime(c), launchEvidence(c)
	return r.IfReached()
}

// kernelGaps judges the idle time before kernels that were launched while the GPU was busy: the CPU
// launches early enough, but the kernels are short.
func (c *Evaluator) kernelGaps() []tree.Reading {
	ns := queuedGaps(c)
	r := causeOfIdle(c, rule.KernelGaps, "Gaps between queued kernels: ", ns)
	r.Next = []finding.Step{finding.Advise("fuse-small-kernels"), finding.Advise("launch-more-each")}
	r.Evidence = append([]string{"the CPU launches in time: these kernels were queued before the GPU became idle"},
		medianKernel(c)...)
	return r.IfReached()
}

// queuedGaps returns the idle time in ns between queued kernels.
func queuedGaps(c *Evaluator) int64 {
	ns, _ := idleWithCause(c, func(r summary.Idle) bool { return r.Owner == summary.OwnerBetween })
	return ns
}

// mostlyQueuedGaps reports whether at least half of the idle time is between queued kernels and
// this exceeds its limit. Then the kernels are the bottleneck, not the CPU.
func mostlyQueuedGaps(c *Evaluator) bool {
	ns := queuedGaps(c)
	_, _, ok := rule.Measured(c.Limits[rule.KernelGaps], ns, c.Total.Window())
	return ok && ns >= c.Total.Idle()-ns
}

// launchEvidence returns the number of launches per step, and how long the launch queue was empty.
func launchEvidence(c *Evaluator) (out []string) {
	var steps, empty, all int64
	var launches []int64
	for _, l := range c.Launches {
		launches = append(launches, l.PerStep...)
		for _, q := range l.Queue {
			if all += q.NS; q.From == 0 {
				empty += q.NS
			}
		}
	}
	if steps = int64(len(launches)); steps > 0 {
		out = append(out, fmt.Sprintf("%s per step (median of %s)", label.Plural(stat.Median(launches), "launch call"),
			label.Plural(steps, "step")))
	}
	if all > 0 {
		out = append(out, fmt.Sprintf("the launch queue was empty for %s of the time (%s)", unit.Share(empty, all),
			unit.DurationOf(empty, all)))
	}
	return out
}

// allocationsInSteps returns how often steps called the driver for memory.
func allocationsInSteps(c *Evaluator) (out []string) {
	for _, r := range c.Calls {
		if r.InSteps > 0 && (r.Kind == "alloc" || r.Kind == "free") {
			out = append(out, fmt.Sprintf("%s: %s within steps, %s CPU time; a warm caching allocator needs none", r.Name,
				label.Plural(r.InSteps, "call"), unit.Duration(r.TotalNS)))
		}
	}
	return out
}
