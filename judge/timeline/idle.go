package timeline

import (
	"fmt"
	"slices"
	"strconv"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/advice"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view"
)

// Limits of gaps in ns. Gaps from longGap on are work of the CPU; those from clockGap to shortGap
// are the cost of launching a kernel. Shorter ones are rounding of the profiler's clock between
// kernels that follow each other directly. All limits are edges of [summary.Histogram], so sums
// between them are exact.
const (
	shortGap = 10_000
	clockGap = 100
)

// An idle is the idle time of all GPUs by the length of the gaps.
type idle struct {
	total                  int64 // ns
	longs, launches, clock summary.Bucket

	// The largest gaps among those that the summary lists: their sum, the longest one, and its
	// place.
	few     int64 // ns
	largest summary.Gap
	where   string // the GPU, if there are several
	file    string // the input, if there are several

	owners []advice.OwnerShare // empty if the causes are unknown
	listed bool                // another rule lists the longest gaps
}

func (c *Evaluator) idle() idle {
	out := idle{total: c.Total.Idle(), owners: advice.Owners(recordedIdle(c)),
		listed: c.longGaps(c.Limits[rule.LongGaps].MinGapNS).count > 0}
	var all summary.Histogram
	for _, d := range c.Devices {
		if !c.Placed { // the histogram includes gaps of the warm-up
			all = all.Plus(d.Gaps)
		}
		for _, g := range d.LargestGaps {
			if g.Owner == summary.OwnerNotRecorded {
				continue
			}
			out.few += g.NS
			if g.NS <= out.largest.NS {
				continue
			}
			out.largest = g
			if len(c.Devices) > 1 {
				out.where = c.Device(d.Input, d.Rank, d.Device)
			}
			if len(c.Inputs) > 1 && d.Input >= 0 && d.Input < len(c.Inputs) {
				out.file = c.Inputs[d.Input].Path
			}
		}
	}
	for _, b := range all.Buckets {
		to := &summary.Bucket{} // ignored: neither long nor short
		switch {
		case b.FromNS >= advice.LongGap:
			to = &out.longs
		case b.FromNS < clockGap:
			to = &out.clock
		case b.FromNS < shortGap:
			to = &out.launches
		}
		to.Count += b.Count
		to.TotalNS += b.TotalNS
	}
	for _, r := range c.Idle {
		if r.Owner == summary.OwnerNotRecorded { // each row is in one long gap
			out.longs.Count, out.longs.TotalNS = max(0, out.longs.Count-r.Count), max(0, out.longs.TotalNS-r.NS)
		}
	}
	return out
}

// most reports whether ns is at least half of the idle time.
func (i idle) most(ns int64) bool { return ns > 0 && ns >= i.total-ns }

// inFewGaps reports whether the largest gaps have most of the idle time, and neither launch
// overhead nor clock rounding has.
func (i idle) inFewGaps() bool {
	return i.most(i.few) && !i.most(i.launches.TotalNS) && !i.most(i.clock.TotalNS)
}

func (i idle) evidence() (out []string) {
	if i.largest.NS > 0 && !i.listed {
		on := ""
		if i.where != "" {
			on = " on " + i.where
		}
		out = append(out, fmt.Sprintf("largest gap: %s at %s%s (%s of the idle time)",
			unit.Duration(i.largest.NS), unit.Timestamp(i.largest.StartNS), on, unit.Share(i.largest.NS, i.total)))
	}
	out = append(advice.OwnerEvidence(i.owners, i.total), out...)
	line := func(b summary.Bucket, which, means string) {
		text := fmt.Sprintf("gaps %s: %s of the idle time (%s, %s)", which,
			unit.Share(b.TotalNS, i.total), label.Plural(b.Count, "gap"), unit.DurationOf(b.TotalNS, i.total))
		if len(i.owners) == 0 || b == i.clock {
			text += "; " + means // otherwise the causes are known
		}
		out = append(out, text)
	}
	if i.longs.Count > 0 {
		line(i.longs, "of "+unit.Duration(advice.LongGap)+" and longer", "the CPU launched nothing")
	}
	if i.launches.Count > 0 {
		line(i.launches, "from "+unit.Duration(clockGap)+" to "+unit.Duration(shortGap), "launch overhead")
	}
	if i.clock.TotalNS > i.total/100 { // less than 1% is not worth a line
		line(i.clock, "under "+unit.Duration(clockGap), "rounding of the profiler's clock")
	}
	return out
}

