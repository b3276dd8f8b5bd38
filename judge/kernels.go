package judge

import (
	"fmt"
	"slices"

	"assay/summary"
	"assay/unit"
)

// wholeGraph is the category of CUDA graphs that were traced as one event, without
// their kernels.
const wholeGraph = summary.WholeGraph

// dominantKernel judges whether the kernels of one name take most of the kernel time.
func (c *evaluator) dominantKernel() (Finding, bool) {
	top, all := c.topKernel("")
	if all == 0 || top.Category == wholeGraph {
		return Finding{}, false
	}
	f, limit, ok := measured(c.rules[RuleDominantKernel], top.TotalNS, all)
	if !ok {
		return Finding{}, false
	}
	f.Title = dominantTitle(top.Name, top.TotalNS, all) + over(limit)
	f.Evidence = []string{fmt.Sprintf("%q: class %s, category %s; %s, mean %s, max %s",
		top.Name, top.Class, top.Category, launches(top.Count), unit.Duration(top.TotalNS/max(1, top.Count)), unit.Duration(top.MaxNS))}
	f.Evidence = append(f.Evidence, c.launchers(top)...)
	f.Where = c.kernelPlaces(top.Name)
	if class, known := summary.ClassOf(top.Class); known {
		rest := summary.Class(0)
		for _, other := range summary.Singles() {
			if other != class {
				rest |= other
			}
		}
		f.gain(min(top.TotalNS, c.total.Without(class, rest)), c.total.Window(), c.windowWhole())
	}
	if top.Class == "comm" {
		f.ToBeSure = []string{"record all ranks; part of this time may be waiting for a straggler"}
	}
	f.Next = kernelAdvice(top, c.peers())
	return f, true
}

// dominantTitle returns the title of a finding on one kernel, without its limit.
func dominantTitle(name string, ns, all int64) string {
	return fmt.Sprintf("Dominant kernel: %s of total kernel time (%s), %q", unit.Share(ns, all), fraction(ns, all), short(name))
}

// opaqueGraphs judges how much of the window is in CUDA graphs that were traced as one
// event. Graphs without any event are a cause of idle time.
func (c *evaluator) opaqueGraphs() (Finding, bool) {
	work, runs := int64(0), int64(0)
	for _, k := range c.Kernels {
		if k.Category == wholeGraph {
			work, runs = summary.Plus(work, k.TotalNS), summary.Plus(runs, k.Count)
		}
	}
	window := c.total.Window()
	f, limit, ok := measured(c.rules[RuleOpaqueGraphs], min(work, window), window)
	if !ok {
		return Finding{}, false
	}
	f.Title = "CUDA graphs without node trace: " + c.ofWindow(min(work, window)) + over(limit)
	f.Evidence = append([]string{launches(runs) + "; the kernels in these graphs are unknown"},
		c.largestOf(func(k summary.Kernel) bool { return k.Category == wholeGraph })...)
	f.Next = []Step{advise("record-graph-nodes")}
	return f, true
}

// largestOf names the kernels with the most time among those that of accepts.
func (c *evaluator) largestOf(of func(summary.Kernel) bool) (out []string) {
	work, all := map[string]int64{}, int64(0)
	for _, k := range c.Kernels {
		if of(k) {
			work[k.Name], all = summary.Plus(work[k.Name], k.TotalNS), summary.Plus(all, k.TotalNS)
		}
	}
	for i, name := range byWork(work) {
		if i == 3 {
			break
		}
		out = append(out, fmt.Sprintf("%q: %s of this time (%s)", name, unit.Share(work[name], all), fraction(work[name], all)))
	}
	return out
}

// movers are the categories of kernels that do few operations per byte, so that memory
// limits them. Matrix products, attention, convolutions and unknown kernels are not
// among them.
var movers = []string{
	"elementwise", "normalization", "softmax", "reduction", "layout", "copy", "fill", "index", "rope", "kv-cache", "optimizer", "loss",
	"pooling", "interpolation", "random", "quantization", "sort-scan", "triton-fused",
}

