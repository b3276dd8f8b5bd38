package rule

import (
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"

	"assay/summary"
	"assay/summary/view/bench"
)

// makers has the words in names of GPUs and the beginnings of calls by which a maker is recognized.
var makers = []struct {
	id           string
	names, calls []string
}{
	{"nvidia", []string{"nvidia", "tesla", "geforce", "quadro"},
		[]string{"cuda", "cuLaunch", "cuGraph", "cuMem", "cuStream"}},
	{"amd", []string{"amd", "instinct", "radeon", "gfx"}, []string{"hip"}},
	{"intel", []string{"intel"}, []string{"zeCommand", "urEnqueue"}},
	{"other", []string{"mtia", "ascend", "tpu", "gaudi"}, nil},
}

// vendorOf returns the maker of all GPUs of a summary, or "" if it is unknown or differs.
func vendorOf(s *summary.Summary) (vendor string) {
	named := true
	for i := range s.Devices {
		one, name := "", strings.ToLower(s.Devices[i].Name)
		for _, m := range makers {
			if one == "" && containsAny(name, m.names) {
				one = m.id
			}
		}
		if named = named && name != ""; name != "" && (one == "" || vendor != "" && one != vendor) {
			return ""
		}
		if name != "" {
			vendor = one
		}
	}
	if len(s.Devices) > 0 && named {
		return vendor
	}
	if vendor == "" {
		vendor = vendorOfCalls(s)
	}
	return vendor
}

// vendorOfCalls returns the maker whose runtime the program calls, or "".
func vendorOfCalls(s *summary.Summary) (vendor string) {
	if len(s.Counters) > 0 || OfNsys(s) {
		return "nvidia" // Nsight Compute and Nsight Systems
	}
	if vendor := vendorOfTables(s); vendor != "" {
		return vendor
	}
	if OfROCm(s) {
		return "amd"
	}
	for _, c := range s.Calls {
		for _, m := range makers {
			if !slices.ContainsFunc(m.calls, func(w string) bool { return strings.HasPrefix(c.Name, w) }) {
				continue
			}
			if vendor != "" && vendor != m.id {
				return ""
			}
			vendor = m.id
		}
	}
	return vendor
}

// vendorOfTables returns the maker of the devices that the rows of tables state, as Proton does, or "".
func vendorOfTables(s *summary.Summary) (vendor string) {
	for i := range s.Tables {
		for _, r := range s.Tables[i].Rows {
			kind, _, _ := strings.Cut(r.Labels["device"], " ")
			one := map[string]string{"CUDA": "nvidia", "HIP": "amd", "XPU": "intel"}[kind]
			if kind == "" {
				continue
			}
			if one == "" || vendor != "" && one != vendor {
				return ""
			}
			vendor = one
		}
	}
	return vendor
}

func containsAny(name string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(name, w) })
}

// tableKernels returns the rows of kernels of tables, or nil if a table has others that were left out.
func tableKernels(s *summary.Summary) (rows []summary.TableRow) {
	for i := range s.Tables {
		switch t := &s.Tables[i]; {
		case t.Of != summary.OfKernel:
		case t.Left > 0:
			return nil
		default:
			rows = append(rows, t.Rows...)
		}
	}
	return rows
}

// looksUpTables reports whether a summary shows the embedding tables of a recommender.
func looksUpTables(s *summary.Summary) bool {
	words := []string{"split_embedding_", "embedding_codegen", "permute_pooled_embs", "torchrec"}
	return slices.ContainsFunc(s.Kernels, func(k summary.Kernel) bool { return containsAny(k.Name, words) }) ||
		slices.ContainsFunc(s.Ops, func(o summary.Op) bool { return containsAny(o.Name, words) })
}

