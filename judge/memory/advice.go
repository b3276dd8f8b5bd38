package memory

import (
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// ownerMemoryAdvice returns fixes for the largest kind of memory at the peak, and for each other
// kind with at least a quarter of it.
func ownerMemoryAdvice(s *summary.Snapshot) (out []finding.Step) {
	for i, k := range s.Kinds {
		if i > 0 && k.Bytes < s.OwnersBytes/4 {
			break
		}
		out = finding.JoinSteps(out, kindAdvice(k.Name))
	}
	return out
}

// kindAdvice returns the fixes that reduce the memory of one kind: those for it alone after those for several.
func kindAdvice(kind string) (out []finding.Step) {
	switch kind {
	case summary.KindActivations:
		out = []finding.Step{finding.Advise("checkpoint-activations"), finding.Advise("smaller-micro-batches")}
	case summary.KindOptimizer:
		out = []finding.Step{finding.Advise("shard-the-optimizer")}
	}
	if own := rule.Steps("memory=" + kind); len(own) > 0 {
		return finding.JoinSteps(out, own)
	}
	return rule.Steps("memory=" + summary.KindOther)
}

// fragmentationAdvice returns the fixes against fragmentation.
func fragmentationAdvice(s *summary.Snapshot) []finding.Step {
	out := []finding.Step{finding.Advise("expandable-segments"), finding.Advise("max-split-size")}
	rest := []finding.Step{finding.Advise("allocate-few-sizes"), finding.Advise("empty-cache-between-phases")}
	if s.PrivateFree > s.Split/2 { // other allocations cannot use it, and it is not given back
		for i := range rest {
			rest[i] = rest[i].For("private-pools")
		}
		out = append(out, rule.Steps("private-pools")...)
	}
	return append(out, rest...)
}

func churnAdvice(s *summary.Snapshot) []finding.Step {
	out := []finding.Step{finding.Advise("empty-cache-less")}
	if s.History.RetryFrees > 0 {
		out = append(out, rule.Steps("short-of-memory")...)
	}
	return append(out, finding.Advise("expandable-segments"), finding.Advise("round-up-sizes"))
}
