package rule

import (
	"slices"
	"strings"
	"sync"

	"assay/summary"
	"assay/summary/view"
)

// maybe is the prefix of words for software that may be in use.
const maybe = "maybe-"

// FactsTable returns the facts of a run that conditions may use. Nothing may change it.
var FactsTable = sync.OnceValue(func() []Fact {
	var software, possible []string
	for _, e := range stackEntries() {
		if software = append(software, e.id); e.Family != "" {
			possible = append(possible, maybe+e.id)
		}
	}
	return append([]Fact{
		{Words: software, Meaning: "this software is found",
			Found: "names that only it has, listed in `judge/rule/stacks.yaml`",
			evaluate: func(word string, _ *summary.Summary, stacks []Stack) string {
				return yes(isFound(word, stacks))
			}, public: forSoftware},
		{Words: possible, Meaning: "this software is found, or none of its family",
			Found: "`family` and `excludes` in `judge/rule/stacks.yaml`",
			evaluate: func(word string, _ *summary.Summary, stacks []Stack) string {
				return yes(!other(strings.TrimPrefix(word, maybe), stacks))
			}, public: forSoftware},
		{Words: []string{"nsys"}, Meaning: "Nsight Systems recorded all inputs", Found: "the formats of the inputs",
			evaluate: is(OfNsys), public: func(r *Remedy, _ string) { r.Nsys = true }},
		{Words: []string{"xla"}, Meaning: "the profiler of XLA or TensorFlow recorded all inputs", Found: "the formats of the inputs",
			evaluate: is(OfXLA)},
		{Words: []string{"rocm"}, Meaning: "profilers of ROCm recorded all inputs", Found: "the formats of the inputs",
			evaluate: is(OfROCm)},
		{Words: []string{"unitrace"}, Meaning: "unitrace, of Intel, recorded all inputs", Found: "the formats of the inputs",
			evaluate: is(func(s *summary.Summary) bool { return allInputs(s, byUnitrace) })},
		{Words: []string{"proton"}, Meaning: "Proton, the profiler of Triton, recorded all inputs", Found: "the formats of the inputs",
			evaluate: is(func(s *summary.Summary) bool { return allInputs(s, byProton) })},
		{Words: []string{"plain"}, Meaning: "the program shows nothing of PyTorch",
			Found: "kernels, in timelines or whole tables, that only tools of NVIDIA, ROCm, XLA or TensorFlow recorded, no table or memory snapshot of PyTorch, and no software but JAX",
			evaluate: func(_ string, s *summary.Summary, stacks []Stack) string {
				others := func(st Stack) bool { return st.ID != "jax" }
				return yes((len(s.Kernels) > 0 || len(tableKernels(s)) > 0) && !fromTorch(s) && !slices.ContainsFunc(stacks, others))
			}, public: func(r *Remedy, _ string) { r.Plain = true }},
		{Words: []string{"gpu"}, Values: []string{"nvidia", "amd", "intel", "other"},
			Meaning:  "all GPUs are of this maker",
			Found:    "the names of the GPUs; if one has none, calls of CUDA, HIP or Level Zero, the devices of tables of Proton, or inputs that only tools of one maker write",
			evaluate: of(vendorOf)},
		{Words: []string{"maybe-nvidia"}, Meaning: "all GPUs are of NVIDIA, or their maker is not known",
			Found:    "as for `gpu`",
			evaluate: is(func(s *summary.Summary) bool { v := vendorOf(s); return v == "" || v == "nvidia" })},
		{Words: []string{"recommender"}, Meaning: "the model looks up embedding tables",
			Found:    "kernels and operators of the embeddings of FBGEMM and TorchRec",
			evaluate: is(looksUpTables)},
		{Words: []string{"collector"}, Meaning: "Python's garbage collector takes time: 1% of the windows of the GPUs or more while these are idle, or of the time of a log",
			Found: "calls of gc.collect, functions and annotations of the collector; lines of a log about collections", evaluate: is(collects)},
		{Words: []string{"maybe-trains"}, Meaning: "the run trains a model, or nothing shows that it only serves one",
			Found: "backward passes and optimizers; for serving: software and phases of servers, requests in logs, benchmarks of servers",
			evaluate: func(_ string, s *summary.Summary, stacks []Stack) string {
				return yes(Trains(s) || !serves(s, stacks))
			}},
		{Words: []string{"maybe-serves"}, Meaning: "the run serves a model, or nothing shows that it only trains one",
			Found: "as for `maybe-trains`",
			evaluate: func(_ string, s *summary.Summary, stacks []Stack) string {
				return yes(serves(s, stacks) || !Trains(s))
			}},
		{Words: []string{"recomputes"}, Meaning: "the backward pass computes activations again",
			Found: "work and memory of activation checkpoints", evaluate: is(recomputes)},
		{Words: []string{"memory-full"}, Meaning: "GPU memory ran out, or 95% or more of it was in use", Found: "logs, monitors and memory snapshots", evaluate: is(memoryFull)},
		{Words: []string{"generation-busy"}, Meaning: "the GPU works for 80% or more of the phase of generation", Found: "phases of a trace", evaluate: is(generationBusy)},
		{Words: []string{"expandable"}, Meaning: "the allocator of PyTorch uses expandable segments", Found: "the setting of a memory snapshot",
			evaluate: is(func(s *summary.Summary) bool {
				return slices.ContainsFunc(s.Snapshots, func(sn summary.Snapshot) bool { return sn.Expandable })
			})},
		{Words: []string{"compiles-operators"}, Meaning: "CANN compiles operators while the program runs: calls of aclopCompileAndExecute take 10% or more of the time of all calls",
			Found: "calls in traces of Ascend", evaluate: is(compilesOperators)},
		{Words: []string{"graphs"}, Meaning: "CUDA graphs run",
			Found:    "calls that launch graphs, and batches that a server logged as run in a graph",
			evaluate: is(runsGraphs)},
		{Words: []string{"maybe-reads-back"}, Meaning: "the program reads values of the GPU, or the inputs name no operators",
			Found: "copies from GPU to CPU, and operators such as `aten::item`", evaluate: is(maybeReadsBack)},
		{Words: []string{"launches"}, Meaning: "calls that launch GPU work are recorded", Found: "calls of this kind",
			evaluate: is(recordsLaunches)},
		{Words: []string{"precision"}, Values: []string{"16-bit", "8-bit"},
			Meaning: "most matrix products compute with inputs or weights of this size; `8-bit` includes 4 bits",
			Found:   "names of kernels, by their time, and names of models in benchmarks", evaluate: of(precisionOf)},
		{Words: []string{"low-precision"},
			Meaning:  "most matrix products compute with inputs or weights of 16 bits or fewer",
			Found:    "as for `precision`",
			evaluate: is(func(s *summary.Summary) bool { return precisionOf(s) != "" })},
		{Words: []string{"tf32-unused"}, Meaning: "most matrix products compute in float32 without tensor cores, which the GPU has for TF32",
			Found: "names of kernels, by their time", evaluate: is(leavesOutTF32)},
		{Words: []string{"fused-attention"}, Meaning: "a fused attention kernel runs",
			Found: "names of kernels", evaluate: is(fusesAttention)},
		{Words: []string{"maybe-dataloader"},
			Meaning: "a DataLoader of PyTorch is found, or the inputs name no operators and functions",
			Found:   "`dataloader` in `judge/rule/stacks.yaml`",
			evaluate: func(_ string, s *summary.Summary, stacks []Stack) string {
				return yes(isFound("dataloader", stacks) || len(s.Ops)+len(s.Annotations)+len(s.Lines) == 0)
			}},
		{Words: []string{"ranks"}, Values: []string{"one", "some", "all"},
			Meaning:  "the job has one rank; or several, and some or all of them were given",
			Found:    "number of ranks that the traces state; `all` also if the only trace states none and has several GPUs, of one process or compared by their collectives",
			evaluate: of(ranksOf)},
		{Words: []string{"nodes"}, Values: []string{"one", "several"}, Meaning: "number of machines of the ranks",
			Found: "names of machines, and numbers of their GPUs", evaluate: of(nodesOf)},
		{Words: []string{"recompiled"}, Values: []string{"size", "value", "other"},
			Meaning: "most time of compiling again follows from a size, a Python value or something else that changed",
			Found:   "the checks that failed in a log of torch.compile", evaluate: of(guardOf)},
		{Words: []string{"breaks"}, Values: []string{"data", "other"},
			Meaning: "most graph breaks are at control flow or values that depend on data, or at something else",
			Found:   "the reasons in a log of torch.compile", evaluate: of(breaksOf)},
		{Words: []string{"job-loss"}, Values: jobLosses,
			Meaning: "the largest part of the time of a job that is in no step that counts",
			Found:   "times of steps and lines about checkpoints, evaluations and ends in logs; `start` is start-up and compilation", evaluate: of(jobLossOf)},
		{Words: []string{"queued"}, Meaning: "requests wait in a queue of the server",
			Found: "a mean of 1 or more queued requests in a log", evaluate: is(queues)},
		{Words: []string{"pool"}, Values: []string{"swa", "mamba", "host"},
			Meaning: "this pool of a server is full, and not its KV cache",
			Found:   "the pool with the largest median of 90% or more in a log", evaluate: of(fullPoolOf)},
		{Words: []string{"overloaded"}, Meaning: "the server of a benchmark cannot follow the rate of requests",
			Found:    "under 80% of the lowest rate that was sent is served while requests are sent",
			evaluate: is(overloaded)},
		{Words: []string{"clocks-differ"}, Meaning: "the clocks of CPU and GPU differ by a constant", Found: "the issue `clocks-differ`",
			evaluate: func(_ string, s *summary.Summary, _ []Stack) string { return yes(hasIssue(s, summary.ClocksDiffer)) }},
		{Words: []string{"rank-raised"}, Meaning: "a rank printed an exception while others waited for it", Found: "the issue `rank-raised`",
			evaluate: func(_ string, s *summary.Summary, _ []Stack) string { return yes(hasIssue(s, "rank-raised")) }},
		{Words: []string{"synchronous"}, Meaning: "launch calls wait for their kernels", Found: "kernels that run within their launch call",
			evaluate: func(_ string, s *summary.Summary, _ []Stack) string {
				_, _, ok := view.Synchronous(s)
				return yes(ok)
			}},
		{Words: []string{"slow-again"}, Meaning: "most launch calls of 1 ms and longer are no first launches",
			Found: "earlier launches of the same kernel", evaluate: is(slowAgain)},
		{Words: []string{"data-parallel"}, Meaning: "torch.nn.DataParallel divides batches over the GPUs of a process",
			Found:    "its annotation, file, modules, or its operators Scatter and Gather",
			evaluate: is(dividesBatches)},
		{Words: []string{"rl"}, Meaning: "a trainer of reinforcement learning runs",
			Found: "one of veRL, SkyRL, NeMo RL and slime",
			evaluate: func(_ string, _ *summary.Summary, stacks []Stack) string {
				return yes(slices.ContainsFunc(stacks, func(st Stack) bool {
					return slices.Contains([]string{"verl", "skyrl", "nemo-rl", "slime"}, st.ID)
				}))
			}},
		{Words: []string{"trainer-waits"}, Meaning: "the trainer waits for rollouts for 10% of its time or more", Found: "logged timers and idle ratios",
			evaluate: func(_ string, s *summary.Summary, _ []Stack) string {
				return yes(logsIdle(s, "trainer.idle") || logsShare(s, "wait") >= fewestWaits)
			}},
		{Words: []string{"rollouts-wait"}, Meaning: "rollouts wait for the trainer for 10% of their time or more", Found: "logged idle ratios",
			evaluate: func(_ string, s *summary.Summary, _ []Stack) string { return yes(logsIdle(s, "rollout.idle")) }},
		{Words: []string{"colocated"}, Meaning: "trainer and rollouts share GPUs", Found: "settings of the trainer, and logged timers of putting the inference engine to sleep",
			evaluate: func(_ string, s *summary.Summary, _ []Stack) string { return yes(shareGPUs(s)) }},
	}, append(configured(), ofEvidence()...)...)
})