// collects reports whether the garbage collector is recorded, and takes 1% of the time or more.
func collects(s *summary.Summary) bool {
	idle, window := int64(0), int64(0)
	for _, r := range s.Idle {
		if r.State == summary.StateCollector {
			idle = summary.Plus(idle, r.NS)
		}
	}
	for _, d := range s.Devices {
		window = summary.Plus(window, d.Activity.Window())
	}
	const least = 100 // 1%, as a divisor
	return idle > 0 && idle >= window/least || slices.ContainsFunc(s.Series, func(r summary.Series) bool {
		return r.Metric == "python.gc" && r.Pooled == 0 && r.Sum != nil && // the time of one process
			r.FirstNS != nil && r.LastNS != nil && *r.Sum >= float64(*r.LastNS-*r.FirstNS)/least
	})
}

// Trains reports whether the run shows a backward pass, an optimizer or the log of a trainer.
func Trains(s *summary.Summary) bool {
	learning := func(name string) bool {
		return containsAny(strings.ToLower(name),
			[]string{"backward", "bwd", "wgrad", "dgrad", "autograd::engine", "optimizer.step"})
	}
	return slices.ContainsFunc(s.Kernels, func(k summary.Kernel) bool {
		return k.Category == "optimizer" || learning(k.Name)
	}) ||
		slices.ContainsFunc(s.Ops, func(o summary.Op) bool { return learning(o.Name) }) ||
		slices.ContainsFunc(s.Annotations, func(a summary.Annotation) bool { return learning(a.Name) }) ||
		slices.ContainsFunc(s.Phases, func(p summary.Phase) bool {
			return slices.Contains([]string{"backward", "training", "optimizer"}, p.Name())
		}) ||
		slices.ContainsFunc(s.Series, func(r summary.Series) bool {
			return r.Metric == "train.loss" || r.Metric == "train.grad_norm"
		}) ||
		slices.ContainsFunc(s.Snapshots, func(sn summary.Snapshot) bool {
			return holds(sn.Kinds, summary.KindBackward, summary.KindOptimizer, summary.KindRecomputed)
		})
}

// holds reports whether a snapshot has memory of one of these kinds.
func holds(kinds []summary.Held, names ...string) bool {
	return slices.ContainsFunc(kinds, func(h summary.Held) bool { return slices.Contains(names, h.Name) })
}

// serves reports whether the run shows an inference server.
func serves(s *summary.Summary, stacks []Stack) bool {
	servers := func(e stackEntry) bool { return e.Family == "server" && isFound(e.id, stacks) }
	return slices.ContainsFunc(stackEntries(), servers) ||
		slices.ContainsFunc(s.Phases, func(p summary.Phase) bool {
			return slices.Contains([]string{"prefill", "decode", "mixed", "verify", "generation"}, p.Name())
		}) ||
		slices.ContainsFunc(s.Series, func(r summary.Series) bool { return r.Metric == "requests.running" }) ||
		slices.ContainsFunc(s.Benchmarks, func(b summary.Benchmark) bool {
			return slices.ContainsFunc(b.Metrics, func(f summary.Figure) bool { return strings.HasPrefix(f.Metric, "serving.") })
		}) ||
		slices.ContainsFunc(s.Snapshots, func(sn summary.Snapshot) bool { return holds(sn.Kinds, summary.KindKVCache) })
}

// recomputes reports whether activations are computed again in the backward pass.
func recomputes(s *summary.Summary) bool {
	return slices.ContainsFunc(s.Passes, func(p summary.Pass) bool { return p.Name == "recompute" && p.GPUNS > 0 }) ||
		slices.ContainsFunc(s.Snapshots, func(sn summary.Snapshot) bool { return holds(sn.Kinds, summary.KindRecomputed) })
}

// compilesOperators reports whether calls of CANN that compile the operators that they launch take 10% of the time of calls.
func compilesOperators(s *summary.Summary) bool {
	compiling, all := int64(0), int64(0)
	for _, c := range s.Calls {
		if all = summary.Plus(all, c.TotalNS); strings.HasPrefix(c.Name, "aclopCompile") {
			compiling = summary.Plus(compiling, c.TotalNS)
		}
	}
	const least = 10 // 10%, as a divisor
	return compiling > 0 && compiling >= all/least
}

