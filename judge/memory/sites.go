package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// memoryExhausted reports that an allocation failed, with the free memory at that time.
func (c *Evaluator) memoryExhausted() (finding.Finding, bool) {
	if s := c.firstFailed(); s != nil {
		o := s.OutOfMemory[len(s.OutOfMemory)-1]
		f := finding.Finding{Rule: rule.MemoryExhausted, Level: finding.Critical, NumeratorBytes: o.Wanted}
		l := c.logged(s, o)
		if l.wanted = o.Wanted; o.Free != nil {
			l.free = *o.Free
		}
		if f.Title = l.title(c.onMemory(s)); l.card <= 0 && o.Reserved != nil && !l.limited() { // other processes may have the rest of the GPU
			f.Title += fmt.Sprintf("; this process has %s", unit.Bytes(*o.Reserved))
		}
		if all := max(l.card, 0); all > 0 || s.Capacity != nil && *s.Capacity > 0 {
			f.DenominatorBytes = cmp.Or(all, optional(s.Capacity))
			f.Value = float64(o.Wanted) / float64(f.DenominatorBytes)
		}
		f.Evidence = slices.Concat(failureEvidence(s, o), c.placeEvidence(s), c.useEvidence(s), c.growingEvidence(s, o),
			outsideEvidence(s, &l), splitEvidence(s))
		f.Where = []finding.Place{finding.PlaceOf(s.Input, s.Rank, s.Device)}
		f.Next = finding.JoinSteps(c.leakAdvice(s), l.fixes(c.shortAdvice(s, o)))
		return f, true
	}
	return finding.Finding{}, false
}

// idleReserved returns the bytes that were reserved but not allocated when an allocation failed.
func idleReserved(o summary.OutOfMemory) int64 {
	if o.Reserved == nil || o.Live == nil {
		return 0
	}
	return max(0, *o.Reserved-max(0, *o.Live))
}

// limited tells why an allocation fails while the GPU has room for it.
const limited = "enough memory was free, so a limit of the process applies: torch.cuda.set_per_process_memory_fraction, " +
	"or the container's limit"

// outsideEvidence says how much of the GPU neither the allocator has nor is free.
func outsideEvidence(s *summary.Snapshot, l *failure) []string {
	if s.Capacity == nil || l.card < *s.Capacity+minMemory {
		return nil
	}
	return []string{fmt.Sprintf("outside of the allocator: %s (CUDA context, buffers of NCCL, other processes)", unit.Bytes(l.card-*s.Capacity))}
}

// fragmented reports whether the memory that is reserved and not allocated would have served the failed allocation and
// more: an allocator always has some rest, and a program that is short of all but this rest fails at its next
// allocation.
func fragmented(unused, wanted, allocated int64) bool {
	return unused >= wanted && unused >= summary.Plus(unused, allocated)/10
}

func failureEvidence(s *summary.Snapshot, o summary.OutOfMemory) (out []string) {
	if o.Frame != "" {
		out = append(out, fmt.Sprintf("allocation site: %s (%s)", o.Frame, summary.KindWords(o.Kind)))
	}
	if s.Failed > 1 {
		out = append(out, fmt.Sprintf("%s failed; this is the last one of the history", label.Plural(s.Failed, "allocation")))
	}
	if o.Free != nil && *o.Free >= o.Wanted {
		out = append(out, limited)
	}
	if o.Reserved != nil && o.Live != nil {
		line := fmt.Sprintf("%s reserved and %s allocated at that time", unit.Bytes(*o.Reserved), unit.Bytes(*o.Live))
		if idle := idleReserved(o); idle >= o.Wanted {
			line += fmt.Sprintf("; the other %s was reserved but fragmented", unit.Bytes(idle))
		}
		out = append(out, line)
	}
	return out
}

