package judge

import (
	"slices"
	"strings"
	"testing"

	"assay/internal/test/loggen"
	"assay/summary"
)

// remedyRuns are runs with one cause each, for remedies of causes that no labelled run has.
func remedyRuns() []labelled {
	return slices.Concat(causeRuns(), idleRuns(), kernelRuns(), rankRuns(), memoryRuns(), counterRemedyRuns(), captureRuns(), logRuns(), machineRemedies())
}

// A runList gathers runs that are made as summaries.
type runList []labelled

func (l *runList) add(name string, s *summary.Summary) {
	*l = append(*l, labelled{name: name, in: func(*testing.T) *summary.Summary { return s }})
}

// idleRuns are idle for 600 ms of a second, for one reason.
func idleRuns() (out runList) {
	host := func(state, name string) summary.Idle {
		return summary.Idle{Owner: summary.OwnerHost, State: state, Name: name, MaxNS: 300 * ms}
	}
	for _, i := range []summary.Idle{
		{Owner: summary.OwnerUnknown}, host(summary.StateOS, "read"), host(summary.StateOff, ""), host(summary.StateUnrecorded, ""),
		host(summary.StateAnnotation, "step"), host(summary.StatePython, "queue.py(7): get"),
		host(summary.StatePython, "run.py(3): write_output"), host(summary.StatePython, "torch/_inductor/a.py(3): autotune"),
		host(summary.StateCollector, "run.py(5): gc"),
	} {
		s := one(600, 0, 0)
		i.NS, i.Count = 600*ms, 2
		s.Idle = []summary.Idle{i}
		out.add(i.Owner+" "+i.State+" "+i.Name, s)
	}
	for _, i := range []summary.Idle{
		{Owner: summary.OwnerLaunch, Name: "cudaGraphLaunch", NS: 600 * ms, Count: 300, MaxNS: 3 * ms},
		{Owner: summary.OwnerHost, State: summary.StatePython, Name: "app.py(9): tokenize", NS: 600 * ms, Count: 15_000, MaxNS: 50_000, ShortGapsNS: 600 * ms},
	} {
		s := one(600, 0, 0)
		s.Idle, s.Calls = []summary.Idle{i}, []summary.Call{{Name: "cudaGraphLaunch", Kind: "graph-launch", Count: 300}}
		out.add("between launches: "+i.Name, s)
	}
	xla := one(600, 0, 0)
	xla.Inputs = []summary.Input{{Path: "host.xplane.pb", Format: summary.FormatXPlane}}
	xla.Kernels = []summary.Kernel{{Name: "loop_add_fusion", Class: "compute", Category: "elementwise", Count: 60_000, TotalNS: 400 * ms, MaxNS: 9_000}}
	xla.Idle = []summary.Idle{{Owner: summary.OwnerLaunch, Name: "launch", NS: 600 * ms, Count: 60_000, MaxNS: 20_000, ShortGapsNS: 600 * ms}}
	xla.Calls = []summary.Call{{Name: "launch", Kind: "launch", Count: 60_000, TotalNS: 500 * ms, Launched: 60_000}}
	out.add("launches of XLA", xla)
	npu := one(600, 0, 0)
	npu.Inputs, npu.Devices[0].Name = []summary.Input{{Path: "trace_view.json", Format: "ascend-trace"}}, "Ascend NPU"
	npu.Idle = []summary.Idle{{Owner: summary.OwnerLaunch, Name: "aclopCompileAndExecute", NS: 600 * ms, Count: 30, MaxNS: 30 * ms}}
	npu.Calls = []summary.Call{{Name: "aclopCompileAndExecute", Kind: "launch", Count: 30, TotalNS: 700 * ms, Launched: 30},
		{Name: "aclnnAdd", Kind: "launch", Count: 300, TotalNS: 90 * ms, Launched: 300}}
	out.add("operators that CANN compiles", npu)
	out.add("sends and receives", between(400, "all-reduce"))
	gaps := make([]int64, 600)
	for i := range gaps {
		gaps[i] = ms
	}
	out.add("many long gaps", idleSummary(gaps...))
	two := of(device(0, 0, map[summary.Class]int64{0: 60, comp: 40}), device(1, 0, map[summary.Class]int64{0: 60, comp: 40}))
	two.Inputs = append(two.Inputs, summary.Input{Path: "next.json", Rank: 1})
	two.Devices[1].Input, two.Devices[1].LargestGaps = 1, []summary.Gap{{NS: 60 * ms}}
	two.Devices[0].LargestGaps = []summary.Gap{{NS: 60 * ms}}
	out.add("few gaps in two files", two)
	phased := func(path string, activity summary.Activity) *summary.Summary {
		s := one(0, 0, 0)
		s.Devices[0].Activity = summary.Activity{0: 600 * ms, comp: 400 * ms}
		for _, p := range []string{"generation", "training", path} {
			a := summary.Activity{comp: 100 * ms}
			if p == path {
				a = activity
			}
			s.Phases = append(s.Phases, summary.Phase{Path: p, Activity: a, Total: a, Count: 3})
		}
		return s
	}
	elsewhere := phased("generation", summary.Activity{0: 600 * ms})
	elsewhere.Phases = elsewhere.Phases[1:]
	elsewhere.Phases = append(elsewhere.Phases, summary.Phase{Path: "weight-sync", Activity: summary.Activity{comp: ms}, Total: summary.Activity{comp: ms}, Count: 3})
	out.add("another process generates", elsewhere)
	out.add("idle outside phases", phased("", summary.Activity{0: 600 * ms}))
	out[len(out)-1].limits = "gpu-idle: {warn: 90%, critical: 95%}"
	return out
}