// memoryBandwidth judges by category whether kernels that move data take most of the
// compute kernel time. It returns false if there are hardware counters, which measure it.
func (c *evaluator) memoryBandwidth() (Finding, bool) {
	if len(c.Counters) > 0 {
		return Finding{}, false
	}
	work, all := map[string]int64{}, int64(0)
	moved := int64(0)
	for _, k := range c.Kernels {
		if k.Class != "compute" || k.Category == wholeGraph {
			continue
		}
		all = summary.Plus(all, k.TotalNS)
		if slices.Contains(movers, k.Category) {
			work[k.Category], moved = summary.Plus(work[k.Category], k.TotalNS), summary.Plus(moved, k.TotalNS)
		}
	}
	if all == 0 {
		return Finding{}, false
	}
	f, limit, ok := measured(c.rules[RuleMemoryBandwidth], moved, all)
	if !ok {
		return Finding{}, false
	}
	f.Title = fmt.Sprintf("Memory-bound kernel types: %s of compute kernel time (%s)", unit.Share(moved, all), fraction(moved, all)) + over(limit)
	for i, name := range byWork(work) {
		if i == 3 {
			break
		}
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s of compute kernel time (%s)", name, unit.Share(work[name], all), fraction(work[name], all)))
	}
	moves := func(k summary.Kernel) bool { return k.Class == "compute" && slices.Contains(movers, k.Category) }
	f.Evidence = append(f.Evidence, c.largestOf(moves)...)
	top := summary.Kernel{}
	for _, k := range c.Kernels {
		if moves(k) && k.TotalNS > top.TotalNS {
			top = k
		}
	}
	f.Where = c.kernelPlaces(top.Name)
	f.Next = []Step{advise("fuse-small-kernels"), advise("move-less"), advise("measure-bandwidth")}
	return f, true
}

// judgeTinyKernels judges how much of the kernel time is in kernels that are shorter
// than a launch. If launches are the cause of idle time, they are reported there.
func (c *evaluator) judgeTinyKernels(judged []Finding) []Finding {
	rule := c.rules[RuleTinyKernels]
	var short, all summary.Bucket
	edges := summary.Edges()
	for _, d := range c.Devices {
		for _, b := range d.Durations.Buckets {
			all.Count, all.TotalNS = summary.Plus(all.Count, b.Count), summary.Plus(all.TotalNS, b.TotalNS)
			if i, found := slices.BinarySearch(edges, b.FromNS); found && i+1 < len(edges) && edges[i+1] <= rule.Under {
				short.Count, short.TotalNS = summary.Plus(short.Count, b.Count), summary.Plus(short.TotalNS, b.TotalNS)
			}
		}
	}
	if all.TotalNS == 0 {
		return judged
	}
	f, limit, ok := measured(rule, short.TotalNS, all.TotalNS)
	if !ok {
		return judged
	}
	f.Title = fmt.Sprintf("Short kernels (under %s): %s of total kernel time (%s)", unit.Duration(rule.Under),
		unit.Share(short.TotalNS, all.TotalNS), fraction(short.TotalNS, all.TotalNS))
	count := fmt.Sprintf("%s of %s are shorter than %s", unit.Count(short.Count), launches(all.Count), unit.Duration(rule.Under))
	if at := findingOf(judged, RuleLaunchBound); at != nil {
		at.Evidence = append(at.Evidence, f.Title, count)
		return judged
	}
	f.Title += over(limit)
	tiny := func(k summary.Kernel) bool { return k.Count > 0 && k.TotalNS/k.Count < rule.Under }
	f.Evidence = append([]string{count}, c.largestOf(tiny)...)
	top := summary.Kernel{}
	for _, k := range c.Kernels {
		if tiny(k) && k.TotalNS > top.TotalNS {
			top = k
		}
	}
	f.Where = c.kernelPlaces(top.Name)
	f.Next = []Step{advise("launch-more-each"), advise("fuse-small-kernels")}
	return append(judged, f)
}
