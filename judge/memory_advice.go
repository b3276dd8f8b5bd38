package judge

import (
	"slices"

	"assay/summary"
)

// ownerMemoryAdvice is about the kinds that have a quarter or more of the memory
// at the peak, the largest first.
func ownerMemoryAdvice(s *summary.Snapshot) (out []string) {
	for i, k := range s.Kinds {
		if i > 0 && k.Bytes < s.OwnersBytes/4 {
			break
		}
		for _, line := range kindAdvice(k.Name) {
			if !slices.Contains(out, line) {
				out = append(out, line)
			}
		}
	}
	return out
}

// kindAdvice says how to need less memory of one kind.
func kindAdvice(kind string) []string {
	switch kind {
	case summary.KindActivations:
		return []string{
			"keep fewer activations: activation checkpointing (torch.utils.checkpoint, in Hugging Face gradient_checkpointing_enable()), smaller micro-batches with gradient accumulation, shorter sequences",
			"compute in bfloat16 (torch.autocast) and with a fused attention, which keeps no matrix of scores; compute the loss over the vocabulary in chunks",
		}
	case summary.KindRecomputed:
		return []string{"checkpoint smaller pieces: what one checkpoint recomputes lives all at once"}
	case summary.KindBackward:
		return []string{
			"free gradients early: optimizer.zero_grad(set_to_none=True) before the forward pass, and an optimizer that steps in backward (register_post_accumulate_grad_hook)",
			"shard gradients over ranks: FSDP's FULL_SHARD or SHARD_GRAD_OP, ZeRO stage 2 or 3",
		}
	case summary.KindOptimizer:
		return []string{
			"shard the optimizer's state over ranks: FSDP, ZeRO stage 1 or torch.distributed.optim.ZeroRedundancyOptimizer",
			"make it smaller: an 8-bit or factored optimizer (bitsandbytes, Adafactor), or offload it to the host",
		}
	case summary.KindParameters:
		return []string{
			"shard or quantize the weights: FSDP's FULL_SHARD, tensor parallelism, or bfloat16 and 8-bit weights; check that the model is not loaded twice",
			"build it on the meta device (torch.device(\"meta\")) and load into it, so that no second copy lives while it loads",
		}
	case summary.KindKVCache:
		return []string{"the KV cache takes what it is given: lower gpu_memory_utilization (vLLM) or --mem-fraction-static (SGLang) to leave more to others, or store it in fp8"}
	case summary.KindComm:
		return []string{"buffers of collectives: limit_all_gathers=True, fewer layers prefetched, smaller bucket_cap_mb; reshard after forward"}
	case summary.KindData:
		return []string{"move batches to the device one at a time, and del them after the step"}
	case summary.KindUnknown:
		return []string{"record who allocates: torch.cuda.memory._record_memory_history(stacks=\"python\") before the model is built; what was allocated earlier has no stack"}
	}
	return []string{"see the stacks of the largest allocations in summary.json, under snapshots[].owners[].stack; what is not needed until the peak: del it, or allocate it later"}
}

// fragmentationAdvice depends on what is on already.
func fragmentationAdvice(s *summary.Snapshot) []string {
	var out []string
	if !s.Expandable {
		out = append(out, "set PYTORCH_ALLOC_CONF=expandable_segments:True: segments then grow, and free pages can be used for blocks of any size")
	}
	out = append(out, "if that cannot be used: PYTORCH_ALLOC_CONF=max_split_size_mb:512 keeps large segments whole")
	if s.PrivateFree > s.Split/2 {
		out = append(out, "let CUDA graphs share a pool: pass pool=graph.pool() to torch.cuda.graph, and capture the largest shape first")
	}
	return append(out,
		"allocate what lives long first, and sizes that vary less: pad sequences to a few lengths",
		"between phases of a different kind, as training and generation or evaluation, del what is done with and call torch.cuda.empty_cache() once")
}

func churnAdvice(s *summary.Snapshot) []string {
	out := []string{
		"call torch.cuda.empty_cache() less: not in the step, and only between phases that need different sizes",
		"if nobody calls it, memory is so short that the allocator empties its cache and tries again: leave it some room, as by a smaller batch or gpu_memory_utilization",
	}
	if !s.Expandable {
		out = append(out, "set PYTORCH_ALLOC_CONF=expandable_segments:True; with sizes that vary, roundup_power2_divisions:8 makes blocks fit again")
	}
	return out
}
