package timeline

import (
	"fmt"
	"slices"
	"strconv"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// A process drives several GPUs. Its times are sums over them, in ns.
type process struct {
	gpus   []summary.Device
	others []int64 // by GPU: idle time during which another one works

	window, busy, idle int64
	waiting            int64 // the sum of others
	together           int64 // work during which another GPU works too
}

// processes returns the processes that drive several GPUs each. GPUs of other processes and inputs
// are not compared: they are ranks.
func processes(c *Evaluator) (out []*process) {
	type key struct{ input, process int }
	byKey := map[key]*process{}
	for _, d := range c.Devices {
		if d.Process == 0 {
			continue
		}
		k := key{d.Input, d.Process}
		p := byKey[k]
		if p == nil {
			p = new(process)
			byKey[k], out = p, append(out, p)
		}
		idle, others := int64(0), int64(0)
		for _, r := range c.Idle {
			if r.Input != d.Input || r.Rank != d.Rank || r.Device != d.Device {
				continue
			}
			if idle += r.NS; r.Owner == summary.OwnerNeighbor {
				others += r.NS
			}
		}
		p.gpus, p.others = append(p.gpus, d), append(p.others, others)
		p.window, p.busy, p.idle = p.window+d.WindowNS, p.busy+d.Activity.Busy(), p.idle+idle
		p.waiting, p.together = p.waiting+others, p.together+d.SharedNS
	}
	return out
}

// takesTurns reports whether the GPUs of a process hardly ever work at the same time, and one of them
// works during most of the idle time of the others. GPUs that are idle together wait for the CPU. If one
// GPU does nearly all of the work, that is what is uneven.
func takesTurns(c *Evaluator, p *process) bool {
	limits := c.Limits[rule.GPUsInTurn]
	_, less := busiest(c, p)
	return float64(p.together) <= limits.Margin*float64(p.busy) && float64(p.waiting) >= limits.MinShare*float64(p.idle) &&
		less < p.waiting-less
}

// busiest returns the index of the GPU that works longest, and by how many ns the others work less
// while that GPU or another one works. It returns -1 if the second one works about as long.
func busiest(c *Evaluator, p *process) (at int, less int64) {
	margin := c.Limits[rule.UnevenGPUs].Margin
	busy := make([]int64, len(p.gpus))
	for i, d := range p.gpus {
		busy[i] = d.Activity.Busy()
	}
	most := slices.Max(busy)
	at = slices.Index(busy, most)
	for i, ns := range busy {
		if i != at && float64(most-ns) < margin*float64(most) {
			return -1, 0
		}
		less += min(most-ns, p.others[i])
	}
	return at, less
}

// gpusInTurn judges the idle time during which another GPU of the process worked, where its GPUs take
// turns.
func gpusInTurn(c *Evaluator) []tree.Reading {
	var top *process
	m := tree.Measured{Rule: rule.GPUsInTurn, Of: c.Total.Window()}
	for _, p := range processes(c) {
		if !takesTurns(c, p) {
			continue
		}
		if m.Part += p.waiting; top == nil || p.waiting > top.waiting {
			top = p
		}
	}
	if top == nil {
		return nil
	}
	m.Words = map[string]string{"gpus": label.Plural(int64(len(top.gpus)), "GPU"), "any": unit.Share(top.busy+top.waiting, top.window),
		"each": unit.Share(top.busy, top.window), "both": unit.Share(top.together, top.busy)}
	return divisionOfWork(c, m, 0)
}

// unevenGPUs judges by how much the GPUs of a process work less than the busiest one.
func unevenGPUs(c *Evaluator) []tree.Reading {
	m := tree.Measured{Rule: rule.UnevenGPUs, Of: c.Total.Window()}
	most := int64(0)
	for _, p := range processes(c) {
		at, less := busiest(c, p)
		if at < 0 || takesTurns(c, p) {
			continue
		}
		m.Part += less
		if less <= most {
			continue
		}
		d := p.gpus[at]
		most = less
		own, rest := d.Activity.Busy(), int64(len(p.gpus)-1)
		of, mean := "the other GPU of its process", ""
		if rest > 1 {
			of, mean = fmt.Sprintf("the %d others of its process", rest), " on average"
		}
		m.Where = []finding.Place{finding.PlaceOf(d.Input, d.Rank, d.Device).At(d.StartNS, d.WindowNS)}
		m.Words = map[string]string{"gpu": strconv.FormatInt(d.Device, 10),
			"own": fmt.Sprintf("%s (%s of its window)", unit.Duration(own), unit.Share(own, d.WindowNS)),
			"others": fmt.Sprintf("%s for %s (%s)%s", of, unit.Duration(unit.Mean(p.busy-own, rest)),
				unit.Share(p.busy-own, p.window-d.WindowNS), mean)}
	}
	return divisionOfWork(c, m, m.Part)
}

// divisionOfWork returns the reading of a rule on how GPUs of one process divide the work; gain is
// what a better division saves, in ns, 0 if that is unknown.
func divisionOfWork(c *Evaluator, m tree.Measured, gain int64) []tree.Reading {
	r, ok := c.Evaluate(m)
	if !ok || m.Part == 0 {
		return nil
	}
	r.Cause, r.Explains = r.Evidence[0], map[string]int64{rule.GPUIdle: m.Part}
	if gain > 0 {
		c.GainOfWindow(&r.Finding, gain)
	}
	return []tree.Reading{r}
}

// neighborIdle returns the idle time in ns during which another GPU of the same process worked.
func neighborIdle(c *Evaluator) int64 {
	ns, _ := idleWithCause(c, func(r summary.Idle) bool { return r.Owner == summary.OwnerNeighbor })
	return ns
}

// mostlyNeighbors reports whether the division of work between GPUs of one process explains at least
// half of the idle time.
func mostlyNeighbors(c *Evaluator) bool {
	for _, r := range slices.Concat(gpusInTurn(c), unevenGPUs(c)) {
		if ns := r.Explains[rule.GPUIdle]; ns >= c.Total.Idle()-ns {
			return true
		}
	}
	return false
}
