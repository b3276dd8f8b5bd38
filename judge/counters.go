package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/unit"
)

// A Side is the limiter of the kernels of one row of [summary.Summary.Counters], by
// their hardware counters.
type Side struct {
	Input  int    `json:"input"`
	Device int64  `json:"device"`
	Kernel string `json:"kernel"`

	// Side is "latency" (both peaks are far), "memory", "compute", "balanced"
	// (both alike), or "unknown" where a share was not collected.
	Side Bound `json:"side"`
	// Near is true if the larger share is near what the device can do.
	Near bool `json:"near_limit,omitempty"`
}

// The sides.
const (
	SideLatency  = BoundLatency
	SideMemory   = BoundMemory
	SideCompute  = BoundCompute
	SideBalanced = BoundBalanced
	SideUnknown  = BoundUnknown
)

// Peaks are the shares of a GPU's peaks that separate the sides.
type Peaks struct {
	Latency float64 // under it in both, latency limits a kernel
	Near    float64 // from here on a kernel is near peak
	Margin  float64 // shares that differ by less are alike
}

func (c *evaluator) peaks() Peaks {
	return Peaks{c.rules[RuleLatencyBound].OfPeak, c.rules[RuleNearLimit].OfPeak, c.rules[RuleBalanced].Margin}
}

// sideOf returns the side of a row.
func (p Peaks) sideOf(k *summary.Counter) Side {
	s := Side{Input: k.Input, Device: k.Device, Kernel: k.Kernel, Side: SideUnknown}
	if k.ComputePct == nil || k.MemoryPct == nil {
		return s
	}
	// In percent, as the figures are: then one that is a limit meets it.
	compute, memory := *k.ComputePct, *k.MemoryPct
	top := max(compute, memory)
	s.Near = !under(top, p.Near)
	switch gap := compute - memory; {
	case under(top, p.Latency):
		s.Side, s.Near = SideLatency, false
	case under(max(gap, -gap), p.Margin):
		s.Side = SideBalanced
	case gap > 0:
		s.Side = SideCompute
	default:
		s.Side = SideMemory
	}
	return s
}

// under reports whether a figure in percent is under a share.
func under(pct, share float64) bool { return pct < 100*share-1e-9 }

// A counted is a row of counters with its side.
type counted struct {
	*summary.Counter
	Side
	weight int64   // ns of its launches, or, where no row has durations, their number
	top    float64 // the larger share, 0 if a share is not known
	gain   float64 // weight that a kernel at the peak would not take
}

// rule returns the rule that the row counts for.
func (k *counted) rule() string {
	switch {
	case k.Near:
		return RuleNearLimit
	case k.Side.Side == SideUnknown:
		return RuleCountersMissing
	}
	return map[Bound]string{SideLatency: RuleLatencyBound, SideMemory: RuleMemoryBound,
		SideCompute: RuleComputeLimited, SideBalanced: RuleBalanced}[k.Side.Side]
}

// A counterSet is all rows of counters, those with the largest estimated savings first.
type counterSet struct {
	*evaluator
	rows  []counted
	total int64
	timed bool // weights are durations
}

func (c *evaluator) counterSet() *counterSet {
	b := &counterSet{evaluator: c}
	b.timed = slices.ContainsFunc(c.Counters, func(k summary.Counter) bool { return k.TotalNS > 0 })
	peaks := c.peaks()
	for i := range c.Counters {
		k := counted{Counter: &c.Counters[i], Side: peaks.sideOf(&c.Counters[i])}
		if k.weight = k.Launches; b.timed {
			k.weight = k.TotalNS
		}
		if k.Side.Side != SideUnknown {
			k.top = max(*k.ComputePct, *k.MemoryPct) / 100
			k.gain = float64(k.weight) * max(0, 1-k.top)
		}
		b.total = summary.Plus(b.total, k.weight)
		b.rows = append(b.rows, k)
	}
	slices.SortStableFunc(b.rows, func(x, y counted) int {
		return cmp.Or(cmp.Compare(y.gain, x.gain), cmp.Compare(y.weight, x.weight), cmp.Compare(x.Counter.Kernel, y.Counter.Kernel))
	})
	return b
}

// sides returns the side of each row of the summary, in its order.
func (c *evaluator) sides() (out []Side) {
	peaks := c.peaks()
	for i := range c.Counters {
		out = append(out, peaks.sideOf(&c.Counters[i]))
	}
	return out
}

// counted returns the set of all rows of counters.
func (c *evaluator) counted() *counterSet {
	if c.counters == nil {
		c.counters = c.counterSet()
	}
	return c.counters
}

// judgeCounters returns the findings on kernels whose counters were read, worst
// first, and the verdict that they lead to where there is no timeline.
func (c *evaluator) judgeCounters() (Verdict, []Finding) {
	b := c.counted()
	list := c.findings(basedOn(basisCounters))
	v, gain := b.nothingOver(), -1.0
	for _, f := range list {
		if n := b.gainOf(f.Rule); groupOf(f.Rule).rule != "" && n > gain {
			v, gain = decidedBy(groupOf(f.Rule).bound, f), n
		}
	}
	if gain < 0 && b.weightOf(RuleCountersMissing) == b.total {
		if i := slices.IndexFunc(list, func(f Finding) bool { return f.Rule == RuleCountersMissing }); i >= 0 {
			v = decidedBy(BoundUnknown, list[i])
		}
	}
	sortFindings(list, c.order)
	decidedFirst(list, v)
	return v, list
}

