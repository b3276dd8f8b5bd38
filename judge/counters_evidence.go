package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/summary"
	"assay/unit"
)

// pct prints a share of a peak in percent.
func pct(p *float64) string {
	if p == nil {
		return unit.None
	}
	return fmt.Sprintf("%.1f%%", *p)
}

// launches prints how many there are.
func launches(n int64) string {
	if n == 1 {
		return "1 launch"
	}
	return unit.Count(n) + " launches"
}

// describe returns what the counters of a kernel show.
func (b *counterSet) describe(k *counted) string {
	s := fmt.Sprintf("%q: %s, %s; %s of the compute peak, %s of the memory peak", k.Counter.Kernel,
		b.of(k.weight), launches(k.Launches), pct(k.ComputePct), pct(k.MemoryPct))
	if k.DRAMBytes != nil && k.BytesNS > 0 {
		s += fmt.Sprintf(", DRAM %s", unit.Rate(*k.DRAMBytes, k.BytesNS))
		if k.DRAMPct != nil {
			s += fmt.Sprintf(" (%s of its peak)", pct(k.DRAMPct))
		}
	}
	if k.Side.Side != SideUnknown && k.top < 1 {
		s += fmt.Sprintf("; estimated savings at peak: up to %.1f%%", 100*(1-k.top))
	}
	if k.Shapes > 1 {
		s += fmt.Sprintf("; mean over %s of grid and block", label.Plural(k.Shapes, "shape"))
	}
	return s
}

// sideAdvice returns the fixes for a kernel, by its side and its other counters.
func sideAdvice(k *counted) []Step {
	switch {
	case k.Near:
		return []Step{advise("reduce-the-kernels-work")}
	case k.Side.Side == SideLatency:
		return latencyAdvice(k)
	case k.Side.Side == SideMemory:
		return memoryAdvice(k)
	case k.Side.Side == SideCompute:
		return []Step{advise("use-tensor-cores"), advise("try-other-kernels"), advise("recompute-less")}
	}
	return []Step{advise("fuse-with-neighbors"), advise("overlap-loads")}
}

// ownAdvice returns the advice of Nsight Compute with the largest estimated speedup.
func ownAdvice(k *counted) []Step {
	const most = 160
	i := slices.IndexFunc(k.Rules, func(a summary.Advice) bool { return a.SpeedupKind == "global" && a.SpeedupPct != nil })
	if i < 0 {
		return nil
	}
	a := k.Rules[i]
	sentences := strings.Split(a.Text, ". ")
	text := sentences[0]
	// The first of them may explain a word; the one with numbers is of this launch.
	if at := slices.IndexFunc(sentences, func(s string) bool { return strings.ContainsAny(s, "0123456789") }); at >= 0 {
		text = sentences[at]
	}
	if r := []rune(text); len(r) > most {
		text = string(r[:most-1]) + "…"
	}
	return []Step{advise("follow-the-rule-of-ncu", "rule", a.Name, "speedup", pct(a.SpeedupPct), "text", strings.TrimSuffix(text, "."))}
}

// latencyAdvice is about kernels that leave both peaks unused: too little is in
// flight.
func latencyAdvice(k *counted) (out []Step) {
	if k.Waves != nil && *k.Waves < 1 {
		out = append(out, advise("more-blocks", "waves", fmt.Sprintf("%.2f", *k.Waves)))
	}
	if occupancy := cmpPct(k.OccupancyPct, k.TheoreticalPct); occupancy != nil && *occupancy < 50 {
		out = append(out, occupancyAdvice(k)...)
	}
	if len(k.Stalls) > 0 {
		s := k.Stalls[0]
		cycles := fmt.Sprintf("%.1f", s.Cycles)
		if k.WarpCycles != nil {
			cycles += fmt.Sprintf(" of %.1f", *k.WarpCycles)
		}
		out = append(out, advise("read-the-stall-reason", "reason", strconv.Quote(s.Reason), "cycles", cycles))
	}
	if len(out) == 0 {
		out = append(out, advise("collect-stall-reasons"))
	}
	return append(out, advise("keep-more-in-flight"), advise("fuse-short-launches"))
}

// cmpPct returns the first figure that is known.
func cmpPct(list ...*float64) *float64 {
	for _, p := range list {
		if p != nil {
			return p
		}
	}
	return nil
}

// memoryAdvice returns the fixes for kernels that DRAM or the caches limit.
func memoryAdvice(k *counted) []Step {
	first := advise("collect-memory-tables")
	switch {
	case k.DRAMPct != nil && k.MemoryPct != nil && *k.DRAMPct > *k.MemoryPct-10:
		first = advise("move-fewer-bytes")
	case k.DRAMPct != nil:
		first = advise("check-the-caches")
	}
	return []Step{first, advise("coalesce-accesses")}
}

// occupancyAdvice is about what limits the warps that an SM holds.
func occupancyAdvice(k *counted) (out []Step) {
	has := func(name string) bool { return slices.Contains(k.Limiters, name) }
	if has("registers") {
		out = append(out, advise("use-fewer-registers"))
	}
	if has("shared memory") {
		out = append(out, advise("use-less-shared-memory"))
	}
	if has("warps") || has("blocks") {
		out = append(out, advise("change-the-block-size"))
	}
	if k.OccupancyPct != nil && k.TheoreticalPct != nil && *k.OccupancyPct < *k.TheoreticalPct-10 {
		out = append(out, advise("balance-the-blocks"))
	}
	return out
}

