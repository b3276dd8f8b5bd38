package counters

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"assay/internal/redact"
	"assay/nsys/ncu"
	"assay/summary"
)

// The limits of the parts of a row other than its figures.
const (
	maxStalls     = 8
	maxAdviceRow  = 12       // pieces of advice per kernel
	maxAdvice     = 4096     // pieces of advice per input, kernels with the most time first
	maxAdviceText = 1000     // bytes of a rule's text
	maxShapes     = 1 << 16  // distinct launch shapes kept per kernel
	maxCount      = 1 << 40  // launches that one row of a table can represent
	maxInteger    = 1 << 62  // limit of sums that are kept as floating-point numbers
	maxBandwidth  = 1e6      // bytes/ns, a hundred times the bandwidth of current memory
	wholeWave     = 0.005001 // half of the last digit that ncu prints of waves
)

// An average is the mean of a figure, weighted by duration; launches without a
// duration have equal weights.
type average struct{ timed, weight, plain, count float64 }

func (a average) value() *float64 {
	switch {
	case a.weight > 0:
		return rounded(a.timed / a.weight)
	case a.count > 0:
		return rounded(a.plain / a.count)
	}
	return nil
}

// rounded returns a figure with four decimals: producers print two or three, and
// the rest is noise of the sum.
func rounded(v float64) *float64 {
	v = math.Round(v*1e4) / 1e4
	return &v
}

// A group is the launches of one kernel on one device.
type group struct {
	row      summary.Counter
	shapes   map[[2]ncu.Dim]bool
	counts   map[shape]*counted
	means    map[ncu.Quantity]*average
	reasons  map[string]*average
	limiters map[string]float64 // weight of each combination of limiters
	advice   map[string]*advice
	work     [ncu.Precisions]arithmetic
	bytes    float64
	moved    bool

	// State of the launch that is being added.
	count float64
	total int64   // ns of all launches that it represents
	wave  float64 // number of waves, or -1
}

// advice is a rule of the profiler with the launches to which it applies.
type advice struct {
	summary.Advice
	longest int64
	last    *ncu.Launch // the launch that was counted last
}

// arithmetic has sums of the work in one precision.
type arithmetic struct {
	flops, bytes, peak, rate float64
	ns                       int64
	launches                 float64
	noBytes, noPeak, noRate  bool
}

func newGroup(l *ncu.Launch, key groupKey) *group {
	return &group{
		row:    summary.Counter{Kernel: key.kernel, Device: key.device, Process: l.Process, Capability: l.Capability},
		shapes: make(map[[2]ncu.Dim]bool), counts: make(map[shape]*counted), means: make(map[ncu.Quantity]*average),
		reasons:  make(map[string]*average),
		limiters: make(map[string]float64), advice: make(map[string]*advice),
	}
}

// launch counts a launch and its duration.
func (g *group) launch(l *ncu.Launch, ns int64, timed bool) {
	n := min(max(1, l.Count), maxCount)
	g.count, g.total, g.wave = float64(n), 0, -1
	g.row.Launches = summary.Plus(g.row.Launches, n)
	if len(g.shapes) < maxShapes {
		g.shapes[[2]ncu.Dim{l.Grid, l.Block}] = true
	}
	if !timed {
		return
	}
	g.total = integer(float64(ns) * g.count)
	r := &g.row
	r.Timed = summary.Plus(r.Timed, n)
	r.TotalNS = summary.Plus(r.TotalNS, g.total)
	if r.MinNS == nil || ns < *r.MinNS {
		r.MinNS = &ns
	}
	if r.MaxNS == nil || ns > *r.MaxNS {
		r.MaxNS = &ns
	}
}

// integer rounds a sum of values that are not negative.
func integer(v float64) int64 {
	if !(v >= 0) { // NaN, after an overflow
		return 0
	}
	return int64(math.Round(min(v, maxInteger)))
}

