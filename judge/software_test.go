package judge

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// forTrainers are the beginnings of the ids of remedies for trainers of PyTorch.
var forTrainers = []string{"fsdp", "ddp-"}

// remediesOf returns the remedies of all findings whose ids begin so.
func remediesOf(r Result, prefixes []string) (out []string) {
	for _, f := range r.Findings {
		for _, s := range f.Next {
			if slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(s.ID, p) }) {
				out = append(out, f.Rule+": "+s.ID)
			}
		}
	}
	return out
}

// sharding adds the communication kernels of sharded parameters.
func sharding(s *summary.Summary) {
	for _, op := range []string{"all-gather", "reduce-scatter"} {
		s.Kernels = append(s.Kernels, summary.Kernel{Name: op, Class: "comm", Category: op, Count: 1, TotalNS: 300 * ms})
	}
}

// TestAdviceFitsSoftware: remedies for FSDP and DDP are given if the capture shows these, or
// their collectives. A server and Megatron have neither, whatever their collectives are.
func TestAdviceFitsSoftware(t *testing.T) {
	for _, tt := range []struct {
		name  string
		shows func(*summary.Summary)
		want  bool
	}{
		{"nothing", func(*summary.Summary) {}, false},
		{"all-gathers and reduce-scatters", sharding, true},
		{"all-gathers and reduce-scatters of Megatron", func(s *summary.Summary) {
			sharding(s)
			s.Ops = []summary.Op{{Name: "_ReduceScatterToSequenceParallelRegion"}}
		}, false},
		{"SGLang by an operator", func(s *summary.Summary) { s.Ops = []summary.Op{{Name: "sgl_kernel::rmsnorm"}} }, false},
		{"SGLang by a step", func(s *summary.Summary) {
			s.Annotations = []summary.Annotation{{Name: "step[DECODE bs=8]"}}
		}, false},
		{"vLLM by a file", func(s *summary.Summary) { s.Lines = []summary.Line{{File: "/opt/vllm/v1/worker/gpu_model_runner.py"}} }, false},
		{"TensorRT-LLM by a kernel", func(s *summary.Summary) {
			s.Kernels = append(s.Kernels, summary.Kernel{Name: "tensorrt_llm::kernels::fused", Class: "compute", Count: 1, TotalNS: ms})
		}, false},
		{"Megatron by an operator", func(s *summary.Summary) { s.Ops = []summary.Op{{Name: "_ReduceFromModelParallelRegion"}} }, false},
		{"FSDP and a server", func(s *summary.Summary) {
			s.Ops = []summary.Op{{Name: "vllm::moe_forward"}}
			s.Annotations = []summary.Annotation{{Name: "FullyShardedDataParallel.forward"}}
		}, true},
	} {
		s := one(0, 600, 0)
		tt.shows(s)
		r := Judge(s, rule.DefaultThresholds())
		find(t, r, rule.ExposedComm)
		if got := remediesOf(r, forTrainers); len(got) > 0 != tt.want {
			t.Errorf("%s: %q, want some: %v", tt.name, got, tt.want)
		}
	}
}

// TestAdviceOnCaptures: real captures of Megatron and of servers have no remedy for FSDP or
// DDP, whatever their communication takes.
func TestAdviceOnCaptures(t *testing.T) {
	for path, stack := range map[string]string{
		"ranks/megatron_tp8_a100/rank1.json.gz":                                   "megatron",
		"kineto/tracelens/inference/sglang_decode/sglang_Qwen3-8B_decode.json.gz": "sglang",
		"kineto/tracelens/inference/vllm_decode_full/graph_execution.json.gz":     "vllm",
		"formats/kineto/tracelens_vllm_decode_graph_execution_rocm.json.gz":       "vllm",
	} {
		s := captured(t, filepath.FromSlash(path))
		for i := range s.Devices { // half of the window is communication alone
			d := &s.Devices[i]
			d.Activity = summary.Activity{summary.ClassComm: d.WindowNS / 2, summary.ClassCompute: d.WindowNS - d.WindowNS/2}
		}
		r := Judge(s, rule.DefaultThresholds())
		if got := remediesOf(r, forTrainers); len(got) > 0 {
			t.Errorf("%s: %q", path, got)
		}
		if !slices.ContainsFunc(r.Stacks, func(st rule.Stack) bool { return st.ID == stack }) {
			t.Errorf("%s: the software is %v, want %s", path, r.Stacks, stack)
		}
		if !slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == rule.ExposedComm }) {
			t.Errorf("%s: no finding on communication", path)
		}
	}
}
