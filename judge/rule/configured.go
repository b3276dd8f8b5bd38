package rule

import (
	"slices"
	"strconv"
	"strings"

	"assay/judge/finding"
	"assay/summary"
)

// An Advice is what the tuning guide of a program recommends for one of its settings.
type Advice struct {
	Word    string // of conditions: the setting is outside of what is recommended
	Program string
	Name    string // of the setting
	Says    string // what is recommended: "0.5 to 0.7"
	Next    finding.Step

	breaks func(set *summary.Setting, s *summary.Summary) bool
}

// Advised is what guides recommend, the most useful first.
var Advised = []Advice{
	{Word: "fixed-batches", Program: "veRL", Name: "train.dynamic_batch", Says: "true", Next: finding.Advise("fill-batches-by-tokens"), breaks: off},
	{Word: "padded", Program: "veRL", Name: "train.remove_padding", Says: "true", Next: finding.Advise("remove-the-padding"), breaks: off},
	{Word: "low-memory-share", Program: "veRL", Name: "engine.memory_share", Says: "0.5 to 0.7", Next: finding.Advise("raise-the-memory-share"), breaks: lowMemoryShare},
	{Word: "few-batched-tokens", Program: "veRL", Name: "engine.batched_tokens", Says: "more than 2,048", Next: finding.Advise("batch-more-tokens"),
		breaks: func(set *summary.Setting, _ *summary.Summary) bool { return atMost(set.Value, 2048) }},
	{Word: "small-forward-batches", Program: "veRL", Name: "forward.micro_batch", Says: "twice training's", Next: finding.Advise("larger-forward-batches"), breaks: notTwice},
	{Word: "small-reference-batches", Program: "veRL", Name: "reference.micro_batch", Says: "twice training's", Next: finding.Advise("larger-reference-batches"), breaks: notTwice},
}

// Breach returns the setting of an input that is outside of what the guide recommends, or nil.
func (a Advice) Breach(s *summary.Summary, input int) *summary.Setting {
	if set := s.SettingOf(input, a.Program, a.Name); set != nil && a.breaks(set, s) {
		return set
	}
	return nil
}

func off(set *summary.Setting, _ *summary.Summary) bool { return set.Value == "false" }

// atMost reports whether a value is a number from just over 0 to most.
func atMost(value string, most float64) bool {
	v, err := strconv.ParseFloat(value, 64)
	return err == nil && v > 0 && v <= most
}

// lowMemoryShare reports whether vLLM takes less of the GPU memory than the guide of veRL recommends. SGLang counts
// another part of it. If the log shows that the KV cache has room, more of it does not help.
func lowMemoryShare(set *summary.Setting, s *summary.Summary) bool {
	const least, roomy = 0.5, 0.5
	if e := s.SettingOf(set.Input, "veRL", "engine.name"); e != nil && e.Value != "vllm" {
		return false
	}
	v, ok := set.Number()
	return ok && v > 0 && v < least && !slices.ContainsFunc(s.Series, func(r summary.Series) bool {
		return r.Input == set.Input && r.Metric == "kv_cache.usage" && r.Max != nil && *r.Max < roomy
	})
}

// notTwice reports whether a micro-batch without a backward pass is smaller than twice that of training. Sizes per GPU
// and of all GPUs are not compared. With dynamic batches both are ignored.
func notTwice(set *summary.Setting, s *summary.Summary) bool {
	train, dynamic := s.SettingOf(set.Input, "veRL", "train.micro_batch"), s.SettingOf(set.Input, "veRL", "train.dynamic_batch")
	if train == nil || perGPU(train) != perGPU(set) || dynamic != nil && dynamic.Value == "true" {
		return false
	}
	of, ok := train.Number()
	v, is := set.Number()
	return ok && is && v > 0 && v < 2*of
}

func perGPU(s *summary.Setting) bool { return strings.HasSuffix(s.Key, "_per_gpu") }

