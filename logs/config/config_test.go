package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
)

// read returns the settings of a text that is written in parts of a size, as "producer key=value".
func read(text string, size int) (out []string) {
	r := NewReader()
	for part := range slices.Chunk([]byte(text), size) {
		r.Write(part)
	}
	for _, s := range r.Settings() {
		more := ""
		if s.Varies {
			more = " varies"
		}
		out = append(out, s.Producer+" "+s.Name+"="+s.Value+more)
	}
	return out
}

// TestForms: each form in which programs print a configuration, with other lines around and within it.
func TestForms(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"arguments of SGLang", "[2026-01-04 07:26:40 TP0] server_args=ServerArgs(model_path='/m/a=b, tp_size=3', host=None, disable_cuda_graph=True, tp_size=2, " +
			"model_loader_extra_config='{}', mem_fraction_static=0.83, cuda_graph_bs=[1, 2], lora=Lora(tp_size=9), kv_cache_dtype='fp8_e5m2')\n",
			[]string{"SGLang engine.eager=true", "SGLang engine.tensor_parallel=2", "SGLang engine.memory_share=0.83", "SGLang engine.cache_type=fp8_e5m2"}},
		{"a device mesh", "[rank0]:[titan] 2026-05-08 09:00:43,911 - root - INFO - Building device mesh with parallelism: pp=2, dp_replicate=1, dp_shard=8, cp=1, tp=4, ep=8, etp=1\n",
			[]string{"torchtitan train.world=64"}},
		{"a device mesh whose size is not stated", "[titan] Building device mesh with parallelism: pp=1, dp_shard=-1, tp=4\n", nil},
		{"a world size", "using world size: 16, data-parallel size: 8, context-parallel size: 1\n", []string{"Megatron-LM train.world=16"}},
		{"arguments of vLLM", "\x1b[1;36m(APIServer pid=7)\x1b[0;0m INFO 05-18 22:44:42 [utils.py:238] non-default args: {'model': 'x', 'gpu_memory_utilization': 0.7, " +
			"'compilation_config': {'enforce_eager': False}, 'enforce_eager': True}\n" +
			"INFO [scheduler.py:216] Chunked prefill is enabled with max_num_batched_tokens=16384.\n",
			[]string{"vLLM engine.model=x", "vLLM engine.memory_share=0.7", "vLLM engine.eager=true", "vLLM engine.batched_tokens=16384"}},
		{"an engine of vLLM", "INFO 1-1 Initializing a V1 LLM engine (v0.8.5) with config: model='a', tensor_parallel_size=4, quantization=None, enforce_eager=False, kv_cache_dtype=auto, seed=0\n",
			[]string{"vLLM engine.model=a", "vLLM engine.tensor_parallel=4", "vLLM engine.eager=false", "vLLM engine.cache_type=auto"}},
		{"a dictionary in many lines", "(main pid=7) {'actor_rollout_ref': {'actor': {'ppo_micro_batch_size_per_gpu': 8,\n" +
			"(other pid=9) {'actor_rollout_ref': 3}\nLoading: 40%\n" +
			"(main pid=7)                                  'use_dynamic_bsz': False},\n" +
			"(main pid=7)                        'rollout': {'gpu_memory_utilization': 0.35, 'name': 'vllm',\n" +
			"(main pid=7)                                    'tensor_model_parallel_size': 2}},\n" +
			"(main pid=7)  'rollout': {'gpu_memory_utilization': 0.9}}\n(main pid=7) 'max_num_seqs': 3\n",
			[]string{"veRL train.micro_batch=8", "veRL train.dynamic_batch=false", "veRL engine.memory_share=0.35", "veRL engine.name=vllm", "veRL engine.tensor_parallel=2"}},
		{"JSON in one line", `{"policy": {"generation": {"backend": "vllm", "vllm_cfg": {"enforce_eager": true, "gpu_memory_utilization": 0.6}}}}` + "\n",
			[]string{"NeMo RL engine.name=vllm", "NeMo RL engine.eager=true", "NeMo RL engine.memory_share=0.6"}},
		{"YAML", "generator:\n  stop:\n  - '</a>'\n  backend: vllm\n  sampling:\n    max_num_seqs: 3\n  max_num_seqs: 512\n  enforce_eager: true\ntrainer:\n  use_sample_packing: false\nstep: 1 max_num_seqs: 9\n",
			[]string{"SkyRL engine.name=vllm", "SkyRL engine.requests=512", "SkyRL engine.eager=true", "SkyRL train.remove_padding=false"}},
		{"a command line", "+ python3 -m verl.trainer.main_ppo data.path=x actor_rollout_ref.rollout.gpu_memory_utilization=0.4 '+actor_rollout_ref.rollout.max_num_seqs=64'\n",
			[]string{"veRL engine.memory_share=0.4", "veRL engine.requests=64"}},
		{"models: owner and name, without folders and users", "server_args=ServerArgs(model_path='/mnt/hub/models/Qwen/Qwen3-8B', is_embedding=True)\n" +
			"non-default args: {'model': '/home/jo/rm-7b', 'task': 'reward', 'speculative_config': {'model': 'draft'}}\n" +
			"trainer:\n  policy:\n    model:\n      path: \"Qwen/Qwen3-8B\"\n  reward:\n    model:\n      path: null\n",
			[]string{"SGLang engine.model=Qwen/Qwen3-8B", "SGLang engine.embeds=true", "vLLM engine.model=rm-7b", "vLLM engine.pooling=reward", "SkyRL train.model=Qwen/Qwen3-8B"}},
		{"the micro-batch of Megatron-LM", "vm-07-05:   micro_batch_size ................................ 4\n  min_micro_batch_size ..... 9\n  log_micro_batch_size ... 1\n",
			[]string{"Megatron-LM train.micro_batch=4"}},
		{"a command line and another value", "+ torchrun pretrain_gpt.py --micro-batch-size 2 --global-batch-size 64\n  micro_batch_size ........... 4\n", []string{"Megatron-LM train.micro_batch=4 varies"}},
		{"the micro-batch of the Hugging Face Trainer", "[INFO|trainer.py:2134] 2025-01-01 10:00:00,123 >>   Instantaneous batch size per device = 1,024\n  Total train batch size (w. parallel) = 9\n" +
			"per_device_train_batch_size=1024,\nper_device_eval_batch_size=8,\n--per_device_train_batch_size=1024\n", []string{"Hugging Face Trainer train.micro_batch=1024"}},
		{"a line with nothing else", "  Instantaneous batch size per device = 8\n", []string{"Hugging Face Trainer train.micro_batch=8"}},
		{"the micro-batch of torchtitan", "\x1b[32m[rank0]:[titan] 2025-11-25 19:44:58,838 - root - INFO - Trainer is initialized with local batch size 8, global batch size 64, gradient accumulation steps 1\n",
			[]string{"torchtitan train.micro_batch=8"}},
		{"the micro-batch of DeepSpeed", "[2025-01-02 15:47:02,568] [INFO] [config.py:1003:print]   train_micro_batch_size_per_gpu  2\n    min_train_micro_batch_size_per_gpu 1\n", []string{"DeepSpeed train.micro_batch=2"}},
		{"a list of sizes, and prose", "  micro_batch_size ......... [1, 2]\nthe micro_batch_size is 3\nsets micro_batch_size .\n", nil},
		{"two engines that differ", "non-default args: {'max_num_seqs': 8}\nnon-default args: {'max_num_seqs': 16}\n", []string{"vLLM engine.requests=16 varies"}},
		{"other values and a value that is cut", "non-default args: {'max_num_seqs': 'many', 'gpu_memory_utilization': nan, 'max_num_batched_tokens': 20", nil},
		{"a value that is cut within a dictionary", "{'actor_rollout_ref': {'rollout': {'gpu_memory_utilization': 0.\n'x': 1}}}\n", nil},
	} {
		for _, size := range []int{1, 7, 1 << 20} {
			if got := read(c.text, size); !slices.Equal(got, c.want) {
				t.Errorf("%s in parts of %d:\n got %q\nwant %q", c.name, size, got, c.want)
			}
		}
	}
}

