// Package counters judges kernels by their hardware counters: which side of the GPU limits
// them, and how far from its peaks they are.
package counters

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// A Side is the limiter of the kernels of one row of [summary.Summary.Counters], by
// their hardware counters.
type Side struct {
	Input  int    `json:"input"`
	Device int64  `json:"device"`
	Kernel string `json:"kernel"`

	// Side is "latency" (both peaks are far), "memory", "compute", "balanced"
	// (both alike), or "unknown" where a share was not collected.
	Side finding.Bound `json:"side"`
	// Near is true if the larger share is near what the device can do.
	Near bool `json:"near_limit,omitempty"`
}

// The sides.
const (
	SideLatency  = finding.BoundLatency
	SideMemory   = finding.BoundMemory
	SideCompute  = finding.BoundCompute
	SideBalanced = finding.BoundBalanced
	SideUnknown  = finding.BoundUnknown
)

// Peaks are the shares of a GPU's peaks that separate the sides.
type Peaks struct {
	Latency float64 // under it in both, latency limits a kernel
	Near    float64 // from here on a kernel is near peak
	Margin  float64 // shares that differ by less are alike
}

func (b *Evaluator) Peaks() Peaks {
	return Peaks{b.Limits[rule.LatencyBound].OfPeak, b.Limits[rule.NearLimit].OfPeak, b.Limits[rule.Balanced].Margin}
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
		return rule.NearLimit
	case k.Side.Side == SideUnknown:
		return rule.CountersMissing
	}
	return map[finding.Bound]string{SideLatency: rule.LatencyBound, SideMemory: rule.MemoryBound,
		SideCompute: rule.ComputeLimited, SideBalanced: rule.Balanced}[k.Side.Side]
}

// An Evaluator is all rows of counters, those with the largest estimated savings first.
type Evaluator struct {
	*tree.Context
	rows  []counted
	total int64
	timed bool // weights are durations
}

// New returns the rows of counters of a context.
func New(c *tree.Context) *Evaluator {
	b := &Evaluator{Context: c}
	b.timed = slices.ContainsFunc(c.Counters, func(k summary.Counter) bool { return k.TotalNS > 0 })
	peaks := b.Peaks()
	for i := range c.Counters {
		k := counted{Counter: &c.Counters[i], Side: peaks.sideOf(&c.Counters[i])}
		if k.weight = k.Launches; b.timed {
			k.weight = k.TotalNS
		}
		if k.Side.Side != SideUnknown {
			k.top = max(*k.ComputePct, *k.MemoryPct) / 100
			k.gain = float64(k.weight) * max(0, 1-k.top)
		}
		b.total += k.weight
		b.rows = append(b.rows, k)
	}
	slices.SortStableFunc(b.rows, func(x, y counted) int {
		return cmp.Or(cmp.Compare(y.gain, x.gain), cmp.Compare(y.weight, x.weight), cmp.Compare(x.Counter.Kernel, y.Counter.Kernel))
	})
	return b
}

// Sides returns the side of each row of the summary, in its order.
func (b *Evaluator) Sides() (out []Side) {
	peaks := b.Peaks()
	for i := range b.Counters {
		out = append(out, peaks.sideOf(&b.Counters[i]))
	}
	return out
}

// Judge returns the findings on kernels whose counters were read, worst
// first, and the verdict that they lead to where there is no timeline.
func (b *Evaluator) Judge() (finding.Verdict, []finding.Finding) {
	list := b.Findings(tree.BasedOn(tree.BasisCounters))
	v, gain := b.nothingOver(), -1.0
	for _, f := range list {
		if n := b.gainOf(f.Rule); groupOf(f.Rule).rule != "" && n > gain {
			v, gain = finding.DecidedBy(groupOf(f.Rule).bound, f), n
		}
	}
	if gain < 0 && b.weightOf(rule.CountersMissing) == b.total {
		if i := slices.IndexFunc(list, func(f finding.Finding) bool { return f.Rule == rule.CountersMissing }); i >= 0 {
			v = finding.DecidedBy(finding.BoundUnknown, list[i])
		}
	}
	finding.SortFindings(list, b.Order)
	finding.DecidedFirst(list, v)
	return v, list
}

// A sideGroup is the kernels of one rule.
type sideGroup struct {
	rule  string
	bound finding.Bound
	what  string
}

func groups() []sideGroup {
	return []sideGroup{
		{rule.LatencyBound, finding.BoundLatency, "Latency-bound kernels"},
		{rule.MemoryBound, finding.BoundMemory, "Memory-bound kernels"},
		{rule.ComputeLimited, finding.BoundCompute, "Compute-bound kernels"},
		{rule.Balanced, finding.BoundBalanced, "Balanced kernels"},
		{rule.NearLimit, finding.BoundNearLimit, "Kernels near peak"},
	}
}

