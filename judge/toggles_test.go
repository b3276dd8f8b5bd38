package judge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// A toggle makes a run with one fact changed and everything else alike. A remedy is tested by two
// such runs for each term of its condition: one in which the term is true, and one in which it is not.
type toggle struct {
	word, value string // value is "" for a fact that is present or absent
	on, off     func(*summary.Summary)
}

// showing returns a toggle of software that a file of Python shows.
func showing(word, file string) toggle {
	return toggle{word: word, on: withFile(file), off: func(s *summary.Summary) {
		s.Lines = slices.DeleteFunc(s.Lines, func(l summary.Line) bool { return l.File == file })
		unknown := func(producer *string) { // its logs become those of an unknown program
			if strings.EqualFold(strings.ReplaceAll(*producer, " ", "-"), word) {
				*producer = "unknown"
			}
		}
		for i := range s.Series {
			unknown(&s.Series[i].Producer)
		}
		for i := range s.Steps {
			unknown(&s.Steps[i].Marker)
		}
		for i := range s.Phases {
			unknown(&s.Phases[i].Producer)
		}
	}}
}

func withFile(file string) func(*summary.Summary) {
	return func(s *summary.Summary) { s.Lines = append(s.Lines, summary.Line{File: file}) }
}

// excluding returns a toggle of software that may run, until other software of its family is found.
func excluding(word, other string) toggle {
	t := showing("maybe-"+word, other)
	t.on, t.off = t.off, t.on
	return t
}

// ofMaker changes the maker of the GPUs, or of the runtime of a run without GPUs.
func ofMaker(name, call string) func(*summary.Summary) {
	return func(s *summary.Summary) {
		for i := range s.Devices {
			s.Devices[i].Name = name
		}
		if s.Calls = nil; len(s.Devices) == 0 && call != "" {
			s.Calls = []summary.Call{{Name: call, Kind: "other", Count: 1}}
		}
	}
}

func formats(format string) func(*summary.Summary) {
	return func(s *summary.Summary) {
		if len(s.Inputs) == 0 {
			s.Inputs = []summary.Input{{Path: "run"}}
		}
		for i := range s.Inputs {
			s.Inputs[i].Format = format
		}
	}
}

// withTypes adds the name of a type to all matrix kernels, or adds a short one.
func withTypes(name string) func(*summary.Summary) {
	return func(s *summary.Summary) {
		n := 0
		typed := func(old string) string {
			for _, t := range []string{"_bf16", "_e4m3", "_simt", "half"} {
				old = strings.ReplaceAll(old, t, "")
			}
			n++
			return old + name
		}
		for i := range s.Kernels {
			if k := &s.Kernels[i]; k.Category == "gemm" || k.Category == "convolution" || k.Category == "moe" {
				k.Name = typed(k.Name)
			}
		}
		for i := range s.Tables {
			for j := range s.Tables[i].Rows {
				if r := &s.Tables[i].Rows[j]; r.Category == "gemm" {
					r.Name = typed(r.Name)
				}
			}
		}
		for i := range s.Counters {
			s.Counters[i].Category, s.Counters[i].Kernel = "gemm", typed(s.Counters[i].Kernel)
		}
		for i := range s.Benchmarks {
			if s.Benchmarks[i].Settings["model"] == "" {
				s.Benchmarks[i].Settings = withKey(s.Benchmarks[i].Settings, "model", "llama")
			}
			s.Benchmarks[i].Settings["model"] = typed(s.Benchmarks[i].Settings["model"])
		}
		if n == 0 {
			s.Kernels = append(s.Kernels, summary.Kernel{Name: "gemm" + name, Class: "compute", Category: "gemm", Count: 1, TotalNS: 1, MinNS: 1, MaxNS: 1})
		}
	}
}