// optional returns a number, or 0 if it is unknown.
func optional(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

// shortAdvice returns the fixes if memory is short, whatever limits it: for fragmentation if the unused reserved memory
// would have been large enough in total, otherwise for the largest kinds of memory.
func (c *Evaluator) shortAdvice(s *summary.Snapshot, o summary.OutOfMemory) []finding.Step {
	if s.Capacity != nil && o.Wanted > *s.Capacity/2 {
		return finding.JoinSteps([]finding.Step{finding.Advise("smaller-allocation").For("one-allocation")}, c.useAdvice(s))
	}
	if o.Live != nil && fragmented(idleReserved(o), o.Wanted, *o.Live) {
		return finding.JoinSteps(fragmentationAdvice(s), c.useAdvice(s))
	}
	return finding.JoinSteps(c.useAdvice(s), fragmentationAdvice(s))
}

// memoryOwner judges whether one allocation site has most of the memory at the peak. A KV cache is
// large on purpose, so it is only information.
func (c *Evaluator) memoryOwner() (finding.Finding, bool) {
	limits := c.Limits[rule.MemoryOwner]
	s, num, den := c.worstMemory(func(s *summary.Snapshot) (int64, int64) {
		if o := firstKnown(s); o != nil && s.OwnersBytes >= minMemory && !c.cut(s.Input) {
			return o.Bytes, s.OwnersBytes
		}
		return 0, 1
	})
	f, limit, ok := measuredBytes(limits, num, den)
	if !ok {
		return c.memoryCategory(limits)
	}
	o := firstKnown(s)
	f.Title = fmt.Sprintf("One site dominates: %s of the memory at the %s%s (%s of %s)",
		unit.Share(num, den), s.OwnersAt, c.onMemory(s), unit.Bytes(num), unit.Bytes(den)) + rule.Over(limit)
	f.Evidence = []string{fmt.Sprintf("allocation site: %s (%s)", o.Frame, summary.KindWords(o.Kind))}
	if o.Kind == summary.KindKVCache {
		f.Level = finding.Info
		f.Evidence[0] += "; a KV cache is large on purpose"
	}
	f.Evidence = append(f.Evidence, c.ownerEvidence(s)...)
	f.Next = finding.JoinSteps(c.leakAdvice(s), ownerMemoryAdvice(s))
	return f, true
}

// firstKnown returns the largest allocation site whose kind is known, or nil.
func firstKnown(s *summary.Snapshot) *summary.Owner {
	i := slices.IndexFunc(s.Owners, func(o summary.Owner) bool { return o.Kind != summary.KindUnknown })
	if i < 0 {
		return nil
	}
	return &s.Owners[i]
}

// memoryCategory is memoryOwner for the categories of a memory timeline.
func (c *Evaluator) memoryCategory(limits rule.Rule) (finding.Finding, bool) {
	i := finding.Worst(len(c.MemoryTimelines), func(i int) (int64, int64) {
		t := c.MemoryTimelines[i]
		if len(t.Categories) == 0 || t.Peak < minMemory || c.cut(t.Input) {
			return 0, 1
		}
		return t.Categories[0].AtPeak, t.Peak
	})
	if i >= len(c.MemoryTimelines) || len(c.MemoryTimelines[i].Categories) == 0 || c.MemoryTimelines[i].Peak < minMemory {
		return finding.Finding{}, false
	}
	t := c.MemoryTimelines[i]
	f, limit, ok := measuredBytes(limits, t.Categories[0].AtPeak, t.Peak)
	if !ok {
		return finding.Finding{}, false
	}
	f.Title = fmt.Sprintf("%s: %s of the memory at the peak (%s of %s)", finding.Upper(t.Categories[0].Name),
		unit.Share(t.Categories[0].AtPeak, t.Peak), unit.Bytes(t.Categories[0].AtPeak), unit.Bytes(t.Peak)) + rule.Over(limit)
	for _, k := range t.Categories[1:min(4, len(t.Categories))] {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s (%s)", k.Name, unit.Share(k.AtPeak, t.Peak),
			unit.Bytes(k.AtPeak)))
	}
	f.Next = kindAdvice(kindOfCategory(t.Categories[0].Name))
	return f, true
}

// kindOfCategory maps a category of a memory timeline to a kind of a snapshot.
func kindOfCategory(name string) string {
	switch name {
	case "parameters":
		return summary.KindParameters
	case "optimizer state":
		return summary.KindOptimizer
	case "activations", "temporaries", "autograd detail":
		return summary.KindActivations
	case "gradients":
		return summary.KindBackward
	case "inputs":
		return summary.KindData
	}
	return summary.KindOther
}

// ownerEvidence returns the largest kinds and the largest allocation site.
func (c *Evaluator) ownerEvidence(s *summary.Snapshot) (out []string) {
	if len(s.Kinds) > 0 && s.OwnersBytes > 0 {
		var parts []string
		for _, k := range s.Kinds[:min(3, len(s.Kinds))] {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", summary.KindWords(k.Name), unit.Share(k.Bytes, s.OwnersBytes),
				unit.Bytes(k.Bytes)))
		}
		out = append(out, fmt.Sprintf("allocated at the %s: %s of %s", s.OwnersAt, strings.Join(parts, ", "),
			unit.Bytes(s.OwnersBytes)))
	}
	if o := firstKnown(s); o != nil {
		out = append(out, fmt.Sprintf("largest allocation site: %s, %s in %s", o.Frame, unit.Bytes(o.Bytes),
			label.Plural(o.Count, "allocation")))
	}
	return out
}

func splitEvidence(s *summary.Snapshot) []string {
	free := s.Free()
	if free <= 0 {
		return nil
	}
	line := fmt.Sprintf("free reserved memory at the end: %s inactive split, %s cached (releasable); largest free block %s",
		unit.Bytes(s.Split), unit.Bytes(s.Cached), unit.Bytes(s.LargestFree))
	out := []string{line}
	if s.PrivateFree > 0 {
		out = append(out, fmt.Sprintf("private pools (CUDA graphs): %s reserved, %s free for this pool only",
			unit.Bytes(s.Private), unit.Bytes(s.PrivateFree)))
	}
	return out
}

func classEvidence(s *summary.Snapshot) (out []string) {
	for _, k := range s.Classes {
		if k.Split > 0 {
			out = append(out, fmt.Sprintf("segments of %s: %s inactive split of %s in %s", summary.ClassWords(k.Name),
				unit.Bytes(k.Split), unit.Bytes(k.Reserved), label.Plural(k.Segments, "segment")))
		}
	}
	return out
}

// stepEvidence returns the number of driver calls after the first step, in which allocations are
// expected.
func stepEvidence(h *summary.MemoryHistory) []string {
	if len(h.Steps) < 2 {
		return nil
	}
	calls := int64(0)
	for _, s := range h.Steps[1:] {
		calls += s.SegmentAllocs + s.SegmentFrees
	}
	return []string{fmt.Sprintf("%s of cudaMalloc and cudaFree in the %s after the first", label.Plural(calls, "call"),
		label.Plural(int64(len(h.Steps)-1), "step"))}
}
