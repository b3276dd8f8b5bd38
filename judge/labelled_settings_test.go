package judge

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
)

// labelledSettings are logs of veRL whose steps are as they should be, after the configuration in one of its forms.
func labelledSettings() []labelled {
	steps := taught(50, 25, 1, 14, 1, 2).VeRL()
	of := func(name, label, near, config string) labelled {
		return labelled{name: name, label: label, near: near, in: given(config + steps)}
	}
	// dumped is the configuration as a dictionary in many lines.
	dumped := func(rollout, actor string) string {
		return fmt.Sprintf("(TaskRunner pid=41) {'actor_rollout_ref': {'actor': {%s},\n"+
			"(TaskRunner pid=41)                        'rollout': {%s}},\n(TaskRunner pid=41)  'trainer': {'nnodes': 1}}\n",
			actor, strings.ReplaceAll(rollout, "; ", ",\n(TaskRunner pid=41)                                    "))
	}
	const not = rule.SettingNotAdvised
	return []labelled{
		of("vLLM has 35% of the memory", not, "", dumped("'name': 'vllm'; 'gpu_memory_utilization': 0.35", "'strategy': 'fsdp'")),
		of("batches of a fixed size, by the command line", not, "", "+ python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.use_dynamic_bsz=False trainer.nnodes=1\n"),
		of("2,048 tokens per iteration", not, "", dumped("'max_num_batched_tokens': 2048; 'gpu_memory_utilization': 0.5", "'use_dynamic_bsz': True")),
		of("log-probs in batches as small as those of training", not, "", dumped("'log_prob_micro_batch_size_per_gpu': 6; 'gpu_memory_utilization': 0.6", "'ppo_micro_batch_size_per_gpu': 6")),
		of("log-probs in batches twice as large", "", not, dumped("'log_prob_micro_batch_size_per_gpu': 12; 'gpu_memory_utilization': 0.7", "'ppo_micro_batch_size_per_gpu': 6")),
		of("small batches, which dynamic ones replace", "", not, dumped("'log_prob_micro_batch_size_per_gpu': 4", "'ppo_micro_batch_size_per_gpu': 4, 'use_dynamic_bsz': True")),
		of("sizes per GPU and of all GPUs", "", not, dumped("'log_prob_micro_batch_size': 4", "'ppo_micro_batch_size_per_gpu': 4")),
		of("SGLang counts the memory otherwise", "", not, dumped("'name': 'sglang'; 'gpu_memory_utilization': 0.35", "'strategy': 'fsdp'")),
		of("the same of another program", "", not, "INFO [utils.py:253] non-default args: {'gpu_memory_utilization': 0.35, 'max_num_batched_tokens': 2048}\n"),
		of("two runs that differ", "", not, dumped("'gpu_memory_utilization': 0.35", "'a': 1")+dumped("'gpu_memory_utilization': 0.6", "'a': 1")),
	}
}

// TestEngineWithoutGraphs: if the log says that the engine of rollouts runs without CUDA graphs, the first advice on
// long generation is to use them. It is not given if the log says otherwise, nothing, or both.
func TestEngineWithoutGraphs(t *testing.T) {
	steps := taught(72, 14, 1, 10, 1, 2).VeRL()
	eager := func(value string) string {
		return "(TaskRunner pid=7) {'actor_rollout_ref': {'rollout': {'enforce_eager': " + value + ", 'name': 'vllm'}}}\n"
	}
	for _, tt := range []struct {
		name, config string
		first        bool
	}{
		{"eager", eager("True"), true},
		{"graphs", eager("False"), false},
		{"nothing", "", false},
		{"two runs that differ", eager("True") + eager("False"), false},
	} {
		r := Judge(given(tt.config+steps)(t), rule.DefaultThresholds())
		f := findingOf(r.Findings, rule.GenerationShare)
		if r.Verdict.Bound != finding.BoundGeneration || f == nil || len(f.Next) == 0 {
			t.Errorf("%s: %s-bound\n%s", tt.name, r.Verdict.Bound, told(r))
			continue
		}
		if first := f.Next[0].ID; (first == "engine-graphs-verl") != tt.first {
			t.Errorf("%s: advice %q", tt.name, ids(f.Next))
		}
	}
}