// runsGraphs reports whether CUDA graphs are launched.
func runsGraphs(s *summary.Summary) bool {
	return len(s.Graphs) > 0 ||
		slices.ContainsFunc(s.Calls, func(c summary.Call) bool { return c.Kind == "graph-launch" && c.Count > 0 }) ||
		slices.ContainsFunc(s.Kernels, func(k summary.Kernel) bool { return k.Category == summary.WholeGraph }) ||
		slices.ContainsFunc(s.Series, func(r summary.Series) bool {
			return r.Metric == "cuda_graph.used" && r.Max != nil && *r.Max > 0 && r.Labels["phase"] != "prefill"
		}) ||
		slices.ContainsFunc(s.Tables, func(t summary.Table) bool {
			return slices.ContainsFunc(t.Rows, func(r summary.TableRow) bool { return r.Kind == "graph-launch" })
		})
}

// Sizes of inputs and weights in names of matrix kernels and models; the smaller one is tried first. A name
// with one of the words has the size. For one with a part only, which takes longer, the expression decides.
var sizes = []struct {
	id           string
	words, parts []string // in small letters
	names        func() *regexp.Regexp
}{
	{"8-bit", []string{"fp4", "fp8", "e4m3", "e5m2", "i8i8", "marlin", "machete", "awq", "gptq", "exllama", "bitsandbytes",
		"4bit", "8bit", "dequant"}, []string{"i8", "int4", "int8", "w4a", "w8a", "nvjet_", "_f8", "_b8"},
		sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(`(?i)[_-]i8|int[48]_?(gemm|mm|matmul)|(gemm|mm|matmul|weight)_?int[48]|w[48]a(8|16)|` +
				`-int[48]|nvjet_(sm\d+_)?[oq]|_(F8|B8|I8)[A-Z0-9]*_`)
		})},
	{"16-bit", []string{"f16", "fp16", "float16", "half", "hgemm", "s16816gemm", "h884"}, []string{"nvjet_", "_bb", "_hh", "_hb"},
		sync.OnceValue(func() *regexp.Regexp {
			return regexp.MustCompile(`(?i)nvjet_(sm\d+_)?[th]s|_(BBS|HHS|BB|HB|HH)_`)
		})},
}

// sizeIn returns the size of the type that a name shows, or "".
func sizeIn(name string) string {
	lower := strings.ToLower(name)
	for _, size := range sizes {
		if containsAny(lower, size.words) || containsAny(lower, size.parts) && size.names().MatchString(name) {
			return size.id
		}
	}
	return ""
}

// IsQuantized reports whether the name of a kernel shows inputs or weights of 8 bits or fewer.
func IsQuantized(name string) bool { return sizeIn(name) == "8-bit" }

// PrecisionOf returns the size of the types in which most matrix products compute: "16-bit", "8-bit" (or fewer)
// or "".
func PrecisionOf(s *summary.Summary) string { return precisionOf(s) }

// precisionOf returns the size of the types in which most of the time of matrix products is spent.
func precisionOf(s *summary.Summary) string {
	work, all := map[string]int64{}, int64(0)
	add := func(name, category string, ns int64) {
		if category == "gemm" || category == "convolution" || category == "moe" {
			work[sizeIn(name)] += ns
			all += ns
		}
	}
	for i := range s.Kernels {
		add(s.Kernels[i].Name, s.Kernels[i].Category, s.Kernels[i].TotalNS)
	}
	for i := range s.Tables {
		t := &s.Tables[i]
		for j := range t.Rows {
			if ns, ok := t.Rows[j].Value(t.Rank()); ok && t.Of == summary.OfKernel {
				add(t.Rows[j].Name, t.Rows[j].Category, ns)
			}
		}
	}
	for i := range s.Counters {
		add(s.Counters[i].Kernel, s.Counters[i].Category, s.Counters[i].TotalNS)
	}
	for _, size := range sizes {
		if all > 0 && work[size.id] > all-work[size.id] {
			return size.id
		}
	}
	for i := range s.Benchmarks {
		for _, setting := range bench.Settings() {
			if setting.Head == "model" && sizeIn(setting.Of(&s.Benchmarks[i])) == "8-bit" {
				return "8-bit"
			}
		}
	}
	return ""
}