func withKey(m map[string]string, key, value string) map[string]string {
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

func sized(world func(given int) int) func(*summary.Summary) {
	return func(s *summary.Summary) {
		ranks := map[int]bool{}
		for _, in := range s.Inputs {
			ranks[in.Rank] = true
		}
		for i := range s.Inputs {
			s.Inputs[i].WorldSize = world(len(ranks))
		}
	}
}

func onNodes(n int) func(*summary.Summary) {
	return func(s *summary.Summary) {
		sized(func(given int) int { return given })(s)
		for i := range s.Topologies {
			s.Topologies[i].Nodes = n
		}
		if s.Topologies == nil {
			s.Topologies = []summary.Topology{{Nodes: n}}
		}
	}
}

func withQueue(mean float64) func(*summary.Summary) {
	return func(s *summary.Summary) {
		s.Series = append(s.Series, summary.Series{Metric: "requests.queued", Producer: "x", Name: "queued", Mean: &mean})
	}
}

// withPool makes a pool of a server full, and none of the others.
func withPool(pool string) func(*summary.Summary) {
	return func(s *summary.Summary) {
		s.Series = slices.DeleteFunc(s.Series, func(r summary.Series) bool { return r.Producer == "pool" })
		if full := 1.0; pool != "" {
			s.Series = append(s.Series, summary.Series{Metric: "kv_cache." + pool + "_usage", Producer: "pool", Name: pool, Median: &full})
		}
	}
}

// withSetting sets a setting of veRL in all inputs.
func withSetting(name, value string) func(*summary.Summary) {
	return func(s *summary.Summary) {
		s.Settings = slices.DeleteFunc(s.Settings, func(r summary.Setting) bool { return r.Name == name })
		for i := range s.Inputs {
			s.Settings = append(s.Settings, summary.Setting{Input: i, Producer: "veRL", Key: name, Name: name, Value: value})
		}
	}
}

func configured(word, name, on, off string) toggle {
	return toggle{word: word, on: withSetting(name, on), off: withSetting(name, off)}
}

// batched is about micro-batches of training of 8 samples, and others of as many or twice as many.
func batched(word, name string) toggle {
	sized := func(size string) func(*summary.Summary) {
		return func(s *summary.Summary) {
			for n, v := range map[string]string{"train.micro_batch": "8", "train.dynamic_batch": "false", name: size} {
				withSetting(n, v)(s)
			}
		}
	}
	return toggle{word: word, on: sized("8"), off: sized("16")}
}

// servedOf sets the served part of the requests of each result whose rate is limited.
func servedOf(part float64) func(*summary.Summary) {
	return func(s *summary.Summary) {
		for i := range s.Benchmarks {
			b := &s.Benchmarks[i]
			b.Settings = withKey(b.Settings, "request_rate", "2")
			b.Metrics = slices.DeleteFunc(b.Metrics, func(f summary.Figure) bool { return f.Metric == "throughput.requests" })
			b.Metrics = append(b.Metrics, summary.Figure{Metric: "throughput.requests", Name: "Request throughput (req/s)", Value: 2 * part})
		}
	}
}

// servingOnly shows decoding, and takes away what shows training in a log.
func servingOnly(s *summary.Summary) {
	for i := range s.Phases {
		if s.Phases[i].Source == summary.SourceLog {
			s.Phases[i].Path = strings.ReplaceAll(s.Phases[i].Path, "training", "work")
		}
	}
	s.Series = slices.DeleteFunc(s.Series, func(r summary.Series) bool { return strings.HasPrefix(r.Metric, "train.") })
	s.Phases = append(s.Phases, summary.Phase{Path: "decode", Count: 1})
}

// launched adds launches to those of a run.
func launched(l summary.Launches) func(*summary.Summary) {
	return func(s *summary.Summary) { s.Launches = append(s.Launches, l) }
}

// idling returns a toggle of one side of asynchronous training that logs to be idle for much of its time.
func idling(word, metric string) toggle {
	idle, not := 0.4, 0.01
	logging := func(share *float64) func(*summary.Summary) {
		return func(s *summary.Summary) {
			s.Series = slices.DeleteFunc(s.Series, func(r summary.Series) bool { return r.Metric == metric && r.Producer == "side" })
			for i := range s.Series {
				if s.Series[i].Metric == metric {
					s.Series[i].Median = share
				}
			}
			s.Series = append(s.Series, summary.Series{Metric: metric, Producer: "side", N: 1, Median: share})
		}
	}
	return toggle{word: word, on: logging(&idle), off: logging(&not)}
}

// plainly removes the names by which a capture shows PyTorch.
func plainly(s *summary.Summary) {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err) // cannot happen: the summary was made from JSON
	}
	*s = summary.Summary{}
	if err := json.Unmarshal([]byte(withoutPyTorch.Replace(string(text))), s); err != nil {
		panic(err)
	}
	s.Kernels = append(s.Kernels, summary.Kernel{Name: "saxpy", Class: "compute"})
	formats("nsys-sqlite")(s)
}

