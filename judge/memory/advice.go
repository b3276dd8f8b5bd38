package memory

import (
	"assay/judge/finding"
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

// kindAdvice returns the fixes that reduce the memory of one kind.
func kindAdvice(kind string) []finding.Step {
	switch kind {
	case summary.KindActivations:
		return []finding.Step{finding.Advise("checkpoint-activations"), finding.Advise("smaller-micro-batches"),
			finding.Advise("compute-in-bfloat16"), finding.Advise("chunk-the-loss")}
	case summary.KindRecomputed:
		return []finding.Step{finding.Advise("checkpoint-smaller-regions")}
	case summary.KindBackward:
		return []finding.Step{finding.Advise("free-gradients-early"), finding.Advise("step-in-backward"),
			finding.Advise("shard-gradients")}
	case summary.KindOptimizer:
		return []finding.Step{finding.Advise("shard-the-optimizer"), finding.Advise("smaller-optimizer")}
	case summary.KindParameters:
		return []finding.Step{finding.Advise("shard-weights"), finding.Advise("check-for-two-models"),
			finding.Advise("load-through-meta")}
	case summary.KindKVCache:
		return []finding.Step{finding.Advise("shrink-the-kv-cache")}
	case summary.KindComm:
		return []finding.Step{finding.Advise("smaller-communication-buffers")}
	case summary.KindData:
		return []finding.Step{finding.Advise("one-batch-at-a-time")}
	case summary.KindUnknown:
		return []finding.Step{finding.Advise("record-allocation-sites")}
	}
	return []finding.Step{finding.Advise("read-allocation-stacks"), finding.Advise("delete-before-the-peak")}
}

// fragmentationAdvice returns the fixes against fragmentation that are not already in use.
func fragmentationAdvice(s *summary.Snapshot) (out []finding.Step) {
	if !s.Expandable {
		out = append(out, finding.Advise("expandable-segments"), finding.Advise("max-split-size"))
	}
	if s.PrivateFree > s.Split/2 {
		out = append(out, finding.Advise("share-the-graph-pool"))
	}
	return append(out, finding.Advise("allocate-few-sizes"), finding.Advise("empty-cache-between-phases"))
}

func churnAdvice(s *summary.Snapshot) []finding.Step {
	out := []finding.Step{finding.Advise("empty-cache-less"), finding.Advise("leave-room-for-the-allocator")}
	if !s.Expandable {
		out = append(out, finding.Advise("expandable-segments"), finding.Advise("round-up-sizes"))
	}
	return out
}
