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

// dominantKernel judges whether the kernels of one name take most of the kernel time, if
// their class is that of the part of a rule. They explain no more of the part than the
// time in which only kernels of their class ran.
func (c *evaluator) dominantKernel(part string) []reading {
	top, all := c.topKernel("")
	if all == 0 || top.Category == wholeGraph || partOfClass(top.Class) != part {
		return nil
	}
	f, limit, ok := measured(c.rules[RuleDominantKernel], top.TotalNS, all)
	if !ok {
		return nil
	}
	what := dominantTitle(top.Name, top.TotalNS, all)
	f.Title = what + over(limit)
	launchers := c.launchers(top)
	f.Evidence = append([]string{fmt.Sprintf("%q: class %s, category %s; %s, mean %s, max %s",
		top.Name, top.Class, top.Category, launches(top.Count), unit.Duration(top.TotalNS/max(1, top.Count)), unit.Duration(top.MaxNS))}, launchers...)
	f.Where = c.kernelPlaces(top.Name)
	f.Next = kernelAdvice(top, c.rankAdvice())
	r := reading{reached: true, what: what}
	// The part names the kernel with its share of its class.
	r.below = append([]string{fmt.Sprintf("the largest %s kernel takes %s of total kernel time (%s)", top.Class, unit.Share(top.TotalNS, all), fraction(top.TotalNS, all))}, launchers...)
	explained := top.TotalNS
	if class, known := summary.ClassOf(top.Class); known {
		rest := summary.Class(0)
		for _, other := range summary.Singles() {
			if other != class {
				rest |= other
			}
		}
		explained = min(explained, c.total.Without(class, rest))
		f.gain(explained, c.total.Window(), c.windowWhole())
	}
	if top.Class == "comm" {
		f.ToBeSure = []string{"record all ranks; part of this time may be waiting for a straggler"}
	}
	r.Finding, r.explains = f, map[string]int64{part: explained}
	return []reading{r}
}

// partOfClass returns the rule of the part of the window in which kernels of a class run.
func partOfClass(class string) string {
	switch class {
	case summary.ClassComm.String():
		return RuleExposedComm
	case summary.ClassCopy.String(), summary.ClassMemset.String():
		return RuleExposedCopies
	}
	return RuleComputeBound
}

// dominantTitle returns the title of a finding on one kernel, without its limit.
func dominantTitle(name string, ns, all int64) string {
	return fmt.Sprintf("Dominant kernel: %s of total kernel time (%s), %q", unit.Share(ns, all), fraction(ns, all), short(name))
}

// opaqueGraphs judges how much of the window is in CUDA graphs that were traced as one
// event. Graphs without any event are a cause of idle time.
func (c *evaluator) opaqueGraphs() []reading {
	work, runs := int64(0), int64(0)
	for _, k := range c.Kernels {
		if k.Category == wholeGraph {
			work, runs = summary.Plus(work, k.TotalNS), summary.Plus(runs, k.Count)
		}
	}
	window := c.total.Window()
	f, limit, ok := measured(c.rules[RuleOpaqueGraphs], min(work, window), window)
	if !ok {
		return nil
	}
	f.Title = "CUDA graphs without node trace: " + c.ofWindow(min(work, window)) + over(limit)
	f.Evidence = append([]string{launches(runs) + "; the kernels in these graphs are unknown"},
		c.largestOf(func(k summary.Kernel) bool { return k.Category == wholeGraph })...)
	f.Next = []Step{advise("record-graph-nodes")}
	return []reading{{Finding: f, reached: true, explains: map[string]int64{RuleComputeBound: f.NumeratorNS}}}
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

// A moving is the time of the compute kernels that move data.
type moving struct {
	ns, all int64            // all of compute kernels without CUDA graphs traced as one event
	work    map[string]int64 // by category
}

func (c *evaluator) moving() moving {
	m := moving{work: map[string]int64{}}
	for _, k := range c.Kernels {
		if k.Class != "compute" || k.Category == wholeGraph {
			continue
		}
		m.all = summary.Plus(m.all, k.TotalNS)
		if slices.Contains(movers, k.Category) {
			m.work[k.Category], m.ns = summary.Plus(m.work[k.Category], k.TotalNS), summary.Plus(m.ns, k.TotalNS)
		}
	}
	return m
}

// movesData reports whether kernels that move data take most of the compute kernel time.
// Hardware counters measure it, so with them the names do not count.
func (c *evaluator) movesData() bool {
	m := c.moving()
	_, _, ok := c.rules[RuleMemoryBandwidth].level(float64(m.ns) / float64(max(1, m.all)))
	return ok && len(c.Counters) == 0
}

// memoryBandwidth judges by category whether kernels that move data take most of the
// compute kernel time.
func (c *evaluator) memoryBandwidth() []reading {
	if !c.movesData() {
		return nil
	}
	m := c.moving()
	f, limit, _ := measured(c.rules[RuleMemoryBandwidth], m.ns, m.all)
	what := fmt.Sprintf("Memory-bound kernel types: %s of compute kernel time (%s)", unit.Share(m.ns, m.all), fraction(m.ns, m.all))
	f.Title = what + over(limit)
	for i, name := range byWork(m.work) {
		if i == 3 {
			break
		}
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s of compute kernel time (%s)", name, unit.Share(m.work[name], m.all), fraction(m.work[name], m.all)))
	}
	moves := func(k summary.Kernel) bool { return k.Class == "compute" && slices.Contains(movers, k.Category) }
	f.Evidence = append(f.Evidence, c.largestOf(moves)...)
	f.Where = c.largestKernelOf(moves)
	f.Next = []Step{advise("fuse-small-kernels"), advise("move-less"), advise("measure-bandwidth")}
	return []reading{{Finding: f, reached: true, what: what, explains: map[string]int64{RuleComputeBound: m.ns}}}
}

// largestKernelOf returns where the largest kernel of those that of accepts has the most
// work.
func (c *evaluator) largestKernelOf(of func(summary.Kernel) bool) []Place {
	top := summary.Kernel{}
	for _, k := range c.Kernels {
		if of(k) && k.TotalNS > top.TotalNS {
			top = k
		}
	}
	return c.kernelPlaces(top.Name)
}

// tinyKernels judges how much of the kernel time is in kernels that are shorter than a
// launch. If launches are the cause of idle time, they say why: the idle time is not
// theirs.
func (c *evaluator) tinyKernels() []reading {
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
		return nil
	}
	f, limit, ok := measured(rule, short.TotalNS, all.TotalNS)
	if !ok {
		return nil
	}
	what := fmt.Sprintf("Short kernels (under %s): %s of total kernel time (%s)", unit.Duration(rule.Under),
		unit.Share(short.TotalNS, all.TotalNS), fraction(short.TotalNS, all.TotalNS))
	count := fmt.Sprintf("%s of %s are shorter than %s", unit.Count(short.Count), launches(all.Count), unit.Duration(rule.Under))
	f.Title = what + over(limit)
	tiny := func(k summary.Kernel) bool { return k.Count > 0 && k.TotalNS/k.Count < rule.Under }
	f.Evidence = append([]string{count}, c.largestOf(tiny)...)
	f.Where = c.largestKernelOf(tiny)
	f.Next = []Step{advise("launch-more-each"), advise("fuse-small-kernels")}
	return []reading{{Finding: f, reached: true, what: what, below: []string{what, count},
		explains: map[string]int64{RuleLaunchBound: 0, RuleComputeBound: short.TotalNS}}}
}