// toggles has each fact that conditions are about. Of a fact with values each one is a toggle, and
// off leads to another value or none.
var toggles = []toggle{
	showing("torch", "torch/autograd/graph.py"), showing("jax", "jax/_src/pjit.py"),
	showing("vllm", "/vllm/v1/engine/core.py"), showing("sglang", "sglang/srt/managers/scheduler.py"),
	showing("sfllm", "sfllm/engine.py"), showing("tensorrt-llm", "tensorrt_llm/runtime.py"),
	showing("megatron", "megatron/training/training.py"), showing("deepspeed", "deepspeed/runtime/engine.py"),
	showing("fsdp", "torch/distributed/fsdp/_runtime_utils.py"), showing("ddp", "torch/nn/parallel/distributed.py"),
	showing("verl", "/verl/trainer/ppo/ray_trainer.py"), showing("skyrl", "skyrl_train/trainer.py"),
	showing("nemo-rl", "nemo_rl/algorithms/grpo.py"), showing("nemo-gym", "nemo_gym/server_utils.py"),
	showing("slime", "slime/rollout/sglang_rollout.py"),
	{word: "compile", on: func(s *summary.Summary) {
		s.Annotations = append(s.Annotations, summary.Annotation{Name: "Torch-Compiled Region: 0/0"})
	}, off: func(s *summary.Summary) {
		for i := range s.Kernels {
			s.Kernels[i].Name = strings.ReplaceAll(s.Kernels[i].Name, "triton_", "fused_")
		}
		s.Annotations = slices.DeleteFunc(s.Annotations, func(a summary.Annotation) bool { return strings.HasPrefix(a.Name, "Torch-Compiled") })
	}},
	excluding("jax", "megatron/core/a.py"), excluding("megatron", "deepspeed/runtime/a.py"), excluding("deepspeed", "megatron/core/a.py"),
	excluding("fsdp", "megatron/core/a.py"), excluding("ddp", "megatron/core/a.py"),
	excluding("vllm", "sglang/srt/a.py"), excluding("sglang", "vllm/v1/a.py"),
	{word: "nsys", on: formats("nsys-sqlite"), off: formats("kineto")},
	{word: "xla", on: formats("xplane"), off: formats("kineto")},
	{word: "rocm", on: formats("rocprofv3-sqlite"), off: formats("kineto")},
	{word: "unitrace", on: formats("unitrace"), off: formats("kineto")},
	{word: "proton", on: formats("proton-tree"), off: formats("kineto")},
	{word: "compiles-operators", on: func(s *summary.Summary) {
		s.Calls = append(s.Calls, summary.Call{Name: "aclopCompileAndExecuteV2", Kind: "other", Count: 3, TotalNS: 900 * ms})
	}, off: func(s *summary.Summary) {
		s.Calls = slices.DeleteFunc(s.Calls, func(c summary.Call) bool { return strings.HasPrefix(c.Name, "aclopCompile") })
	}},
	{word: "plain", on: plainly, off: withFile("torch/autograd/graph.py")},
	{word: "gpu", value: "nvidia", on: ofMaker("NVIDIA H100 80GB HBM3", "cudaMalloc"), off: ofMaker("AMD Instinct MI300X", "hipMalloc")},
	{word: "gpu", value: "amd", on: ofMaker("AMD Instinct MI300X", "hipMalloc"), off: ofMaker("NVIDIA H100 80GB HBM3", "cudaMalloc")},
	{word: "gpu", value: "intel", on: ofMaker("Intel(R) Arc(TM) B580 Graphics", "urEnqueueKernelLaunch"), off: ofMaker("NVIDIA H100 80GB HBM3", "cudaMalloc")},
	{word: "gpu", value: "other", on: ofMaker("MTIA", ""), off: ofMaker("NVIDIA H100 80GB HBM3", "cudaMalloc")},
	{word: "maybe-nvidia", on: ofMaker("", ""), off: ofMaker("Intel(R) Arc(TM) B580 Graphics", "urEnqueueKernelLaunch")},
	{word: "recommender", on: func(s *summary.Summary) {
		s.Ops = append(s.Ops, summary.Op{Name: "fbgemm::split_embedding_codegen_lookup_sgd_function"})
	}, off: func(s *summary.Summary) {
		s.Ops = slices.DeleteFunc(s.Ops, func(o summary.Op) bool { return strings.HasPrefix(o.Name, "fbgemm::") })
	}},
	{word: "collector", on: func(s *summary.Summary) {
		window := int64(1)
		for _, d := range s.Devices {
			window += d.Activity.Window()
		}
		s.Idle = append(s.Idle, summary.Idle{Owner: summary.OwnerHost, State: summary.StateCollector, Name: "<built-in function collect>", NS: window / 50, Count: 1})
	}, off: func(s *summary.Summary) {
		for i := range s.Idle {
			if s.Idle[i].State == summary.StateCollector {
				s.Idle[i].State = summary.StatePython
			}
		}
		s.Series = slices.DeleteFunc(s.Series, func(r summary.Series) bool { return r.Metric == "python.gc" })
	}},
	compiledToggle("recompiled", "size"), compiledToggle("recompiled", "value"), compiledToggle("recompiled", "other"),
	compiledToggle("breaks", "data"), compiledToggle("breaks", "other"),
	{word: "rl", on: withFile("/verl/trainer/ppo/ray_trainer.py"), off: showing("verl", "/verl/trainer/ppo/ray_trainer.py").off},
	{word: "maybe-trains", on: func(s *summary.Summary) {
		s.Annotations = append(s.Annotations, summary.Annotation{Name: "Optimizer.step#AdamW.step"})
	}, off: servingOnly},
	{word: "maybe-serves", on: withFile("/vllm/v1/engine/core.py"), off: func(s *summary.Summary) {
		s.Annotations = append(s.Annotations, summary.Annotation{Name: "Optimizer.step#AdamW.step"})
	}},
	{word: "recomputes", on: func(s *summary.Summary) {
		s.Passes = append(s.Passes, summary.Pass{Name: "recompute", Count: 1, GPUNS: 1})
	}, off: func(s *summary.Summary) { s.Passes = nil }},
	{word: "graphs", on: func(s *summary.Summary) {
		s.Calls = append(s.Calls, summary.Call{Name: "cudaGraphLaunch", Kind: "graph-launch", Count: 1})
	}, off: func(s *summary.Summary) {
		s.Graphs = nil
		s.Calls = slices.DeleteFunc(s.Calls, func(c summary.Call) bool { return c.Kind == "graph-launch" })
		s.Series = slices.DeleteFunc(s.Series, func(r summary.Series) bool { return r.Metric == "cuda_graph.used" && r.Max != nil && *r.Max > 0 })
	}},
	{word: "memory-full", on: func(s *summary.Summary) {
		full := 0.97
		s.Series = append(s.Series, summary.Series{Metric: "memory.usage", Producer: "full", N: 1, Min: &full, Max: &full, Mean: &full, Median: &full})
	}, off: func(s *summary.Summary) {
		s.Series = slices.DeleteFunc(s.Series, func(r summary.Series) bool { return r.Metric == "memory.usage" || r.Metric == "memory.failed" })
	}},
	{word: "generation-busy", on: func(s *summary.Summary) {
		s.Phases = append(s.Phases, summary.Phase{Path: "generation", Count: 1, Total: summary.Activity{comp: 1 << 50}})
	}, off: func(s *summary.Summary) {
		s.Phases = slices.DeleteFunc(s.Phases, func(p summary.Phase) bool { return p.Total.Window() >= 1<<50 })
	}},
	{word: "expandable", on: func(s *summary.Summary) {
		if len(s.Snapshots) == 0 {
			s.Snapshots = []summary.Snapshot{{}}
		}
		for i := range s.Snapshots {
			s.Snapshots[i].Expandable = true
		}
	}, off: func(s *summary.Summary) {
		for i := range s.Snapshots {
			s.Snapshots[i].Expandable = false
		}
	}},
	{word: "launches", on: func(s *summary.Summary) {
		s.Calls = append(s.Calls, summary.Call{Name: "hipLaunchKernel", Kind: "launch", Count: 1})
	}, off: func(s *summary.Summary) {
		s.Launches = nil
		s.Calls = slices.DeleteFunc(s.Calls, func(c summary.Call) bool { return strings.HasSuffix(c.Kind, "launch") })
	}},
	{word: "maybe-reads-back", on: func(s *summary.Summary) {
		s.Ops = append(s.Ops, summary.Op{Name: "aten::item", Count: 1})
	}, off: func(s *summary.Summary) {
		s.Ops = []summary.Op{{Name: "aten::mm", Count: 1}}
		s.Copies = slices.DeleteFunc(s.Copies, func(k summary.Copy) bool { return strings.Contains(k.Name, "DtoH") })
	}},
	{word: "precision", value: "8-bit", on: withTypes("_e4m3"), off: withTypes("_bf16")},
	{word: "precision", value: "16-bit", on: withTypes("_bf16"), off: withTypes("_e4m3")},
	{word: "low-precision", on: withTypes("_bf16"), off: withTypes("_simt")},
	{word: "tf32-unused", on: func(s *summary.Summary) {
		s.Kernels = append(s.Kernels, summary.Kernel{Name: "ampere_sgemm_64x32_nn", Class: "compute", Category: "gemm", Count: 1, TotalNS: 1 << 50, MinNS: 1, MaxNS: 1})
	}, off: func(s *summary.Summary) {
		s.Kernels = slices.DeleteFunc(s.Kernels, func(k summary.Kernel) bool { return strings.Contains(k.Name, "sgemm") })
	}},
	{word: "fused-attention", on: func(s *summary.Summary) {
		s.Kernels = append(s.Kernels, summary.Kernel{Name: "flash_fwd_kernel", Class: "compute", Category: "attention", Count: 1, TotalNS: 1, MinNS: 1, MaxNS: 1})
	}, off: func(s *summary.Summary) {
		s.Kernels = slices.DeleteFunc(s.Kernels, func(k summary.Kernel) bool { return k.Name == "flash_fwd_kernel" })
	}},
	{word: "maybe-dataloader", on: func(s *summary.Summary) {
		s.Annotations = append(s.Annotations, summary.Annotation{Name: "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"})
	}, off: func(s *summary.Summary) {
		s.Annotations = append(s.Annotations, summary.Annotation{Name: "read"})
		s.Idle = slices.Clone(s.Idle)
		for i := range s.Idle {
			s.Idle[i].Name = strings.ReplaceAll(s.Idle[i].Name, "DataLoader", "Reader")
		}
	}},
	{word: "ranks", value: "one", on: sized(func(int) int { return 1 }), off: sized(func(given int) int { return given + 1 })},
	{word: "ranks", value: "some", on: sized(func(given int) int { return given + 1 }), off: sized(func(given int) int { return given })},
	{word: "ranks", value: "all", on: func(s *summary.Summary) {
		if len(s.Inputs) == 1 {
			s.Inputs = append(s.Inputs, summary.Input{Path: "next", Format: s.Inputs[0].Format, Rank: s.Inputs[0].Rank + 1})
		}
		sized(func(given int) int { return given })(s)
	}, off: sized(func(given int) int { return given + 1 })},
	{word: "nodes", value: "one", on: onNodes(1), off: onNodes(2)},
	{word: "nodes", value: "several", on: onNodes(2), off: onNodes(1)},
	{word: "queued", on: withQueue(5), off: func(s *summary.Summary) {
		s.Series = slices.DeleteFunc(s.Series, func(r summary.Series) bool { return r.Producer == "x" })
	}},
	{word: "pool", value: "swa", on: withPool("swa"), off: withPool("")},
	{word: "pool", value: "mamba", on: withPool("mamba"), off: withPool("")},
	{word: "pool", value: "host", on: withPool("host"), off: withPool("")},
	jobToggle("lost", summary.PartLost), jobToggle("waiting", summary.PartWaiting), jobToggle("start", summary.PartStartUp),
	jobToggle("checkpoint", summary.PartCheckpoint), jobToggle("evaluation", summary.PartEvaluation), jobToggle("stall", summary.PartStall),
	jobToggle("between", summary.PartBetween),
	{word: "overloaded", on: servedOf(0.5), off: servedOf(1)},
	configured("fixed-batches", "train.dynamic_batch", "false", "true"), configured("padded", "train.remove_padding", "false", "true"),
	configured("low-memory-share", "engine.memory_share", "0.35", "0.5"), configured("high-memory-share", "engine.memory_share", "0.75", "0.6"),
	configured("few-batched-tokens", "engine.batched_tokens", "2048", "4096"), configured("graphs-enabled", "engine.eager", "false", "true"),
	configured("graphs-disabled", "engine.eager", "true", "false"),
	configured("kv-cache-8-bit", "engine.cache_type", "fp8_e4m3", "auto"), configured("one-gpu-engine", "engine.tensor_parallel", "1", "2"),
	batched("small-forward-batches", "forward.micro_batch"), batched("small-reference-batches", "reference.micro_batch"),
	{word: "forward-batches-twice", on: batched("", "forward.micro_batch").off, off: batched("", "forward.micro_batch").on},
	{word: "packed-by-tokens", on: func(s *summary.Summary) {
		withSetting("train.dynamic_batch", "true")(s)
		withSetting("train.remove_padding", "true")(s)
	}, off: withSetting("train.remove_padding", "false")},
	{word: "batches-of-samples", on: func(s *summary.Summary) {
		s.Settings = nil
		for _, name := range []string{"train.micro_batch", "forward.micro_batch", "reference.micro_batch"} {
			withSetting(name, "4")(s)
		}
	}, off: withSetting("train.dynamic_batch", "false")},
	{word: "one-gpu-trainer", on: func(s *summary.Summary) {
		withSetting("train.gpus", "1")(s)
		withSetting("train.nodes", "1")(s)
	}, off: withSetting("train.nodes", "2")},
	{word: "clocks-differ", on: func(s *summary.Summary) {
		s.Issues = append(s.Issues, summary.Issue{Code: summary.ClocksDiffer, Severity: "info", Count: 100})
	}, off: func(s *summary.Summary) {
		s.Issues = slices.DeleteFunc(s.Issues, func(i summary.Issue) bool { return i.Code == summary.ClocksDiffer })
	}},
	{word: "rank-raised", on: func(s *summary.Summary) {
		s.Issues = append(s.Issues, summary.Issue{Code: "rank-raised", Severity: "info", Count: 1, First: "t.log:1: rank 1, ValueError"})
	}, off: func(s *summary.Summary) {
		s.Issues = slices.DeleteFunc(s.Issues, func(i summary.Issue) bool { return i.Code == "rank-raised" })
	}},
	{word: "synchronous", on: launched(summary.Launches{Long: 1000, Held: 1000}), off: func(s *summary.Summary) {
		for i := range s.Launches {
			s.Launches[i].Held = 0
		}
	}},
	{word: "slow-again", on: launched(summary.Launches{Slow: 1000, SlowAgain: 1000}), off: func(s *summary.Summary) {
		for i := range s.Launches {
			s.Launches[i].SlowAgain = 0
		}
	}},
	{word: "data-parallel", on: withFile("torch/nn/parallel/data_parallel.py"), off: func(s *summary.Summary) {
		s.Ops = slices.DeleteFunc(s.Ops, func(o summary.Op) bool { return o.Name == "Scatter" || o.Name == "Gather" })
		s.Lines = slices.DeleteFunc(s.Lines, func(l summary.Line) bool { return strings.HasSuffix(l.File, "data_parallel.py") })
	}},
	idling("trainer-waits", "trainer.idle"), idling("rollouts-wait", "rollout.idle"),
	{word: "colocated", on: func(s *summary.Summary) {
		s.Phases = append(s.Phases, summary.Phase{Input: -1, Path: "sleep-wake", Source: summary.SourceLog, InSteps: &summary.InSteps{Steps: 1, StepNS: 10, NS: 1}})
	}, off: func(s *summary.Summary) {
		s.Phases = slices.DeleteFunc(s.Phases, func(p summary.Phase) bool { return p.Path == "sleep-wake" })
		for i := range s.RoleSteps {
			s.RoleSteps[i].Shared = false
		}
	}},
}