// causeOfIdleTime names the largest cause of the idle time, or returns "" if that is not known.
func causeOfIdleTime(c *Evaluator) string {
	causes := summary.Idles().By(c.Idle, "owner", "state")
	if c.Judged != c.Total || len(causes.Rows) == 0 {
		return "" // the rows are of other windows than the share
	}
	first := &causes.Rows[0]
	owner := causes.Text(first, "owner")
	if owner == summary.OwnerUnknown {
		return ""
	}
	text := fmt.Sprintf("%s of the idle time is %s", unit.Share(causes.Main(first), c.Total.Idle()),
		view.Cause(owner, causes.Text(first, "state")))
	if name := causes.Values(first, "in")[0].Text; name != "" {
		text += fmt.Sprintf(", mainly in %q", name)
	}
	return text
}

// advice returns the fixes for the causes of the idle time. If the causes are unknown, it depends
// on the gaps: a few that can be inspected, many long ones, or short ones between kernels.
func (i idle) advice() []finding.Step {
	if len(i.owners) > 0 {
		return advice.OwnerAdvice(i.owners, i.total)
	}
	launch := []finding.Step{finding.Advise("launch-less"), finding.Advise("launch-more-each")}
	switch {
	case i.inFewGaps():
		at := unit.Timestamp(i.largest.StartNS)
		open := finding.Advise("open-the-gap", "time", at).For("idle=few-gaps")
		if i.file != "" {
			open = finding.Advise("open-the-gap-of-a-file", "file", strconv.Quote(i.file), "time", at).For("idle=few-gaps")
		}
		return []finding.Step{open, finding.Advise("leave-out-compilation"), finding.Advise("load-data-sooner")}
	case i.most(i.longs.TotalNS):
		return append([]finding.Step{finding.Advise("find-the-common-call").For("idle=many-gaps"), finding.Advise("remove-synchronization"),
			finding.Advise("load-data-sooner")}, launch...)
	}
	return append(launch, finding.Advise("remove-synchronization"))
}

// idlePart compares idle time with its limits.
func (c *Evaluator) idlePart() []tree.Reading {
	p := partOf(rule.GPUIdle)
	num, den := p.time(c.Judged), c.Judged.Window()
	f, limit, reached := rule.Measured(c.Limits[p.rule], num, den)
	f.Title = figure(c, p, c.Judged)
	if reached {
		f.Title += rule.Over(limit)
	}
	r := tree.Reading{Finding: f, Reached: reached, Scope: worstPlaces(c, p)}
	if c.Judged != c.Total {
		// Gaps and their causes are known for the whole window only, and most of them are in the
		// warm-up.
		c.GainOfJudged(&r.Finding, num)
		r.Evidence = append(medianKernel(c), worstStep(c, p)...)
		r.Next = []finding.Step{finding.Advise("record-without", "phases", c.Left)}
		return []tree.Reading{r}
	}
	idle := c.idle()
	r.Cause = causeOfIdleTime(c)
	c.GainOfJudged(&r.Finding, num-profilerIdle(c)-neighborIdle(c))
	r.Where = largestGaps(c)
	r.Evidence = slices.Concat(worstDevice(c, p), idle.evidence(), medianKernel(c), worstStep(c, p))
	r.Next = engineAdvice(c, idle.advice())
	if ns := generatedElsewhere(c); ns > 0 {
		r.Evidence = append(engineEvidence(c, ns), r.Evidence...)
	}
	return []tree.Reading{r}
}