// lowOccupancy judges how much of the time is in kernels with few warps that are far
// from both peaks. Near a peak, few warps are enough.
func (b *counterSet) lowOccupancy() (Finding, bool) {
	rule := b.rules[RuleLowOccupancy]
	var part int64
	var low []*counted
	for i := range b.rows {
		k := &b.rows[i]
		if k.OccupancyPct != nil && under(*k.OccupancyPct, rule.OfPeak) && (k.Side.Side == SideLatency || k.Side.Side == SideUnknown) {
			part = summary.Plus(part, k.weight)
			low = append(low, k)
		}
	}
	f, limit, ok := b.finding(rule.ID, part, b.total)
	if !ok {
		return Finding{}, false
	}
	f.Title = fmt.Sprintf("Low occupancy (under %s): %s", unit.Percent(rule.OfPeak), b.of(part)) + over(limit)
	f.Evidence = []string{farFromPeaks(low)}
	for i, k := range low {
		if i < mostPlaces {
			f.Where = append(f.Where, k.place())
		}
		if i == evidenceKernels {
			f.Evidence = append(f.Evidence, label.Plural(int64(len(low)-i), "more kernel"))
			break
		}
		line := fmt.Sprintf("%q: achieved %s, theoretical %s", k.Counter.Kernel, pct(k.OccupancyPct), pct(k.TheoreticalPct))
		if len(k.Limiters) > 0 {
			line += ", limited by " + strings.Join(k.Limiters, " and ")
		}
		if k.Registers != nil {
			line += fmt.Sprintf("; %.0f registers per thread", *k.Registers)
		}
		f.Evidence = append(f.Evidence, line)
	}
	f.Next = append(occupancyAdvice(low[0]), advise("check-tile-and-waves"))
	return f, true
}

// farFromPeaks returns what is known about the distance of kernels from the peaks.
func farFromPeaks(low []*counted) string {
	unknown := 0
	for _, k := range low {
		if k.Side.Side == SideUnknown {
			unknown++
		}
	}
	const reach, lack = "are far from both peaks", "have no measured % of peak"
	switch unknown {
	case 0:
		return "these kernels " + reach
	case len(low):
		return "these kernels " + lack
	}
	return "these kernels " + reach + " or " + lack
}

// partialWaves judges how much kernel time is lost because the grid does not fill the
// last wave. A kernel near peak has enough blocks, and no kernel can save more than
// its distance from the peak.
func (b *counterSet) partialWaves() (Finding, bool) {
	var lost, whole int64
	var saved float64
	var worst *counted
	for i := range b.rows {
		k := &b.rows[i]
		whole = summary.Plus(whole, k.WavesNS)
		if k.Near {
			continue
		}
		lost = summary.Plus(lost, k.TailNS)
		if k.Side.Side == SideUnknown {
			saved += float64(k.TailNS)
		} else {
			saved += min(float64(k.TailNS), k.gain)
		}
		if worst == nil || k.TailNS > worst.TailNS {
			worst = k
		}
	}
	f, limit, ok := b.finding(RulePartialWaves, lost, whole)
	if !ok {
		return Finding{}, false
	}
	f.Title = "Tail effect: partial waves lose " + b.portion(lost, whole, "kernel time") + over(limit)
	f.Where = []Place{worst.place()}
	if b.timed {
		f.gain(int64(saved), whole, "the time of the kernels whose waves are known")
	}
	if worst.Waves != nil {
		f.Evidence = []string{fmt.Sprintf("%q: %.2f waves per SM, %s of its time lost if all blocks take equally long", worst.Counter.Kernel, *worst.Waves, unit.Share(worst.TailNS, worst.WavesNS))}
	}
	f.Next = []Step{advise("fill-the-last-wave"), advise("use-a-persistent-kernel")}
	return f, true
}

// missing reports the counters that a verdict needs, and the options that collect them.
func (b *counterSet) missing() (Finding, bool) {
	lacks := func(absent func(*summary.Counter) bool) (sum int64) {
		for i := range b.rows {
			if absent(b.rows[i].Counter) {
				sum = summary.Plus(sum, b.rows[i].weight)
			}
		}
		return sum
	}
	rule, sol := b.rules[RuleCountersMissing], b.weightOf(RuleCountersMissing)
	f := Finding{Rule: rule.ID, Level: Info, Warn: rule.Warn, Critical: rule.Critical}
	for _, m := range []struct {
		what, option string
		weight       int64
	}{
		{"% of the compute and memory peaks", "--section SpeedOfLight", sol},
		{"occupancy", "--section Occupancy", lacks(func(k *summary.Counter) bool { return k.OccupancyPct == nil })},
		{"waves per SM", "--section LaunchStats", lacks(func(k *summary.Counter) bool { return k.Waves == nil })},
	} {
		if m.weight > 0 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s: not collected for %s; add %s", m.what, b.of(m.weight), m.option))
		}
	}
	if !b.timed {
		f.Evidence = append(f.Evidence, "durations: not collected, so each launch has the same weight; add --section SpeedOfLight, or gpu__time_duration.sum to --metrics")
	}
	if f.Evidence == nil {
		return Finding{}, false
	}
	f.Title = "Some counters were not collected; profile with --set full"
	if sol > 0 {
		evidence := f.Evidence
		f, _, _ = b.finding(rule.ID, sol, b.total)
		f.Evidence = evidence
		f.Title = "No % of peak for " + b.of(sol)
	}
	f.Next = []Step{advise("collect-all-counters")}
	return f, true
}
