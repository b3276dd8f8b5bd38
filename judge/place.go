package judge

import (
	"cmp"
	"slices"

	"assay/summary"
)

// A Place is where to look: a stretch of one device's time, a kernel, a call, a
// step, as far as the rule knows it. What it does not know is absent.
type Place struct {
	Input   int    `json:"input"` // index into the summary's inputs
	Rank    int    `json:"rank"`
	Device  *int64 `json:"device,omitempty"`
	StartNS *int64 `json:"start_ns,omitempty"` // on the input's own clock
	NS      int64  `json:"ns,omitempty"`       // how long from there; of a kernel, call or step what it took in all

	Step   string `json:"step,omitempty"`
	Phase  string `json:"phase,omitempty"`
	Kernel string `json:"kernel,omitempty"`
	Op     string `json:"op,omitempty"` // that launched the kernel
	Copy   string `json:"copy,omitempty"`
	Call   string `json:"call,omitempty"` // of the runtime or driver
	Row    string `json:"row,omitempty"`  // of a table of sums, or a function of a profile
}

// mostPlaces is how many places a rule names of one kind.
const mostPlaces = 3

func placeOf(input, rank int, device int64) Place {
	return Place{Input: input, Rank: rank, Device: &device}
}

// A deviceKey is what rows name their device by.
type deviceKey struct {
	input, rank int
	device      int64
}

// deviceOf returns the device of a step.
func (c *evaluator) deviceOf(step int) deviceKey {
	st := &c.Steps[step]
	return deviceKey{st.Input, st.Rank, st.Device}
}

// at returns the place with a stretch of time.
func (p Place) at(start, ns int64) Place {
	p.StartNS, p.NS = &start, ns
	return p
}

// gain sets the most that could be saved, of so much. It is never more than the
// whole, nor less than nothing.
func (f *Finding) gain(ns, of int64, name string) {
	ns = max(0, min(ns, of))
	f.GainNS, f.GainOfNS, f.GainOf = &ns, of, name
}

// profilersOwn returns the idle time in which the profiler itself was at work:
// without it there is none.
func (c *evaluator) profilersOwn() (ns int64) {
	for _, r := range c.Idle {
		if r.Owner == summary.OwnerNothing {
			ns = summary.Plus(ns, r.NS)
		}
	}
	return ns
}

// largestGaps says where the largest gaps of all devices are.
func (c *evaluator) largestGaps() (out []Place) {
	for _, d := range c.Devices {
		for _, g := range d.LargestGaps {
			out = append(out, placeOf(d.Input, d.Rank, d.Device).at(g.StartNS, g.NS))
		}
	}
	return longest(out)
}

// longest returns the places with the most time, whatever the order of out.
func longest(out []Place) []Place {
	value := func(p *int64) int64 {
		if p == nil {
			return 0
		}
		return *p
	}
	slices.SortStableFunc(out, func(a, b Place) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Input, b.Input), cmp.Compare(a.Rank, b.Rank),
			cmp.Compare(value(a.Device), value(b.Device)), cmp.Compare(value(a.StartNS), value(b.StartNS)),
			cmp.Compare(a.Kernel, b.Kernel), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Copy, b.Copy))
	})
	return out[:min(mostPlaces, len(out))]
}

// worstPlaces names the device and the step with the largest share of p, where
// there is a choice.
func (c *evaluator) worstPlaces(p part) (out []Place) {
	if len(c.Devices) > 1 {
		d := c.Devices[worst(len(c.Devices), func(i int) (int64, int64) {
			a := c.Devices[i].Activity
			return p.time(a), a.Window()
		})]
		out = append(out, placeOf(d.Input, d.Rank, d.Device).at(d.StartNS, d.WindowNS))
	}
	if len(c.Steps) > 1 {
		s := c.Steps[worst(len(c.Steps), func(i int) (int64, int64) {
			a := c.Steps[i].Activity
			return p.time(a), a.Window()
		})]
		at := placeOf(s.Input, s.Rank, s.Device).at(s.StartNS, s.WallNS)
		at.Step = s.Name
		out = append(out, at)
	}
	return out
}

// kernelPlace names the kernel of a class with the most work.
func (c *evaluator) kernelPlace(class string) []Place {
	top, _ := c.topKernel(class)
	places := c.kernelPlaces(top.Name)
	return places[:min(1, len(places))]
}

// kernelPlaces names where the kernels of a name have the most work.
func (c *evaluator) kernelPlaces(name string) (out []Place) {
	for _, k := range c.Kernels {
		if k.Name != name {
			continue
		}
		at := placeOf(k.Input, k.Rank, k.Device)
		at.Kernel, at.Op, at.NS = k.Name, k.Op, k.TotalNS
		out = append(out, at)
	}
	return longest(out)
}

// copyPlaces names the copies with the most work.
func (c *evaluator) copyPlaces() (out []Place) {
	for _, k := range c.Copies {
		at := placeOf(k.Input, k.Rank, k.Device)
		at.Copy, at.NS = k.Name, k.TotalNS
		out = append(out, at)
	}
	return longest(out)
}

// place names the kernel of a row of counters.
func (k *counted) place() Place {
	at := placeOf(k.Counter.Input, 0, k.Counter.Device)
	at.Kernel, at.NS = k.Counter.Kernel, k.TotalNS
	return at
}

// place names a row of a table.
func (r tableRow) place() Place { return Place{Row: r.Name, NS: r.ns} }

// places names the largest rows.
func (s tableSet) places() (out []Place) {
	for _, r := range s.byName() {
		if len(out) == mostPlaces || r.ns == 0 {
			break
		}
		out = append(out, r.place())
	}
	return out
}

// places names functions of a profile.
func (f *functions) places(rows ...functionRow) (out []Place) {
	for _, r := range rows[:min(mostPlaces, len(rows))] {
		at := Place{Input: f.Input, Row: r.name}
		if f.isTime() {
			at.NS = max(0, r.total)
		}
		out = append(out, at)
	}
	return out
}