// memoryFull reports whether GPU memory ran out or was nearly full.
func memoryFull(s *summary.Summary) bool {
	const full = 0.95
	return slices.ContainsFunc(s.Series, func(r summary.Series) bool {
		return r.Metric == "memory.failed" && r.N > 0 || r.Metric == "memory.usage" && r.Max != nil && *r.Max >= full
	}) || slices.ContainsFunc(s.Snapshots, func(sn summary.Snapshot) bool { return sn.Failed > 0 })
}

// generationBusy reports whether the GPUs work for most of the phase of generation of a trace.
func generationBusy(s *summary.Summary) bool {
	var all summary.Activity
	for i := range s.Phases {
		if p := &s.Phases[i]; p.Source != summary.SourceLog && p.Path == "generation" {
			all = all.Plus(p.Total)
		}
	}
	const busy = 0.8
	return all.Window() > 0 && float64(all.Busy()) >= busy*float64(all.Window())
}

// recordsLaunches reports whether calls that launch GPU work are recorded.
func recordsLaunches(s *summary.Summary) bool {
	return slices.ContainsFunc(s.Launches, func(l summary.Launches) bool { return l.Launched > 0 }) || slices.ContainsFunc(s.Calls, func(c summary.Call) bool { return c.Kind == "launch" || c.Kind == "graph-launch" })
}

// maybeReadsBack reports whether the program reads values of the GPU. Without operators that is not known.
func maybeReadsBack(s *summary.Summary) bool {
	reads := func(o summary.Op) bool { return o.Name == "aten::item" || o.Name == "aten::_local_scalar_dense" }
	return len(s.Ops) == 0 || slices.ContainsFunc(s.Ops, reads) ||
		slices.ContainsFunc(s.Copies, func(k summary.Copy) bool {
			return containsAny(strings.ToLower(k.Name), []string{"dtoh", "d2h", "devicetohost", "device -> pa", "device -> pi", "device -> host"})
		})
}

// Parts of the names of kernels that multiply float32 without tensor cores, and of those that are
// made for GPUs whose tensor cores can do it in TF32.
var (
	ofFloat32 = []string{"sgemm", "_simt_", "f32f32_f32f32_f32"}
	withTF32  = []string{"ampere_", "sm80_", "sm86_", "sm89_", "sm90_", "sm100_", "cutlass_80_", "cutlass_90_"}
)

// leavesOutTF32 reports whether most of the time of matrix products is in float32 without tensor cores.
func leavesOutTF32(s *summary.Summary) bool {
	slow, all := int64(0), int64(0)
	for i := range s.Kernels {
		k := &s.Kernels[i]
		if k.Category != "gemm" && k.Category != "convolution" {
			continue
		}
		name := strings.ToLower(k.Name)
		if all += k.TotalNS; containsAny(name, ofFloat32) && containsAny(name, withTF32) && !containsAny(name, []string{"dgemm", "hgemm"}) {
			slow += k.TotalNS
		}
	}
	return slow > all-slow
}

// fusesAttention reports whether a fused attention kernel runs.
func fusesAttention(s *summary.Summary) bool {
	return slices.ContainsFunc(s.Kernels, func(k summary.Kernel) bool {
		return k.Category == "attention" && containsAny(strings.ToLower(k.Name), []string{"flash", "fmha"})
	})
}

// ranksOf returns whether the job has one rank, or how many of its ranks were given.
func ranksOf(s *summary.Summary) string {
	size := 0
	for i := range s.Inputs {
		size = max(size, s.Inputs[i].WorldSize)
	}
	switch {
	case size == 1:
		return "one"
	case s.HasAllRanks():
		return "all"
	case size > 1:
		return "some"
	}
	return ""
}

// nodesOf returns whether the ranks run on one machine or several, or "" if that is unknown.
func nodesOf(s *summary.Summary) string {
	nodes := 0
	for _, t := range s.Topologies {
		nodes = max(nodes, t.Nodes)
	}
	hosts, ranks := map[string]bool{}, ranksOf(s)
	for i := range s.Inputs {
		in := &s.Inputs[i]
		if in.Host != "" {
			hosts[in.Host] = true
		}
		if in.GPUs > 0 && in.WorldSize > in.GPUs {
			nodes = max(nodes, 2)
		}
	}
	switch {
	case nodes > 1 || len(hosts) > 1:
		return "several"
	case ranks == "one" || ranks == "all" && (nodes == 1 || len(hosts) == 1):
		return "one"
	}
	return ""
}