// mean adds a figure of the launch to its mean.
func (g *group) mean(q ncu.Quantity, v float64) {
	if q == ncu.Waves {
		g.wave = v
	}
	if g.means[q] == nil {
		g.means[q] = new(average)
	}
	g.means[q].add(v, g)
}

func (a *average) add(v float64, g *group) {
	weight := float64(g.total)
	a.timed, a.weight = a.timed+float64(v*weight), a.weight+weight
	a.plain, a.count = a.plain+float64(v*g.count), a.count+g.count
}

// waves adds the empty part of the launch's last wave: the blocks of a full wave minus the blocks that it
// has.
func (g *group) waves() {
	if g.wave < 0 || g.total == 0 {
		return
	}
	full := math.Ceil(g.wave - wholeWave)
	lost := 0.0
	if full = max(full, 1); g.wave < full-wholeWave {
		lost = (full - g.wave) / full
	}
	g.row.WavesNS = summary.Plus(g.row.WavesNS, g.total)
	g.row.TailNS = summary.Plus(g.row.TailNS, integer(float64(g.total)*lost))
}

// occupancy adds the limiters of the launch's occupancy.
func (g *group) occupancy(limiters []string) {
	if limiters != nil {
		g.limiters[strings.Join(limiters, ",")] += cmp.Or(float64(g.total), g.count)
	}
}

// stalls adds the stall reasons of the launch.
func (g *group) stalls(from *grouping, l *ncu.Launch) {
	for _, m := range l.Metrics {
		key := &from.Keys[m.Key]
		if m.Text != 0 || key.Quantity != ncu.Stalls || !(m.Value >= 0 && m.Value <= maxFigure) {
			continue
		}
		if g.reasons[key.Part] == nil {
			if len(g.reasons) >= 8*maxStalls {
				continue
			}
			g.reasons[key.Part] = new(average)
		}
		g.reasons[key.Part].add(m.Value, g)
	}
}

// works adds the arithmetic of the launch.
func (g *group) works(c *ncu.Capture, l *ncu.Launch) {
	if g.total == 0 {
		return
	}
	for p := range ncu.Precisions {
		flops, ok := c.FLOPs(l, p)
		if !ok || !(flops >= 0 && flops <= maxInteger) {
			continue
		}
		w := &g.work[p]
		w.launches++
		w.flops += float64(flops * g.count)
		w.ns = summary.Plus(w.ns, g.total)
		n, known := c.Bytes(l)
		w.bytes, w.noBytes = w.bytes+float64(n*g.count), w.noBytes || !known ||
			!(n >= 0 && n <= maxBandwidth*float64(g.total+1))
		n, known = c.Peak(l, p)
		w.peak, w.noPeak = w.peak+float64(n*float64(g.total)), w.noPeak || !known
		n, known = c.PeakRate(l)
		w.rate, w.noRate = w.rate+float64(n*float64(g.total)), w.noRate || !known
	}
}

// rule counts a piece of advice. Its text contains numbers of the launch, so texts that differ only in
// numbers are counted as one.
func (g *group) rule(r *ncu.Rule, l *ncu.Launch) {
	key := r.Name + "\x00" + r.Type + "\x00" + withoutNumbers(r.Text)
	a, ok := g.advice[key]
	if !ok {
		if len(g.advice) >= ncu.MaxRules {
			return
		}
		a = &advice{longest: -1}
		g.advice[key] = a
	}
	if a.last != l {
		a.Launches, a.last = summary.Plus(a.Launches, int64(g.count)), l
	}
	if a.longest >= g.total {
		return
	}
	a.longest = g.total
	a.Name, a.Type, a.Text, a.SpeedupKind = r.Name, r.Type, cutText(r.Text), r.SpeedupKind
	if a.SpeedupPct = nil; r.Speedup > 0 {
		a.SpeedupPct = rounded(min(r.Speedup, 100))
	}
}

// withoutNumbers removes numbers from a text, but not digits of names such as L2.
func withoutNumbers(s string) string {
	inName := false
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' || r == ',' {
			if inName {
				return r
			}
			return -1
		}
		inName = unicode.IsLetter(r) || r == '_'
		return r
	}, s)
}

