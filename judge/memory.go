package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/summary"
	"assay/unit"
)

// The rules of memory snapshots, in their order of precedence.
const (
	RuleMemoryExhausted  = "memory-exhausted"
	RuleMemoryPressure   = "memory-pressure"
	RuleMemoryFragmented = "memory-fragmented"
	RuleAllocatorChurn   = "allocator-churn"
	RuleMemoryGrowth     = "memory-growth"
	RuleMemoryOwner      = "memory-owner"
	RuleMemoryUnrecorded = "memory-unrecorded"
)

// memoryBounds are the verdicts that the rules lead to.
var memoryBounds = map[string]string{
	RuleMemoryExhausted: "out-of-memory", RuleMemoryPressure: "memory-pressure", RuleMemoryFragmented: "fragmentation",
	RuleAllocatorChurn: "allocator-churn", RuleMemoryGrowth: "memory-growth", RuleMemoryOwner: "memory-owner",
}

// minMemory is how much split or live memory there must be for shares of it to
// matter: one small tensor fragments a segment of 2 MiB whatever anybody does.
const minMemory = 256 << 20

// ofMemory reports whether the summary is about memory and not about time.
func (c *court) ofMemory() bool {
	return len(c.Devices)+len(c.Counters)+len(c.Tables) == 0 && len(c.Snapshots)+len(c.MemoryTimelines) > 0
}

// memory holds the memory of all devices to the limits. Of each rule there is
// one finding, on the worst device.
func (c *court) memory() (out []Finding) {
	if len(c.Snapshots)+len(c.MemoryTimelines) == 0 {
		if f, ok := c.tracedPressure(); ok {
			out = append(out, f)
		}
		return out
	}
	for _, ask := range []func() (Finding, bool){
		c.memoryExhausted, c.memoryPressure, c.memoryFragmented, c.allocatorChurn, c.memoryGrowth, c.memoryOwner, c.memoryUnrecorded,
	} {
		if f, ok := ask(); ok {
			out = append(out, f)
		}
	}
	return out
}

// memoryResult is the judgment of a summary that has no time to judge.
func (c *court) memoryResult(before []Finding) Result {
	list := c.memory()
	unrecorded := slices.IndexFunc(list, func(f Finding) bool { return f.Rule == RuleMemoryUnrecorded })
	if unrecorded >= 0 && !c.anyHistory() {
		// The figures stay, for who wants them, but the peak may have been another.
		f := list[unrecorded]
		list = slices.Delete(list, unrecorded, unrecorded+1)
		for i := range list {
			list[i].Level = Info
		}
		return Result{Verdict: decidedBy("unknown", f), Findings: slices.Concat(before, []Finding{f}, list)}
	}
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(a, b Finding) int { return cmp.Compare(b.Level, a.Level) })
	v := Verdict{Bound: "memory-healthy", Sentence: c.memoryHealthy()}
	if len(order) > 0 && order[0].Level >= Warn {
		if bound, ok := memoryBounds[order[0].Rule]; ok {
			v = decidedBy(bound, order[0])
		}
	}
	return Result{Verdict: v, Findings: append(before, order...)}
}

func (c *court) anyHistory() bool {
	return len(c.MemoryTimelines) > 0 || slices.ContainsFunc(c.Snapshots, func(s summary.Snapshot) bool { return s.Peak != nil || s.Failed > 0 })
}

// memoryHealthy is the sentence of the good case, on the device with the highest
// peak.
func (c *court) memoryHealthy() string {
	var parts []string
	if i := worst(len(c.Snapshots), func(i int) (int64, int64) { return reservedMost(&c.Snapshots[i]), 1 }); i >= 0 && i < len(c.Snapshots) {
		s := &c.Snapshots[i]
		live := s.Allocated
		if s.Peak != nil {
			live = s.Peak.Live
		}
		parts = append(parts, fmt.Sprintf("memory is healthy: at most %s live and %s reserved%s, %s of what is reserved at the end is split, and nothing is over its warn limit",
			unit.Bytes(live), unit.Bytes(reservedMost(s)), c.onMemory(s), unit.Share(s.Split, s.Reserved)))
		if s.History != nil && s.History.LostBlocks > 0 {
			parts = append(parts, "but the beginning of the history is lost, and more may have been live then")
		}
	}
	for _, t := range c.MemoryTimelines[:min(1, len(c.MemoryTimelines))] {
		if t.Peak < minMemory {
			parts = append(parts, fmt.Sprintf("the peak is %s, and who has it matters from %s on", unit.Bytes(t.Peak), unit.Bytes(minMemory)))
			continue
		}
		parts = append(parts, fmt.Sprintf("no category has half of the memory at the peak of %s", unit.Bytes(t.Peak)))
	}
	return strings.Join(parts, "; ")
}

// reservedMost returns the most that was reserved, as far as is known.
func reservedMost(s *summary.Snapshot) int64 {
	if s.Peak != nil {
		return max(s.Reserved, s.Peak.HighestReserved)
	}
	return s.Reserved
}

