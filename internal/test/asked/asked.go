// Package asked has questions that an agent asks about the files of testdata, with their answers. The answers are
// from the files themselves, read with other programs or by eye, or from the plans of their generators: never from
// assay.
package asked

// A Question is answered by the last of a few calls of tools.
type Question struct {
	Ask   string
	Calls []Call
	Path  string // of the answer in the JSON of the last call: "rows.0.count"
	Want  any    // a text, or a number that may be off by one
	From  string // where the answer is from
}

// A Call is a call of a tool.
type Call struct {
	Tool string
	Args map[string]any
}

type args = map[string]any

// raw says that an answer was computed from the events of a trace, by a few lines of Python.
const raw = "sum, count or largest of the events' dur"

// All returns the questions.
func All() []Question {
	return []Question{
		{"What limits host_bound?", []Call{{"summarize", args{"path": "gen/host_bound.json.gz"}}}, "verdict.bound", "host", "the plan of its generator"},
		{"How long is its GPU idle?", []Call{{"summarize", args{"path": "gen/host_bound.json.gz"}}}, "devices.0.budget.idle_ns", 6_339_000, raw},
		{"Of what time is that?", []Call{{"summarize", args{"path": "gen/host_bound.json.gz"}}}, "devices.0.window_ns", 6_893_000, raw},
		{"How long is the longest gap?", []Call{{"inspect", args{"path": "gen/host_bound.json.gz", "gap": 1}}}, "gap.ns", 695_000, raw},
		{"How often is a kernel launched in it?", []Call{{"table", args{"path": "gen/host_bound.json.gz", "by": "call", "where": []any{"call=cudaLaunchKernel"}}}}, "rows.0.count", 96, raw},
		{"What limits comm_bound?", []Call{{"summarize", args{"path": "gen/comm_bound.json.gz"}}}, "verdict.bound", "communication", "the plan of its generator"},
		{"Which communication kernel does it run?", []Call{{"search_names", args{"path": "gen/comm_bound.json.gz", "find": "nccl"}}}, "kernels.0.name",
			"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)", raw},
		{"How long do its all-reduces take together?", []Call{{"search_names", args{"path": "gen/comm_bound.json.gz", "find": "allreduce"}},
			{"table", args{"path": "gen/comm_bound.json.gz", "by": []any{"kernel"}, "where": []any{"kernel=nccl*"}}}}, "rows.0.total_ns", 3_600_000, raw},
		{"How many are there?", []Call{{"inspect", args{"path": "gen/comm_bound.json.gz", "kernel": "AllReduce"}}}, "kernels.count", 12, raw},
		{"How much kernel time has llm_train_step?", []Call{{"table", args{"path": "gen/llm_train_step.json.gz", "by": "category"}}}, "whole_ns", 65_652_627, raw},
		{"Which of its kernels takes most?", []Call{{"table", args{"path": "gen/llm_train_step.json.gz", "by": "kernel", "top": 1}}}, "rows.0.total_ns", 22_070_229, raw},
		{"How long is the longest run of its matrix kernel?", []Call{{"search_names", args{"path": "gen/llm_train_step.json.gz", "find": "nvjet_tst_256x128"}},
			{"inspect", args{"path": "gen/llm_train_step.json.gz", "kernel": "nvjet_tst_256x128_64x4_2x1_v_bz_coopA_NNN"}}}, "kernels.max_ns", 401_376, raw},
		{"How many calls wait for the GPU in it?", []Call{{"table", args{"path": "gen/llm_train_step.json.gz", "by": "call", "where": []any{"call=cudaStreamSynchronize"}}}}, "rows.0.count", 4, raw},
		{"How much kernel time per step has llm_train_slower?", []Call{{"diff", args{"base": "gen/llm_train_step.json.gz", "new": "gen/llm_train_slower.json.gz", "by": "category"}}}, "new_ns", 17_250_883, raw + ", of four steps"},
		{"Is llm_train_step worse than itself?", []Call{{"check", args{"path": "gen/llm_train_step.json.gz", "baseline": "gen/llm_train_step.json.gz"}}}, "result", "pass", "it is the same file"},
		{"How many copies does the AMD run ask for?", []Call{{"table", args{"path": "gen/rocm.json.gz", "by": "call", "where": []any{"call=hipMemcpyWithStream"}}}}, "rows.0.count", 6, raw},
		{"What limits cpu_only?", []Call{{"summarize", args{"path": "gen/cpu_only.json.gz"}}}, "verdict.abstained.code", "no-gpu-time", "it has no GPU events"},
		{"Which request rate had the first benchmark?", []Call{{"series", args{"path": "guides/sglang_serving.jsonl", "top": 1}}}, "benchmarks.0.settings.request_rate", "4", "the first line of the file"},
		{"How much memory did the trainer allocate at most?", []Call{{"series", args{"path": "guides/verl_train.log", "find": "max_memory_allocated"}}}, "series.0.max", 52.5 * (1 << 30), "perf/max_memory_allocated_gb in the file"},
		{"What happened to the run of the memory snapshot?", []Call{{"summarize", args{"path": "memory/leak_oom.pickle.gz"}}}, "verdict.bound", "out-of-memory", "the plan of its generator"},
		{"Which operator takes most of the table?", []Call{{"summarize", args{"path": "torch113_cpu_mlp.txt", "fields": []any{"tables.rows.name", "tables.rows.values"}}}}, "tables.0.rows.0.name", "aten::mm", "the first line of the table, which is sorted"},
	}
}
