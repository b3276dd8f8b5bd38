package judge

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"assay/internal/label"
	"assay/summary"
	"assay/unit"
)

// worstDevice names the GPU with the largest share of p, if there are several, and
// the range of the shares.
func (c *evaluator) worstDevice(p part) []string {
	if len(c.Devices) < 2 {
		return nil
	}
	i := worst(len(c.Devices), func(i int) (int64, int64) {
		a := c.Devices[i].Activity
		return p.time(a), a.Window()
	})
	d := c.Devices[i]
	num, den := p.time(d.Activity), d.Activity.Window()
	a := c.Devices[worst(len(c.Devices), func(i int) (int64, int64) {
		a := c.Devices[i].Activity
		return a.Window() - p.time(a), a.Window()
	})].Activity
	return []string{fmt.Sprintf("range over %d GPUs: %s to %s; largest on %s (%s)", len(c.Devices), unit.Share(p.time(a), a.Window()),
		unit.Share(num, den), c.device(d.Input, d.Rank, d.Device), fraction(num, den))}
}

// worstStep returns the range of p over the steps and the step with the largest share.
func (c *evaluator) worstStep(p part) []string {
	steps := slices.Clone(c.Steps)
	steps = slices.DeleteFunc(steps, func(s summary.Step) bool { return s.Activity.Window() == 0 })
	if len(steps) == 0 {
		return nil
	}
	at := func(i int) (int64, int64) { return p.time(steps[i].Activity), steps[i].Activity.Window() }
	most := worst(len(steps), at)
	least := worst(len(steps), func(i int) (int64, int64) {
		num, den := at(i)
		return den - num, den
	})
	lowNum, lowDen := at(least)
	num, den := at(most)
	s := steps[most]
	return []string{fmt.Sprintf("%s: %s to %s of a step (%s); largest in %s on %s (%s)", p.what,
		unit.Share(lowNum, lowDen), unit.Share(num, den), label.Plural(int64(len(steps)), "step"),
		s.Name, c.device(s.Input, s.Rank, s.Device), fraction(num, den))}
}

// worst returns the index of the largest of n shares, the first if several are
// equal. The share of nothing counts as 0.
func worst(n int, at func(int) (num, den int64)) int {
	best, most := 0, -1.0
	for i := range n {
		num, den := at(i)
		if share := float64(num) / float64(max(1, den)); share > most {
			best, most = i, share
		}
	}
	return best
}

// device returns the name of a GPU, with its input if several inputs have its rank
// and number.
func (c *evaluator) device(input, rank int, device int64) string {
	s := fmt.Sprintf("rank %d GPU %d", rank, device)
	ambiguous := slices.ContainsFunc(c.Devices, func(d summary.Device) bool {
		return d.Rank == rank && d.Device == device && d.Input != input
	})
	if ambiguous && input >= 0 && input < len(c.Inputs) {
		s += fmt.Sprintf(" in %q", c.Inputs[input].Path)
	}
	return s
}

// medianKernel returns the median duration of a kernel. A launch takes the CPU several
// microseconds, so the GPU waits between shorter kernels.
func (c *evaluator) medianKernel() []string {
	var all summary.Histogram
	for _, d := range c.Devices {
		all = all.Plus(d.Durations)
	}
	n := all.Count()
	seen := int64(0)
	for _, b := range all.Buckets {
		if seen = summary.Plus(seen, b.Count); seen >= n-seen { // at least half, without overflow
			return []string{fmt.Sprintf("median kernel duration: %s (%s)", bucketRange(b.FromNS), label.Plural(n, "kernel"))}
		}
	}
	return nil
}

// bucketRange returns the range of the bucket that begins at an edge.
func bucketRange(from int64) string {
	edges := summary.Edges()
	if i, found := slices.BinarySearch(edges, from); found && i+1 < len(edges) {
		return "between " + unit.Duration(from) + " and " + unit.Duration(edges[i+1])
	}
	return "over " + unit.Duration(from)
}

// overlap returns how much of the communication compute overlaps.
func (c *evaluator) overlap() []string {
	comm := c.total.With(summary.ClassComm)
	hidden := c.total.HiddenComm()
	return []string{fmt.Sprintf("compute overlaps %s of the communication time (%s)", unit.Share(hidden, comm), fraction(hidden, comm))}
}

// topKernel returns the kernel name with the most work among the kernels of a
// class, or of all classes if it is "", with its rows added up, and the work
// of all kernels asked. The row of kernels over the row limit counts for the work and
// is no kernel. Identity is the name alone: Op, Stream, Device, Rank and
// Input of the result mean nothing.
func (c *evaluator) topKernel(class string) (top summary.Kernel, all int64) {
	byName := map[string]summary.Kernel{}
	for _, k := range c.Kernels {
		if class != "" && k.Class != class {
			continue
		}
		all = summary.Plus(all, k.TotalNS)
		sum, ok := byName[k.Name]
		if !ok {
			sum = summary.Kernel{Name: k.Name, Class: k.Class, Category: k.Category}
		}
		sum.Count = summary.Plus(sum.Count, k.Count)
		sum.TotalNS = summary.Plus(sum.TotalNS, k.TotalNS)
		sum.MaxNS = max(sum.MaxNS, k.MaxNS)
		byName[k.Name] = sum
	}
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		if k := byName[name]; !k.Pooled() && (top.Name == "" || k.TotalNS > top.TotalNS) {
			top = k
		}
	}
	return top, all
}

// largestKernel names the kernel with the most work of a class.
func (c *evaluator) largestKernel(class string) []string {
	top, all := c.topKernel(class)
	if all == 0 || top.Name == "" {
		return nil
	}
	return []string{fmt.Sprintf("largest %s kernel: %q, %s of the %s kernel time (%s, %s)", class,
		top.Name, unit.Share(top.TotalNS, all), class, fraction(top.TotalNS, all), launches(top.Count))}
}

// launchers names the operators that launch a kernel, largest first.
func (c *evaluator) launchers(of summary.Kernel) []string {
	work := map[string]int64{}
	for _, k := range c.Kernels {
		if k.Name == of.Name && k.Op != "" {
			work[k.Op] = summary.Plus(work[k.Op], k.TotalNS)
		}
	}
	var out []string
	for i, op := range byWork(work) {
		if i == 3 {
			break
		}
		out = append(out, fmt.Sprintf("launched by %s: %s of its time (%s)", op, unit.Share(work[op], of.TotalNS), fraction(work[op], of.TotalNS)))
	}
	return out
}

// categories returns the three categories with the most work among the compute
// kernels, largest first.
func (c *evaluator) categories() []string {
	work := map[string]int64{}
	all := int64(0)
	for _, k := range c.Kernels {
		if k.Class == "compute" {
			work[k.Category] = summary.Plus(work[k.Category], k.TotalNS)
			all = summary.Plus(all, k.TotalNS)
		}
	}
	var out []string
	for i, name := range byWork(work) {
		if i == 3 {
			break
		}
		out = append(out, fmt.Sprintf("%s: %s of the compute kernel time (%s)", name, unit.Share(work[name], all), fraction(work[name], all)))
	}
	return out
}

// byWork returns the keys by falling work, then by name.
func byWork(work map[string]int64) []string {
	return slices.SortedFunc(maps.Keys(work), func(a, b string) int {
		return cmp.Or(cmp.Compare(work[b], work[a]), cmp.Compare(a, b))
	})
}
