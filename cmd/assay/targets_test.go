package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/judge/rule"
)

// An artefact is a kind of file that a step of a guide makes, and the targets whose numbers it carries.
type artefact struct {
	name    string // as in docs/guides.md
	path    string // an example, or
	text    string // its text
	targets string // metrics of targets, sorted
}

func artefacts() []artefact {
	return []artefact{
		{"console of veRL", "testdata/guides/verl_train.log", "", "kv_cache.usage requests.queued weight_sync.time"},
		{"console of SkyRL", "testdata/guides/skyrl_train.log", "", "weight_sync.time"},
		{"console of NeMo RL", "", nemoRL, "weight_sync.time"},
		{"console of slime", "", slimePerf, "weight_sync.time"},
		{"console of torchtitan", "", torchtitanLog, "memory.usage"},
		{"log of SGLang", "testdata/guides/sglang_server.log", "", "cuda_graph.used kv_cache.usage requests.preempted requests.queued"},
		{"log of vLLM", "", vllmLog, "kv_cache.usage requests.preempted requests.queued"},
		{"log of SFLLM", "testdata/guides/sfllm_server.log", "", "kv_cache.usage requests.queued"},
		{"metrics page of vLLM", "", vllmPage, "kv_cache.usage requests.preempted requests.queued serving.tpot_p50 serving.ttft_p50"},
		{"metrics page of SGLang", "", sglangPage, "kv_cache.usage requests.queued serving.tpot_p50 serving.ttft_p50"},
		{"bench_serving of SGLang", "testdata/guides/sglang_serving.jsonl", "", "serving.tpot_p50 serving.ttft_p50"},
		{"vllm bench serve", "", vllmBench, "serving.tpot_p50 serving.ttft_p50"},
		{"GenAI-Perf, AIPerf", "", genAI, "serving.ttft_p50"},
		{"llmperf", "logs/bench/testdata/llmperf.json", "", "serving.ttft_p50"},
		{"benchmark_weight_sync.py", "logs/bench/testdata/weight_sync.txt", "", "weight_sync.time"},
		{"end-to-end benchmark of SkyRL", "logs/bench/testdata/end_to_end.txt", "", "weight_sync.time"},
		{"training throughput of each number of GPUs", "testdata/guides/scaling", "", "scaling.efficiency"},
		{"nvidia-smi", "testdata/guides/nvidia_smi.txt", "", "gpu.util memory.usage"},
		{"nvidia-smi dmon", "testdata/guides/dmon.txt", "", "gpu.util"},
		{"dcgmi dmon", "logs/monitor/testdata/dcgmi_dmon.txt", "", "gpu.util"},
		{"rocm-smi", "logs/monitor/testdata/rocm_smi.txt", "", "gpu.util memory.usage"},
		{"amd-smi", "logs/monitor/testdata/amd_smi_monitor.csv", "", "gpu.util memory.usage"},
		{"memory of each GPU, printed", "testdata/guides/memory_usage.txt", "", "memory.usage"},
		{"trace", "testdata/gen/llm_train_step.json.gz", "", "gpu.util"},
		{"trace with memory", "", memoryTrace, "gpu.util memory.usage weight_sync.time"},
		{"statistics of NeMo Gym", "testdata/guides/gym_before.json", "", "profile.hottest_share"},
		{"cProfile", "testdata/profilers/cprofile.prof", "", "profile.hottest_share"},
		{"folded stacks", "", "main;load;parse 30\nmain;work 70\n", "profile.hottest_share"},
	}
}

