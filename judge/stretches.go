package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/summary"
	"assay/unit"
)

// A longGaps is the gaps that are so long that each of them is worth a look.
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

// longGaps returns the gaps that reach the rule's limit without the profiler's
// own work, longest first. Devices keep the longest of their gaps one by one; of
// further ones their number and sum are known.
func (c *court) longGaps(least int64) (out longGaps) {
	for _, d := range c.Devices {
		var kept summary.Bucket // that reach the limit, whatever of them is the profiler's
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

// places says where the longest of them are.
func (l longGaps) places() (out []Place) {
	for i, g := range l.list {
		if i == mostPlaces {
			break
		}
		out = append(out, g.place)
	}
	return out
}

// evidence describes the longest of them.
func (l longGaps) evidence() (out []string) {
	for i, g := range l.list {
		if i == 3 {
			break
		}
		line := fmt.Sprintf("a gap of %s at %s of the trace%s", unit.Duration(g.NS), unit.Timestamp(g.StartNS), g.where)
		if g.ProfilerNS > 0 {
			line += fmt.Sprintf(", %s of it the profiler's own work", unit.Duration(g.ProfilerNS))
		}
		if g.Owner != "" {
			line += ": " + g.Owner
			if g.State != "" {
				line += ", " + g.State
			}
			if g.Name != "" {
				line += fmt.Sprintf(", %q", short(g.Name))
			}
		}
		out = append(out, line)
	}
	return out
}

// judgeLongGaps holds the long gaps to their limits. Where idle time is over its
// own, they are told there, in the place of the largest gap.
func (c *court) judgeLongGaps(judged []Finding) []Finding {
	rule := c.rules[RuleLongGaps]
	gaps := c.longGaps(rule.MinGapNS)
	if gaps.count == 0 {
		return judged
	}
	take := func(verb string, all int64, of string) string {
		return fmt.Sprintf("gaps of %s and longer %s %s of %s (%s, %s)", unit.Duration(rule.MinGapNS), verb,
			unit.Share(gaps.ns, all), of, plural(gaps.count, "gap"), fraction(gaps.ns, all))
	}
	if idle := findingOf(judged, RuleGPUIdle); idle != nil {
		idle.Evidence = slices.DeleteFunc(idle.Evidence, func(line string) bool { return strings.HasPrefix(line, largestGapIs) })
		idle.Evidence = append(idle.Evidence, take("hold", c.total.Idle(), "the idle time"))
		idle.Evidence = append(idle.Evidence, gaps.evidence()...)
		return judged
	}
	f, limit, ok := measured(rule, gaps.ns, c.total.Window())
	if !ok {
		return judged
	}
	f.Title = take("take", c.total.Window(), c.windowName()) + ", " + reaches(f, limit)
	f.Evidence, f.Where = gaps.evidence(), gaps.places()
	f.gain(gaps.ns, c.total.Window(), c.windowName())
	f.Next = []Step{gaps.advice(), advise("leave-out-the-start")}
	return append(judged, f)
}

// advice names what the host did in the longest gap, where that is known.
func (l longGaps) advice() Step {
	if len(l.list) > 0 && l.list[0].Owner == summary.OwnerHost && l.list[0].Name != "" {
		return advise("move-off-the-launching-thread", "what", strconv.Quote(short(l.list[0].Name)))
	}
	return advise("find-what-runs-in-the-gaps")
}

// A stretch is chunks of a device's window that follow each other and in each of
// which the device was busy for less than the limit.
type stretch struct {
	from, ns, busy int64 // from on the input's own clock
	where          string
	place          Place
}

// stretches returns the stretches of low utilization, those with the most idle
// time first, and how much of the windows they are.
func (c *court) stretches(limit float64) (out []stretch, ns int64) {
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

// judgeUtilization says where in the window devices were busy for less than half
// of the time. Where idle time is over its limit, it is told there.
func (c *court) judgeUtilization(judged []Finding) []Finding {
	rule := c.rules[RuleLowUtilization]
	list, ns := c.stretches(rule.MinBusy)
	f, limit, ok := measured(rule, ns, c.total.Window())
	if !ok {
		return judged
	}
	share := fmt.Sprintf("utilization is under %s for %s of %s (%s)", unit.Percent(rule.MinBusy), unit.Share(ns, c.total.Window()), c.windowName(), fraction(ns, c.total.Window()))
	var lines []string
	for i, s := range list {
		if i == 3 {
			break
		}
		lines = append(lines, fmt.Sprintf("it is %s from %s to %s of the trace%s (busy for %s)", unit.Share(s.busy, s.ns),
			unit.Timestamp(s.from), unit.Timestamp(s.from+s.ns), s.where, fraction(s.busy, s.ns)))
	}
	if idle := findingOf(judged, RuleGPUIdle); idle != nil {
		if ns < c.total.Window() { // else it says nothing of where
			idle.Evidence = append(idle.Evidence, share+"; where most is lost "+lines[0])
		}
		return judged
	}
	f.Title, f.Evidence = share+", "+reaches(f, limit), lines
	idle := int64(0)
	for i, s := range list {
		idle = summary.Plus(idle, s.ns-s.busy)
		if i < mostPlaces {
			f.Where = append(f.Where, s.place.at(s.from, s.ns))
		}
	}
	f.gain(idle, c.total.Window(), c.windowName())
	f.Next = []Step{advise("find-what-runs-in-the-stretches"), advise("leave-out-stretches")}
	return append(judged, f)
}
