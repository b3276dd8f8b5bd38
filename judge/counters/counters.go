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

// A Side says what limits the kernel of one row of [summary.Summary.Counters].
type Side struct {
	Input  int    `json:"input"`
	Device int64  `json:"device"`
	Kernel string `json:"kernel"`

	// Side is "latency" (far from both peaks), "memory", "compute", "balanced" (equally close to
	// both), or "unknown" if a share of a peak was not collected.
	Side finding.Bound `json:"side"`
	// Near is true if the larger share of a peak is near what the device can do.
	Near bool `json:"near_limit,omitempty"`
}

// The values of [Side.Side].
const (
	SideLatency  = finding.BoundLatency
	SideMemory   = finding.BoundMemory
	SideCompute  = finding.BoundCompute
	SideBalanced = finding.BoundBalanced
	SideUnknown  = finding.BoundUnknown
)

// Peaks are the shares of a GPU's peaks (0 to 1) that separate the sides.
type Peaks struct {
	Latency float64 // latency limits a kernel whose shares of both peaks are below it
	Near    float64 // a kernel with at least this share is near peak
	Margin  float64 // a kernel whose shares differ by less is balanced
}

// Peaks returns the limits that separate the sides, from the limits of the rules.
func (b *Evaluator) Peaks() Peaks {
	return Peaks{b.Limits[rule.LatencyBound].OfPeak, b.Limits[rule.NearLimit].OfPeak, b.Limits[rule.Balanced].Margin}
}

// sideOf classifies a row of counters.
func (p Peaks) sideOf(k *summary.Counter) Side {
	s := Side{Input: k.Input, Device: k.Device, Kernel: k.Kernel, Side: SideUnknown}
	if k.ComputePct == nil || k.MemoryPct == nil {
		return s
	}
	// The comparison is in percent, like the figures, so that a figure equal to a limit reaches it.
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

// under reports whether a figure in percent is below a share; the tolerance absorbs rounding of the
// product.
func under(pct, share float64) bool { return pct < 100*share-1e-9 }

// A counted is a row of counters with its side.
type counted struct {
	*summary.Counter
	Side
	weight int64   // ns of its launches, or their number if no row has durations
	top    float64 // the larger share of a peak (0 to 1), 0 if a share is unknown
	gain   float64 // weight that would be saved at the peak
}

// rule returns the id of the rule that the row counts for.
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

// An Evaluator has all rows of counters, those with the largest estimated savings first.
type Evaluator struct {
	*tree.Context
	rows  []counted
	total int64
	timed bool // weights are ns
}

// New returns an evaluator for the rows of counters of a context.
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
		return cmp.Or(cmp.Compare(y.gain, x.gain), cmp.Compare(y.weight, x.weight),
			cmp.Compare(x.Counter.Kernel, y.Counter.Kernel))
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

// Judge returns the findings on kernels with counters, worst first, and the verdict for a summary
// without a timeline.
func (b *Evaluator) Judge() (finding.Verdict, []finding.Finding) {
	list := b.Findings(tree.BasedOn(tree.BasisCounters))
	v, gain := b.nothingOver(), -1.0
	for _, f := range list {
		if n := b.gainOf(f.Rule); groupOf(f.Rule).rule != "" && n > gain {
			v, gain = finding.DecidedBy(groupOf(f.Rule).bound, f), n
		}
	}
	missing := slices.IndexFunc(list, func(f finding.Finding) bool { return f.Rule == rule.CountersMissing })
	most := missing >= 0 && 2*b.weightOf(rule.CountersMissing) >= b.total
	switch is := b.Issue("input-truncated", "value-implausible"); {
	case most && gain < 0:
		v = finding.DecidedBy(finding.BoundUnknown, list[missing])
	case most:
		v.Doubt = &finding.Doubt{Code: rule.CountersMissing, Reason: "Of most kernel time it is not known what limits it"}
	case is != nil:
		v.Doubt = &finding.Doubt{Code: is.Code, Reason: "Other kernels may be missing, because the file is damaged or cut"}
	}
	finding.SortFindings(list, b.Order)
	finding.DecidedFirst(list, v)
	return v, list
}

// A sideGroup is a rule with the bound and the title of its kernels.
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

// weightOf returns the sum of the weights of a rule's rows.
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

// shareOfAll prints part as a share of the weight of all rows, with its denominator.
func (b *Evaluator) shareOfAll(part int64) string {
	if b.Context.Total.Window() > 0 {
		return b.portion(part, b.total, "profiled kernel time") // "kernel time" alone would mean that of the timeline
	}
	return b.portion(part, b.total, "kernel time")
}

// portion prints part as a share of whole; what names the denominator.
func (b *Evaluator) portion(part, whole int64, what string) string {
	if b.timed {
		return fmt.Sprintf("%s of %s (%s)", unit.Share(part, whole), what, unit.DurationOf(part, whole))
	}
	return fmt.Sprintf("%s of the launches (%s of %s)", unit.Share(part, whole), unit.Count(part), unit.Count(whole))
}

// finding compares part / whole with the limits of a rule.
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
	f.Title = g.what + ": " + b.shareOfAll(b.weightOf(g.rule)) + rule.Over(limit)
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
			f.Next = finding.JoinSteps(b.betterKernel(k), ownAdvice(k), sideAdvice(k))
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

// betterKernel points at the kernel with the largest estimated savings if k is near peak and that
// one is not.
func (b *Evaluator) betterKernel(k *counted) []finding.Step {
	most := &b.rows[0]
	if !k.Near || most.Near || most.Side.Side == SideUnknown {
		return nil
	}
	return []finding.Step{finding.Advise("optimize-another-kernel-first", "kernel",
		strconv.Quote(finding.Short(most.Counter.Kernel)), "side", string(most.Side.Side),
		"share", b.shareOfAll(most.weight), "peak", fmt.Sprintf("%.1f%%", 100*most.top)).For("larger-savings")}
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

// Rules returns the rules for kernels with counters.
func (b *Evaluator) Rules() (out []tree.Row) {
	for _, g := range groups() {
		out = append(out, tree.Row{ID: g.rule, Part: tree.BasisCounters,
			Measure: tree.Single(func() (finding.Finding, bool) { return b.judgeGroup(g) })})
	}
	for id, measure := range map[string]func() (finding.Finding, bool){
		rule.LowOccupancy: b.lowOccupancy, rule.PartialWaves: b.partialWaves, rule.CountersMissing: b.missing,
	} {
		out = append(out, tree.Row{ID: id, Part: tree.BasisCounters, Measure: tree.Single(measure)})
	}
	return out
}
