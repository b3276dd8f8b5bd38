package timeline

import (
	"slices"

	"assay/summary"
)

// leaveOutWarmUp subtracts the idle time of the warm-up steps from the rows of idle time, if the
// causes of all of it are known. All rules on idle time then judge the windows without the warm-up.
func leaveOutWarmUp(c *Evaluator) {
	if !c.knowsWarmUp() {
		return
	}
	type key struct {
		input, rank        int
		device             int64
		owner, state, name string
	}
	warmUpIdle := map[key]summary.StepIdle{}
	for i, st := range c.Steps {
		if c.states[i] != StepWarmUp {
			continue
		}
		for _, r := range st.Idle {
			k := key{st.Input, st.Rank, st.Device, r.Owner, r.State, r.Name}
			sum := warmUpIdle[k]
			sum.NS, sum.Count, sum.ShortGapsNS = sum.NS+r.NS, sum.Count+r.Count,
				sum.ShortGapsNS+r.ShortGapsNS
			warmUpIdle[k] = sum
		}
	}
	steady := *c.Summary
	steady.Idle = nil
	for _, r := range c.Idle {
		o := warmUpIdle[key{r.Input, r.Rank, r.Device, r.Owner, r.State, r.Name}]
		if r.NS -= min(r.NS, o.NS); r.NS == 0 {
			continue
		}
		r.Count, r.ShortGapsNS = max(1, r.Count-o.Count), min(r.NS, max(0, r.ShortGapsNS-o.ShortGapsNS))
		r.MaxNS = min(r.MaxNS, r.NS)
		steady.Idle = append(steady.Idle, r)
	}
	steady.Devices = slices.Clone(c.Devices)
	for i := range steady.Devices {
		d := &steady.Devices[i]
		d.LargestGaps = slices.DeleteFunc(slices.Clone(d.LargestGaps),
			func(g summary.Gap) bool { return inWarmUp(c, d, g.StartNS, g.NS) })
	}
	c.Summary, c.Total, c.Placed = &steady, c.Judged, true
}

// knowsWarmUp reports whether the causes of all idle time of all warm-up steps are known.
func (c *Evaluator) knowsWarmUp() bool {
	steps := 0
	for i, st := range c.Steps {
		if c.states[i] != StepWarmUp {
			continue
		}
		steps++
		ns := int64(0)
		for _, r := range st.Idle {
			ns += r.NS
		}
		if ns != withinWindow(c, st).Idle() {
			return false
		}
	}
	return steps > 0
}

// withinWindow returns the activity of a step without the time before and after the window of its
// device, in which nothing ran.
func withinWindow(c *Evaluator, st summary.Step) summary.Activity {
	a := st.Activity
	for _, d := range c.Devices {
		if d.Input == st.Input && d.Rank == st.Rank && d.Device == st.Device {
			before, after := d.StartNS-st.StartNS, st.StartNS+st.WallNS-(d.StartNS+d.WindowNS)
			a[0] -= min(a[0], max(0, before)+max(0, after))
		}
	}
	return a
}
