package judge

import (
	"fmt"
	"slices"

	"assay/summary"
	"assay/unit"
)

// A cause is what most of the idle time comes from, where a rule is about just
// that. The finding is the cause's then: who reads that a device waits for data
// need not be told that it is idle, too.
type cause struct {
	rule    string
	title   string // up to the limit that it is over
	ns      int64  // that the rule measures
	ofIdle  int64  // of the idle time
	gain    int64
	where   []Place
	next    []Step
	details []string
	always  bool // it is a finding even where idle time is under its limit
}

// causes returns what idle time can come from, in the order in which they are
// asked: one that says what the host did comes before one that says only that it
// was not done in time. A graph whose inside was not recorded comes first, for
// what it hides need not be idle time at all.
func (c *court) causes() []cause {
	out := []cause{
		c.ownedCause(RuleOpaqueGraphs, "graphs whose inside was not recorded ran while the device seems idle", func(r summary.Idle) bool { return r.Owner == summary.OwnerOpaque }),
		c.ownedCause(RuleDataLoading, "the GPU waits for data to be loaded", func(r summary.Idle) bool { return r.State == summary.StateData }),
		c.ownedCause(RuleAllocating, "the GPU waits for its memory to be allocated or freed", func(r summary.Idle) bool { return r.State == summary.StateAlloc }),
	}
	if ns := c.idleIn("data"); ns > out[1].ns { // a program may call it so itself
		out[1].of(c, "the GPU waits for data to be loaded", ns)
	}
	out[1].next, out[2].next = []Step{advise("load-data-ahead")}, []Step{advise("allocate-less"), advise("expandable-segments")}
	out[2].details = c.allocationsInSteps()
	holdings := slices.Clone(c.calls)
	slices.SortStableFunc(holdings, func(a, b holding) int { return int(min(1, max(-1, b.lost-a.lost))) })
	for _, h := range holdings {
		share := fmt.Sprintf("%s for %s of %s (%s)", h.what, unit.Share(h.host, c.total.Window()), c.windowName(), fraction(h.host, c.total.Window()))
		out = append(out, cause{rule: h.rule, title: share, ns: h.host, ofIdle: h.lost, gain: h.lost, where: h.places(), next: h.next})
	}
	return append(out, c.launching())
}

// ownedCause is the idle time that one kind of owner has.
func (c *court) ownedCause(rule, what string, owns func(summary.Idle) bool) cause {
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

// of sets what idle time a cause has, and its title.
func (why *cause) of(c *court, what string, ns int64) {
	why.ns, why.ofIdle, why.gain = ns, ns, ns
	why.title = fmt.Sprintf("%s for %s of %s (%s)", what, unit.Share(ns, c.total.Window()), c.windowName(), fraction(ns, c.total.Window()))
}

// launching is the idle time in short gaps in which the host got from one launch
// to the next, or the launch to the device.
func (c *court) launching() cause {
	out := c.ownedCause(RuleLaunchBound, "", isLaunching)
	out.where, out.ns = nil, 0
	for _, r := range c.Idle {
		if isLaunching(r) {
			out.ns = summary.Plus(out.ns, r.ShortGapsNS)
		}
	}
	out.ofIdle, out.gain = out.ns, out.ns
	out.title = fmt.Sprintf("the host launches more slowly than the GPU works: gaps under %s between launches take %s of %s (%s)", unit.Duration(summary.ShortGapNS),
		unit.Share(out.ns, c.total.Window()), c.windowName(), fraction(out.ns, c.total.Window()))
	out.next = []Step{advise("launch-less"), advise("launch-more-each")}
	out.details = c.launchEvidence()
	return out
}

// isLaunching reports whether idle time is of a host on its way from one launch to
// the next: launching, in an operator or in Python, or in nothing that was
// recorded. Waiting, copying and allocating are other causes.
func isLaunching(r summary.Idle) bool {
	switch r.Owner {
	case summary.OwnerLaunch, summary.OwnerBetween:
		return true
	case summary.OwnerHost:
		return slices.Contains([]string{summary.StateLaunch, summary.StateCall, summary.StateOp, summary.StatePython, summary.StateAnnotation, summary.StateUnrecorded}, r.State)
	}
	return false
}

// launchEvidence says how many launches a step takes and how long nothing was in
// the queue.
func (c *court) launchEvidence() (out []string) {
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
		out = append(out, fmt.Sprintf("the median of %s takes %s", plural(steps, "step"), plural(launches[len(launches)/2], "launching call")))
	}
	if all > 0 {
		out = append(out, fmt.Sprintf("nothing was launched ahead for %s of the time (%s)", unit.Share(empty, all), fraction(empty, all)))
	}
	return out
}

