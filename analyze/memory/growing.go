package memory

import (
	"math"

	"assay/summary"
	"assay/torchprof/memory"
)

// growing compares the training step in which an allocation failed with the one before, which fitted: the sizes of the
// allocations of each stack, in their order. It returns nil unless nearly all sizes that differ grew by one ratio, as
// they do if a batch or its sequences are larger.
func (u *uses) growing(w *walked, failed int32) *summary.MemoryGrowing {
	start := u.stepBefore(failed)
	before := u.stepBefore(start - 1)
	if start <= 0 || before < 0 || before >= start || !u.trains {
		return nil
	}
	ratio, scales := compareSizes(u.sizes(before, start), u.sizes(start, failed))
	if ratio <= 1.01 {
		return nil
	}
	peak := before
	for i := before; i < start; i++ {
		if w.liveAt[i] > w.liveAt[peak] {
			peak = i
		}
	}
	g := &summary.MemoryGrowing{Ratio: ratio, Fitted: w.liveAt[peak]}
	unclear := int64(0)
	for i := before; i <= peak; i++ {
		e := &u.r.d.Entries[i]
		if e.Action != memory.Alloc || u.end(i) <= peak {
			continue
		}
		grows, known := scales[e.Stack]
		owner, _ := u.of(i)
		switch {
		case known && grows, !known && (owner == summary.UseActivations || owner == summary.UseActivationGradients):
			g.Scaled = summary.Plus(g.Scaled, e.Size)
		case !known && owner == summary.UseUnknown:
			unclear = summary.Plus(unclear, e.Size)
		}
	}
	g.Needs = summary.Plus(g.Fitted, int64((ratio-1)*float64(g.Scaled)))
	g.Error = int64((ratio - 1) * float64(unclear))
	return g
}

// stepBefore returns the first entry of the training step around an entry: behind the last allocation of another pass
// before its forward pass. It returns -1 if the history begins within the step.
func (u *uses) stepBefore(entry int32) int32 {
	at, order := entry, optimizerPass
	if entry < 0 {
		return -1
	}
	for ; at >= 0; at-- {
		p := u.passes[at]
		if u.r.d.Entries[at].Action != memory.Alloc || p == noPass {
			continue
		}
		if p > order {
			return at + 1
		}
		order = p
	}
	return -1
}

// sizes returns the sizes of the allocations with a stack, by stack.
func (u *uses) sizes(from, to int32) map[memory.StackID][]int64 {
	out := map[memory.StackID][]int64{}
	for i := from; i < to; i++ {
		if e := &u.r.d.Entries[i]; e.Action == memory.Alloc && e.Stack != 0 {
			out[e.Stack] = append(out[e.Stack], e.Size)
		}
	}
	return out
}

// compareSizes returns the ratio by which the sizes of stacks grew that both maps have, and for each such stack whether
// it grew. The ratio is 0 if under nine tenths of what differs has it, or too little is in both maps.
func compareSizes(before, after map[memory.StackID][]int64) (ratio float64, scales map[memory.StackID]bool) {
	weight := map[int]int64{} // bytes by ratio, in percent
	scales = map[memory.StackID]bool{}
	all := int64(0)
	for stack, now := range after {
		then := before[stack]
		n := min(len(now), len(then))
		was, is := int64(0), int64(0)
		for k := range n {
			was, is = was+then[k], is+now[k]
		}
		if was <= 0 {
			continue
		}
		percent := int(math.Round(100 * float64(is) / float64(was)))
		scales[stack] = percent != 100
		if percent != 100 {
			weight[percent] += was
			all += was
		}
	}
	for percent, bytes := range weight {
		if float64(bytes) >= 0.9*float64(all) {
			ratio = float64(percent) / 100
		}
	}
	return ratio, scales
}
