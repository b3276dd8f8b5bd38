package timeline

import (
	"assay/judge/finding"
	"assay/summary"
)

// profilerIdle returns the idle time in ns that the profiler itself caused.
func profilerIdle(c *Evaluator) (ns int64) {
	for _, r := range c.Idle {
		if r.Owner == summary.OwnerNothing {
			ns += r.NS
		}
	}
	return ns
}

// largestGaps returns the largest gaps of all devices as places.
func largestGaps(c *Evaluator) (out []finding.Place) {
	for _, d := range c.Devices {
		for _, g := range d.LargestGaps {
			out = append(out, finding.PlaceOf(d.Input, d.Rank, d.Device).At(g.StartNS, g.NS))
		}
	}
	return finding.Longest(out)
}

// worstPlaces returns the device and the step with the largest share of p, if there are several.
func worstPlaces(c *Evaluator, p part) (out []finding.Place) {
	if len(c.Devices) > 1 {
		d := c.Devices[finding.Worst(len(c.Devices), func(i int) (int64, int64) {
			a := c.Devices[i].Activity
			return p.time(a), a.Window()
		})]
		out = append(out, finding.PlaceOf(d.Input, d.Rank, d.Device).At(d.StartNS, d.WindowNS))
	}
	if len(c.Steps) > 1 {
		s := c.Steps[finding.Worst(len(c.Steps), func(i int) (int64, int64) {
			a := c.Steps[i].Activity
			return p.time(a), a.Window()
		})]
		at := finding.PlaceOf(s.Input, s.Rank, s.Device).At(s.StartNS, s.WallNS)
		at.Step = s.Name
		out = append(out, at)
	}
	return out
}

// kernelPlace returns where the kernel with the most time of a class takes it.
func kernelPlace(c *Evaluator, class string) []finding.Place {
	top, _ := topKernel(c, class)
	places := kernelPlaces(c, top.Name)
	return places[:min(1, len(places))]
}

// kernelPlaces returns where the kernels of a name take the most time.
func kernelPlaces(c *Evaluator, name string) (out []finding.Place) {
	for _, k := range c.Kernels {
		if k.Name != name {
			continue
		}
		at := finding.PlaceOf(k.Input, k.Rank, k.Device)
		at.Kernel, at.Op, at.NS = k.Name, k.Op, k.TotalNS
		out = append(out, at)
	}
	return finding.Longest(out)
}

// copyPlaces returns the copies with the most time.
func copyPlaces(c *Evaluator) (out []finding.Place) {
	for _, k := range c.Copies {
		at := finding.PlaceOf(k.Input, k.Rank, k.Device)
		at.Copy, at.NS = k.Name, k.TotalNS
		out = append(out, at)
	}
	return finding.Longest(out)
}

// deviceOf returns the device of a step.
func deviceOf(c *Evaluator, step int) summary.GPU {
	st := &c.Steps[step]
	return summary.GPU{Input: st.Input, Rank: st.Rank, Device: st.Device}
}