// queues reports whether requests wait in the queue of a server.
func queues(s *summary.Summary) bool {
	return slices.ContainsFunc(s.Series, func(r summary.Series) bool {
		return r.Metric == "requests.queued" && r.Mean != nil && *r.Mean >= 1
	})
}

// fullPoolOf returns which pool of a server is full if it is not the KV cache, or "".
func fullPoolOf(s *summary.Summary) (pool string) {
	most := 0.9
	for _, r := range s.Series {
		of, found := strings.CutPrefix(r.Metric, "kv_cache.")
		if name, is := strings.CutSuffix(of, "usage"); found && is && r.Median != nil && *r.Median >= most &&
			slices.Contains([]string{"", "swa_", "mamba_", "host_"}, name) {
			most, pool = *r.Median, strings.TrimSuffix(name, "_")
		}
	}
	return pool
}

// overloaded reports whether the server of a benchmark finishes under 80% of the requests of the
// lowest rate at which they were sent.
func overloaded(s *summary.Summary) bool {
	rate := bench.Settings()[0]
	lowest, served := math.Inf(1), 0.0
	for i := range s.Benchmarks {
		b := &s.Benchmarks[i]
		sent := rate.Number(b)
		if done, _ := bench.Served(b); done > 0 && sent > 0 && sent < lowest {
			lowest, served = sent, done
		}
	}
	return !math.IsInf(lowest, 1) && served < 0.8*lowest
}

// slowAgain reports whether most long launch calls are no first launches of their kernel.
func slowAgain(s *summary.Summary) bool {
	slow, again := int64(0), int64(0)
	for _, l := range s.Launches {
		slow, again = slow+l.Slow, again+l.SlowAgain
	}
	return again > slow-again
}

func hasIssue(s *summary.Summary, code string) bool {
	return slices.ContainsFunc(s.Issues, func(is summary.Issue) bool { return is.Code == code })
}

// fewestWaits is the share of time from which on one side of asynchronous reinforcement learning waits.
const fewestWaits = 0.1

// logsIdle reports whether the median of a logged idle ratio is that of a side that waits.
func logsIdle(s *summary.Summary, metric string) bool {
	return slices.ContainsFunc(s.Series, func(r summary.Series) bool {
		return r.Metric == metric && r.Median != nil && *r.Median >= fewestWaits
	})
}

// logsShare returns the largest share of a phase of logged steps.
func logsShare(s *summary.Summary, phase string) (share float64) {
	for _, p := range s.Phases {
		if in := p.InSteps; p.Source == summary.SourceLog && p.Name() == phase && in != nil && in.StepNS > 0 {
			share = max(share, float64(in.NS)/float64(in.StepNS))
		}
	}
	return share
}

// shareGPUs reports whether trainer and rollouts share GPUs.
func shareGPUs(s *summary.Summary) bool {
	return logsShare(s, "sleep-wake") > 0 || slices.ContainsFunc(s.RoleSteps, func(r summary.RoleStep) bool { return r.Shared })
}

// dividesBatches reports whether a summary shows torch.nn.DataParallel, which scatters each batch over
// the GPUs of its process and gathers the results on one of them.
func dividesBatches(s *summary.Summary) bool {
	has := func(name string) bool {
		return slices.ContainsFunc(s.Ops, func(o summary.Op) bool { return o.Name == name })
	}
	return has("Scatter") && has("Gather") ||
		slices.ContainsFunc(s.Annotations, func(a summary.Annotation) bool { return strings.HasPrefix(a.Name, "DataParallel.") }) ||
		slices.ContainsFunc(s.Lines, func(l summary.Line) bool { return strings.Contains(l.File, "torch/nn/parallel/data_parallel.py") }) ||
		slices.ContainsFunc(s.Modules, func(m summary.Module) bool { return strings.HasPrefix(m.Path, "DataParallel") })
}
