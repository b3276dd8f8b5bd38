package timeline

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/monitors"
	"assay/judge/ranks"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view/efficiency"
)

// wholeGraph is the category of CUDA graphs that were traced as one event, without their kernels.
const wholeGraph = summary.WholeGraph

// dominantKernel reports a kernel that takes most of the kernel time, if kernels of its class run
// in this part of the window. It explains at most the time in which only kernels of its class ran.
func (c *Evaluator) dominantKernel(part string) []tree.Reading {
	top, all := topKernel(c, "")
	if all == 0 || top.Category == wholeGraph || partOfClass(top.Class) != part {
		return nil
	}
	f, limit, ok := rule.Measured(c.Limits[rule.DominantKernel], top.TotalNS, all)
	if !ok {
		return nil
	}
	capped := ""
	if part == rule.ComputeBound && advice.IsFastProduct(top) {
		// Such a kernel does what the GPU is for. How near its peak it is, its name does not show.
		f.Level, limit = min(f.Level, finding.Warn), c.Limits[rule.DominantKernel].Warn
		if capped = monitors.PowerLimit(c.Context); capped != "" {
			f.Level = finding.Info
		}
	}
	what := advice.DominantTitle(top.Name, top.TotalNS, all)
	f.Title = what + rule.Over(limit)
	launchers := launchers(c, top)
	f.Evidence = append([]string{fmt.Sprintf("%q: class %s, category %s; %s, mean %s, max %s",
		top.Name, top.Class, top.Category, finding.Launches(top.Count), unit.Duration(top.TotalNS/max(1, top.Count)),
		unit.Duration(top.MaxNS))}, launchers...)
	if capped != "" {
		f.Evidence = append(f.Evidence, capped)
	}
	f.Where = kernelPlaces(c, top.Name)
	f.Next = advice.KernelAdvice(top, ranks.New(c.Context).Advice())
	r := tree.Reading{Reached: true, What: what}
	// The evidence of the part has the kernel with its share of its class.
	r.Below = append([]string{fmt.Sprintf("the largest %s kernel takes %s of total kernel time (%s)", top.Class,
		unit.Share(top.TotalNS, all), unit.DurationOf(top.TotalNS, all))}, launchers...)
	explained := top.TotalNS
	if class, known := summary.ClassOf(top.Class); known {
		rest := summary.Class(0)
		for _, other := range summary.Singles() {
			if other != class {
				rest |= other
			}
		}
		explained = min(explained, c.Total.Without(class, rest))
		if class != summary.ClassCompute { // the savings of compute kernels are unknown
			c.GainOfWindow(&f, explained)
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

// opaqueGraphs judges how much of the window is in CUDA graphs that were traced as one event.
// Graphs without any event are a cause of idle time instead.
func (c *Evaluator) opaqueGraphs() []tree.Reading {
	work, runs := int64(0), int64(0)
	for _, k := range c.Kernels {
		if k.Category == wholeGraph {
			work, runs = work+k.TotalNS, runs+k.Count
		}
	}
	window := c.Total.Window()
	r, ok := c.Evaluate(tree.Measured{Rule: rule.OpaqueGraphs, Part: min(work, window), Of: window,
		Words: map[string]string{"launches": finding.Launches(runs)},
		Rows:  map[string]tree.Sums{"kernels": largestOf(c, func(k summary.Kernel) bool { return k.Category == wholeGraph })}})
	if !ok {
		return nil
	}
	r.What = "" // the title already has the share of the window
	r.Explains = map[string]int64{rule.ComputeBound: r.NumeratorNS}
	return []tree.Reading{r}
}

// largestOf returns the ns of the kernels that accept selects, by name.
func largestOf(c *Evaluator, accept func(summary.Kernel) bool) tree.Sums {
	out := tree.Sums{NS: map[string]int64{}}
	for _, k := range c.Kernels {
		if accept(k) {
			out.NS[k.Name], out.Of = out.NS[k.Name]+k.TotalNS, out.Of+k.TotalNS
		}
	}
	return out
}

// computes reports whether a kernel computes and is not a CUDA graph traced as one event.
func computes(k summary.Kernel) bool { return k.Class == "compute" && k.Category != wholeGraph }

// moves returns a function that reports whether a kernel does few operations per byte.
func moves(c *Evaluator) func(summary.Kernel) bool {
	return func(k summary.Kernel) bool {
		kind := kindOf(k)
		return k.Class == "compute" && (kind == gemv || slices.Contains(efficiency.Movers, kind) || decodingOf(c).reads(c, k))
	}
}

// kindOf returns the category of a kernel, or gemv for a product of a matrix and a vector.
func kindOf(k summary.Kernel) string {
	if advice.IsProductOfVector(k.Name) {
		return gemv
	}
	return k.Category
}

// gemv is the kind of kernels that multiply a matrix by a vector.
const gemv = "gemv"

// movesData reports whether kernels that move data take most of the compute kernel time. Names are
// ignored if there are hardware counters, which measure it.
func movesData(c *Evaluator) bool {
	moving, all := largestOf(c, moves(c)).Of, largestOf(c, computes).Of
	_, _, ok := c.Limits[rule.MemoryBandwidth].Level(float64(moving) / float64(max(1, all)))
	return ok && len(c.Counters) == 0
}

// memoryBandwidth judges by category whether kernels that move data take most of the compute kernel
// time.
func (c *Evaluator) memoryBandwidth() []tree.Reading {
	if !movesData(c) {
		return nil
	}
	list := c.shareOfKernels(rule.MemoryBandwidth, computes, moves(c))
	if d := decodingOf(c); d.readsMemory() {
		for i := range list {
			list[i].Evidence = append(d.evidence(c), list[i].Evidence...)
		}
	}
	return list
}

// shareOfKernels judges the time of the kernels that accept selects, as a share of the time of
// those that all selects. Sentences of the rule can have the kernels and their categories as rows,
// and name the largest category as top.
func (c *Evaluator) shareOfKernels(id string, all, accept func(summary.Kernel) bool) []tree.Reading {
	return shareOfKernelsBy(c, id, all, accept, kindOf)
}

// shareOfKernelsBy is shareOfKernels with other names than categories.
func shareOfKernelsBy(c *Evaluator, id string, all, accept func(summary.Kernel) bool, kindOf func(summary.Kernel) string) []tree.Reading {
	whole, some := largestOf(c, all), largestOf(c, accept)
	categories := map[string]int64{}
	for _, k := range c.Kernels {
		if accept(k) {
			categories[kindOf(k)] = categories[kindOf(k)] + k.TotalNS
		}
	}
	if some.Of == 0 {
		return nil
	}
	words := map[string]string{"top": finding.ByWork(categories)[0]}
	if id == rule.MemoryBandwidth {
		words["decode"] = ""
		if d := decodingOf(c); d.readsMemory() {
			words["top"] = gemv // as products with a vector, which are bound by reading the weights too
			words["decode"] = " in decode steps of up to " + label.Plural(d.tokens, "token")
		}
	}
	r, ok := c.Evaluate(tree.Measured{Rule: id, Part: some.Of, Of: whole.Of, Words: words,
		Rows:  map[string]tree.Sums{"categories": {NS: categories, Of: whole.Of}, "kernels": some},
		Where: largestKernelOf(c, accept)})
	if !ok {
		return nil
	}
	r.Explains = map[string]int64{rule.ComputeBound: some.Of}
	return []tree.Reading{r}
}

// largestKernelOf returns where the largest kernel that accept selects has the most time.
func largestKernelOf(c *Evaluator, accept func(summary.Kernel) bool) []finding.Place {
	top := summary.Kernel{}
	for _, k := range c.Kernels {
		if accept(k) && k.TotalNS > top.TotalNS {
			top = k
		}
	}
	return kernelPlaces(c, top.Name)
}

// tinyKernels judges how much of the kernel time is in kernels that are shorter than a launch. If
// launches are the cause of idle time, the finding on launches explains these kernels.
func (c *Evaluator) tinyKernels() []tree.Reading {
	limits := c.Limits[rule.TinyKernels]
	var short, all summary.Bucket
	edges := summary.Edges()
	for _, d := range c.Devices {
		for _, b := range d.Durations.Buckets {
			all.Count, all.TotalNS = all.Count+b.Count, all.TotalNS+b.TotalNS
			if i, found := slices.BinarySearch(edges, b.FromNS); found && i+1 < len(edges) && edges[i+1] <= limits.Under {
				short.Count, short.TotalNS = short.Count+b.Count, short.TotalNS+b.TotalNS
			}
		}
	}
	if all.TotalNS == 0 {
		return nil
	}
	tiny := func(k summary.Kernel) bool { return k.Count > 0 && k.TotalNS/k.Count < limits.Under }
	r, ok := c.Evaluate(tree.Measured{Rule: rule.TinyKernels, Part: short.TotalNS, Of: all.TotalNS,
		Words: map[string]string{"short": unit.Count(short.Count), "launches": finding.Launches(all.Count)},
		Rows:  map[string]tree.Sums{"kernels": largestOf(c, tiny)}, Where: largestKernelOf(c, tiny)})
	if !ok {
		return nil
	}
	r.Below = []string{r.What, r.Evidence[0]}
	r.Explains = map[string]int64{rule.LaunchBound: 0, rule.KernelGaps: 0, rule.ComputeBound: short.TotalNS}
	return []tree.Reading{r}
}