// onMemory names the device of a snapshot, where there is a choice.
func (c *court) onMemory(s *summary.Snapshot) string {
	if len(c.Snapshots) < 2 {
		return ""
	}
	text := fmt.Sprintf(" on rank %d device %d", s.Rank, s.Device)
	again := slices.ContainsFunc(c.Snapshots, func(o summary.Snapshot) bool { return o.Rank == s.Rank && o.Device == s.Device && o.Input != s.Input })
	if again && s.Input >= 0 && s.Input < len(c.Inputs) {
		text += fmt.Sprintf(" of %q", c.Inputs[s.Input].Path)
	}
	return text
}

// worstMemory returns the snapshot with the largest share, nil if none has one.
func (c *court) worstMemory(at func(*summary.Snapshot) (num, den int64)) (s *summary.Snapshot, num, den int64) {
	i := worst(len(c.Snapshots), func(i int) (int64, int64) { return at(&c.Snapshots[i]) })
	if i >= len(c.Snapshots) {
		return nil, 0, 0
	}
	s = &c.Snapshots[i]
	num, den = at(s)
	return s, num, den
}

// heldTo is measured for bytes.
func heldTo(r Rule, num, den int64) (f Finding, limit float64, ok bool) {
	if den <= 0 || num <= 0 {
		return Finding{}, 0, false
	}
	f, limit, ok = measured(r, num, den)
	f.NumeratorNS, f.DenominatorNS = 0, 0
	f.NumeratorBytes, f.DenominatorBytes = num, den
	return f, limit, ok
}

// capacity returns all that the allocator of a device could have had: what an
// allocation that failed tells, else what a trace of the same device says that
// it has; 0 if neither is known.
func (c *court) capacity(s *summary.Snapshot) int64 {
	if s.Capacity != nil {
		return *s.Capacity
	}
	for _, m := range c.Memory {
		if !m.OnHost && m.Rank == s.Rank && m.Device == s.Device && m.Capacity != nil {
			return *m.Capacity
		}
	}
	return 0
}

func (c *court) memoryPressure() (Finding, bool) {
	s, num, den := c.worstMemory(func(s *summary.Snapshot) (int64, int64) { return reservedMost(s), c.capacity(s) })
	f, limit, ok := heldTo(c.rules[RuleMemoryPressure], num, den)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("the allocator had taken %s of the memory that there was%s (%s of %s), %s",
		unit.Share(num, den), c.onMemory(s), unit.Bytes(num), unit.Bytes(den), reaches(f, limit))
	f.Where = []Place{placeOf(s.Input, s.Rank, s.Device)}
	f.Evidence = append(c.ownerEvidence(s), splitEvidence(s)...)
	f.Next = append(ownerMemoryAdvice(s), advise("free-other-memory"))
	return f, true
}

// tracedPressure asks the same of what a trace says of the allocator.
func (c *court) tracedPressure() (Finding, bool) {
	if len(c.Memory) == 0 {
		return Finding{}, false
	}
	m := c.Memory[worst(len(c.Memory), func(i int) (int64, int64) { return tracedReserve(c.Memory[i]) })]
	num, den := tracedReserve(m)
	f, limit, ok := heldTo(c.rules[RuleMemoryPressure], num, den)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("the allocator had taken %s of the device's memory%s (%s of %s), %s",
		unit.Share(num, den), c.choice(m.Input, m.Rank, m.Device), unit.Bytes(num), unit.Bytes(den), reaches(f, limit))
	f.Where = []Place{placeOf(m.Input, m.Rank, m.Device).at(m.PeakNS, 0)}
	if m.PeakAllocated != nil {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s of it were allocated at most, %s of what the allocator had taken", unit.Bytes(*m.PeakAllocated), unit.Share(*m.PeakAllocated, num)))
	}
	for _, l := range m.Live[:min(3, len(m.Live))] {
		f.Evidence = append(f.Evidence, fmt.Sprintf("live at the peak from %s: %s in %s", cmp.Or(l.Op, l.Module, "no operator"), unit.Bytes(l.Bytes), plural(l.Count, "allocation")))
	}
	f.Next = []Step{
		advise("smaller-micro-batches"), advise("checkpoint-activations"), advise("shard-the-optimizer"),
		advise("shrink-the-kv-cache-of-servers"), advise("find-allocation-sites"),
	}
	return f, true
}

// tracedReserve returns what the allocator had taken of a device, and what the
// device has; 0 of 1 where either is not known.
func tracedReserve(m summary.Memory) (num, den int64) {
	if m.OnHost || m.PeakReserved == nil || m.Capacity == nil || *m.Capacity <= 0 {
		return 0, 1
	}
	return *m.PeakReserved, *m.Capacity
}

