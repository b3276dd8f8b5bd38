package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/finding"
	"assay/summary"
	"assay/summary/view"
)

// firstFailed returns the snapshot of the device whose allocation failed first, and how many others failed later. The
// order is known only if every failure has a time.
func (c *Evaluator) firstFailed() (first *summary.Snapshot, later int) {
	known := true
	for i := range c.Snapshots {
		s := &c.Snapshots[i]
		if s.Failed == 0 || len(s.OutOfMemory) == 0 {
			continue
		}
		known = known && s.OutOfMemory[0].NS != nil
		switch {
		case first == nil:
			first = s
			continue
		case known && *s.OutOfMemory[0].NS < *first.OutOfMemory[0].NS:
			first = s
		}
		later++
	}
	if !known {
		later = 0
	}
	return first, later
}

// useEvidence says what the memory is for, or the sites where the rows do not.
func (c *Evaluator) useEvidence(s *summary.Snapshot) (out []string) {
	uses := view.MemoryUses(c.Summary, s)
	if len(uses) == 0 || s.Moment.Live <= 0 {
		return c.ownerEvidence(s)
	}
	var parts []string
	for _, u := range uses {
		if u.Allocated() && (len(parts) < 4 && 100*u.Bytes >= s.Moment.Live || u.Owner == summary.UseUnknown && 20*u.Bytes >= s.Moment.Live) {
			parts = append(parts, fmt.Sprintf("%s %s (%s)", summary.UseWords(u.Owner), unit.Share(u.Bytes, s.Moment.Live), unit.Bytes(u.Bytes)))
		}
	}
	out = append(out, fmt.Sprintf("allocated at the %s: %s of %s", s.Moment.At, strings.Join(parts, ", "), unit.Bytes(s.Moment.Live)))
	if o := firstKnown(s); o != nil {
		out = append(out, fmt.Sprintf("largest allocation site: %s, %s in %s", o.Frame, unit.Bytes(o.Bytes), label.Plural(o.Count, "allocation")))
	}
	return append(out, c.unlikeOthers(s)...)
}

// placeEvidence says in which step and at which call of its site an allocation failed.
func placeEvidence(s *summary.Snapshot, later int) (out []string) {
	m := s.Moment
	if later > 0 {
		out = append(out, fmt.Sprintf("it was the first to fail, by the clocks of the hosts; %s failed later", label.Plural(int64(later), "other GPU")))
	}
	if m == nil || m.At != "failure" {
		return out
	}
	var parts []string
	if m.Step != "" {
		parts = append(parts, "in "+label.Clip(label.Clean(m.Step), 40))
	}
	if m.Calls > 0 {
		parts = append(parts, fmt.Sprintf("with %d of at most %d tensors of this site", m.Call, m.Calls))
	}
	if len(parts) > 0 {
		out = append(out, "it failed "+strings.Join(parts, ", "))
	}
	return out
}

// growingEvidence says how much larger the tensors of the failed step are, and which size would have fitted.
func (c *Evaluator) growingEvidence(s *summary.Snapshot, o summary.OutOfMemory) []string {
	g := s.Growing
	if g == nil || g.Scaled <= 0 || o.Reserved == nil {
		return nil
	}
	line := fmt.Sprintf("tensors are %.2f times as large as in the step before, which needed %s; this step needs %s", g.Ratio, unit.Bytes(g.Fitted), unit.Bytes(g.Needs))
	limit, doubt := *o.Reserved, g.Error
	if o.Free != nil {
		limit = summary.Plus(limit, min(*o.Free, o.Wanted))
		doubt = summary.Plus(doubt, min(*o.Free, o.Wanted))
	}
	for _, u := range view.MemoryUses(c.Summary, s) {
		if u.Owner == summary.UseFragments {
			doubt = summary.Plus(doubt, u.Bytes)
		}
	}
	fits, off := 1+float64(limit-g.Fitted)/float64(g.Scaled), float64(doubt)/float64(g.Scaled)
	if fits < 1 || fits-off >= g.Ratio {
		return nil // the sizes do not explain the failure
	}
	return []string{line, fmt.Sprintf("%.1f times the size of that step would fit (error ±%.2f, from fragments, the limit and what is not distinguished)", fits-0.05, off)}
}

// unlikeOthers says which owner has clearly more memory than on the median of the other devices at their moments. Peaks
// and failures are compared; ends of captures are not.
func (c *Evaluator) unlikeOthers(s *summary.Snapshot) []string {
	const leastRanks = 3
	others := map[string][]int64{}
	n := 0
	for i := range c.Snapshots {
		o := &c.Snapshots[i]
		if o == s || o.Moment == nil || o.Moment.At == "end" || o.Rank == s.Rank && o.Device == s.Device {
			continue
		}
		n++
		for _, u := range view.MemoryUses(c.Summary, o) {
			others[u.Owner] = append(others[u.Owner], u.Bytes)
		}
	}
	if n+1 < leastRanks {
		return nil
	}
	var best string
	most := int64(0)
	for _, u := range view.MemoryUses(c.Summary, s) {
		if !u.Allocated() {
			continue
		}
		list := append(make([]int64, max(0, n-len(others[u.Owner]))), others[u.Owner]...)
		slices.Sort(list)
		if over := u.Bytes - list[len(list)/2]; over > most && over >= minMemory && 20*over >= s.Moment.Live {
			most = over
			best = fmt.Sprintf("%s: %s here, %s on the median of the other %d GPUs", summary.UseWords(u.Owner), unit.Bytes(u.Bytes), unit.Bytes(list[len(list)/2]), n)
		}
	}
	if best == "" {
		return nil
	}
	return []string{best}
}

// outsideEvidence says how much memory of the GPU neither the allocator has nor is free, if a log of the same failure
// says how large the GPU is.
func (c *Evaluator) outsideEvidence(s *summary.Snapshot) []string {
	if s.Capacity == nil {
		return nil
	}
	all, others := c.logged(s)
	if out := all - *s.Capacity - others; out >= minMemory {
		return []string{fmt.Sprintf("outside of the allocator: %s (CUDA context, buffers of NCCL%s)", unit.Bytes(out), map[bool]string{true: ", other processes"}[others == 0])}
	}
	return nil
}

// useAdvice returns fixes for the largest owner of memory, and for each other one with at least a quarter of it.
func (c *Evaluator) useAdvice(s *summary.Snapshot) (out []finding.Step) {
	uses := slices.DeleteFunc(view.MemoryUses(c.Summary, s), func(u summary.MemoryUse) bool { return !u.Allocated() })
	if len(uses) == 0 {
		return ownerMemoryAdvice(s)
	}
	for i, u := range uses {
		if i > 0 && u.Bytes < s.Moment.Live/4 {
			break
		}
		kind := adviceKind[u.Owner]
		if u.Owner == summary.UseUnknown && len(s.Kinds) > 0 && s.Kinds[0].Name != summary.KindUnknown {
			kind = summary.KindOther // it has stacks
		}
		out = finding.JoinSteps(out, kindAdvice(cmp.Or(kind, summary.KindOther)))
	}
	return out
}

// adviceKind maps an owner to the kind of memory with the same fixes.
var adviceKind = map[string]string{
	summary.UseWeights: summary.KindParameters, summary.UseGradients: summary.KindBackward,
	summary.UseOptimizer: summary.KindOptimizer, summary.UseActivations: summary.KindActivations,
	summary.UseActivationGradients: summary.KindActivations, summary.UseKVCache: summary.KindKVCache,
	summary.UseComm: summary.KindComm, summary.UseInputs: summary.KindData, summary.UseUnknown: summary.KindUnknown,
}
