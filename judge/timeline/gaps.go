package timeline

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view"
)

// A longGaps has the gaps that are long enough to inspect one by one.
type longGaps struct {
	count, ns int64 // ns is without the profiler's own time
	list      []placedGap
}

type placedGap struct {
	summary.Gap
	ns    int64 // without the profiler's own time
	where string
	place finding.Place
}

// ofOthers are causes of gaps for which the program need not be inspected.
var ofOthers = []string{summary.OwnerNothing, summary.OwnerNotRecorded, summary.OwnerNeighbor}

// longGaps returns the gaps that reach the rule's limit without the profiler's own time, longest
// first. The summary lists the longest gaps of each GPU and has the number and sum of the others.
func (c *Evaluator) longGaps(least int64) (out longGaps) {
	for _, d := range c.Devices {
		shared := false         // another GPU of the process works in a listed gap, so it may in others too
		var kept summary.Bucket // listed gaps that reach the limit with the profiler's own time
		for _, g := range d.LargestGaps {
			if g.NS < least {
				break
			}
			kept.Count, kept.TotalNS = kept.Count+1, kept.TotalNS+g.NS
			if shared = shared || g.Owner == summary.OwnerNeighbor; inWarmUp(c, &d, g.StartNS, g.NS) {
				continue
			}
			if ns := g.NS - g.ProfilerNS; ns >= least && !slices.Contains(ofOthers, g.Owner) {
				out.count, out.ns = out.count+1, out.ns+ns
				out.list = append(out.list, placedGap{g, ns, c.Choice(d.Input, d.Rank, d.Device),
					finding.PlaceOf(d.Input, d.Rank, d.Device).At(g.StartNS, g.NS)})
			}
		}
		var all summary.Bucket
		for _, b := range d.Gaps.Buckets {
			if b.FromNS >= least {
				all.Count, all.TotalNS = all.Count+b.Count, all.TotalNS+b.TotalNS
			}
		}
		if !c.Placed && !shared && len(d.LargestGaps) == summary.MaxLargestGaps && all.Count > kept.Count && all.TotalNS > kept.TotalNS {
			out.count, out.ns = out.count+(all.Count-kept.Count), out.ns+(all.TotalNS-kept.TotalNS)
		}
	}
	slices.SortStableFunc(out.list, func(a, b placedGap) int { return cmp.Compare(b.ns, a.ns) })
	return out
}

// places returns the longest gaps as places.
func (l longGaps) places() (out []finding.Place) {
	for i, g := range l.list {
		if i == finding.MostPlaces {
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
			line += ": " + view.Cause(g.Owner, g.State)
			if g.Name != "" {
				line += fmt.Sprintf(", %q", finding.Short(g.Name))
			}
		}
		out = append(out, line)
	}
	return out
}

// judgeLongGaps compares the long gaps with their limits.
func (c *Evaluator) judgeLongGaps() []tree.Reading {
	limits := c.Limits[rule.LongGaps]
	gaps := c.longGaps(limits.MinGapNS)
	if gaps.count == 0 {
		return nil
	}
	what := fmt.Sprintf("gaps of %s and longer: ", unit.Duration(limits.MinGapNS))
	f, limit, ok := rule.Measured(limits, gaps.ns, c.Total.Window())
	f.Title = finding.Upper(what) + c.OfWindow(gaps.ns) + rule.Over(limit)
	f.Evidence, f.Where = append([]string{label.Plural(gaps.count, "gap")}, gaps.evidence()...), gaps.places()
	c.GainOfWindow(&f, gaps.ns)
	f.Cause = causeOfIdleTime(c)
	f.Next = engineAdvice(c, []finding.Step{gaps.advice(), finding.Advise("leave-out-the-start")})
	r := tree.Reading{Finding: f, Reached: ok, Explains: map[string]int64{rule.GPUIdle: gaps.ns}}
	r.Below = append([]string{fmt.Sprintf("%s%s of the idle time (%s, %s)", what,
		unit.Share(gaps.ns, c.Total.Idle()), label.Plural(gaps.count, "gap"), unit.DurationOf(gaps.ns, c.Total.Idle()))},
		gaps.evidence()...)
	return []tree.Reading{r}
}

// advice names the code that the CPU ran in the longest gap, if it is known.
func (l longGaps) advice() finding.Step {
	if len(l.list) > 0 && l.list[0].Owner == summary.OwnerHost && l.list[0].Name != "" {
		return finding.Advise("move-off-the-launching-thread", "what", strconv.Quote(finding.Short(l.list[0].Name))).For("idle=code")
	}
	return finding.Advise("find-what-runs-in-the-gaps").For("idle=unnamed")
}

// A stretch is a series of chunks of a GPU's window. In each chunk the GPU is busy for less than the
// limit.
type stretch struct {
	from, ns, busy int64 // ns; from is on the input's own clock
	where          string
	place          finding.Place
}

// stretches returns the stretches of low utilization, with the most idle time first, and the sum of
// their lengths in ns.
func stretches(c *Evaluator, limit float64) (out []stretch, ns int64) {
	for _, d := range c.Devices {
		u := d.Utilization
		if u == nil {
			continue
		}
		open := false
		for i, busy := range u.BusyNS {
			from, length := u.ChunkAt(i, d.WindowNS)
			if float64(busy) >= limit*float64(length) || inWarmUp(c, &d, d.StartNS+from, length) {
				open = false
				continue
			}
			if !open {
				out = append(out, stretch{from: d.StartNS + from, where: c.Choice(d.Input, d.Rank, d.Device),
					place: finding.PlaceOf(d.Input, d.Rank, d.Device)})
				open = true
			}
			s := &out[len(out)-1]
			s.ns, s.busy = s.ns+length, s.busy+busy
			ns += length
		}
	}
	slices.SortStableFunc(out, func(a, b stretch) int { return cmp.Compare(b.ns-b.busy, a.ns-a.busy) })
	return out, ns
}

// judgeUtilization judges the stretches in which GPUs were busy for less than half of the time.
func (c *Evaluator) judgeUtilization() []tree.Reading {
	limits := c.Limits[rule.LowUtilization]
	if c.Unrecorded > 0 {
		return nil // it is unknown which stretches ran work that was not recorded
	}
	list, ns := stretches(c, limits.MinBusy)
	m := tree.Measured{Rule: rule.LowUtilization, Part: ns, Of: c.Total.Window(), Lists: map[string][]string{}}
	idle := int64(0)
	for i, s := range list {
		if idle += s.ns - s.busy; i < finding.MostPlaces {
			m.Where = append(m.Where, s.place.At(s.from, s.ns))
			m.Lists["stretches"] = append(m.Lists["stretches"],
				fmt.Sprintf("%s from %s to %s%s (busy for %s)", unit.Share(s.busy, s.ns),
					unit.Timestamp(s.from), unit.Timestamp(s.from+s.ns), s.where, unit.DurationOf(s.busy, s.ns)))
		}
	}
	r, ok := c.Evaluate(m)
	if !ok {
		return nil
	}
	c.GainOfWindow(&r.Finding, idle)
	r.Explains = map[string]int64{rule.GPUIdle: idle}
	if ns < c.Total.Window() { // otherwise the stretch is the whole window
		r.Below = []string{r.What + "; largest loss: " + r.Evidence[0]}
	}
	r.What = "" // the title already has the share of the window
	return []tree.Reading{r}
}
