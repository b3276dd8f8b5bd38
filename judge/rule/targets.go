package rule

import "slices"

// A Target is a limit that a tuning guide names for a metric. Rules, gates and reports take such limits from
// this table, so that a guide's number is the same in all of them.
type Target struct {
	Guide    string // the name of its gates: "skyrl"
	Metric   string // a metric of gates, with its selectors
	Min, Max string // values as gate files write them, "" for none
	Strict   bool   // a value that equals the limit misses it
	Advice   bool   // the guide recommends it without calling it a target, so missing it only warns
	When     string // the condition that the guide states, "" if it has none
	From     string // the guide or page: a name in sources.yaml
	Rule     string // the rule that judges the same limit, "" if there is none
}

// Targets has the limits of the guides, grouped by guide. veRL's guide gives no number for a low use of the KV cache;
// it is that of its rule.
var Targets = []Target{
	{Guide: "skyrl", Metric: "weight_sync.time", Max: "2s", Strict: true,
		When: "training and inference share GPUs", From: "skyrl", Rule: WeightSyncTime},
	{Guide: "skyrl", Metric: "gpu.util", Min: "80%", Strict: true, From: "skyrl", Rule: LowGPUUse},
	{Guide: "skyrl", Metric: "memory.usage", Max: "90%", Strict: true, From: "skyrl", Rule: MemoryPressure},
	{Guide: "skyrl", Metric: "serving.ttft_p50", Max: "100ms", Strict: true, From: "skyrl"},
	{Guide: "skyrl", Metric: "scaling.efficiency", Min: "70%", Advice: true, From: "skyrl", Rule: PoorScaling},

	{Guide: "verl", Metric: "requests.preempted", Max: "0", From: "verl"},
	{Guide: "verl", Metric: "kv_cache.usage", Min: "25%", Advice: true, From: "verl", Rule: UnderLoaded},

	{Guide: "sglang", Metric: "kv_cache.usage", Min: "90%", Strict: true, Advice: true,
		When: "throughput matters more than latency", From: "sglang-tuning", Rule: KVCacheFull},
	{Guide: "sglang", Metric: "requests.queued", Max: "2000", Advice: true,
		When: "throughput matters more than latency", From: "sglang-tuning"},
	{Guide: "sglang", Metric: "cuda_graph.used", Min: "90%", Advice: true, From: "sglang-tuning", Rule: EagerDecode},

	{Guide: "sfllm", Metric: "serving.ttft_p50", Max: "500ms", Strict: true, From: "sfllm", Rule: SlowFirstToken},
	{Guide: "sfllm", Metric: "serving.tpot_p50", Max: "50ms", Strict: true, From: "sfllm", Rule: SlowNextToken},
	{Guide: "sfllm", Metric: "gpu.util", Min: "80%", Strict: true, From: "sfllm", Rule: LowGPUUse},
	{Guide: "sfllm", Metric: "memory.usage", Min: "70%", Max: "90%", From: "sfllm", Rule: MemoryPressure},

	{Guide: "nemo-gym", Metric: "profile.hottest_share", Max: "50%", From: "nemo-gym", Rule: FunctionTotal},
}

// Guides returns the names of the guides that have targets, in the order of the table.
func Guides() (out []string) {
	for _, t := range Targets {
		if !slices.Contains(out, t.Guide) {
			out = append(out, t.Guide)
		}
	}
	return out
}

// Source returns the page that names the limit.
func (t Target) Source() Source { return sourceNamed(t.From) }

// TargetsOf returns the targets of a guide.
func TargetsOf(guide string) (out []Target) {
	for _, t := range Targets {
		if t.Guide == guide {
			out = append(out, t)
		}
	}
	return out
}
