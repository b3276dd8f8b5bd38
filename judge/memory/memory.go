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
	"assay/judge/tree"
	"assay/summary"
	"assay/summary/view"
)

// memoryBounds has the bound of the verdict for each rule.
var memoryBounds = map[string]finding.Bound{
	rule.MemoryExhausted: finding.BoundOutOfMemory, rule.MemoryPressure: finding.BoundMemoryPressure,
	rule.MemoryFragmented: finding.BoundFragmentation,
	rule.AllocatorChurn:   finding.BoundAllocatorChurn, rule.MemoryGrowth: finding.BoundMemoryGrowth,
	rule.MemoryOwner: finding.BoundMemoryOwner,
}

// minMemory is the least split or allocated memory that is judged, in bytes. Below it, shares mean
// little: one small tensor always fragments a segment of 2 MiB.
const minMemory = 256 << 20

// An Evaluator applies the rules on memory to a summary.
type Evaluator struct{ *tree.Context }

// New returns an evaluator for a context.
func New(c *tree.Context) *Evaluator { return &Evaluator{c} }

// Rules returns the rules on memory.
func (c *Evaluator) Rules() (out []tree.Row) {
	for id, measure := range map[string]func() (finding.Finding, bool){
		rule.MemoryExhausted: c.memoryExhausted, rule.MemoryPressure: c.memoryPressure,
		rule.MemoryFragmented: c.memoryFragmented, rule.AllocatorChurn: c.allocatorChurn,
		rule.MemoryGrowth: c.memoryGrowth, rule.MemoryOwner: c.memoryOwner, rule.MemoryUnrecorded: c.memoryUnrecorded,
	} {
		out = append(out, tree.Row{ID: id, Part: tree.BasisMemory, Measure: tree.Single(measure)})
	}
	return append(out, tree.Row{ID: rule.MemoryExhausted, Part: tree.BasisLogs, Measure: tree.Single(c.loggedExhausted)})
}

// Alone reports whether the summary has memory and no times of GPUs.
func (c *Evaluator) Alone() bool {
	return len(c.Devices)+len(c.Counters)+len(c.Tables) == 0 && len(c.Snapshots)+len(c.MemoryTimelines) > 0
}

// Judge returns the result for a summary without times.
func (c *Evaluator) Judge(before []finding.Finding) finding.Result {
	list := c.OfMemory()
	unrecorded := slices.IndexFunc(list, func(f finding.Finding) bool { return f.Rule == rule.MemoryUnrecorded })
	if unrecorded >= 0 && !c.anyHistory() {
		// Without any history the peak may have been quite different, so the findings are only
		// information.
		f := list[unrecorded]
		list = slices.Delete(list, unrecorded, unrecorded+1)
		for i := range list {
			list[i].Level = finding.Info
		}
		return finding.Result{Verdict: finding.DecidedBy(finding.BoundUnknown, f),
			Findings: slices.Concat(before, []finding.Finding{f}, list)}
	}
	order := slices.Clone(list)
	slices.SortStableFunc(order, func(a, b finding.Finding) int { return cmp.Compare(b.Level, a.Level) })
	v := finding.Verdict{Bound: finding.BoundMemoryHealthy, Sentence: c.memoryHealthy()}
	if len(order) > 0 && order[0].Level >= finding.Warn {
		if bound, ok := memoryBounds[order[0].Rule]; ok {
			v = finding.DecidedBy(bound, order[0])
		}
	}
	if cut := c.Issue("input-truncated", "input-damaged"); cut != nil && v.Bound == finding.BoundMemoryHealthy {
		v = finding.Verdict{Bound: finding.BoundUnknown, Sentence: "The file is not whole, so the peak is unknown",
			Abstained: &finding.Abstention{Code: cut.Code, Reason: "The file is not whole, so the peak is unknown"}}
	} else if cut != nil {
		v.Doubt = &finding.Doubt{Code: cut.Code, Reason: "The file is not whole, so the peak may be another one"}
	}
	return finding.Result{Verdict: v, Findings: append(before, order...)}
}

func (c *Evaluator) anyHistory() bool {
	return len(c.MemoryTimelines) > 0 || slices.ContainsFunc(c.Snapshots,
		func(s summary.Snapshot) bool { return s.Peak != nil || s.Failed > 0 })
}

