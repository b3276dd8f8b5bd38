package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"assay/internal/label"
	"assay/summary"
	"assay/unit"
)

// A longGaps is the gaps that are long enough to inspect one by one.
type longGaps struct {
	count, ns int64 // ns less the profiler's own work
	list      []placedGap
}

type placedGap struct {
	summary.Gap
	ns    int64 // less the profiler's own work
	where string
	place Place
}

// longGaps returns the gaps that reach the rule's limit without the profiler's own
// work, longest first. The summary lists the longest gaps of each GPU and has the
// number and sum of the others.
func (c *evaluator) longGaps(least int64) (out longGaps) {
	for _, d := range c.Devices {
		var kept summary.Bucket // the listed gaps that reach the limit, profiler overhead included
		for _, g := range d.LargestGaps {
			if g.NS < least {
				break
			}
			kept.Count, kept.TotalNS = kept.Count+1, summary.Plus(kept.TotalNS, g.NS)
			if ns := g.NS - g.ProfilerNS; ns >= least && g.Owner != summary.OwnerNothing {
				out.count, out.ns = out.count+1, summary.Plus(out.ns, ns)
				out.list = append(out.list, placedGap{g, ns, c.choice(d.Input, d.Rank, d.Device), placeOf(d.Input, d.Rank, d.Device).at(g.StartNS, g.NS)})
			}
		}
		var all summary.Bucket
		for _, b := range d.Gaps.Buckets {
			if b.FromNS >= least {
				all.Count, all.TotalNS = summary.Plus(all.Count, b.Count), summary.Plus(all.TotalNS, b.TotalNS)
			}
		}
		if len(d.LargestGaps) == summary.MaxLargestGaps && all.Count > kept.Count && all.TotalNS > kept.TotalNS {
			out.count, out.ns = summary.Plus(out.count, all.Count-kept.Count), summary.Plus(out.ns, all.TotalNS-kept.TotalNS)
		}
	}
	slices.SortStableFunc(out.list, func(a, b placedGap) int { return cmp.Compare(b.ns, a.ns) })
	return out
}

// places returns the places of the longest gaps.
func (l longGaps) places() (out []Place) {
	for i, g := range l.list {
		if i == mostPlaces {
			break
		}
		out = append(out, g.place)
	}
	return out
}

// evidence describes the longest gaps.
func (l longGaps) evidence() (out []string) {
	for i, g := range l.list {
		if i == 3 {
			break
		}
		line := fmt.Sprintf("gap of %s at %s%s", unit.Duration(g.NS), unit.Timestamp(g.StartNS), g.where)
		if g.ProfilerNS > 0 {
			line += fmt.Sprintf(", %s of it profiler overhead", unit.Duration(g.ProfilerNS))
		}
		if g.Owner != "" {
			line += ": " + causeText(g.Owner, g.State)
			if g.Name != "" {
				line += fmt.Sprintf(", %q", short(g.Name))
			}
		}
		out = append(out, line)
	}
	return out
}

// judgeLongGaps compares the long gaps with their limits.
func (c *evaluator) judgeLongGaps() []reading {
	rule := c.rules[RuleLongGaps]
	gaps := c.longGaps(rule.MinGapNS)
	if gaps.count == 0 {
		return nil
	}
	what := fmt.Sprintf("gaps of %s and longer: ", unit.Duration(rule.MinGapNS))
	f, limit, ok := measured(rule, gaps.ns, c.total.Window())
	f.Title = upper(what) + c.ofWindow(gaps.ns) + over(limit)
	f.Evidence, f.Where = append([]string{label.Plural(gaps.count, "gap")}, gaps.evidence()...), gaps.places()
	f.gain(gaps.ns, c.total.Window(), c.windowWhole())
	f.Next = []Step{gaps.advice(), advise("leave-out-the-start")}
	r := reading{Finding: f, reached: ok, explains: map[string]int64{RuleGPUIdle: gaps.ns}}
	r.below = append([]string{fmt.Sprintf("%s%s of the idle time (%s, %s)", what,
		unit.Share(gaps.ns, c.total.Idle()), label.Plural(gaps.count, "gap"), fraction(gaps.ns, c.total.Idle()))}, gaps.evidence()...)
	return []reading{r}
}

// advice names what the CPU did in the longest gap, if that is known.
func (l longGaps) advice() Step {
	if len(l.list) > 0 && l.list[0].Owner == summary.OwnerHost && l.list[0].Name != "" {
		return advise("move-off-the-launching-thread", "what", strconv.Quote(short(l.list[0].Name)))
	}
	return advise("find-what-runs-in-the-gaps")
}

// A stretch is a series of chunks of a GPU's window, each with the GPU busy for less than
// the limit.
type stretch struct {
	from, ns, busy int64 // from on the input's own clock
	where          string
	place          Place
}

// stretches returns the stretches of low utilization, those with the most idle time
// first, and their sum.
func (c *evaluator) stretches(limit float64) (out []stretch, ns int64) {
	for _, d := range c.Devices {
		u := d.Utilization
		if u == nil {
			continue
		}
		open := false
		for i, busy := range u.BusyNS {
			from, length := u.ChunkAt(i, d.WindowNS)
			if float64(busy) >= limit*float64(length) {
				open = false
				continue
			}
			if !open {
				out = append(out, stretch{from: d.StartNS + from, where: c.choice(d.Input, d.Rank, d.Device), place: placeOf(d.Input, d.Rank, d.Device)})
				open = true
			}
			s := &out[len(out)-1]
			s.ns, s.busy = s.ns+length, s.busy+busy
			ns = summary.Plus(ns, length)
		}
	}
	slices.SortStableFunc(out, func(a, b stretch) int { return cmp.Compare(b.ns-b.busy, a.ns-a.busy) })
	return out, ns
}

// judgeUtilization judges the stretches in which GPUs were busy for less than half of the
// time.
func (c *evaluator) judgeUtilization() []reading {
	rule := c.rules[RuleLowUtilization]
	list, ns := c.stretches(rule.MinBusy)
	f, limit, ok := measured(rule, ns, c.total.Window())
	if !ok {
		return nil
	}
	share := fmt.Sprintf("GPU time utilization under %s: %s", unit.Percent(rule.MinBusy), c.ofWindow(ns))
	idle := int64(0)
	for i, s := range list {
		idle = summary.Plus(idle, s.ns-s.busy)
		if i < mostPlaces {
			f.Where = append(f.Where, s.place.at(s.from, s.ns))
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s from %s to %s%s (busy for %s)", unit.Share(s.busy, s.ns),
				unit.Timestamp(s.from), unit.Timestamp(s.from+s.ns), s.where, fraction(s.busy, s.ns)))
		}
	}
	f.Title = share + over(limit)
	f.gain(idle, c.total.Window(), c.windowWhole())
	f.Next = []Step{advise("find-what-runs-in-the-stretches"), advise("leave-out-stretches")}
	r := reading{Finding: f, reached: true, explains: map[string]int64{RuleGPUIdle: idle}}
	if ns < c.total.Window() { // otherwise the stretch is the whole window
		r.below = []string{share + "; largest loss: " + f.Evidence[0]}
	}
	return []reading{r}
}