// configured are the facts that settings tell.
func configured() (out []Fact) {
	for _, a := range Advised {
		out = append(out, Fact{Words: []string{a.Word}, Meaning: "`" + a.Name + "` of " + a.Program + " is not as its guide recommends: " + a.Says,
			Found: "settings in a log", evaluate: is(func(s *summary.Summary) bool {
				return slices.ContainsFunc(inputsOf(s), func(i int) bool { return a.Breach(s, i) != nil })
			})})
	}
	known := func(word, meaning, found string, holds func(*summary.Summary, int) bool) Fact {
		return Fact{Words: []string{word}, Meaning: meaning, Found: "settings in a log: " + found, evaluate: is(func(s *summary.Summary) bool {
			return slices.ContainsFunc(inputsOf(s), func(i int) bool { return holds(s, i) })
		})}
	}
	return append(out,
		known("graphs-enabled", "the engine may use CUDA graphs", "enforce_eager or disable_cuda_graph is false", func(s *summary.Summary, in int) bool {
			return hasSetting(s, in, "engine.eager", func(v string) bool { return v == "false" })
		}),
		known("graphs-disabled", "the engine may not use CUDA graphs", "enforce_eager or disable_cuda_graph is true", func(s *summary.Summary, in int) bool {
			return hasSetting(s, in, "engine.eager", func(v string) bool { return v == "true" })
		}),
		known("kv-cache-8-bit", "the KV cache has values of 8 bits", "kv_cache_dtype", func(s *summary.Summary, in int) bool {
			return hasSetting(s, in, "engine.cache_type", func(v string) bool { return sizeIn(v) == "8-bit" })
		}),
		known("one-gpu-engine", "the inference engine of a trainer has one GPU", "tensor_model_parallel_size is 1", func(s *summary.Summary, in int) bool {
			t := s.SettingOf(in, "veRL", "engine.tensor_parallel")
			return t != nil && t.Value == "1"
		}),
		known("high-memory-share", "the inference engine of veRL may use 70% of the GPU memory or more", "gpu_memory_utilization", func(s *summary.Summary, in int) bool {
			t := s.SettingOf(in, "veRL", "engine.memory_share")
			if t == nil {
				return false
			}
			v, ok := t.Number()
			return ok && v >= 0.7
		}),
		known("packed-by-tokens", "veRL fills micro-batches by tokens and removes padding", "use_dynamic_bsz and use_remove_padding", func(s *summary.Summary, in int) bool {
			d, p := s.SettingOf(in, "veRL", "train.dynamic_batch"), s.SettingOf(in, "veRL", "train.remove_padding")
			return d != nil && p != nil && d.Value == "true" && p.Value == "true"
		}),
		known("batches-of-samples", "veRL of a version that cannot fill micro-batches by tokens", "sizes of all micro-batches, and neither use_dynamic_bsz nor use_remove_padding",
			batchesOfSamples),
		known("one-gpu-trainer", "veRL trains on one GPU", "n_gpus_per_node and nnodes are 1", func(s *summary.Summary, in int) bool {
			gpus, nodes := s.SettingOf(in, "veRL", "train.gpus"), s.SettingOf(in, "veRL", "train.nodes")
			return gpus != nil && gpus.Value == "1" && nodes != nil && nodes.Value == "1"
		}),
		known("forward-batches-twice", "the micro-batch of log-probs of veRL is twice that of training or larger, or filled by tokens",
			"log_prob_micro_batch_size_per_gpu, use_dynamic_bsz", forwardTwice))
}

// batchesOfSamples reports whether the printed configuration of veRL is whole, because it has the micro-batches of all
// passes, and has no switch to fill them by tokens.
func batchesOfSamples(s *summary.Summary, in int) bool {
	for _, name := range []string{"train.micro_batch", "forward.micro_batch", "reference.micro_batch"} {
		if s.SettingOf(in, "veRL", name) == nil {
			return false
		}
	}
	return !slices.ContainsFunc(s.Settings, func(r summary.Setting) bool {
		return r.Input == in && r.Producer == "veRL" && (r.Name == "train.dynamic_batch" || r.Name == "train.remove_padding")
	})
}

// inputsOf returns the indices of the inputs.
func inputsOf(s *summary.Summary) (out []int) {
	for i := range s.Inputs {
		out = append(out, i)
	}
	return out
}

// hasSetting reports whether any program printed a setting of an input with such a value, and none another.
func hasSetting(s *summary.Summary, input int, name string, is func(value string) bool) (found bool) {
	for _, r := range s.Settings {
		if r.Input == input && r.Name == name {
			if r.Varies || !is(r.Value) {
				return false
			}
			found = true
		}
	}
	return found
}

// forwardTwice reports whether passes without gradients already have batches as large as the guide of veRL recommends.
func forwardTwice(s *summary.Summary, in int) bool {
	d := s.SettingOf(in, "veRL", "train.dynamic_batch")
	forward, train := s.SettingOf(in, "veRL", "forward.micro_batch"), s.SettingOf(in, "veRL", "train.micro_batch")
	return d != nil && d.Value == "true" || forward != nil && train != nil && perGPU(forward) == perGPU(train) && !notTwice(forward, s)
}
