package timeline

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/summary"
)

// A stepCause is what makes a slow step long: work of the CPU while the GPU is idle, or a phase
// that other steps do not have.
type stepCause struct {
	name string
	ns   int64
}

// causeOfStep returns the cause of most of the time by which a slow step exceeds the median. It
// returns false if neither the longest gaps nor the phases show one.
func causeOfStep(c *Evaluator, i int, over int64) (out stepCause, ok bool) {
	st := c.Steps[i]
	in := map[string]int64{}
	for _, d := range c.Devices {
		if d.Input != st.Input || d.Rank != st.Rank || d.Device != st.Device {
			continue
		}
		for _, g := range d.LargestGaps {
			if g.Owner != summary.OwnerHost || g.Name == "" || g.Name == st.Name {
				continue
			}
			if ns := min(g.StartNS+g.NS, st.StartNS+st.WallNS) - max(g.StartNS, st.StartNS); ns > 0 {
				in[g.Name] = summary.Plus(in[g.Name], ns)
			}
		}
	}
	for _, p := range st.Phases {
		if !usual(c, p.Name) {
			in[p.Name] = max(in[p.Name], p.NS)
		}
	}
	for _, name := range finding.ByWork(in)[:min(1, len(in))] {
		out = stepCause{name, in[name]}
	}
	return out, out.ns > 0 && out.ns >= over-out.ns
}

// usual reports whether at least half of the steady steps have a phase.
func usual(c *Evaluator, phase string) bool {
	has, all := 0, 0
	for i, st := range c.Steps {
		if c.states[i] != StepSteady {
			continue
		}
		if all++; slices.ContainsFunc(st.Phases, func(p summary.StepPhase) bool { return p.Name == phase }) {
			has++
		}
	}
	return has > 0 && has >= all-has
}

// A commonCause is the cause that slow steps have in common.
type commonCause struct {
	stepCause
	steps, of int64 // slow steps with a known cause, and all slow steps
}

// commonCauseOf returns the cause of all slow steps whose cause is known, if it is the same one and
// known for at least two of them.
func commonCauseOf(c *Evaluator, slow []int, medians map[string]int64) (out commonCause, ok bool) {
	out.of = int64(len(slow))
	for _, i := range slow {
		st := c.Steps[i]
		cause, known := causeOfStep(c, i, st.WallNS-medians[st.Marker+"\x00"+st.Kind])
		if !known {
			continue
		}
		if out.steps > 0 && withoutNumbers(summary.StateAnnotation, cause.name) != withoutNumbers(summary.StateAnnotation,
			out.name) {
			return commonCause{}, false
		}
		if out.steps == 0 {
			out.name = cause.name
		}
		out.steps, out.ns = out.steps+1, summary.Plus(out.ns, cause.ns)
	}
	return out, out.steps >= 2
}

// evidence names the cause and its mean time.
func (k commonCause) evidence() string {
	text := fmt.Sprintf("%q takes %s of %s on average", finding.Short(k.name), unit.Duration(k.ns/k.steps),
		label.Plural(k.steps, "slow step"))
	if k.steps < k.of {
		text += fmt.Sprintf("; the longest gaps do not show the other %d", k.of-k.steps)
	}
	return text
}

// advice returns the fixes for the cause.
func (k commonCause) advice() []finding.Step { return work{name: k.name}.advice(0) }

// mediansOf returns the median time in ns of each kind of steps.
func mediansOf(c *Evaluator) map[string]int64 {
	out := map[string]int64{}
	for _, g := range c.groups {
		out[g.Marker+"\x00"+g.Kind] = g.MedianNS
	}
	return out
}

// slowOf returns the slow steps, in their order.
func slowOf(c *Evaluator) (out []int) {
	for i := range c.Steps {
		if c.states[i] == StepSlow {
			out = append(out, i)
		}
	}
	return out
}

// periodInSteps returns the distance of slow steps if work of the CPU makes them slow: it runs as
// often as there are slow steps, and its longest gaps are in them. The summary lists too few gaps
// to compute distances from them.
func periodInSteps(c *Evaluator, w work) int {
	slow := slowOf(c)
	n, ok := period(c, c.states, c.groups)
	if !ok || w.count != int64(len(slow)) {
		return 0
	}
	for _, d := range c.Devices {
		for _, g := range d.LargestGaps {
			if w.matches(g.Name) && !slices.ContainsFunc(slow, func(i int) bool {
				st := c.Steps[i]
				return st.Input == d.Input && st.Rank == d.Rank && st.Device == d.Device && g.StartNS >= st.StartNS &&
					g.StartNS < st.StartNS+st.WallNS
			}) {
				return 0
			}
		}
	}
	return n
}
