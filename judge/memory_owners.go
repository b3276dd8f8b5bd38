package judge

import (
	"fmt"
	"slices"
	"strings"

	"assay/summary"
	"assay/unit"
)

// memoryExhausted reports that an allocation failed, and whether there was room
// for it in pieces.
func (c *court) memoryExhausted() (Finding, bool) {
	for i := range c.Snapshots {
		s := &c.Snapshots[i]
		if s.Failed == 0 || len(s.OutOfMemory) == 0 {
			continue
		}
		o := s.OutOfMemory[len(s.OutOfMemory)-1]
		f := Finding{Rule: RuleMemoryExhausted, Level: Critical, NumeratorBytes: o.Wanted}
		f.Title = fmt.Sprintf("the device ran out of memory%s: %s were wanted", c.onMemory(s), unit.Bytes(o.Wanted))
		if o.Free != nil {
			f.Title += fmt.Sprintf(" and the driver had %s", unit.Bytes(*o.Free))
		}
		if s.Capacity != nil && *s.Capacity > 0 {
			f.DenominatorBytes, f.Value = *s.Capacity, float64(o.Wanted)/float64(*s.Capacity)
			f.Title += fmt.Sprintf(" left of the %s that the allocator could have", unit.Bytes(*s.Capacity))
		}
		f.Evidence = append(failureEvidence(s, o), c.ownerEvidence(s)...)
		f.Evidence = append(f.Evidence, splitEvidence(s)...)
		f.Next = exhaustedAdvice(s, o)
		return f, true
	}
	return Finding{}, false
}

// idleReserved returns what was reserved and not live when an allocation failed.
func idleReserved(o summary.OutOfMemory) int64 {
	if o.Reserved == nil || o.Live == nil {
		return 0
	}
	return max(0, summary.Plus(*o.Reserved, -max(0, *o.Live)))
}

func failureEvidence(s *summary.Snapshot, o summary.OutOfMemory) (out []string) {
	if o.Frame != "" {
		out = append(out, fmt.Sprintf("wanted by %s (%s)", o.Frame, summary.KindWords(o.Kind)))
	}
	if s.Failed > 1 {
		out = append(out, fmt.Sprintf("%s failed; this was the last of those kept", plural(s.Failed, "allocation")))
	}
	if o.Free != nil && *o.Free >= o.Wanted {
		out = append(out, "the driver had enough, so a limit of the process's own may have been reached: torch.cuda.set_per_process_memory_fraction, or a container's")
	}
	if o.Reserved != nil && o.Live != nil {
		line := fmt.Sprintf("%s were reserved then and %s of it live", unit.Bytes(*o.Reserved), unit.Bytes(*o.Live))
		if idle := idleReserved(o); idle >= o.Wanted {
			line += fmt.Sprintf("; the other %s would have been enough, had they been in one piece", unit.Bytes(idle))
		}
		out = append(out, line)
	}
	return out
}

// exhaustedAdvice is about fragments if there was enough in them, else about
// who has the memory.
func exhaustedAdvice(s *summary.Snapshot, o summary.OutOfMemory) []Step {
	if s.Capacity != nil && o.Wanted > *s.Capacity/2 {
		return joinSteps([]Step{advise("smaller-allocation")}, ownerMemoryAdvice(s))
	}
	if idleReserved(o) >= o.Wanted {
		return joinSteps(fragmentationAdvice(s), ownerMemoryAdvice(s))
	}
	return joinSteps(ownerMemoryAdvice(s), fragmentationAdvice(s))
}

// memoryOwner asks whether one place has most of the memory at the peak. A KV
// cache is filled on purpose.
func (c *court) memoryOwner() (Finding, bool) {
	rule := c.rules[RuleMemoryOwner]
	s, num, den := c.worstMemory(func(s *summary.Snapshot) (int64, int64) {
		if o := firstKnown(s); o != nil && s.OwnersBytes >= minMemory {
			return o.Bytes, s.OwnersBytes
		}
		return 0, 1
	})
	f, limit, ok := heldTo(rule, num, den)
	if !ok {
		return c.memoryCategory(rule)
	}
	o := firstKnown(s)
	f.Title = fmt.Sprintf("%s has %s of the memory that was live at the %s%s (%s of %s, %s), %s",
		o.Frame, unit.Share(num, den), s.OwnersAt, c.onMemory(s), unit.Bytes(num), unit.Bytes(den), summary.KindWords(o.Kind), reaches(f, limit))
	if o.Kind == summary.KindKVCache {
		f.Level = Info
		f.Title += "; it is filled on purpose"
	}
	f.Evidence = c.ownerEvidence(s)
	f.Next = ownerMemoryAdvice(s)
	return f, true
}

