package judge

import "assay/summary"

// ownerMemoryAdvice is about the kinds that have a quarter or more of the memory
// at the peak, the largest first.
func ownerMemoryAdvice(s *summary.Snapshot) (out []Step) {
	for i, k := range s.Kinds {
		if i > 0 && k.Bytes < s.OwnersBytes/4 {
			break
		}
		out = joinSteps(out, kindAdvice(k.Name))
	}
	return out
}

// kindAdvice says how to reduce the memory of one kind.
func kindAdvice(kind string) []Step {
	switch kind {
	case summary.KindActivations:
		return []Step{advise("checkpoint-activations"), advise("smaller-micro-batches"), advise("compute-in-bfloat16"), advise("chunk-the-loss")}
	case summary.KindRecomputed:
		return []Step{advise("checkpoint-smaller-regions")}
	case summary.KindBackward:
		return []Step{advise("free-gradients-early"), advise("step-in-backward"), advise("shard-gradients")}
	case summary.KindOptimizer:
		return []Step{advise("shard-the-optimizer"), advise("smaller-optimizer")}
	case summary.KindParameters:
		return []Step{advise("shard-weights"), advise("check-for-two-models"), advise("load-through-meta")}
	case summary.KindKVCache:
		return []Step{advise("shrink-the-kv-cache")}
	case summary.KindComm:
		return []Step{advise("smaller-communication-buffers")}
	case summary.KindData:
		return []Step{advise("one-batch-at-a-time")}
	case summary.KindUnknown:
		return []Step{advise("record-allocation-sites")}
	}
	return []Step{advise("read-allocation-stacks"), advise("delete-before-the-peak")}
}

// fragmentationAdvice depends on the options that are on already.
func fragmentationAdvice(s *summary.Snapshot) (out []Step) {
	if !s.Expandable {
		out = append(out, advise("expandable-segments"), advise("max-split-size"))
	}
	if s.PrivateFree > s.Split/2 {
		out = append(out, advise("share-the-graph-pool"))
	}
	return append(out, advise("allocate-few-sizes"), advise("empty-cache-between-phases"))
}

func churnAdvice(s *summary.Snapshot) []Step {
	out := []Step{advise("empty-cache-less"), advise("leave-room-for-the-allocator")}
	if !s.Expandable {
		out = append(out, advise("expandable-segments"), advise("round-up-sizes"))
	}
	return out
}