// TestBounded: a configuration without an end, one with many brackets, and a long line end.
func TestBounded(t *testing.T) {
	late := "non-default args: {'max_num_seqs': 8}\n"
	for name, text := range map[string]string{
		"no end":        "{'a': {'b': 1,\n" + strings.Repeat("  'c': 1,\n", mostLines) + late,
		"many brackets": "{'a': " + strings.Repeat("[", 1000) + "\n" + late,
		"a long line":   "{'a': '" + strings.Repeat("x", 3*longestLine) + "\n" + strings.Repeat("other\n", mostForeign+2) + late,
	} {
		if got := read(text, 1000); !slices.Equal(got, []string{"vLLM engine.requests=8"}) {
			t.Errorf("%s: got %q", name, got)
		}
	}
	if got := read(strings.Repeat("a\n", mostBytes/2)+late, 1<<16); got != nil {
		t.Errorf("after %d bytes: got %q", mostBytes, got)
	}
}

// TestTable: each setting says what it means, and its name and unit are well formed.
func TestTable(t *testing.T) {
	table, err := parse(settingsText)
	if err != nil {
		t.Fatal(err)
	}
	for path, keys := range table.keys {
		for _, k := range keys {
			if table.means[k.name] == "" || !slices.Contains([]string{"share", "count", "switch", "word", "model"}, k.unit) {
				t.Errorf("%s: %+v", path, k)
			}
		}
	}
	for _, wrong := range []string{"veRL: a.b\n", "setting x\n"} {
		if _, err := parse(wrong); err == nil {
			t.Errorf("%q is accepted", wrong)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("{'actor_rollout_ref': {'a': [1, (2}\n", 3)
	f.Add("generator:\n  a: 1\n", 5)
	f.Fuzz(func(t *testing.T, text string, size int) {
		if whole, parts := read(text, 1<<20), read(text, 1+max(0, size)%100); !slices.Equal(whole, parts) {
			t.Errorf("%q differs in parts", text)
		}
	})
}

// TestCorpus: real logs have settings. It prints them.
func TestCorpus(t *testing.T) {
	for pattern, want := range map[string]string{
		"series/verl/*/gemma-2-2b-it-ppo*.log":      "veRL engine.memory_share=0.4",
		"series/nemo_rl/*/terminal*.txt":            "NeMo RL engine.memory_share=0.6",
		"series/vllm_server/*/vllm_lme.log":         "vLLM engine.batched_tokens=2048",
		"series/sglang_server/*/test_vlm_gdn_*.log": "SGLang engine.tensor_parallel=",
	} {
		for _, file := range test.Files(t, filepath.Join(test.Corpus(t), pattern)) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := read(string(text), 1<<20)
			t.Log(file, fmt.Sprint(got))
			if !slices.ContainsFunc(got, func(s string) bool { return strings.HasPrefix(s, want) }) {
				t.Errorf("%s: no %s", file, want)
			}
		}
	}
}