// firstKnown returns the largest owner whose stack is known, or nil.
func firstKnown(s *summary.Snapshot) *summary.Owner {
	i := slices.IndexFunc(s.Owners, func(o summary.Owner) bool { return o.Kind != summary.KindUnknown })
	if i < 0 {
		return nil
	}
	return &s.Owners[i]
}

// memoryCategory asks the same of a timeline.
func (c *court) memoryCategory(rule Rule) (Finding, bool) {
	i := worst(len(c.MemoryTimelines), func(i int) (int64, int64) {
		t := c.MemoryTimelines[i]
		if len(t.Categories) == 0 || t.Peak < minMemory {
			return 0, 1
		}
		return t.Categories[0].AtPeak, t.Peak
	})
	if i >= len(c.MemoryTimelines) || len(c.MemoryTimelines[i].Categories) == 0 || c.MemoryTimelines[i].Peak < minMemory {
		return Finding{}, false
	}
	t := c.MemoryTimelines[i]
	f, limit, ok := heldTo(rule, t.Categories[0].AtPeak, t.Peak)
	if !ok {
		return Finding{}, false
	}
	f.Title = fmt.Sprintf("%s of the memory at the peak is %s (%s of %s), %s",
		unit.Share(t.Categories[0].AtPeak, t.Peak), t.Categories[0].Name, unit.Bytes(t.Categories[0].AtPeak), unit.Bytes(t.Peak), reaches(f, limit))
	for _, k := range t.Categories[1:min(4, len(t.Categories))] {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: %s (%s)", k.Name, unit.Share(k.AtPeak, t.Peak), unit.Bytes(k.AtPeak)))
	}
	f.Next = kindAdvice(kindOfCategory(t.Categories[0].Name))
	return f, true
}

// kindOfCategory returns the kind that a category of a timeline is.
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

// ownerEvidence names the kinds and places with the most memory.
func (c *court) ownerEvidence(s *summary.Snapshot) (out []string) {
	if len(s.Kinds) > 0 && s.OwnersBytes > 0 {
		var parts []string
		for _, k := range s.Kinds[:min(3, len(s.Kinds))] {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", summary.KindWords(k.Name), unit.Share(k.Bytes, s.OwnersBytes), unit.Bytes(k.Bytes)))
		}
		out = append(out, fmt.Sprintf("live at the %s: %s of %s", s.OwnersAt, strings.Join(parts, ", "), unit.Bytes(s.OwnersBytes)))
	}
	if o := firstKnown(s); o != nil {
		out = append(out, fmt.Sprintf("most of it is of %s: %s in %s", o.Frame, unit.Bytes(o.Bytes), plural(o.Count, "allocation")))
	}
	return out
}

func splitEvidence(s *summary.Snapshot) []string {
	free := s.Free()
	if free <= 0 {
		return nil
	}
	line := fmt.Sprintf("free of reserved memory at the end: %s split, %s cached and able to be given back; the largest free block has %s",
		unit.Bytes(s.Split), unit.Bytes(s.Cached), unit.Bytes(s.LargestFree))
	out := []string{line}
	if s.PrivateFree > 0 {
		out = append(out, fmt.Sprintf("private pools, as CUDA graphs have, hold %s, of which %s is free and for nobody else", unit.Bytes(s.Private), unit.Bytes(s.PrivateFree)))
	}
	return out
}

func classEvidence(s *summary.Snapshot) (out []string) {
	for _, k := range s.Classes {
		if k.Split > 0 {
			out = append(out, fmt.Sprintf("segments of %s: %s split of %s in %s", summary.ClassWords(k.Name), unit.Bytes(k.Split), unit.Bytes(k.Reserved), plural(k.Segments, "segment")))
		}
	}
	return out
}

// stepEvidence says whether the driver is still asked after the first step.
func stepEvidence(h *summary.MemoryHistory) []string {
	if len(h.Steps) < 2 {
		return nil
	}
	calls := int64(0)
	for _, s := range h.Steps[1:] {
		calls = summary.Plus(calls, summary.Plus(s.SegmentAllocs, s.SegmentFrees))
	}
	return []string{fmt.Sprintf("in the %s after the first there were %s of cudaMalloc and cudaFree", plural(int64(len(h.Steps)-1), "step"), plural(calls, "call"))}
}
