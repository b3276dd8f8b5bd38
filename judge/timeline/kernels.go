package timeline

import (
	"fmt"
	"slices"

	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/ranks"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// wholeGraph is the category of CUDA graphs that were traced as one event, without
// their kernels.
const wholeGraph = summary.WholeGraph

// dominantKernel judges whether the kernels of one name take most of the kernel time, if
// their class is that of the part of a rule. They explain no more of the part than the
// time in which only kernels of their class ran.
func (c *Evaluator) dominantKernel(part string) []tree.Reading {
	top, all := topKernel(c, "")
	if all == 0 || top.Category == wholeGraph || partOfClass(top.Class) != part {
		return nil
	}
	f, limit, ok := rule.Measured(c.Limits[rule.DominantKernel], top.TotalNS, all)
	if !ok {
		return nil
	}
	what := advice.DominantTitle(top.Name, top.TotalNS, all)
	f.Title = what + rule.Over(limit)
	launchers := launchers(c, top)
	f.Evidence = append([]string{fmt.Sprintf("%q: class %s, category %s; %s, mean %s, max %s",
		top.Name, top.Class, top.Category, finding.Launches(top.Count), unit.Duration(top.TotalNS/max(1, top.Count)), unit.Duration(top.MaxNS))}, launchers...)
	f.Where = kernelPlaces(c, top.Name)
	f.Next = advice.KernelAdvice(top, ranks.New(c.Context).Advice())
	r := tree.Reading{Reached: true, What: what}
	// The part names the kernel with its share of its class.
	r.Below = append([]string{fmt.Sprintf("the largest %s kernel takes %s of total kernel time (%s)", top.Class, unit.Share(top.TotalNS, all), unit.DurationOf(top.TotalNS, all))}, launchers...)
	explained := top.TotalNS
	if class, known := summary.ClassOf(top.Class); known {
		rest := summary.Class(0)
		for _, other := range summary.Singles() {
			if other != class {
				rest |= other
			}
		}
		explained = min(explained, c.Total.Without(class, rest))
		if class != summary.ClassCompute { // how much of its work a kernel can save is not known
			f.Gain(explained, c.Total.Window(), c.WindowWhole())
		}
	}
	if top.Class == "comm" {
		f.ToBeSure = []string{"record all ranks; part of this time may be waiting for a straggler"}
	}
	r.Finding, r.Explains = f, map[string]int64{part: explained}
	return []tree.Reading{r}
}

// partOfClass returns the rule of the part of the window in which kernels of a class run.
func partOfClass(class string) string {
	switch class {
	case summary.ClassComm.String():
		return rule.ExposedComm
	case summary.ClassCopy.String(), summary.ClassMemset.String():
		return rule.ExposedCopies
	}
	return rule.ComputeBound
}

// opaqueGraphs judges how much of the window is in CUDA graphs that were traced as one
// event. Graphs without any event are a cause of idle time.
func (c *Evaluator) opaqueGraphs() []tree.Reading {
	work, runs := int64(0), int64(0)
	for _, k := range c.Kernels {
		if k.Category == wholeGraph {
			work, runs = summary.Plus(work, k.TotalNS), summary.Plus(runs, k.Count)
		}
	}
	window := c.Total.Window()
	f, limit, ok := rule.Measured(c.Limits[rule.OpaqueGraphs], min(work, window), window)
	if !ok {
		return nil
	}
	f.Title = "CUDA graphs without node trace: " + c.OfWindow(min(work, window)) + rule.Over(limit)
	f.Evidence = append([]string{finding.Launches(runs) + "; the kernels in these graphs are unknown"},
		largestOf(c, func(k summary.Kernel) bool { return k.Category == wholeGraph })...)
	f.Next = []finding.Step{finding.Advise("record-graph-nodes")}
	return []tree.Reading{{Finding: f, Reached: true, Explains: map[string]int64{rule.ComputeBound: f.NumeratorNS}}}
}

// largestOf names the kernels with the most time among those that of accepts.
func largestOf(c *Evaluator, of func(summary.Kernel) bool) (out []string) {
	work, all := map[string]int64{}, int64(0)
	for _, k := range c.Kernels {
		if of(k) {
			work[k.Name], all = summary.Plus(work[k.Name], k.TotalNS), summary.Plus(all, k.TotalNS)
		}
	}
	for i, name := range finding.ByWork(work) {
		if i == 3 {
			break
		}
		out = append(out, fmt.Sprintf("%q: %s of this time (%s)", name, unit.Share(work[name], all), unit.DurationOf(work[name], all)))
	}
	return out
}

// movers are the categories of kernels that do few operations per byte, so that memory
// limits them. Products of matrices, attention, convolutions and unknown kernels are not
// among them.
var movers = []string{
	"elementwise", "normalization", "softmax", "reduction", "layout", "copy", "fill", "index", "rope", "kv-cache", "optimizer", "loss",
	"pooling", "interpolation", "random", "quantization", "sort-scan", "triton-fused",
}

// moves reports whether a kernel does few operations per byte.
func moves(k summary.Kernel) bool { return k.Class == "compute" && moverOf(k) != "" }

// moverOf returns what a compute kernel counts as: its category, or gemv for a product of a
// matrix and a vector. It returns "" if the kernel does more than few operations per byte.
func moverOf(k summary.Kernel) string {
	switch {
	case advice.IsProductOfVector(k.Name):
		return gemv
	case slices.Contains(movers, k.Category):
		return k.Category
	}
	return ""
}

// gemv is the word for products of a matrix and a vector.
const gemv = "gemv"

// A moving is the time of the compute kernels that move data.
type moving struct {
	ns, all int64            // all of compute kernels without CUDA graphs traced as one event
	work    map[string]int64 // by category
}

func movingOf(c *Evaluator) moving {
	m := moving{work: map[string]int64{}}
	for _, k := range c.Kernels {
		if k.Class != "compute" || k.Category == wholeGraph {
			continue
		}
		m.all = summary.Plus(m.all, k.TotalNS)
		if kind := moverOf(k); kind != "" {
			m.work[kind], m.ns = summary.Plus(m.work[kind], k.TotalNS), summary.Plus(m.ns, k.TotalNS)
		}
	}
	return m
}

// movesData reports whether kernels that move data take most of the compute kernel time.
// Hardware counters measure it, so with them the names do not count.
func movesData(c *Evaluator) bool {
	m := movingOf(c)
	_, _, ok := c.Limits[rule.MemoryBandwidth].Level(float64(m.ns) / float64(max(1, m.all)))
	return ok && len(c.Counters) == 0
}

// memoryBandwidth judges by category whether kernels that move data take most of the
// compute kernel time.
func (c *Evaluator) memoryBandwidth() []tree.Reading {
	if !movesData(c) {
		return nil
	}
	m := movingOf(c)
	f, limit, _ := rule.Measured(c.Limits[rule.MemoryBandwidth], m.ns, m.all)
	what := fmt.Sprintf("Memory-bound kernel types: %s of compute kernel time (%s)", unit.Share(m.ns, m.all), unit.DurationOf(m.ns, m.all))
	f.Title = what + rule.Over(limit)
	for i, name := range finding.ByWork(m.work) {
		if i == 3 {
			break
		}
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s of compute kernel time (%s)", name, unit.Share(m.work[name], m.all), unit.DurationOf(m.work[name], m.all)))
	}
	f.Evidence = append(f.Evidence, largestOf(c, moves)...)
	f.Where = largestKernelOf(c, moves)
	f.Next = []finding.Step{finding.Advise("fuse-small-kernels"), finding.Advise("move-less"), finding.Advise("measure-bandwidth")}
	if finding.ByWork(m.work)[0] == gemv {
		f.Next = append(advice.VectorAdvice(), finding.Advise("measure-bandwidth"))
	}
	return []tree.Reading{{Finding: f, Reached: true, What: what, Explains: map[string]int64{rule.ComputeBound: m.ns}}}
}

// largestKernelOf returns where the largest kernel of those that of accepts has the most
// work.
func largestKernelOf(c *Evaluator, of func(summary.Kernel) bool) []finding.Place {
	top := summary.Kernel{}
	for _, k := range c.Kernels {
		if of(k) && k.TotalNS > top.TotalNS {
			top = k
		}
	}
	return kernelPlaces(c, top.Name)
}

// tinyKernels judges how much of the kernel time is in kernels that are shorter than a
// launch. If launches are the cause of idle time, they say why: the idle time is not
// theirs.
func (c *Evaluator) tinyKernels() []tree.Reading {
	limits := c.Limits[rule.TinyKernels]
	var short, all summary.Bucket
	edges := summary.Edges()
	for _, d := range c.Devices {
		for _, b := range d.Durations.Buckets {
			all.Count, all.TotalNS = summary.Plus(all.Count, b.Count), summary.Plus(all.TotalNS, b.TotalNS)
			if i, found := slices.BinarySearch(edges, b.FromNS); found && i+1 < len(edges) && edges[i+1] <= limits.Under {
				short.Count, short.TotalNS = summary.Plus(short.Count, b.Count), summary.Plus(short.TotalNS, b.TotalNS)
			}
		}
	}
	if all.TotalNS == 0 {
		return nil
	}
	f, limit, ok := rule.Measured(limits, short.TotalNS, all.TotalNS)
	if !ok {
		return nil
	}
	what := fmt.Sprintf("Short kernels (under %s): %s of total kernel time (%s)", unit.Duration(limits.Under),
		unit.Share(short.TotalNS, all.TotalNS), unit.DurationOf(short.TotalNS, all.TotalNS))
	count := fmt.Sprintf("%s of %s are shorter than %s", unit.Count(short.Count), finding.Launches(all.Count), unit.Duration(limits.Under))
	f.Title = what + rule.Over(limit)
	tiny := func(k summary.Kernel) bool { return k.Count > 0 && k.TotalNS/k.Count < limits.Under }
	f.Evidence = append([]string{count}, largestOf(c, tiny)...)
	f.Where = largestKernelOf(c, tiny)
	f.Next = []finding.Step{finding.Advise("launch-more-each"), finding.Advise("fuse-small-kernels")}
	return []tree.Reading{{Finding: f, Reached: true, What: what, Below: []string{what, count},
		Explains: map[string]int64{rule.LaunchBound: 0, rule.KernelGaps: 0, rule.ComputeBound: short.TotalNS}}}
}