// TestBatchesOfSamples: veRL whose whole configuration has no switch to fill micro-batches by tokens is told to make them
// larger. A part of a configuration, as of a command line, does not show the version.
func TestBatchesOfSamples(t *testing.T) {
	steps := taught(20, 60, 1, 14, 1, 2).VeRL()
	dumped := func(actor, trainer string) string {
		return "(main_task pid=9) {'actor_rollout_ref': {'actor': {'ppo_micro_batch_size': 2" + actor + "},\n" +
			"(main_task pid=9)                        'ref': {'log_prob_micro_batch_size': 4},\n" +
			"(main_task pid=9)                        'rollout': {'log_prob_micro_batch_size': 4}},\n" +
			"(main_task pid=9)  'trainer': {'n_gpus_per_node': " + trainer + "}}\n"
	}
	for _, tt := range []struct {
		name, config string
		first        string
		prefetches   bool
	}{
		{"an old version on one GPU", dumped("", "1, 'nnodes': 1"), "verl-training-batches", false},
		{"an old version on eight GPUs", dumped("", "8, 'nnodes': 1"), "verl-training-batches", true},
		{"one GPU on each of two machines", dumped("", "1, 'nnodes': 2"), "verl-training-batches", true},
		{"a version with the switch", dumped(", 'use_dynamic_bsz': False", "8, 'nnodes': 1"), "verl-training", true},
		{"a command line", "+ python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.ppo_micro_batch_size=2\n", "verl-training", true},
	} {
		r := Judge(given(tt.config+steps)(t), rule.DefaultThresholds())
		f := findingOf(r.Findings, rule.TrainingShare)
		if f == nil || len(f.Next) == 0 {
			t.Errorf("%s: no advice\n%s", tt.name, told(r))
			continue
		}
		next := ids(f.Next)
		if next[0] != tt.first || slices.Contains(next, "verl-training-prefetch") != tt.prefetches {
			t.Errorf("%s: advice %q, want %s first, and to prefetch: %v", tt.name, next, tt.first, tt.prefetches)
		}
	}
}

// TestPeakOfMFU: a low MFU is shown with the peak for which the trainer computes it, if the log has one.
func TestPeakOfMFU(t *testing.T) {
	steps := ""
	for i := range 8 {
		steps += fmt.Sprintf("[rank0]:[titan] 2026-04-18 21:13:4%d,600 - root - INFO - step: %d  loss: 10.66875  memory: 29.11GiB(92.83%%)  tps: 71,101  tflops: 48.32  mfu: 12.00%%\n", i, i+1)
	}
	peak := func(text string) string {
		return "[rank0]:[titan] 2026-04-18 21:13:30,100 - root - INFO - Peak FLOPS used for computing MFU: " + text + "\n"
	}
	for _, tt := range []struct{ name, text, want string }{
		{"one peak", peak("4.000e+14") + steps, "a peak of 400 TFLOP/s per GPU"},
		{"none", steps, ""},
		{"two that differ", peak("4.000e+14") + peak("9.890e+14") + steps, ""},
	} {
		r := Judge(given(tt.text)(t), rule.DefaultThresholds())
		f := findingOf(r.Findings, rule.LowMFU)
		if f == nil {
			t.Errorf("%s: no low MFU\n%s", tt.name, told(r))
			continue
		}
		has := slices.ContainsFunc(f.Evidence, func(e string) bool { return strings.Contains(e, cmp.Or(tt.want, "a peak of")) })
		if has != (tt.want != "") {
			t.Errorf("%s: evidence %q, want %q", tt.name, f.Evidence, tt.want)
		}
	}
}