func (c *court) memoryFragmented() (Finding, bool) {
	s, num, den := c.worstMemory(func(s *summary.Snapshot) (int64, int64) {
		if s.Split < minMemory {
			return 0, 1
		}
		return s.Split, s.Reserved
	})
	f, limit, ok := heldTo(c.rules[RuleMemoryFragmented], num, den)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("%s of reserved memory is free and stuck in segments that something else is in%s (%s of %s), %s",
		unit.Share(num, den), c.onMemory(s), unit.Bytes(num), unit.Bytes(den), reaches(f, limit))
	f.Evidence = append(splitEvidence(s), classEvidence(s)...)
	f.Where = []Place{placeOf(s.Input, s.Rank, s.Device)}
	f.Next = fragmentationAdvice(s)
	return f, true
}

func (c *court) allocatorChurn() (Finding, bool) {
	rule := c.rules[RuleAllocatorChurn]
	s, num, den := c.worstMemory(func(s *summary.Snapshot) (int64, int64) {
		if s.History == nil || s.History.SegmentFrees < rule.MinEvents {
			return 0, 1
		}
		return s.History.SegmentFreeBytes, reservedMost(s)
	})
	f, limit, ok := heldTo(rule, num, den)
	if !ok {
		return f, false
	}
	h := s.History
	f.Title = fmt.Sprintf("memory was given back to the driver and taken again%s: %s in %s, %s of the %s that were reserved at most, %s",
		c.onMemory(s), unit.Bytes(num), plural(h.SegmentFrees, "cudaFree call"), unit.Share(num, den), unit.Bytes(den), reaches(f, limit))
	f.Evidence = []string{fmt.Sprintf("%s took %s in the same time; each call stops the device or waits for it", plural(h.SegmentAllocs, "cudaMalloc call"), unit.Bytes(h.SegmentAllocBytes))}
	f.Evidence = append(f.Evidence, stepEvidence(h)...)
	f.Where = []Place{placeOf(s.Input, s.Rank, s.Device)}
	f.Next = churnAdvice(s)
	return f, true
}

// What memory must grow by, and over how many steps, to be a leak and no noise.
const (
	minGrowth      = 16 << 20
	minGrowthSteps = 4
)

// memoryGrowth asks whether steps leave more and more behind.
func (c *court) memoryGrowth() (Finding, bool) {
	s, num, den := c.worstMemory(func(s *summary.Snapshot) (int64, int64) {
		if s.History == nil || s.History.Growth == nil || len(s.History.Steps) == 0 {
			return 0, 1
		}
		g := s.History.Growth
		if g.Fell || g.Bytes < minGrowth || g.Steps < minGrowthSteps {
			return 0, 1
		}
		i := slices.IndexFunc(s.History.Steps, func(st summary.MemoryStep) bool { return st.Name == g.From })
		return g.Bytes, s.History.Steps[max(0, i)].Start
	})
	f, limit, ok := heldTo(c.rules[RuleMemoryGrowth], num, den)
	if !ok {
		return f, false
	}
	f.Where = []Place{placeOf(s.Input, s.Rank, s.Device)}
	g := s.History.Growth
	f.Title = fmt.Sprintf("every step leaves more memory behind%s: %s more were live when %s began than when %s did, %s of the %s then, %s",
		c.onMemory(s), unit.Bytes(num), g.To, g.From, unit.Share(num, den), unit.Bytes(den), reaches(f, limit))
	for _, o := range g.Owners[:min(3, len(g.Owners))] {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s has %s more, in %s more (%s)", cmp.Or(o.Frame, "what has no stack"), unit.Bytes(o.Bytes), plural(o.Count, "allocation"), summary.KindWords(o.Kind)))
	}
	f.Next = []Step{advise("find-what-keeps-tensors"), advise("delete-and-collect")}
	return f, true
}

func (c *court) memoryUnrecorded() (Finding, bool) {
	f := Finding{Rule: RuleMemoryUnrecorded, Level: Warn}
	for i := range c.Snapshots {
		s := &c.Snapshots[i]
		if s.Peak != nil {
			continue
		}
		f.Title = fmt.Sprintf("nothing tells what led to this state%s: %s live of %s reserved when the snapshot was taken, and no peak is known",
			c.onMemory(s), unit.Bytes(summary.Plus(s.Allocated, s.Waiting)), unit.Bytes(s.Reserved))
		if s.History != nil {
			f.Title = fmt.Sprintf("the history breaks off before the snapshot%s, so no peak is known: %s live of %s reserved when it was taken",
				c.onMemory(s), unit.Bytes(summary.Plus(s.Allocated, s.Waiting)), unit.Bytes(s.Reserved))
		}
		f.Evidence = append(c.ownerEvidence(s), splitEvidence(s)...)
		if s.History != nil {
			f.Next = []Step{advise("read-the-whole-snapshot")}
			return f, true
		}
		f.Next = []Step{advise("record-memory-history"), advise("dump-when-memory-runs-out")}
		return f, true
	}
	return f, false
}
