package judge

import (
	"slices"
	"strings"

	"assay/summary"
)

// A stack is the framework that a capture is of.
type stack string

const (
	skyRL   stack = "SkyRL"
	veRL    stack = "veRL"
	nemoRL  stack = "NeMo RL"
	sglang  stack = "SGLang"
	vllm    stack = "vLLM"
	unknown stack = ""
)

// stacks returns the frameworks that phases and steps are marked by, those with
// the most different phases first.
func (c *court) stacks() []stack {
	count := map[stack]int{}
	seen := map[string]bool{}
	for _, p := range c.Phases {
		if p.Producer != "" && !seen[p.Path] {
			seen[p.Path] = true
			count[stack(p.Producer)]++
		}
	}
	for _, st := range c.Steps {
		if s := stack(st.Marker); (s == sglang || s == vllm) && count[s] == 0 {
			count[s] = 1
		}
	}
	var out []stack
	for _, s := range []stack{skyRL, veRL, nemoRL, sglang, vllm} {
		server := s == sglang || s == vllm
		if count[s] > 1 || server && count[s] > 0 { // one name may be anybody's
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b stack) int { return count[b] - count[a] })
	return out
}

const (
	skyRLGuide = " (SkyRL: Benchmarking and Performance Tuning Guide)"
	veRLGuide  = " (veRL: Performance Tuning Guide)"
	gymGuide   = " (NeMo Gym: Performance Profiling)"
	sglGuide   = " (SGLang: Benchmark and Profiling)"
)

// stackAdvice has what the guides of a framework say about a phase.
var stackAdvice = map[stack]map[string][]string{
	skyRL: {
		"generation":  {"give the KV cache more memory and the engine larger batches: generator.gpu_memory_utilization, max_num_seqs and max_num_batched_tokens, and generator.enable_prefix_caching=true where prompts share prefixes" + skyRLGuide, "choose the attention backend: generator.engine_init_kwargs.attention_backend=fa3 on H100, flashinfer elsewhere" + skyRLGuide},
		"weight-sync": {"share devices and send weights by CUDA IPC: trainer.placement.colocate_all=true with generator.weight_sync_backend=nccl" + skyRLGuide, "with LoRA, send only what changed: trainer.weight_sync.sync_full_model=false; scripts/benchmark_weight_sync.py --compare-all measures the strategies" + skyRLGuide},
		"training":    {"larger micro-batches: trainer.micro_train_batch_size_per_gpu with fewer gradient_accumulation_steps; fsdp_config: forward_prefetch=true, backward_prefetch=BACKWARD_PRE, limit_all_gathers=true" + skyRLGuide},
		"data":        {"raise num_workers and prefetch_factor of the data loader" + skyRLGuide},
		"sleep-wake":  {"sleep and wake cost time in each step: check whether memory allows to leave them off, trainer.use_sleep_wake and generator.enable_sleep" + skyRLGuide},
	},
	veRL: {
		"generation": {"raise actor_rollout_ref.rollout.gpu_memory_utilization, 0.5 to 0.7 is a good range, and max_num_seqs or max_num_batched_tokens, over 2048, where the KV cache is not full; disable_log_stats=False shows it" + veRLGuide, "use a smaller tensor_parallel_size for more replicas where memory allows" + veRLGuide},
		"training":   {"raise actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu up to the normalized mini-batch, with enable_gradient_checkpointing=True for the memory; use_dynamic_bsz balances lengths" + veRLGuide},
		"log-probs":  {"raise log_prob_micro_batch_size_per_gpu of actor_rollout_ref.ref and actor_rollout_ref.rollout: forward passes take about twice the batch that training does" + veRLGuide},
	},
	nemoRL: {
		"reward": {"profile the resource servers: +profiling_enabled=true +profiling_results_dirpath=DIR writes where their CPU time goes" + gymGuide},
		"wait":   {"profile the resource servers, which rollouts wait for: +profiling_enabled=true +profiling_results_dirpath=DIR" + gymGuide},
	},
	sglang: {
		"decode":     {"replay graphs for the batch sizes that occur: a --cuda-graph-max-bs that covers them, and no --disable-cuda-graph", "to see kernels within graphs: nsys profile --trace-fork-before-exec=true --cuda-graph-trace=node" + sglGuide},
		"generation": {"raise --mem-fraction-static for a larger KV cache; sglang.bench_offline_throughput shows what it gains" + sglGuide},
	},
	vllm: {
		"decode":     {"replay graphs: no --enforce-eager, and a --max-num-seqs within the sizes that are captured"},
		"generation": {"raise --gpu-memory-utilization and --max-num-batched-tokens"},
	},
}

// anyAdvice is for frameworks without a guide of the phase.
var anyAdvice = map[string][]string{
	"generation":  {"find what bounds generation, by its row in the table of phases: idle time asks for larger batches and CUDA graphs, a long tail for a limit on lengths or for asynchronous rollouts"},
	"weight-sync": {"place training and inference on the same devices, so that weights go by CUDA IPC; between nodes, send them in large buckets by NCCL", "tell pauses from transfers: idle time in the phase is waiting of the engine, not bandwidth"},
	"training":    {"find what bounds training, by its row in the table of phases"},
	"data":        {"prepare the next batch while the device works: DataLoader with num_workers, prefetch_factor and pin_memory=True", "move tokenization and padding out of the step"},
	"wait":        {"the side that does not wait is the slow one: give it more devices, or allow more steps of staleness"},
	"sleep-wake":  {"see in the trace whether memory is freed and mapped again, or weights are copied; keep on the device what fits beside the training"},
}

// phaseAdvice returns what to do about a phase, first what the guides of the
// frameworks say that the capture is of.
func (c *court) phaseAdvice(name string) (out []string) {
	for _, s := range c.stacks() {
		out = append(out, stackAdvice[s][name]...)
	}
	if len(out) == 0 {
		out = slices.Clone(anyAdvice[name])
	}
	if len(out) == 0 {
		return []string{"see in the trace what the host does in " + name}
	}
	return out
}

// stepAdvice returns what the guides say about steps that wait for the host.
func (c *court) stepAdvice() (out []string) {
	for _, s := range c.stacks() {
		if slices.ContainsFunc(c.Steps, func(st summary.Step) bool { return st.Kind == "decode" }) && (s == sglang || s == vllm) {
			out = append(out, stackAdvice[s]["decode"]...)
		}
	}
	return slices.DeleteFunc(out, func(s string) bool { return strings.TrimSpace(s) == "" })
}