// memoryHealthy returns the sentence of a verdict without a problem. Snapshots are represented by
// the GPU with the highest peak.
func (c *Evaluator) memoryHealthy() string {
	var parts []string
	if i := finding.Worst(len(c.Snapshots), func(i int) (int64, int64) {
		return reservedMost(&c.Snapshots[i]),
			1
	}); i >= 0 && i < len(c.Snapshots) {
		s := &c.Snapshots[i]
		live := s.Allocated
		if s.Peak != nil {
			live = s.Peak.Live
		}
		parts = append(parts, fmt.Sprintf("Memory: peaks of %s allocated and %s reserved%s, inactive split %s of reserved memory at the end; all below their limits",
			unit.Bytes(live), unit.Bytes(reservedMost(s)), c.onMemory(s), unit.Share(s.Split, s.Reserved)))
		if s.History != nil && s.History.LostBlocks > 0 {
			parts = append(parts, "the beginning of the history is lost, so the peak may be higher")
		}
	}
	for _, t := range c.MemoryTimelines[:min(1, len(c.MemoryTimelines))] {
		if t.Peak < minMemory {
			parts = append(parts, fmt.Sprintf("Memory: peak %s; categories are judged from %s", unit.Bytes(t.Peak),
				unit.Bytes(minMemory)))
			continue
		}
		parts = append(parts, fmt.Sprintf("Memory: every category is under half of the peak of %s", unit.Bytes(t.Peak)))
	}
	return strings.Join(parts, "; ")
}

// reservedMost returns the peak of reserved memory in bytes, or what was reserved at the end if the
// peak is unknown.
func reservedMost(s *summary.Snapshot) int64 {
	if s.Peak != nil {
		return max(s.Reserved, s.Peak.HighestReserved)
	}
	return s.Reserved
}

// cut reports whether the file of an input is not whole. What its missing part can change is not judged: shares of the
// peak, of the history and of the segments. That an allocation failed, or how much was reserved at least, it cannot.
func (c *Evaluator) cut(input int) bool {
	return input >= 0 && input < len(c.Inputs) && !c.Inputs[input].Complete && c.Issue("input-truncated", "input-damaged") != nil
}

// onMemory returns " on " and the GPU of a snapshot, or "" if there is only one snapshot.
func (c *Evaluator) onMemory(s *summary.Snapshot) string {
	if len(c.Snapshots) < 2 {
		return ""
	}
	text := fmt.Sprintf(" on rank %d GPU %d", s.Rank, s.Device)
	again := slices.ContainsFunc(c.Snapshots, func(o summary.Snapshot) bool {
		return o.Rank == s.Rank &&
			o.Device == s.Device && o.Input != s.Input
	})
	if again && s.Input >= 0 && s.Input < len(c.Inputs) {
		text += fmt.Sprintf(" in %q", c.Inputs[s.Input].Path)
	}
	return text
}

// worstMemory returns the snapshot with the largest share, or nil if there are no snapshots.
func (c *Evaluator) worstMemory(at func(*summary.Snapshot) (num, den int64)) (s *summary.Snapshot, num, den int64) {
	i := finding.Worst(len(c.Snapshots), func(i int) (int64, int64) { return at(&c.Snapshots[i]) })
	if i >= len(c.Snapshots) {
		return nil, 0, 0
	}
	s = &c.Snapshots[i]
	num, den = at(s)
	return s, num, den
}

// measuredBytes is [rule.Measured] for bytes. It returns false if a value is not positive.
func measuredBytes(r rule.Rule, num, den int64) (f finding.Finding, limit float64, ok bool) {
	if den <= 0 || num <= 0 {
		return finding.Finding{}, 0, false
	}
	f, limit, ok = rule.Measured(r, num, den)
	f.NumeratorNS, f.DenominatorNS = 0, 0
	f.NumeratorBytes, f.DenominatorBytes = num, den
	return f, limit, ok
}

// memoryPressure judges how full the memory of a GPU was.
func (c *Evaluator) memoryPressure() (finding.Finding, bool) {
	if len(c.Snapshots)+len(c.MemoryTimelines) == 0 {
		return c.tracedPressure()
	}
	s, num, den := c.worstMemory(func(s *summary.Snapshot) (int64, int64) {
		if s.Failed > 0 { // memoryExhausted reports it; what other processes had is unknown
			return 0, 1
		}
		return reservedMost(s), view.CapacityOf(c.Summary, s)
	})
	f, limit, ok := measuredBytes(c.Limits[rule.MemoryPressure], num, den)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("Memory almost full%s: %s reserved (%s of %s)", c.onMemory(s), unit.Share(num, den),
		unit.Bytes(num), unit.Bytes(den)) + rule.Over(limit)
	f.Where = []finding.Place{finding.PlaceOf(s.Input, s.Rank, s.Device)}
	f.Evidence = append(c.useEvidence(s), splitEvidence(s)...)
	f.Next = append(finding.JoinSteps(c.leakAdvice(s), c.useAdvice(s)), finding.Advise("free-other-memory").For("allocator=snapshot"))
	return f, true
}