// kernelRuns have one kind of kernel or copy that takes the time.
func kernelRuns() (out runList) {
	kernel := func(name, class, category string) *summary.Summary {
		s := one(0, 0, 0)
		if class == "comm" {
			s = one(0, 400, 0)
		}
		s.Kernels = []summary.Kernel{{Name: name, Class: class, Category: category, Count: 100, TotalNS: 400 * ms, MaxNS: 4 * ms}}
		return s
	}
	out.add("attention in parts", kernel("attn_scores_kernel", "compute", "attention"))
	out.add("one collective", kernel("ncclDevKernel_AllReduce", "comm", "all-reduce"))
	overlapped := kernel("ncclDevKernel_AllReduce", "comm", "all-reduce")
	overlapped.Devices[0].Activity = summary.Activity{comp: 450 * ms, comm: 50 * ms, comm | comp: 500 * ms}
	overlapped.Kernels[0].TotalNS = 550 * ms
	out.add("one collective that compute overlaps", overlapped)
	gradients := kernel("ncclDevKernel_AllReduce", "comm", "all-reduce")
	gradients.Kernels = append(gradients.Kernels, summary.Kernel{Name: "adamw", Class: "compute", Category: "optimizer", Count: 1, TotalNS: ms, MaxNS: ms})
	out.add("all-reduces of gradients", gradients)
	tensor := kernel("ncclDevKernel_AllReduce", "comm", "all-reduce")
	tensor.Kernels = append(tensor.Kernels, gradients.Kernels[1])
	tensor.Collectives = []summary.Collective{{Op: "all_reduce", Parallel: summary.ParallelTensor, Ranks: 2, GroupSize: 2, Count: 9}}
	out.add("all-reduces of activations in training", tensor)
	sharded := one(0, 600, 0)
	sharding(sharded)
	out.add("sharded parameters", sharded)
	unknown := one(0, 0, 200)
	unknown.Copies = []summary.Copy{{Name: "Memcpy Unknown", Class: "copy", Count: 1, TotalNS: 200 * ms}}
	out.add("copies of unknown direction", unknown)
	return out
}