// A sideGroup is the kernels of one rule.
type sideGroup struct {
	rule  string
	bound Bound
	what  string
}

func groups() []sideGroup {
	return []sideGroup{
		{RuleLatencyBound, BoundLatency, "Latency-bound kernels"},
		{RuleMemoryBound, BoundMemory, "Memory-bound kernels"},
		{RuleComputeLimited, BoundCompute, "Compute-bound kernels"},
		{RuleBalanced, BoundBalanced, "Balanced kernels"},
		{RuleNearLimit, BoundNearLimit, "Kernels near peak"},
	}
}

func groupOf(rule string) sideGroup {
	for _, g := range groups() {
		if g.rule == rule {
			return g
		}
	}
	return sideGroup{}
}

// weightOf returns what the rows of a rule weigh.
func (b *counterSet) weightOf(rule string) (sum int64) {
	for i := range b.rows {
		if b.rows[i].rule() == rule {
			sum = summary.Plus(sum, b.rows[i].weight)
		}
	}
	return sum
}

func (b *counterSet) gainOf(rule string) (sum float64) {
	for i := range b.rows {
		if b.rows[i].rule() == rule {
			sum += b.rows[i].gain
		}
	}
	return sum
}

// of prints a part of what all rows weigh, with its denominator.
func (b *counterSet) of(part int64) string {
	if b.evaluator.total.Window() > 0 {
		return b.portion(part, b.total, "profiled kernel time") // not the kernel time of the timeline
	}
	return b.portion(part, b.total, "kernel time")
}

// portion prints a part of something.
func (b *counterSet) portion(part, whole int64, what string) string {
	if b.timed {
		return fmt.Sprintf("%s of %s (%s)", unit.Share(part, whole), what, fraction(part, whole))
	}
	return fmt.Sprintf("%s of the launches (%s of %s)", unit.Share(part, whole), unit.Count(part), unit.Count(whole))
}

// finding compares a part of a whole with the limits of a rule.
func (b *counterSet) finding(rule string, part, whole int64) (f Finding, limit float64, ok bool) {
	if whole <= 0 || part <= 0 {
		return f, 0, false
	}
	f, limit, ok = measured(b.rules[rule], part, whole)
	if !b.timed {
		f.NumeratorNS, f.DenominatorNS = 0, 0
	}
	return f, limit, ok
}

// judgeGroup compares the kernels of one side with their limits.
func (b *counterSet) judgeGroup(g sideGroup) (Finding, bool) {
	f, limit, ok := b.finding(g.rule, b.weightOf(g.rule), b.total)
	if !ok {
		return Finding{}, false
	}
	f.Title = g.what + ": " + b.of(b.weightOf(g.rule)) + over(limit)
	if b.timed {
		f.gain(int64(b.gainOf(g.rule)), b.total, "profiled kernel time")
	}
	n := 0
	for i := range b.rows {
		k := &b.rows[i]
		if k.rule() != g.rule {
			continue
		}
		if n < mostPlaces {
			f.Where = append(f.Where, k.place())
		}
		if n++; n == 1 {
			f.Next = joinSteps(b.elsewhere(k), ownAdvice(k), sideAdvice(k))
		}
		if n <= evidenceKernels {
			f.Evidence = append(f.Evidence, b.describe(k))
		}
	}
	if rest := n - evidenceKernels; rest > 0 {
		f.Evidence = append(f.Evidence, label.Plural(int64(rest), "more kernel"))
	}
	return f, true
}

// elsewhere points at the kernel with the largest estimated savings, if the kernels of a
// finding are near peak and it is not.
func (b *counterSet) elsewhere(k *counted) []Step {
	most := &b.rows[0]
	if !k.Near || most.Near || most.Side.Side == SideUnknown {
		return nil
	}
	return []Step{advise("optimize-another-kernel-first", "kernel", strconv.Quote(short(most.Counter.Kernel)), "side", string(most.Side.Side),
		"share", b.of(most.weight), "peak", fmt.Sprintf("%.1f%%", 100*most.top))}
}

// evidenceKernels is the number of kernels that a finding describes.
const evidenceKernels = 3

// nothingOver returns the verdict if no side reaches its limit.
func (b *counterSet) nothingOver() Verdict {
	v := Verdict{Bound: BoundMixed, Sentence: "No dominant bottleneck"}
	sep := ": "
	for _, g := range groups() {
		if n := b.weightOf(g.rule); n > 0 {
			v.Sentence += fmt.Sprintf("%s%s %s", sep, strings.ToLower(g.what), unit.Share(n, b.total))
			sep = ", "
		}
	}
	return v
}
