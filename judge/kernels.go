package judge

import (
	"fmt"
	"slices"

	"assay/summary"
	"assay/unit"
)

// wholeGraph is the category of graphs that were recorded as one event each, in
// which no kernel can be told from another.
const wholeGraph = "whole-graph"

// dominantKernel asks whether the kernels of one name are most of the work.
func (c *court) dominantKernel() (Finding, bool) {
	top, all := c.topKernel("")
	if all == 0 || top.Category == wholeGraph {
		return Finding{}, false
	}
	f, limit, ok := measured(c.rules[RuleDominantKernel], top.TotalNS, all)
	if !ok {
		return Finding{}, false
	}
	f.Title = fmt.Sprintf("kernel %q is %s of all kernel work (%s of %s, sums of durations), %s",
		short(top.Name), unit.Share(top.TotalNS, all), unit.Duration(top.TotalNS), unit.Duration(all), reaches(f, limit))
	f.Evidence = []string{fmt.Sprintf("%q, class %s, category %s: %s runs, %s on average, %s at most",
		top.Name, top.Class, top.Category, unit.Count(top.Count), unit.Duration(top.TotalNS/max(1, top.Count)), unit.Duration(top.MaxNS))}
	f.Evidence = append(f.Evidence, c.launchers(top)...)
	f.Where = c.kernelPlaces(top.Name)
	if class, known := summary.ClassOf(top.Class); known {
		rest := summary.Class(0)
		for _, other := range summary.Singles() {
			if other != class {
				rest |= other
			}
		}
		f.gain(min(top.TotalNS, c.total.Without(class, rest)), c.total.Window(), c.windowName())
	}
	if top.Class == "comm" {
		f.ToBeSure = []string{"the traces of all ranks, for it runs for as long as it waits for its peers"}
	}
	f.Next = kernelAdvice(top, c.peers())
	return f, true
}

// opaqueGraphs asks how much of the window is in graphs that were recorded as one
// event each. Those of which nothing was recorded are a cause of idle time.
func (c *court) opaqueGraphs() (Finding, bool) {
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
	f.Title = fmt.Sprintf("graphs recorded as one event each take %s of %s (%s, %s), %s: which kernels ran in them is not known",
		unit.Share(min(work, window), window), c.windowName(), plural(runs, "run"), fraction(min(work, window), window), reaches(f, limit))
	f.Evidence = c.largestOf(func(k summary.Kernel) bool { return k.Category == wholeGraph })
	f.Next = []Step{advise("record-graph-nodes")}
	return f, true
}

// largestOf names the kernels with the most work of those that are asked for.
func (c *court) largestOf(of func(summary.Kernel) bool) (out []string) {
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
		out = append(out, fmt.Sprintf("%q: %s of it (%s)", name, unit.Share(work[name], all), fraction(work[name], all)))
	}
	return out
}

// movers are the categories of kernels that do a few operations on each byte they
// move, so that memory sets their pace. Matrix products, attention and convolutions
// are not among them, nor what no rule knows.
var movers = []string{
	"elementwise", "normalization", "softmax", "reduction", "layout", "copy", "fill", "index", "rope", "kv-cache", "optimizer", "loss",
	"pooling", "interpolation", "random", "quantization", "sort-scan", "triton-fused",
}

// memoryBandwidth asks whether most compute work is of kernels that move data. With
// counters of the kernels it is known, and not asked.
func (c *court) memoryBandwidth() (Finding, bool) {
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
	f.Title = fmt.Sprintf("kernels that move data more than they calculate are %s of compute kernel work (%s, sums of durations), %s",
		unit.Share(moved, all), fraction(moved, all), reaches(f, limit))
	for i, name := range byWork(work) {
		if i == 3 {
			break
		}
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s is %s of compute kernel work (%s)", name, unit.Share(work[name], all), fraction(work[name], all)))
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

// judgeTinyKernels asks how much of the kernels' time is of kernels that run for no
// longer than a launch takes. Where launches are the cause of idle time it is told
// there.
func (c *court) judgeTinyKernels(judged []Finding) []Finding {
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
	f.Title = fmt.Sprintf("kernels under %s are %s of all kernel work (%s, sums of durations) and %s of %s", unit.Duration(rule.Under),
		unit.Share(short.TotalNS, all.TotalNS), fraction(short.TotalNS, all.TotalNS), unit.Count(short.Count), plural(all.Count, "run"))
	if at := findingOf(judged, RuleLaunchBound); at != nil {
		at.Evidence = append(at.Evidence, f.Title)
		return judged
	}
	f.Title += ", " + reaches(f, limit)
	tiny := func(k summary.Kernel) bool { return k.Count > 0 && k.TotalNS/k.Count < rule.Under }
	f.Evidence = c.largestOf(tiny)
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