// TestTargetsOfArtefacts: each target of a guide is checked on every artefact that carries its number, and on
// no other. docs/guides.md has the same table.
func TestTargetsOfArtefacts(t *testing.T) {
	page, err := os.ReadFile("../../docs/guides.md")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]bool{}
	for _, a := range artefacts() {
		path := filepath.Join("../..", filepath.FromSlash(a.path))
		if a.path == "" {
			path = filepath.Join(t.TempDir(), "artefact")
			if err := os.WriteFile(path, []byte(a.text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var got []string
		for _, guide := range rule.Guides() {
			for _, metric := range measuredBy(t, path, guide) {
				if !slices.Contains(got, metric) {
					got = append(got, metric)
				}
				all[metric] = true
			}
		}
		slices.Sort(got)
		if text := strings.Join(got, " "); text != a.targets {
			t.Errorf("%s is checked on %q, want %q", a.name, text, a.targets)
		}
		row := "| " + a.name + " | `" + strings.Join(strings.Fields(a.targets), "`, `") + "` |"
		if !strings.Contains(string(page), row) {
			t.Errorf("docs/guides.md has no row %s", row)
		}
	}
	for _, target := range rule.Targets {
		if !all[target.Metric] {
			t.Errorf("no artefact is checked on %s of %s", target.Metric, target.Guide)
		}
	}
}

// measuredBy returns the metrics of a guide's targets that are measured in an input.
func measuredBy(t *testing.T, path, guide string) (out []string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	run(env{strings.NewReader(""), &stdout, &stderr}, []string{"check", path, "--gates", guide, "--format", "json"})
	var doc struct {
		Gates []struct{ Gate, Result string }
	}
	if err := json.Unmarshal(stdout.Bytes(), &doc); err != nil {
		t.Fatalf("%s: %v\n%s", path, err, stderr.String())
	}
	for _, g := range doc.Gates {
		if g.Result != "skipped" {
			out = append(out, g.Gate)
		}
	}
	return out
}

const (
	nemoRL = "========================= Step 1/9 =========================\n⏱️  Timing:\n  • Total step time: 40.0s\n  • generation: 30.0s (75.0%)\n" +
		"  • weight_sync: 1.5s (3.8%)\n\n"
	slimePerf     = "[2026-01-02 03:04:05] train_metric_utils.py:44 - perf 3: {'perf/train_time': 5.0, 'perf/train_wait_time': 20.0, 'perf/update_weights_time': 2.5, 'perf/step_time': 25.0}\n"
	torchtitanLog = "[titan] 2026-04-18 21:13:43,600 - root - INFO - step: 20  loss: 10.66875  grad_norm:  4.2336  memory: 29.11GiB(92.83%)  tps: 71,101  tflops: 48.32  mfu: 15.49%\n"
	vllmLog       = "INFO 01-12 13:08:20 [loggers.py:248] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 240.2 tokens/s, Running: 10 reqs, Waiting: 3 reqs, Preemptions: 2, GPU KV cache usage: 98.7%, Prefix cache hit rate: 53.7%\n"
	vllmPage      = `# TYPE vllm:num_requests_waiting gauge
vllm:num_requests_waiting{engine="0",model_name="m"} 3.0
vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.4
vllm:num_preemptions_total{engine="0",model_name="m"} 7.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.1",model_name="m"} 10.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="0.25",model_name="m"} 30.0
vllm:time_to_first_token_seconds_bucket{engine="0",le="+Inf",model_name="m"} 40.0
vllm:time_to_first_token_seconds_count{engine="0",model_name="m"} 40.0
vllm:time_to_first_token_seconds_sum{engine="0",model_name="m"} 8.0
vllm:time_per_output_token_seconds_bucket{engine="0",le="0.01",model_name="m"} 10.0
vllm:time_per_output_token_seconds_bucket{engine="0",le="0.025",model_name="m"} 30.0
vllm:time_per_output_token_seconds_bucket{engine="0",le="+Inf",model_name="m"} 40.0
vllm:time_per_output_token_seconds_count{engine="0",model_name="m"} 40.0
vllm:time_per_output_token_seconds_sum{engine="0",model_name="m"} 0.8
`
	sglangPage = `# TYPE sglang:num_queue_reqs gauge
sglang:num_queue_reqs{model_name="m"} 3.0
sglang:token_usage{model_name="m"} 0.4
sglang:time_to_first_token_seconds_bucket{le="0.1",model_name="m"} 10.0
sglang:time_to_first_token_seconds_bucket{le="0.25",model_name="m"} 30.0
sglang:time_to_first_token_seconds_bucket{le="+Inf",model_name="m"} 40.0
sglang:time_to_first_token_seconds_count{model_name="m"} 40.0
sglang:time_to_first_token_seconds_sum{model_name="m"} 8.0
sglang:time_per_output_token_seconds_bucket{le="0.01",model_name="m"} 10.0
sglang:time_per_output_token_seconds_bucket{le="0.025",model_name="m"} 30.0
sglang:time_per_output_token_seconds_bucket{le="+Inf",model_name="m"} 40.0
sglang:time_per_output_token_seconds_count{model_name="m"} 40.0
sglang:time_per_output_token_seconds_sum{model_name="m"} 0.8
`
	vllmBench   = `{"date": "20260102-030405", "backend": "vllm", "model_id": "m", "num_prompts": 10, "request_rate": "inf", "duration": 4.0, "completed": 10, "total_input_tokens": 100, "total_output_tokens": 1000, "request_throughput": 2.5, "output_throughput": 250.0, "mean_ttft_ms": 60.0, "median_ttft_ms": 55.0, "p99_ttft_ms": 90.0, "mean_tpot_ms": 11.0, "median_tpot_ms": 10.0, "p99_tpot_ms": 20.0}` + "\n"
	genAI       = `{"request_throughput":{"unit":"requests/sec","avg":2.5},"request_latency":{"unit":"ms","avg":100},"time_to_first_token":{"unit":"ms","avg":12.0,"p50":11.0},"inter_token_latency":{"unit":"ms","avg":9.0,"p50":8.5},"output_token_throughput":{"unit":"tokens/sec","avg":640},"input_config":{"model_names":["m"]}}`
	memoryTrace = `{"deviceProperties": [{"id": 0, "name": "NVIDIA H100 80GB HBM3", "totalGlobalMem": 85899345920}], "traceEvents": [
{"ph": "X", "cat": "user_annotation", "name": "sync_weights", "pid": 1, "tid": 1, "ts": 0, "dur": 900},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 5, "dur": 5, "args": {"correlation": 7}},
{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 20, "dur": 900, "args": {"device": 0, "stream": 7, "correlation": 7}},
{"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 15, "args": {"Device Type": 1, "Device Id": 0, "Addr": 4096, "Bytes": 1073741824, "Total Allocated": 1073741824, "Total Reserved": 2147483648}}
]}`
)