// tracedPressure is memoryPressure for the allocator events of a trace.
func (c *Evaluator) tracedPressure() (finding.Finding, bool) {
	if len(c.Memory) == 0 {
		return finding.Finding{}, false
	}
	m := c.Memory[finding.Worst(len(c.Memory), func(i int) (int64, int64) { return tracedReserve(c.Memory[i]) })]
	num, den := tracedReserve(m)
	f, limit, ok := measuredBytes(c.Limits[rule.MemoryPressure], num, den)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("Memory almost full%s: %s reserved (%s of %s)", c.Choice(m.Input, m.Rank, m.Device),
		unit.Share(num, den),
		unit.Bytes(num), unit.Bytes(den)) + rule.Over(limit)
	f.Where = []finding.Place{finding.PlaceOf(m.Input, m.Rank, m.Device).At(m.PeakNS, 0)}
	if m.PeakAllocated != nil {
		f.Evidence = append(f.Evidence, fmt.Sprintf("peak allocated: %s (%s of reserved memory)",
			unit.Bytes(*m.PeakAllocated), unit.Share(*m.PeakAllocated, num)))
	}
	for _, l := range m.Live[:min(3, len(m.Live))] {
		f.Evidence = append(f.Evidence, fmt.Sprintf("allocated at the peak by %s: %s in %s",
			cmp.Or(l.Op, l.Module, "no operator"), unit.Bytes(l.Bytes), label.Plural(l.Count, "allocation")))
	}
	f.Next = []finding.Step{
		finding.Advise("smaller-micro-batches"), finding.Advise("checkpoint-activations"),
		finding.Advise("shard-the-optimizer"),
		finding.Advise("shrink-the-kv-cache-of-servers"), finding.Advise("find-allocation-sites").For("allocator=trace"),
	}
	return f, true
}

// tracedReserve returns the peak of reserved memory and the capacity of a GPU in bytes, or 0 and 1
// if one of them is unknown.
func tracedReserve(m summary.Memory) (num, den int64) {
	if m.OnHost || m.PeakReserved == nil || m.Capacity == nil || *m.Capacity <= 0 {
		return 0, 1
	}
	return *m.PeakReserved, *m.Capacity
}

// memoryFragmented judges how much reserved memory is free in partly used segments.
func (c *Evaluator) memoryFragmented() (finding.Finding, bool) {
	s, num, den := c.worstMemory(func(s *summary.Snapshot) (int64, int64) {
		if s.Split < minMemory || c.cut(s.Input) {
			return 0, 1
		}
		return s.Split, s.Reserved
	})
	f, limit, ok := measuredBytes(c.Limits[rule.MemoryFragmented], num, den)
	if !ok {
		return f, false
	}
	f.Title = fmt.Sprintf("Fragmentation%s: %s of reserved memory (%s of %s)", c.onMemory(s), unit.Share(num, den),
		unit.Bytes(num), unit.Bytes(den)) + rule.Over(limit)
	f.Evidence = append([]string{"this memory is free in partly used segments"},
		append(splitEvidence(s), classEvidence(s)...)...)
	f.Where = []finding.Place{finding.PlaceOf(s.Input, s.Rank, s.Device)}
	f.Next = fragmentationAdvice(s)
	return f, true
}

// allocatorChurn judges how much memory was released to the driver and reserved again.
func (c *Evaluator) allocatorChurn() (finding.Finding, bool) {
	limits := c.Limits[rule.AllocatorChurn]
	s, num, den := c.worstMemory(func(s *summary.Snapshot) (int64, int64) {
		// What the allocator releases for an allocation that does not fit is no churn: memory is short.
		h := s.History
		if h == nil || h.SegmentFrees-h.RetryFrees < limits.MinEvents || c.cut(s.Input) {
			return 0, 1
		}
		return h.SegmentFreeBytes - h.RetryFreeBytes, reservedMost(s)
	})
	f, limit, ok := measuredBytes(limits, num, den)
	if !ok {
		return f, false
	}
	h := s.History
	f.Title = fmt.Sprintf("Allocator churn%s: %s released and reserved again (%s of the peak)", c.onMemory(s),
		unit.Bytes(num), unit.Share(num, den)) + rule.Over(limit)
	f.Evidence = []string{
		fmt.Sprintf("%s released %s; peak of reserved memory %s", label.Plural(h.SegmentFrees-h.RetryFrees, "cudaFree call"),
			unit.Bytes(num), unit.Bytes(den)),
		fmt.Sprintf("%s reserved %s in the same time; each call synchronizes the GPU",
			label.Plural(h.SegmentAllocs, "cudaMalloc call"), unit.Bytes(h.SegmentAllocBytes)),
	}
	f.Evidence = append(f.Evidence, stepEvidence(h)...)
	f.Where = []finding.Place{finding.PlaceOf(s.Input, s.Rank, s.Device)}
	f.Next = churnAdvice(s)
	return f, true
}

