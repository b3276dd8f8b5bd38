package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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

// describe says of a kernel what its counters say.
func (b *bench) describe(k *counted) string {
	s := fmt.Sprintf("%q: %s in %s; %s of the compute peak, %s of the memory peak", k.Counter.Kernel,
		b.of(k.weight), launches(k.Launches), pct(k.ComputePct), pct(k.MemoryPct))
	if k.DRAMBytes != nil && k.BytesNS > 0 {
		s += fmt.Sprintf(", %s from and to DRAM", unit.Rate(*k.DRAMBytes, k.BytesNS))
		if k.DRAMPct != nil {
			s += fmt.Sprintf(" (%s of its peak)", pct(k.DRAMPct))
		}
	}
	if k.Side.Side != SideUnknown && k.top < 1 {
		s += fmt.Sprintf("; at the peak it would take %.1f%% less", 100*(1-k.top))
	}
	if k.Shapes > 1 {
		s += fmt.Sprintf("; a mean of %s of grid and block", plural(k.Shapes, "shape"))
	}
	return s
}

// sideAdvice says what to do about a kernel, by its side and by what else its
// counters say.
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

// ownAdvice is what the profiler itself expects most of.
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

// memoryAdvice is about kernels that memory holds back: DRAM, or the caches.
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

// lowOccupancy asks how much of the time kernels have few warps and leave both
// peaks unused: near a limit, few warps are enough.
func (b *bench) lowOccupancy() (Finding, bool) {
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
	f.Title = fmt.Sprintf("kernels with under %s of the warps that an SM holds, %s, take %s, %s",
		unit.Percent(rule.OfPeak), farFromPeaks(low), b.of(part), reaches(f, limit))
	for i, k := range low {
		if i < mostPlaces {
			f.Where = append(f.Where, k.place())
		}
		if i == evidenceKernels {
			f.Evidence = append(f.Evidence, plural(int64(len(low)-i), "more kernel"))
			break
		}
		line := fmt.Sprintf("%q: %s achieved, %s as its limits allow", k.Counter.Kernel, pct(k.OccupancyPct), pct(k.TheoreticalPct))
		if len(k.Limiters) > 0 {
			line += ", limited by " + strings.Join(k.Limiters, " and ")
		}
		if k.Registers != nil {
			line += fmt.Sprintf("; %.0f registers a thread", *k.Registers)
		}
		f.Evidence = append(f.Evidence, line)
	}
	f.Next = append(occupancyAdvice(low[0]), advise("check-tile-and-waves"))
	return f, true
}

// farFromPeaks says what is known of how near kernels come to the peaks, of which
// none reaches one.
func farFromPeaks(low []*counted) string {
	unknown := 0
	for _, k := range low {
		if k.Side.Side == SideUnknown {
			unknown++
		}
	}
	const reach, lack = "which reach neither peak", "whose shares of the peaks are not known"
	switch unknown {
	case 0:
		return reach
	case len(low):
		return lack
	}
	return reach + " or " + lack
}

// partialWaves asks how much of the time places for blocks are empty because
// the grid does not fill the last wave. A kernel near a limit has blocks enough to
// be there, and none can save more than its peak leaves.
func (b *bench) partialWaves() (Finding, bool) {
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
	f.Title = fmt.Sprintf("the last wave of blocks is not full, so places for blocks are empty for %s, %s",
		b.portion(lost, whole, "the time"), reaches(f, limit))
	f.Where = []Place{worst.place()}
	if b.timed {
		f.gain(int64(saved), whole, "the time of the kernels whose waves are known")
	}
	if worst.Waves != nil {
		f.Evidence = []string{fmt.Sprintf("%q: %.2f waves, %s of its time empty, if all blocks take equally long", worst.Counter.Kernel, *worst.Waves, unit.Share(worst.TailNS, worst.WavesNS))}
	}
	f.Next = []Step{advise("fill-the-last-wave"), advise("use-a-persistent-kernel")}
	return f, true
}

// missing says which counters a verdict would need, and how to get them.
func (b *bench) missing() (Finding, bool) {
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
		{"shares of the compute and memory peaks", "--section SpeedOfLight", sol},
		{"occupancy", "--section Occupancy", lacks(func(k *summary.Counter) bool { return k.OccupancyPct == nil })},
		{"waves of blocks", "--section LaunchStats", lacks(func(k *summary.Counter) bool { return k.Waves == nil })},
	} {
		if m.weight > 0 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s: not collected for %s: %s", m.what, b.of(m.weight), m.option))
		}
	}
	if !b.timed {
		f.Evidence = append(f.Evidence, "durations: not collected, so kernels are weighed by their launches: --section SpeedOfLight, or gpu__time_duration.sum among --metrics")
	}
	if f.Evidence == nil {
		return Finding{}, false
	}
	f.Title = "some counters were not collected, so not every question is answered: profile with --set full"
	if sol > 0 {
		evidence := f.Evidence
		f, _, _ = b.finding(rule.ID, sol, b.total)
		f.Evidence = evidence
		f.Title = fmt.Sprintf("how near kernels come to the peaks of the device was not collected for %s: profile with --section SpeedOfLight or --set full", b.of(sol))
	}
	f.Next = []Step{advise("collect-all-counters")}
	return f, true
}
