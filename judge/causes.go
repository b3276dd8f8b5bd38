package judge

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/summary"
	"assay/unit"
)

// A cause is a rule that explains most of the idle time. Its finding replaces the one
// on idle time, which would only repeat it.
type cause struct {
	rule    string
	title   string // without the limit
	ns      int64  // the rule's numerator
	ofIdle  int64  // the idle time that it explains
	gain    int64
	where   []Place
	next    []Step
	details []string
	always  bool // it is a finding even if idle time is under its limit
}

// causes returns the possible causes of idle time, in the order in which they are
// evaluated. One that names what the CPU did comes before one that says only that it
// was late. CUDA graphs without node trace come first, because the GPU may have
// been busy during them.
func (c *evaluator) causes() []cause {
	out := []cause{
		c.ownedCause(RuleOpaqueGraphs, "Idle or in untraced CUDA graphs", func(r summary.Idle) bool { return r.Owner == summary.OwnerOpaque }),
		c.ownedCause(RuleDataLoading, "Waiting for data loading", func(r summary.Idle) bool { return r.State == summary.StateData }),
		c.ownedCause(RuleAllocating, "Waiting for cudaMalloc/cudaFree", func(r summary.Idle) bool { return r.State == summary.StateAlloc }),
	}
	if ns := c.idleIn("data"); ns > out[1].ns { // a program can name the phase itself
		out[1].of(c, "Waiting for data loading", ns)
	}
	out[1].next, out[2].next = []Step{advise("load-data-ahead")}, []Step{advise("allocate-less"), advise("expandable-segments")}
	out[2].details = c.allocationsInSteps()
	blockings := slices.Clone(c.calls)
	slices.SortStableFunc(blockings, func(a, b blocking) int { return int(min(1, max(-1, b.lost-a.lost))) })
	for _, h := range blockings {
		out = append(out, cause{rule: h.rule, title: h.what + ": " + c.ofWindow(h.host), ns: h.host, ofIdle: h.lost, gain: h.lost, where: h.places(), next: h.next})
	}
	return append(out, c.launching())
}

// ownedCause returns the idle time with a cause that owns accepts.
func (c *evaluator) ownedCause(rule, what string, owns func(summary.Idle) bool) cause {
	out := cause{rule: rule, always: true}
	for _, r := range c.Idle {
		if owns(r) {
			out.ns = summary.Plus(out.ns, r.NS)
		}
	}
	out.of(c, what, out.ns)
	for _, d := range c.Devices {
		for _, g := range d.LargestGaps {
			if owns(summary.Idle{Owner: g.Owner, State: g.State}) {
				out.where = append(out.where, placeOf(d.Input, d.Rank, d.Device).at(g.StartNS, g.NS))
			}
		}
	}
	out.where = longest(out.where)
	return out
}

// of sets the idle time of a cause, and its title.
func (why *cause) of(c *evaluator, what string, ns int64) {
	why.ns, why.ofIdle, why.gain = ns, ns, ns
	why.title = what + ": " + c.ofWindow(ns)
}

// launching returns the idle time in short gaps between two launches, or between a
// launch and its start on the GPU.
func (c *evaluator) launching() cause {
	out := c.ownedCause(RuleLaunchBound, "", isLaunching)
	out.where, out.ns = nil, 0
	for _, r := range c.Idle {
		if isLaunching(r) {
			out.ns = summary.Plus(out.ns, r.ShortGapsNS)
		}
	}
	out.ofIdle, out.gain = out.ns, out.ns
	out.title = fmt.Sprintf("Launch-bound: gaps under %s take %s", unit.Duration(summary.ShortGapNS), c.ofWindow(out.ns))
	out.next = []Step{advise("launch-less"), advise("launch-more-each")}
	out.details = c.launchEvidence()
	return out
}

// isLaunching reports whether the CPU was between two launches during idle time: in
// a launch call, in an operator, in Python code, or in nothing that was recorded.
// Waiting, copying and allocating are other causes.
func isLaunching(r summary.Idle) bool {
	switch r.Owner {
	case summary.OwnerLaunch, summary.OwnerBetween:
		return true
	case summary.OwnerHost:
		return slices.Contains([]string{summary.StateLaunch, summary.StateCall, summary.StateOp, summary.StatePython, summary.StateAnnotation, summary.StateUnrecorded}, r.State)
	}
	return false
}