// rankRuns compare ranks by the sums of their communication.
func rankRuns() (out runList) {
	for _, tc := range []struct {
		name  string
		other summary.Kernel
	}{{"a rank with fewer launches", summary.Kernel{Count: 90, TotalNS: 300 * ms}}, {"a straggler", summary.Kernel{Count: 30, TotalNS: 300 * ms}}} {
		s := of(device(0, 0, map[summary.Class]int64{comm: 50, comp: 50}), device(1, 0, map[summary.Class]int64{comm: 50, comp: 50}))
		s.Inputs, s.Devices[1].Input = []summary.Input{{Path: "a"}, {Path: "b", Rank: 1}}, 1
		k := tc.other
		k.Name, k.Class, k.Category, k.Input, k.Rank = "AllReduce", "comm", "all-reduce", 1, 1
		s.Kernels = []summary.Kernel{{Name: "AllReduce", Class: "comm", Category: "all-reduce", Count: 30, TotalNS: 100 * ms}, k}
		out.add(tc.name, s)
	}
	late := of(device(0, 0, map[summary.Class]int64{comm: 50, comp: 50}), device(1, 0, map[summary.Class]int64{comm: 50, comp: 50}),
		device(2, 0, map[summary.Class]int64{comm: 50, comp: 50}), device(3, 0, map[summary.Class]int64{comm: 50, comp: 50}))
	late.Inputs = nil
	for r := range 4 {
		late.Inputs, late.Devices[r].Input = append(late.Inputs, summary.Input{Path: "r", Rank: r}), r
		w := summary.RankWait{Input: r, Rank: r, Collectives: 20, TransferNS: ms, WaitNS: 40 * ms}
		if r < 2 {
			w.WaitNS, w.CausedNS, w.Last = 0, 40*ms, 10
		}
		late.Ranks = append(late.Ranks, w)
	}
	transfer := int64(4 * ms)
	late.Collectives = []summary.Collective{{Op: "all_reduce", Ranks: 4, GroupSize: 4, Count: 20, TransferNS: &transfer}}
	late.Kernels = []summary.Kernel{{Name: "AllReduce", Class: "comm", Category: "all-reduce", Count: 20, TotalNS: 50 * ms}}
	out.add("two late ranks", late)
	return out
}

// memoryRuns fail to allocate while one kind of memory is the largest.
func memoryRuns() (out runList) {
	for _, kind := range []string{summary.KindRecomputed, summary.KindBackward, summary.KindKVCache, summary.KindComm, summary.KindData, summary.KindUnknown, summary.KindOther, summary.KindParameters} {
		m := healthyMemory()
		m.Failed, m.Capacity = 1, bytesOf(11*testGiB)
		m.OutOfMemory = []summary.OutOfMemory{{Wanted: testGiB, Free: bytesOf(0), Frame: "model.py:8 logits"}}
		m.Kinds = []summary.Held{{Name: kind, Bytes: 10 * testGiB, Count: 9}}
		out.add("memory of "+kind, ofSnapshots(m))
	}
	m := healthyMemory()
	m.Failed, m.Capacity = 1, bytesOf(11*testGiB)
	m.OutOfMemory = []summary.OutOfMemory{{Wanted: 8 * testGiB, Free: bytesOf(0), Frame: "model.py:8 logits"}}
	out.add("one allocation of most of the memory", ofSnapshots(m))
	for _, other := range []string{"Process 4711 has 40.00 GiB memory in use. Including non-PyTorch memory, this process has 39.00", "Including non-PyTorch memory, this process has 79.50"} {
		out = append(out, labelled{name: "a GPU of several processes", in: given("step: 1 loss: 2.5\ntorch.OutOfMemoryError: CUDA out of memory. Tried to allocate 96.00 MiB. " +
			"GPU 2 has a total capacity of 80.00 GiB of which 60.00 MiB is free. " + other + " GiB memory in use.\n")})
	}
	return out
}

// counterRemedyRuns are kernels whose counters name one cause.
func counterRemedyRuns() (out []labelled) {
	changed := func(k probed, change func(*summary.Counter)) {
		out = append(out, labelled{name: k.kernel, in: func(t *testing.T) *summary.Summary {
			s := given(ncuDetails(k))(t)
			change(&s.Counters[0])
			return s
		}})
	}
	share := func(v float64) *float64 { return &v }
	changed(probed{"few warps", 100, 20, 30, 20, 16}, func(c *summary.Counter) {
		c.Limiters = []string{"registers", "shared memory", "warps"}
		c.TheoreticalPct, c.Stalls = share(40), []summary.Stall{{Reason: "long scoreboard", Cycles: 9}}
		c.Rules = []summary.Advice{{Name: "CPIStall", Text: "Use 2 buffers.", SpeedupKind: "global", SpeedupPct: share(30)}}
	})
	changed(probed{"DRAM", 100, 10, 75, 80, 16}, func(c *summary.Counter) { c.DRAMPct = share(74) })
	changed(probed{"caches", 100, 10, 75, 80, 16}, func(c *summary.Counter) { c.DRAMPct = share(20) })
	return out
}

