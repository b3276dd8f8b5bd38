package logs_test

import (
	"testing"

	"assay/logs"
)

// TestQuantity: names below a prefix of timers that programs use for durations, and for what else they put there.
func TestQuantity(t *testing.T) {
	for want, names := range map[logs.Quantity][]string{
		logs.Duration: {"gen", "rollout", "step_time", "policy_training", "tokenize", "compute_token_level_rewards", "prepare_for_generation/total", "time_per_rank_s", "get_batch_size_ms", "all-gather", "count_tokens_time", "sync", "max_batch_prefill"},
		logs.Statistic: {"gen/max", "gen/mean", "rollout/p99", "gen_max", "reward_p50", "agent_loop/slowest/generate_sequences", "env/fastest/tool", "worker.step.avg",
			"forward-compute_std"},
		logs.NoDuration: {"num_preempted", "num_preempted/mean", "slowest/response_length", "valid_tokens_per_sec_per_gpu", "cache_hit_rate", "queue_size", "batch_count", "idle_ratio", "total_tokens", "gpu_tflops", "n_retries/max", "samples_per_gpu"},
	} {
		for _, name := range names {
			if got := logs.QuantityOf("timing_s/" + name); got != want {
				t.Errorf("%s: %d, want %d", name, got, want)
			}
		}
	}
}