func cutText(s string) string {
	if len(s) <= maxAdviceText {
		return s
	}
	return redact.Cut(s, maxAdviceText) + "…"
}

// finish returns the row, with at most the given number of pieces of advice.
func (g *group) finish(rules int) summary.Counter {
	r := &g.row
	r.Shapes = int64(len(g.shapes))
	for q, to := range map[ncu.Quantity]**float64{
		ncu.ComputeShare: &r.ComputePct, ncu.MemoryShare: &r.MemoryPct, ncu.DRAMShare: &r.DRAMPct,
		ncu.L1Share: &r.L1Pct, ncu.L2Share: &r.L2Pct, ncu.L1Hits: &r.L1HitPct, ncu.L2Hits: &r.L2HitPct,
		ncu.Occupancy: &r.OccupancyPct, ncu.TheoreticalOccupancy: &r.TheoreticalPct,
		ncu.Registers: &r.Registers, ncu.Waves: &r.Waves, ncu.WarpCycles: &r.WarpCycles,
	} {
		if a := g.means[q]; a != nil {
			*to = a.value()
		}
	}
	most := ""
	for _, names := range slices.Sorted(maps.Keys(g.limiters)) {
		if most == "" || g.limiters[names] > g.limiters[most] {
			most = names
		}
	}
	if most != "" {
		r.Limiters = strings.Split(most, ",")
	}
	for _, reason := range slices.Sorted(maps.Keys(g.reasons)) {
		if v := g.reasons[reason].value(); v != nil && *v > 0 {
			r.Stalls = append(r.Stalls, summary.Stall{Reason: reason, Cycles: *v})
		}
	}
	slices.SortStableFunc(r.Stalls, func(a, b summary.Stall) int { return cmp.Compare(b.Cycles, a.Cycles) })
	r.Stalls = r.Stalls[:min(maxStalls, len(r.Stalls))]
	if g.moved {
		n := integer(g.bytes)
		r.DRAMBytes = &n
	}
	r.ByShape = g.byShape()
	r.Work, r.Rules = g.finishWork(), g.finishAdvice(min(rules, maxAdviceRow))
	return *r
}

func (g *group) finishWork() (out []summary.Work) {
	for p := range ncu.Precisions {
		w := &g.work[p]
		if w.launches == 0 || w.flops < 1 || w.ns == 0 {
			continue
		}
		row := summary.Work{Precision: p.String(), FLOPs: integer(w.flops), NS: w.ns}
		whole := func(v float64) *int64 {
			n := integer(v)
			return &n
		}
		if !w.noBytes {
			row.DRAMBytes = whole(w.bytes)
		}
		if !w.noPeak {
			row.PeakFLOPs = whole(w.peak / float64(w.ns))
		}
		if !w.noRate {
			row.PeakDRAMRate = whole(w.rate / float64(w.ns))
		}
		out = append(out, row)
	}
	return out
}

// finishAdvice sorts the advice: first what can be improved, the largest expected speedup of the whole
// launch first.
func (g *group) finishAdvice(most int) (out []summary.Advice) {
	for _, key := range slices.Sorted(maps.Keys(g.advice)) {
		out = append(out, g.advice[key].Advice)
	}
	value := func(a summary.Advice) float64 {
		if a.SpeedupPct == nil {
			return 0
		}
		return *a.SpeedupPct
	}
	kinds := []string{"INF", "", "WRN", "OPT"}
	scope := []string{"", "local", "global"}
	slices.SortStableFunc(out, func(a, b summary.Advice) int {
		return cmp.Or(cmp.Compare(slices.Index(kinds, b.Type), slices.Index(kinds, a.Type)),
			cmp.Compare(slices.Index(scope, b.SpeedupKind), slices.Index(scope, a.SpeedupKind)), cmp.Compare(value(b), value(a)))
	})
	return out[:min(max(0, most), len(out))]
}