// copyOf returns a deep copy of a summary.
func copyOf(t *testing.T, s *summary.Summary) *summary.Summary {
	t.Helper()
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	out := &summary.Summary{}
	if err := json.Unmarshal(text, out); err != nil {
		t.Fatal(err)
	}
	return out
}

// A world is what decides a term: a run, and for a fact of evidence the findings of a rule with these limits.
type world struct {
	*summary.Summary
	of string
	th rule.Thresholds
}

// isTrue reports whether a term is true.
func (w world) isTrue(t rule.Term) bool {
	if !rule.OfEvidence(t.Word) {
		return isTrue(w.Summary, t)
	}
	fact := strings.TrimSuffix(t.Word+"="+t.Value, "=")
	return slices.ContainsFunc(Judge(w.Summary, w.th).Findings, func(f finding.Finding) bool {
		return f.Rule == w.of && slices.Contains(f.Shown, fact)
	}) != t.Not
}

// isTrue reports whether a term is true for a summary.
func isTrue(s *summary.Summary, t rule.Term) bool {
	value := rule.ValueOf(t.Word, s, rule.Stacks(s))
	return (value != "" && (!t.Compares || value == t.Value)) != t.Not
}

// runWith returns a copy of a run in which the term is true or not, or nil if its toggle cannot make
// it so.
func (w world) runWith(t *testing.T, term rule.Term, want bool) *summary.Summary {
	t.Helper()
	s := w.Summary
	if w.isTrue(term) == want {
		return s
	}
	for _, tg := range slices.Concat(toggles, evidenceToggles()) {
		if tg.word != term.Word || tg.value != term.Value {
			continue
		}
		out := copyOf(t, s)
		if want != term.Not {
			tg.on(out)
		} else {
			tg.off(out)
		}
		if (world{out, w.of, w.th}).isTrue(term) == want {
			return out
		}
	}
	return nil
}

// TestToggles: each toggle makes its fact true and false in a run with a kernel, an input of each
// kind and a device. It proves what the facts measure, by runs whose truth is known.
func TestToggles(t *testing.T) {
	for _, tg := range toggles {
		s := one(600, 0, 0)
		s.Inputs = []summary.Input{{Path: "run", Format: "kineto"}, {Path: "next", Format: "kineto", Rank: 1}}
		s.Kernels = []summary.Kernel{{Name: "my_gemm", Class: "compute", Category: "gemm", Count: 1, TotalNS: ms, MaxNS: ms}}
		s.Benchmarks = []summary.Benchmark{{Producer: "x"}}
		term := rule.Term{Word: tg.word, Value: tg.value, Compares: tg.value != ""}
		for _, want := range []bool{true, false} {
			out := copyOf(t, s)
			if want {
				tg.on(out)
			} else {
				tg.off(out)
			}
			if got := isTrue(out, term); got != want {
				t.Errorf("%s %s: %t in a run that is made so that it is %t", tg.word, tg.value, got, want)
			}
		}
	}
}