func groupOf(id string) sideGroup {
	for _, g := range groups() {
		if g.rule == id {
			return g
		}
	}
	return sideGroup{}
}

// weightOf returns what the rows of a rule weigh.
func (b *Evaluator) weightOf(id string) (sum int64) {
	for i := range b.rows {
		if b.rows[i].rule() == id {
			sum += b.rows[i].weight
		}
	}
	return sum
}

func (b *Evaluator) gainOf(id string) (sum float64) {
	for i := range b.rows {
		if b.rows[i].rule() == id {
			sum += b.rows[i].gain
		}
	}
	return sum
}

// of prints a part of what all rows weigh, with its denominator.
func (b *Evaluator) of(part int64) string {
	if b.Context.Total.Window() > 0 {
		return b.portion(part, b.total, "profiled kernel time") // not the kernel time of the timeline
	}
	return b.portion(part, b.total, "kernel time")
}

// portion prints a part of something.
func (b *Evaluator) portion(part, whole int64, what string) string {
	if b.timed {
		return fmt.Sprintf("%s of %s (%s)", unit.Share(part, whole), what, unit.DurationOf(part, whole))
	}
	return fmt.Sprintf("%s of the launches (%s of %s)", unit.Share(part, whole), unit.Count(part), unit.Count(whole))
}

// finding compares a part of a whole with the limits of a rule.
func (b *Evaluator) finding(id string, part, whole int64) (f finding.Finding, limit float64, ok bool) {
	if whole <= 0 || part <= 0 {
		return f, 0, false
	}
	f, limit, ok = rule.Measured(b.Limits[id], part, whole)
	if !b.timed {
		f.NumeratorNS, f.DenominatorNS = 0, 0
	}
	return f, limit, ok
}

// judgeGroup compares the kernels of one side with their limits.
func (b *Evaluator) judgeGroup(g sideGroup) (finding.Finding, bool) {
	f, limit, ok := b.finding(g.rule, b.weightOf(g.rule), b.total)
	if !ok {
		return finding.Finding{}, false
	}
	f.Title = g.what + ": " + b.of(b.weightOf(g.rule)) + rule.Over(limit)
	if b.timed {
		f.Gain(int64(b.gainOf(g.rule)), b.total, "profiled kernel time")
	}
	n := 0
	for i := range b.rows {
		k := &b.rows[i]
		if k.rule() != g.rule {
			continue
		}
		if n < finding.MostPlaces {
			f.Where = append(f.Where, k.place())
		}
		if n++; n == 1 {
			f.Next = finding.JoinSteps(b.elsewhere(k), ownAdvice(k), sideAdvice(k))
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
func (b *Evaluator) elsewhere(k *counted) []finding.Step {
	most := &b.rows[0]
	if !k.Near || most.Near || most.Side.Side == SideUnknown {
		return nil
	}
	return []finding.Step{finding.Advise("optimize-another-kernel-first", "kernel", strconv.Quote(finding.Short(most.Counter.Kernel)), "side", string(most.Side.Side),
		"share", b.of(most.weight), "peak", fmt.Sprintf("%.1f%%", 100*most.top))}
}

// evidenceKernels is the number of kernels that a finding describes.
const evidenceKernels = 3

// nothingOver returns the verdict if no side reaches its limit.
func (b *Evaluator) nothingOver() finding.Verdict {
	v := finding.Verdict{Bound: finding.BoundMixed, Sentence: "No dominant bottleneck"}
	sep := ": "
	for _, g := range groups() {
		if n := b.weightOf(g.rule); n > 0 {
			v.Sentence += fmt.Sprintf("%s%s %s", sep, strings.ToLower(g.what), unit.Share(n, b.total))
			sep = ", "
		}
	}
	return v
}

// Rules returns the rules of kernels with counters.
func (b *Evaluator) Rules() (out []tree.Row) {
	for _, g := range groups() {
		out = append(out, tree.Row{ID: g.rule, Part: tree.BasisCounters, Measure: tree.Single(func() (finding.Finding, bool) { return b.judgeGroup(g) })})
	}
	for id, measure := range map[string]func() (finding.Finding, bool){
		rule.LowOccupancy: b.lowOccupancy, rule.PartialWaves: b.partialWaves, rule.CountersMissing: b.missing,
	} {
		out = append(out, tree.Row{ID: id, Part: tree.BasisCounters, Measure: tree.Single(measure)})
	}
	return out
}
