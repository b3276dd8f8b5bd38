package timeline

import (
	"fmt"
	"maps"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/summary"
)

// worstDevice names the GPU with the largest share of p and the range of the shares, if there are
// several GPUs.
func worstDevice(c *Evaluator, p part) []string {
	if len(c.Devices) < 2 {
		return nil
	}
	i := finding.Worst(len(c.Devices), func(i int) (int64, int64) {
		a := c.Devices[i].Activity
		return p.time(a), a.Window()
	})
	d := c.Devices[i]
	num, den := p.time(d.Activity), d.Activity.Window()
	a := c.Devices[finding.Worst(len(c.Devices), func(i int) (int64, int64) {
		a := c.Devices[i].Activity
		return a.Window() - p.time(a), a.Window()
	})].Activity
	of := fmt.Sprintf("%d GPUs", c.GPUs)
	if c.GPUs < len(c.Devices) {
		of = fmt.Sprintf("%d captures", len(c.Devices))
	}
	return []string{fmt.Sprintf("range over %s: %s to %s; largest on %s (%s)", of,
		unit.Share(p.time(a), a.Window()),
		unit.Share(num, den), c.Device(d.Input, d.Rank, d.Device), unit.DurationOf(num, den))}
}

// worstStep returns the range of p over the steps and the step with the largest share.
func worstStep(c *Evaluator, p part) []string {
	var steps []*summary.Step
	for i := range c.Steps {
		if s := &c.Steps[i]; s.Activity.Window() != 0 {
			steps = append(steps, s)
		}
	}
	if len(steps) == 0 {
		return nil
	}
	at := func(i int) (int64, int64) { return p.time(steps[i].Activity), steps[i].Activity.Window() }
	most := finding.Worst(len(steps), at)
	least := finding.Worst(len(steps), func(i int) (int64, int64) {
		num, den := at(i)
		return den - num, den
	})
	lowNum, lowDen := at(least)
	num, den := at(most)
	s := steps[most]
	return []string{fmt.Sprintf("%s: %s to %s of a step (%s); largest in %s on %s (%s)", p.what,
		unit.Share(lowNum, lowDen), unit.Share(num, den), label.Plural(int64(len(steps)), "step"),
		s.Name, c.Device(s.Input, s.Rank, s.Device), unit.DurationOf(num, den))}
}

// medianKernel returns the median duration of a kernel. A launch takes the CPU several
// microseconds, so the GPU waits between shorter kernels.
func medianKernel(c *Evaluator) []string {
	var all summary.Histogram
	for _, d := range c.Devices {
		all = all.Plus(d.Durations)
	}
	n := all.Count()
	seen := int64(0)
	for _, b := range all.Buckets {
		if seen += b.Count; seen >= n-seen { // at least half, written so that it cannot overflow
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

// overlap returns how much of the communication time compute overlaps.
func overlap(c *Evaluator) []string {
	comm := c.Total.With(summary.ClassComm)
	hidden := c.Total.HiddenComm()
	return []string{fmt.Sprintf("compute overlaps %s of the communication time (%s)", unit.Share(hidden, comm),
		unit.DurationOf(hidden, comm))}
}

// topKernel adds up kernels by name and returns the one with the most time among those of a class
// ("" for all classes), and the ns of all of them. Kernels beyond the row limit count for the
// latter only. Op, Stream, Device, Rank and Input of the result have no meaning.
func topKernel(c *Evaluator, class string) (top summary.Kernel, all int64) {
	byName := map[string]summary.Kernel{}
	for _, k := range c.Kernels {
		if class != "" && k.Class != class {
			continue
		}
		all += k.TotalNS
		sum, ok := byName[k.Name]
		if !ok {
			sum = summary.Kernel{Name: k.Name, Class: k.Class, Category: k.Category}
		}
		sum.Count += k.Count
		sum.TotalNS += k.TotalNS
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

// largestKernel names the kernel with the most time of a class.
func largestKernel(c *Evaluator, class string) []string {
	top, all := topKernel(c, class)
	if all == 0 || top.Name == "" {
		return nil
	}
	return []string{fmt.Sprintf("largest %s kernel: %q, %s of the %s kernel time (%s, %s)", class,
		top.Name, unit.Share(top.TotalNS, all), class, unit.DurationOf(top.TotalNS, all), finding.Launches(top.Count))}
}

// launchers names the operators that launch a kernel, the largest first.
func launchers(c *Evaluator, kernel summary.Kernel) []string {
	work := map[string]int64{}
	for _, k := range c.Kernels {
		if k.Name == kernel.Name && k.Op != "" {
			work[k.Op] += k.TotalNS
		}
	}
	var out []string
	for i, op := range finding.ByWork(work) {
		if i == 3 {
			break
		}
		out = append(out, fmt.Sprintf("launched by %s: %s of its time (%s)", op, unit.Share(work[op], kernel.TotalNS),
			unit.DurationOf(work[op], kernel.TotalNS)))
	}
	return out
}

// categories returns the three categories with the most time among the compute kernels, the largest
// first.
func categories(c *Evaluator) []string {
	work := map[string]int64{}
	all := int64(0)
	for _, k := range c.Kernels {
		if k.Class == "compute" {
			work[k.Category] += k.TotalNS
			all += k.TotalNS
		}
	}
	var out []string
	for i, name := range finding.ByWork(work) {
		if i == 3 {
			break
		}
		out = append(out, fmt.Sprintf("%s: %s of the compute kernel time (%s)", name, unit.Share(work[name], all),
			unit.DurationOf(work[name], all)))
	}
	return out
}
