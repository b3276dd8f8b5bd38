package counters

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// pct prints a figure in percent of a peak.
func pct(p *float64) string {
	if p == nil {
		return unit.None
	}
	return fmt.Sprintf("%.1f%%", *p)
}

// describe returns a line with what the counters of a kernel show.
func (b *Evaluator) describe(k *counted) string {
	s := fmt.Sprintf("%q: %s, %s; %s of the compute peak, %s of the memory peak", k.Counter.Kernel,
		b.shareOfAll(k.weight), finding.Launches(k.Launches), pct(k.ComputePct), pct(k.MemoryPct))
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
func sideAdvice(k *counted) []finding.Step {
	switch {
	case k.Near:
		return []finding.Step{finding.Advise("reduce-the-kernels-work")}
	case k.Side.Side == SideLatency:
		return latencyAdvice(k)
	case k.Side.Side == SideMemory:
		return memoryAdvice(k)
	case k.Side.Side == SideCompute:
		return []finding.Step{finding.Advise("use-tensor-cores"), finding.Advise("try-other-kernels"),
			finding.Advise("recompute-less")}
	}
	return []finding.Step{finding.Advise("fuse-with-neighbors"), finding.Advise("overlap-loads")}
}

// ownAdvice returns the advice of Nsight Compute with the largest estimated speedup.
func ownAdvice(k *counted) []finding.Step {
	const most = 160
	i := slices.IndexFunc(k.Rules, func(a summary.Advice) bool { return a.SpeedupKind == "global" && a.SpeedupPct != nil })
	if i < 0 {
		return nil
	}
	a := k.Rules[i]
	sentences := strings.Split(a.Text, ". ")
	text := sentences[0]
	// The first sentence may only explain a term; a sentence with numbers is about this launch.
	if at := slices.IndexFunc(sentences, func(s string) bool { return strings.ContainsAny(s, "0123456789") }); at >= 0 {
		text = sentences[at]
	}
	if r := []rune(text); len(r) > most {
		text = string(r[:most-1]) + "…"
	}
	return []finding.Step{finding.Advise("follow-the-rule-of-ncu", "rule", a.Name, "speedup", pct(a.SpeedupPct), "text",
		strings.TrimSuffix(text, ".")).For("rule-of-ncu")}
}

// latencyAdvice returns fixes for kernels that are far from both peaks because too few operations
// are in flight.
func latencyAdvice(k *counted) (out []finding.Step) {
	if k.Waves != nil && *k.Waves < 1 {
		out = append(out, finding.Advise("more-blocks", "waves", fmt.Sprintf("%.2f", *k.Waves)).For("part-of-a-wave"))
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
		out = append(out, finding.Advise("read-the-stall-reason", "reason", strconv.Quote(s.Reason), "cycles", cycles).For("stalls"))
	}
	if len(out) == 0 {
		out = rule.Steps("nothing-collected")
	}
	return append(out, finding.Advise("keep-more-in-flight"), finding.Advise("fuse-short-launches").For(k.shows()...))
}

// cmpPct returns the first figure that is not nil.
func cmpPct(list ...*float64) *float64 {
	for _, p := range list {
		if p != nil {
			return p
		}
	}
	return nil
}

// memoryAdvice returns the fixes for kernels that DRAM or the caches limit.
func memoryAdvice(k *counted) []finding.Step {
	memory := "limit=unknown"
	switch {
	case k.DRAMPct != nil && k.MemoryPct != nil && *k.DRAMPct > *k.MemoryPct-10:
		memory = "limit=dram"
	case k.DRAMPct != nil:
		memory = "limit=caches"
	}
	return append(rule.Steps(memory), finding.Advise("coalesce-accesses"))
}

// occupancyAdvice returns fixes for what limits the number of warps on an SM.
func occupancyAdvice(k *counted) []finding.Step {
	var facts []string
	for _, name := range k.Limiters {
		switch name {
		case "warps", "blocks":
			name = "block-size"
		}
		facts = append(facts, "limit="+strings.ReplaceAll(name, " ", "-"))
	}
	if k.OccupancyPct != nil && k.TheoreticalPct != nil && *k.OccupancyPct < *k.TheoreticalPct-10 {
		facts = append(facts, "limit=imbalance")
	}
	return rule.Steps(facts...)
}

// shows returns the facts of a kernel on which the conditions of its fixes depend.
func (k *counted) shows() (facts []string) {
	if k.Launches > 0 && k.TotalNS > 0 && k.TotalNS/k.Launches < summary.ShortKernelNS {
		facts = append(facts, "short-launches")
	}
	if slices.Contains([]string{"gemm", "convolution", "attention", "moe"}, k.Category) {
		facts = append(facts, "matrix-kernel")
	}
	return facts
}

// lowOccupancy judges how much of the time is in kernels that have few warps and are far from both
// peaks. Near a peak, few warps are enough.
func (b *Evaluator) lowOccupancy() (finding.Finding, bool) {
	limits := b.Limits[rule.LowOccupancy]
	var part int64
	var low []*counted
	for i := range b.rows {
		k := &b.rows[i]
		if k.OccupancyPct != nil && under(*k.OccupancyPct, limits.OfPeak) &&
			(k.Side.Side == SideLatency || k.Side.Side == SideUnknown) {
			part += k.weight
			low = append(low, k)
		}
	}
	f, limit, ok := b.finding(limits.ID, part, b.total)
	if !ok {
		return finding.Finding{}, false
	}
	f.Title = fmt.Sprintf("Low occupancy (under %s): %s", unit.Percent(limits.OfPeak), b.shareOfAll(part)) +
		rule.Over(limit)
	f.Evidence = []string{farFromPeaks(low)}
	for i, k := range low {
		if i < finding.MostPlaces {
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
	f.Next = append(occupancyAdvice(low[0]), finding.Advise("check-tile-and-waves").For(low[0].shows()...))
	return f, true
}

// farFromPeaks says whether these kernels are known to be far from the peaks.
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

// partialWaves judges how much kernel time is lost because the grid does not fill the last wave.
// Kernels near peak are left out because they have enough blocks. No kernel can save more than its
// distance from the peak.
func (b *Evaluator) partialWaves() (finding.Finding, bool) {
	var lost, whole int64
	var saved float64
	var worst *counted
	for i := range b.rows {
		k := &b.rows[i]
		whole += k.WavesNS
		if k.Near {
			continue
		}
		lost += k.TailNS
		if k.Side.Side == SideUnknown {
			saved += float64(k.TailNS)
		} else {
			saved += min(float64(k.TailNS), k.gain)
		}
		if worst == nil || k.TailNS > worst.TailNS {
			worst = k
		}
	}
	f, limit, ok := b.finding(rule.PartialWaves, lost, whole)
	if !ok {
		return finding.Finding{}, false
	}
	f.Title = "Tail effect: partial waves lose " + b.portion(lost, whole, "kernel time") + rule.Over(limit)
	f.Where = []finding.Place{worst.place()}
	if b.timed {
		f.Gain(int64(saved), whole, "the time of the kernels whose waves are known")
	}
	if worst.Waves != nil {
		f.Evidence = []string{fmt.Sprintf("%q: %.2f waves per SM, %s of its time lost if all blocks take equally long",
			worst.Counter.Kernel, *worst.Waves, unit.Share(worst.TailNS, worst.WavesNS))}
	}
	f.Next = []finding.Step{finding.Advise("fill-the-last-wave"), finding.Advise("use-a-persistent-kernel")}
	return f, true
}

// missing lists the counters that a verdict needs, with the options that collect them.
func (b *Evaluator) missing() (finding.Finding, bool) {
	lacks := func(absent func(*summary.Counter) bool) (sum int64) {
		for i := range b.rows {
			if absent(b.rows[i].Counter) {
				sum += b.rows[i].weight
			}
		}
		return sum
	}
	limits, sol := b.Limits[rule.CountersMissing], b.weightOf(rule.CountersMissing)
	f := finding.Finding{Rule: limits.ID, Level: finding.Info, Warn: limits.Warn, Critical: limits.Critical}
	for _, m := range []struct {
		what, option string
		weight       int64
	}{
		{"% of the compute and memory peaks", "--section SpeedOfLight", sol},
		{"occupancy", "--section Occupancy", lacks(func(k *summary.Counter) bool { return k.OccupancyPct == nil })},
		{"waves per SM", "--section LaunchStats", lacks(func(k *summary.Counter) bool { return k.Waves == nil })},
	} {
		if m.weight > 0 {
			f.Evidence = append(f.Evidence, fmt.Sprintf("%s: not collected for %s; add %s", m.what, b.shareOfAll(m.weight),
				m.option))
		}
	}
	if !b.timed {
		f.Evidence = append(f.Evidence, "durations: not collected, so each launch has the same weight; add --section SpeedOfLight, or gpu__time_duration.sum to --metrics")
	}
	if f.Evidence == nil {
		return finding.Finding{}, false
	}
	f.Title = "Some counters were not collected; profile with --set full"
	if sol > 0 {
		evidence := f.Evidence
		f, _, _ = b.finding(limits.ID, sol, b.total)
		f.Evidence = evidence
		f.Title = "No % of peak for " + b.shareOfAll(sol)
	}
	f.Next = []finding.Step{finding.Advise("collect-all-counters")}
	return f, true
}

// place returns the kernel of a row of counters as a place.
func (k *counted) place() finding.Place {
	at := finding.PlaceOf(k.Counter.Input, 0, k.Counter.Device)
	at.Kernel, at.NS = k.Counter.Kernel, k.TotalNS
	return at
}