// allocationsInSteps says how often the driver was asked for memory within steps.
func (c *court) allocationsInSteps() (out []string) {
	for _, r := range c.Calls {
		if r.InSteps > 0 && (r.Kind == "alloc" || r.Kind == "free") {
			out = append(out, fmt.Sprintf("%s: %s within steps, %s of host time in all; a caching allocator that is warm needs none", r.Name, plural(r.InSteps, "call"), unit.Duration(r.TotalNS)))
		}
	}
	return out
}

// judgeIdle holds idle time to its limits, and what it comes from to its own.
func (c *court) judgeIdle(p part) (Finding, bool) {
	num, den := p.time(c.judged), c.judged.Window()
	f, limit, over := measured(c.rules[p.rule], num, den)
	f.Title = c.figure(p, c.judged)
	idle := c.idle()
	why, found := c.causeOf(over)
	switch {
	case over && c.judged != c.total:
		return c.idleAfter(f, limit), true
	case found:
		f = c.caused(f, why, over, limit)
	case over:
		f.Title += ", " + reaches(f, limit)
		f.gain(num-c.profilersOwn(), den, c.judgedName())
		f.Where = c.largestGaps()
	default:
		return Finding{}, false
	}
	f.Evidence = slices.Concat(f.Evidence, c.worstDevice(p), idle.evidence(), c.medianKernel())
	f.Next = joinSteps(f.Next, idle.advice())
	return f, true
}

// idleAfter is the finding on idle time where the warm-up is left out. Gaps and their
// owners are known of the whole window, and those of the warm-up are most of them.
func (c *court) idleAfter(f Finding, limit float64) Finding {
	f.Title += ", " + reaches(f, limit)
	f.gain(f.NumeratorNS, f.DenominatorNS, c.judgedName())
	f.Evidence = c.medianKernel()
	f.Next = []Step{advise("record-without", "phases", c.left)}
	return f
}

// causeOf returns the cause that has half of the idle time or more and is over its
// own limit. Where idle time is not over its own, only those count that matter
// however little there is. Owners are known of the whole window, so where the
// warm-up is left out there is none.
func (c *court) causeOf(over bool) (cause, bool) {
	if c.judged != c.total {
		return cause{}, false
	}
	all := c.total.Idle()
	for _, why := range c.causes() {
		_, _, ok := c.rules[why.rule].level(float64(why.ns) / float64(c.total.Window()))
		if ok && why.ofIdle >= all-why.ofIdle && (over || why.always) {
			return why, true
		}
	}
	return cause{}, false
}

// caused turns the finding on idle time into that of its cause. It is as serious
// as either of them.
func (c *court) caused(idle Finding, why cause, over bool, limit float64) Finding {
	f, own, _ := measured(c.rules[why.rule], why.ns, c.total.Window())
	f.InPlaceOf = idle.Rule
	f.Title = fmt.Sprintf("%s, %s; %s", why.title, reaches(f, own), idle.Title)
	if over {
		f.Title += ", " + reaches(idle, limit)
		f.Level = max(f.Level, idle.Level)
	}
	f.gain(why.gain, c.total.Window(), c.windowName())
	f.Evidence = why.details
	f.Next, f.Where = why.next, why.where
	return f
}