// forSoftware is the public form of words for software.
func forSoftware(r *Remedy, word string) {
	r.Stacks = append(r.Stacks, strings.TrimPrefix(word, maybe))
}

// is returns the evaluation of a fact that is present or absent.
func is(holds func(*summary.Summary) bool) func(string, *summary.Summary, []Stack) string {
	return func(_ string, s *summary.Summary, _ []Stack) string { return yes(holds(s)) }
}

// of returns the evaluation of a fact that has values.
func of(value func(*summary.Summary) string) func(string, *summary.Summary, []Stack) string {
	return func(_ string, s *summary.Summary, _ []Stack) string { return value(s) }
}

// yes returns the value of a fact that is present or absent.
func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// factOf returns the fact of a word, and whether there is one.
func factOf(word string) (Fact, bool) {
	i := slices.IndexFunc(FactsTable(), func(f Fact) bool { return slices.Contains(f.Words, word) })
	if i < 0 {
		return Fact{}, false
	}
	return FactsTable()[i], true
}

// ValueOf returns the value of a word for a summary, or "" if it does not apply; stacks is the
// software that the summary shows.
func ValueOf(word string, s *summary.Summary, stacks []Stack) string {
	f, known := factOf(word)
	if !known || f.evaluate == nil {
		return ""
	}
	return f.evaluate(word, s, stacks)
}