// Smaller growth, or growth over fewer steps, does not count as a leak.
const (
	minGrowth      = 16 << 20
	minGrowthSteps = 4
)

// memoryGrowth judges whether allocated memory grows from step to step.
func (c *Evaluator) memoryGrowth() (finding.Finding, bool) {
	s, num, den := c.worstMemory(func(s *summary.Snapshot) (int64, int64) {
		if c.cut(s.Input) {
			return 0, 1
		}
		return grown(s)
	})
	f, limit, ok := measuredBytes(c.Limits[rule.MemoryGrowth], num, den)
	if !ok {
		return f, false
	}
	f.Where = []finding.Place{finding.PlaceOf(s.Input, s.Rank, s.Device)}
	g := s.History.Growth
	f.Title = fmt.Sprintf("Memory growth%s: +%s (%s) from %s to %s", c.onMemory(s), unit.Bytes(num),
		unit.Share(num, den), g.From, g.To) + rule.Over(limit)
	f.Evidence = []string{fmt.Sprintf("allocated when %s began: %s", g.From, unit.Bytes(den))}
	for _, o := range g.Owners[:min(3, len(g.Owners))] {
		f.Evidence = append(f.Evidence, fmt.Sprintf("%s: +%s in %s (%s)", cmp.Or(o.Frame, "allocations without a stack"),
			unit.Bytes(o.Bytes), label.Plural(o.Count, "allocation"), summary.KindWords(o.Kind)))
	}
	f.Next = append(c.leakAdvice(s), finding.Advise("delete-and-collect"))
	return f, true
}

// grown returns in bytes how much allocated memory grew over the steps, and how much was allocated
// when the growth began. It returns 0 and 1 if memory does not grow in each step.
func grown(s *summary.Snapshot) (num, den int64) {
	if s.History == nil || s.History.Growth == nil || len(s.History.Steps) == 0 {
		return 0, 1
	}
	g := s.History.Growth
	if g.Fell || g.Bytes < minGrowth || g.Steps < minGrowthSteps {
		return 0, 1
	}
	i := slices.IndexFunc(s.History.Steps, func(st summary.MemoryStep) bool { return st.Name == g.From })
	return g.Bytes, s.History.Steps[max(0, i)].Start
}

// leakAdvice returns the fixes against growing memory, first for the line that allocates at least
// half of it. It returns none if growth is within its limit.
func (c *Evaluator) leakAdvice(s *summary.Snapshot) (out []finding.Step) {
	num, den := grown(s)
	if _, _, leaks := measuredBytes(c.Limits[rule.MemoryGrowth], num, den); !leaks {
		return nil
	}
	for _, o := range s.History.Growth.Owners {
		if o.Frame != "" && o.Bytes >= num/2 {
			out = append(out, finding.Advise("free-what-a-line-allocates", "site", o.Frame, "bytes", unit.Bytes(o.Bytes)).For("growth"))
			break
		}
	}
	return append(out, finding.Advise("find-what-keeps-tensors").For("growth"))
}

// memoryUnrecorded reports the first snapshot whose peak is unknown.
func (c *Evaluator) memoryUnrecorded() (finding.Finding, bool) {
	f := finding.Finding{Rule: rule.MemoryUnrecorded, Level: finding.Warn}
	for i := range c.Snapshots {
		s := &c.Snapshots[i]
		if s.Peak != nil {
			continue
		}
		f.Title = fmt.Sprintf("No allocation history%s: peak unknown; %s allocated of %s reserved at the end",
			c.onMemory(s), unit.Bytes(s.Allocated+s.Waiting), unit.Bytes(s.Reserved))
		if s.History != nil {
			f.Title = fmt.Sprintf("Incomplete history%s: peak unknown; %s allocated of %s reserved at the end",
				c.onMemory(s), unit.Bytes(s.Allocated+s.Waiting), unit.Bytes(s.Reserved))
		}
		cut := c.cut(s.Input)
		if cut && s.History == nil {
			f.Title = fmt.Sprintf("The file is cut%s: peak unknown; %s allocated of %s reserved in its segments", c.onMemory(s),
				unit.Bytes(s.Allocated+s.Waiting), unit.Bytes(s.Reserved))
		}
		if !cut {
			f.Evidence = append(c.ownerEvidence(s), splitEvidence(s)...)
		}
		if s.History != nil || cut {
			f.Next = []finding.Step{finding.Advise("read-the-whole-snapshot").For("history")}
			return f, true
		}
		f.Next = []finding.Step{finding.Advise("record-memory-history"), finding.Advise("dump-when-memory-runs-out")}
		return f, true
	}
	return f, false
}
