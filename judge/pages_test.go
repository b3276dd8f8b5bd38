package judge

import (
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// TestPages: every rule has a page, in order of precedence, with the limits in use.
func TestPages(t *testing.T) {
	pages, rules := rule.DefaultThresholds().Pages(), rule.Rules()
	if len(pages) != len(rules) || len(pages) == 0 {
		t.Fatalf("%d pages, want %d", len(pages), len(rules))
	}
	for i, p := range pages {
		if p.Rule != rules[i] {
			t.Errorf("page %d is of rule %s, want %s", i, p.ID, rules[i].ID)
		}
		if p.Line == "" || p.Part == "" || p.Gain == "" || p.Changes == "" || len(p.Sure) == 0 || len(p.Remedies) == 0 {
			t.Errorf("the page of rule %s has an empty field; TestRuleFiles names the key", p.ID)
		}
	}
	th, err := rule.ParseThresholds([]byte("gpu-idle: {warn: 7%}"), "t.yaml")
	if err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(th.Pages(), func(p rule.Page) bool { return p.ID == rule.GPUIdle })
	if p := th.Pages()[i]; p.Warn != 0.07 {
		t.Errorf("the page of a user's limit says %v, want 0.07", p.Warn)
	}
}

// TestConfidence: what a rule is sure of, it is not of a doubtful capture.
func TestConfidence(t *testing.T) {
	f := find(t, Judge(one(600, 0, 0), rule.DefaultThresholds()), rule.GPUIdle)
	if f.Confidence != finding.Certain || len(f.ToBeSure) == 0 {
		t.Errorf("idle time is %s, to be sure %q", f.Confidence, f.ToBeSure)
	}
	s := one(600, 0, 0)
	s.Issues = []summary.Issue{{Code: "clock", Severity: "suspect", Count: 1}}
	if doubtful := find(t, Judge(s, rule.DefaultThresholds()), rule.GPUIdle); doubtful.Confidence != finding.Likely || len(doubtful.ToBeSure) != len(f.ToBeSure)+1 {
		t.Errorf("idle time of a doubtful capture is %s, to be sure %q", doubtful.Confidence, doubtful.ToBeSure)
	}
}

// TestGain compares bounds with what the parts are made of: 300 ms of idle time of
// which 100 ms are the profiler's.
func TestGain(t *testing.T) {
	s := one(300, 200, 100)
	s.Idle = []summary.Idle{{Owner: summary.OwnerNothing, NS: 100 * ms, Count: 1, MaxNS: 100 * ms}, {Owner: summary.OwnerLaunch, NS: 200 * ms, Count: 1, MaxNS: ms}}
	r := Judge(s, rule.DefaultThresholds())
	for id, want := range map[string]int64{rule.GPUIdle: 200 * ms, rule.ExposedComm: 200 * ms, rule.ExposedCopies: 100 * ms} {
		f := find(t, r, id)
		if f.GainNS == nil || *f.GainNS != want || f.GainOfNS != 1000*ms || f.GainOf != "the window" {
			t.Errorf("%s gains %v of %d, %s; want %d of %d", id, f.GainNS, f.GainOfNS, f.GainOf, want, 1000*ms)
		}
	}
	if f := find(t, Judge(one(0, 0, 0), rule.DefaultThresholds()), rule.ComputeBound); f.GainNS != nil {
		t.Errorf("the good case gains %d", *f.GainNS)
	}
	// A kernel's durations may be more than the time in which its class ran.
	k := one(0, 0, 0)
	k.Kernels = []summary.Kernel{{Name: "k", Class: "compute", Category: "gemm", Count: 4, TotalNS: 4000 * ms, MaxNS: 1000 * ms}}
	// Communication that compute hides would still be hidden, and take its time.
	h := of(device(0, 0, map[summary.Class]int64{comm: 90, comm | comp: 600, comp: 310}))
	h.Kernels = []summary.Kernel{{Name: "n", Class: "comm", Category: "all-reduce", Count: 4, TotalNS: 690 * ms, MaxNS: ms}}
	if f := find(t, Judge(h, rule.DefaultThresholds()), rule.DominantKernel); f.GainNS == nil || *f.GainNS != 90*ms || f.Level != finding.Info || !strings.Contains(f.ToBeSure[0], "all ranks") {
		t.Errorf("a kernel that compute overlaps in part gains %v at %s, to be sure %q", f.GainNS, f.Level, f.ToBeSure)
	}
	if f := find(t, Judge(k, rule.DefaultThresholds()), rule.DominantKernel); f.GainNS != nil || len(f.Where) != 1 || f.Where[0].Kernel != "k" {
		t.Errorf("a kernel that ran side by side with itself gains %v, at %+v", f.GainNS, f.Where)
	}
}

// TestImpact: within a level the finding with the most to gain comes first, one
// without a bound last, and what is for information stays in its order.
func TestImpact(t *testing.T) {
	bound := func(id string, level finding.Level, gain int64) finding.Finding {
		f := finding.Finding{Rule: id, Level: level}
		if gain > 0 {
			f.Gain(gain, 100, "it")
		}
		return f
	}
	list := []finding.Finding{bound("none", finding.Warn, 0), bound("small", finding.Warn, 5), bound("i", finding.Info, 1), bound("big", finding.Warn, 50), bound("j", finding.Info, 2), bound("worst", finding.Critical, 1)}
	finding.SortFindings(list, map[string]int{"i": 1, "j": 2})
	if got := strings.Join(rulesOf(Result{Findings: list}), " "); got != "worst big small none i j" {
		t.Errorf("order %q", got)
	}
}

// TestWhere: places have what the rule knows, and no more than it names.
func TestWhere(t *testing.T) {
	s := one(600, 0, 0)
	s.Devices[0].LargestGaps = []summary.Gap{{StartNS: 7, NS: 40 * ms}, {StartNS: 90, NS: 30 * ms}, {StartNS: 5, NS: 20 * ms}, {StartNS: 1, NS: 10 * ms}}
	s.Steps = []summary.Step{step("ProfilerStep#1", 30, 70), step("ProfilerStep#2", 90, 10)}
	f := find(t, Judge(s, rule.DefaultThresholds()), rule.GPUIdle)
	if len(f.Where) != finding.MostPlaces+1 || *f.Where[0].StartNS != 7 || f.Where[0].NS != 40*ms || f.Where[3].Step != "ProfilerStep#2" {
		t.Errorf("where: %+v", f.Where)
	}
}

func TestStacks(t *testing.T) {
	for name, tc := range map[string]struct {
		s    summary.Summary
		want string
	}{
		"nothing":    {summary.Summary{}, ""},
		"operator":   {summary.Summary{Ops: []summary.Op{{Name: "vllm::moe_forward"}, {Name: "aten::mm"}}}, "torch vllm"},
		"middle":     {summary.Summary{Ops: []summary.Op{{Name: "my::vllm::thing"}}}, ""},
		"annotation": {summary.Summary{Annotations: []summary.Annotation{{Name: "step[DECODE bs=32]"}}}, "sglang"},
		"file":       {summary.Summary{Lines: []summary.Line{{File: "/opt/py/site-packages/deepspeed/runtime/engine.py"}}}, "deepspeed"},
		"veRL":       {summary.Summary{Annotations: []summary.Annotation{{Name: "gen"}, {Name: "old_log_prob"}}}, "verl"},
		"SkyRL":      {summary.Summary{Lines: []summary.Line{{File: "/opt/skyrl/train/trainer.py"}}}, "skyrl"},
		"NeMo RL":    {summary.Summary{Annotations: []summary.Annotation{{Name: "generation"}, {Name: "policy_and_reference_logprobs"}}}, "nemo-rl"},
		"slime":      {summary.Summary{Lines: []summary.Line{{File: "/srv/slime/backends/megatron_utils/actor.py"}}}, "slime"},
		"anybody":    {summary.Summary{Annotations: []summary.Annotation{{Name: "generate"}, {Name: "training"}, {Name: "ref"}}}, ""},
		"module":     {summary.Summary{Modules: []summary.Module{{Path: "DistributedDataParallel_0/ResNet_0"}}}, "ddp"},
		"kernel":     {summary.Summary{Kernels: []summary.Kernel{{Name: "void at::native::fill<float>()"}, {Name: "triton_poi_fused_add_0"}}}, "torch compile"},
	} {
		var got []string
		for _, st := range rule.Stacks(&tc.s) {
			if got = append(got, st.ID); st.Name == "" || !strings.Contains(st.Because, `"`) {
				t.Errorf("%s: %+v", name, st)
			}
		}
		if strings.Join(got, " ") != tc.want {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

// TestStepsForStacks: the switches of DDP and FSDP are given where these are found, or
// collectives as they make them; a server's come where it is found.
func TestStepsForStacks(t *testing.T) {
	has := func(s *summary.Summary, id, words string) bool {
		return strings.Contains(strings.Join(texts(find(t, Judge(s, rule.DefaultThresholds()), id).Next), "\n"), words)
	}
	s := one(0, 300, 0)
	if has(s, rule.ExposedComm, "With FSDP:") || has(s, rule.ExposedComm, "With DDP:") || has(s, rule.ExposedComm, "With DeepSpeed") {
		t.Error("without a stack: want neither FSDP nor DDP nor DeepSpeed")
	}
	s.Modules = []summary.Module{{Path: "DistributedDataParallel_0"}}
	if has(s, rule.ExposedComm, "With FSDP:") || !has(s, rule.ExposedComm, "With DDP:") {
		t.Error("with DDP: want it, and not FSDP")
	}
	s.Lines = []summary.Line{{File: "/x/deepspeed/runtime/zero.py"}}
	if has(s, rule.ExposedComm, "With FSDP:") || !has(s, rule.ExposedComm, "overlap_comm") {
		t.Error("with DeepSpeed: want it, and not FSDP")
	}
	x := one(0, 300, 0)
	x.Lines = []summary.Line{{File: "/x/jax/_src/pjit.py"}}
	if has(x, rule.ExposedComm, "With FSDP:") || has(x, rule.ExposedComm, "With DDP:") || !has(x, rule.ExposedComm, "latency_hiding_scheduler") {
		t.Error("with JAX: want its flag, and neither DDP nor FSDP")
	}
	idle := one(600, 0, 0)
	idle.Ops = []summary.Op{{Name: "vllm::unified_attention"}}
	if !has(idle, rule.GPUIdle, "With vLLM: run") || has(idle, rule.GPUIdle, "With SGLang: run") {
		t.Error("with vLLM: want it, and not SGLang")
	}
}

// TestPlacesOfSums: what has no timeline still has rows to look at.
func TestPlacesOfSums(t *testing.T) {
	s := tablesOf(kernelsWith(sumRow{"hot", "compute gemm", 900 * ms, 5}))
	f := find(t, Judge(s, rule.DefaultThresholds()), rule.DominantKernel)
	if len(f.Where) != 1 || f.Where[0].Row != "hot" || f.Where[0].NS != 900*ms || f.GainNS == nil || *f.GainNS != 900*ms || f.GainOf != "total kernel time" {
		t.Errorf("where %+v, gain %v of %s", f.Where, f.GainNS, f.GainOf)
	}
}
