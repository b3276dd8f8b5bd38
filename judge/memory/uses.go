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

// firstFailed returns the snapshot of the device whose allocation failed first, or nil.
func (c *Evaluator) firstFailed() *summary.Snapshot {
	rows := view.Snapshots(c.Summary)
	if len(rows) == 0 || rows[0].Failed == 0 || len(rows[0].OutOfMemory) == 0 {
		return nil
	}
	return &rows[0]
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
	for _, text := range []string{view.UnlikeOthers(c.Summary, s), view.MemoryFits(c.Summary, s)} {
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

// placeEvidence says in which step and at which call of its site an allocation failed.
func (c *Evaluator) placeEvidence(s *summary.Snapshot) (out []string) {
	m := s.Moment
	if later := view.FailedLater(c.Summary); len(later) > 0 {
		out = append(out, "it was the first to fail, by the clocks of the hosts: "+label.Clip(strings.Join(later, ", "), 120))
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