// captureRuns are captures with one defect.
func captureRuns() (out runList) {
	issue := func(code, severity string) summary.Issue {
		return summary.Issue{Code: code, Severity: severity, Count: 3, Help: "record again"}
	}
	cut := of()
	cut.Issues = []summary.Issue{issue("input-truncated", "data-loss")}
	out.add("cut before the first event", cut)
	limited := of()
	limited.Issues = []summary.Issue{issue("memory-limit", "data-loss")}
	out.add("cut by a limit", limited)
	part := of()
	part.Inputs[0].Window, part.Inputs[0].SpanNS = &summary.Window{EndNS: ms, CaptureNS: 9 * ms}, ms
	out.add("an empty part", part)
	other := of()
	other.Spans = []summary.Span{{Name: "a", Category: "mtia_ccp_events", Count: 1, TotalNS: ms, SelfNS: ms, MaxNS: ms}}
	out.add("another accelerator", other)
	captured := of()
	captured.Issues = []summary.Issue{issue("graph-capture-only", "info")}
	out.add("graphs captured and not replayed", captured)
	mixed := one(0, 0, 0)
	mixed.Issues = []summary.Issue{issue(summary.CapturesMixed, "suspect")}
	out.add("two captures in one file", mixed)
	unrecorded := one(0, 0, 0)
	unrecorded.LaunchLosses = []summary.LaunchLoss{{Kind: summary.LossKernel, Calls: 100, Missing: 100}}
	out.add("no kernel recorded", unrecorded)
	return out
}

// logRuns are logs of trainers with one cause, and profiles of functions.
func logRuns() []labelled {
	timers := loggen.Repeat(8, func(int) loggen.Step {
		return loggen.Step{Seconds: 10, Phases: []loggen.Phase{{Name: "forward-compute", Seconds: 3}, {Name: "backward-compute", Seconds: 3},
			{Name: "forward-recv", Seconds: 2}, {Name: "embedding-grads-all-reduce", Seconds: 1}}}
	})
	of := func(producer, does, text string) labelled {
		return labelled{name: producer + " " + does, in: func(t *testing.T) *summary.Summary {
			s := given(text)(t)
			other := strings.NewReplacer("timing_s/", "", "old_log_prob", "log_probs") // names that only veRL has
			for i := range s.Series {
				s.Series[i].Producer, s.Series[i].Name = producer, other.Replace(s.Series[i].Name)
			}
			for i := range s.Phases {
				p := &s.Phases[i]
				p.Producer, p.Path, p.Example = producer, other.Replace(p.Path), other.Replace(p.Example)
			}
			for i := range s.Steps {
				s.Steps[i].Marker = producer
			}
			return s
		}}
	}
	evaluates := taught(40, 18, 1, 14, 1, 25).VeRL()
	slow := steady(30, func(n int) float64 { return map[int]float64{9: 30, 14: 31}[n] })
	return []labelled{
		{name: "timers of a pipeline", in: given(timers.Megatron())},
		{name: "two slow steps", in: given(slow.VeRL())},
		of("SkyRL", "evaluates for a quarter of the step", evaluates), of("NeMo RL", "evaluates", evaluates), of("slime", "evaluates", evaluates),
		of("SkyRL", "scores", scored(2, 30)), {name: "veRL scores", in: given(scored(2, 30))},
		{name: "compiled code", in: given(callgrindOf(calling{name: "compute", self: 90}, calling{name: "read", self: 10}))},
		{name: "a profile of memory", in: func(*testing.T) *summary.Summary {
			s := profiled("", []fn{{"main", 40, 100, -1}, {"load", 60, 60, -1}})
			s.Tables[0].Columns[1].Unit, s.Tables[0].Columns[2].Unit = "bytes", "bytes"
			return s
		}},
		{name: "all settings of veRL that its guide changes", in: given("+ python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.use_dynamic_bsz=False actor_rollout_ref.model.use_remove_padding=False " +
			"actor_rollout_ref.rollout.gpu_memory_utilization=0.3 actor_rollout_ref.rollout.max_num_batched_tokens=1024 actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=4 " +
			"actor_rollout_ref.rollout.log_prob_micro_batch_size_per_gpu=4 actor_rollout_ref.ref.log_prob_micro_batch_size_per_gpu=7\n" + slow.VeRL())},
		{name: "steps and responses get longer", in: func(t *testing.T) *summary.Summary {
			s := given(steady(60, func(n int) float64 { return 10 + 0.1*float64(n) + 0.05*float64(n%3) }).VeRL())(t)
			for i := range s.Series {
				if r := s.Series[i]; r.Metric == "step.time" {
					r.Metric, r.Name, r.Role = "train.response_length", "response_length/mean", "load"
					s.Series = append(s.Series, r)
				}
			}
			return s
		}},
	}
}