// launchEvidence returns the number of launches per step and for how long the launch
// queue was empty.
func (c *evaluator) launchEvidence() (out []string) {
	var steps, empty, all int64
	var launches []int64
	for _, l := range c.Launches {
		launches = append(launches, l.PerStep...)
		for _, q := range l.Queue {
			if all = summary.Plus(all, q.NS); q.From == 0 {
				empty = summary.Plus(empty, q.NS)
			}
		}
	}
	if steps = int64(len(launches)); steps > 0 {
		slices.Sort(launches)
		out = append(out, fmt.Sprintf("%s per step (median of %s)", label.Plural(launches[len(launches)/2], "launch call"), label.Plural(steps, "step")))
	}
	if all > 0 {
		out = append(out, fmt.Sprintf("the launch queue was empty for %s of the time (%s)", unit.Share(empty, all), fraction(empty, all)))
	}
	return out
}

// allocationsInSteps returns how often steps called the driver for memory.
func (c *evaluator) allocationsInSteps() (out []string) {
	for _, r := range c.Calls {
		if r.InSteps > 0 && (r.Kind == "alloc" || r.Kind == "free") {
			out = append(out, fmt.Sprintf("%s: %s within steps, %s CPU time; a warm caching allocator needs none", r.Name, label.Plural(r.InSteps, "call"), unit.Duration(r.TotalNS)))
		}
	}
	return out
}

// judgeIdle compares idle time with its limits, and its causes with theirs.
func (c *evaluator) judgeIdle(p part) (Finding, bool) {
	num, den := p.time(c.judged), c.judged.Window()
	f, limit, exceeds := measured(c.rules[p.rule], num, den)
	f.Title = c.figure(p, c.judged)
	idle := c.idle()
	why, found := c.causeOf(exceeds)
	switch {
	case exceeds && c.judged != c.total:
		return c.idleAfter(f, limit), true
	case found:
		f = c.caused(f, why, exceeds, limit)
	case exceeds:
		f.Title += over(limit)
		f.gain(num-c.profilersOwn(), den, c.judgedWhole())
		f.Where = c.largestGaps()
	default:
		return Finding{}, false
	}
	f.Evidence = slices.Concat(f.Evidence, c.worstDevice(p), idle.evidence(), c.medianKernel())
	f.Next = joinSteps(f.Next, idle.advice())
	return f, true
}

// idleAfter returns the finding on idle time without the warm-up. Gaps and their
// causes are known for the whole window only, and most of them are in the warm-up.
func (c *evaluator) idleAfter(f Finding, limit float64) Finding {
	f.Title += over(limit)
	f.gain(f.NumeratorNS, f.DenominatorNS, c.judgedWhole())
	f.Evidence = c.medianKernel()
	f.Next = []Step{advise("record-without", "phases", c.left)}
	return f
}

// causeOf returns the cause that explains at least half of the idle time and exceeds
// its own limit. If idle time is under its limit, only the causes count that are
// reported in any case. Causes are known for the whole window, so there is none if
// the warm-up is left out.
func (c *evaluator) causeOf(exceeds bool) (cause, bool) {
	if c.judged != c.total {
		return cause{}, false
	}
	all := c.total.Idle()
	for _, why := range c.causes() {
		_, _, ok := c.rules[why.rule].level(float64(why.ns) / float64(c.total.Window()))
		if ok && why.ofIdle >= all-why.ofIdle && (exceeds || why.always) {
			return why, true
		}
	}
	return cause{}, false
}

// caused returns the finding of the cause, which replaces the one on idle time. Its
// level is the higher of the two.
func (c *evaluator) caused(idle Finding, why cause, exceeds bool, limit float64) Finding {
	f, own, _ := measured(c.rules[why.rule], why.ns, c.total.Window())
	f.InPlaceOf = idle.Rule
	f.Title = why.title + over(own)
	total := idle.Title
	if exceeds {
		total += over(limit)
		f.Level = max(f.Level, idle.Level)
	}
	f.gain(why.gain, c.total.Window(), c.windowWhole())
	f.Evidence = append([]string{total}, why.details...)
	f.Next, f.Where = why.next, why.where
	return f
}
