package judge

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test/loggen"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// A variation is a change of what a run shows that changes nothing it measures.
type variation struct {
	name   string
	file   string // a Python file that only this software has
	format string // of all inputs
	change func(*summary.Summary)
}

// variations has one for each fact that conditions are about.
var variations = []variation{
	{name: "unknown"},
	{name: "torch", file: "torch/autograd/graph.py"},
	{name: "jax", file: "jax/_src/pjit.py"},
	{name: "vllm", file: "/vllm/v1/engine/core.py"},
	{name: "sglang", file: "sglang/srt/managers/scheduler.py"},
	{name: "sfllm", file: "sfllm/engine.py"},
	{name: "megatron", file: "megatron/training/training.py"},
	{name: "deepspeed", file: "deepspeed/runtime/engine.py"},
	{name: "fsdp", file: "torch/distributed/fsdp/_runtime_utils.py"},
	{name: "ddp", file: "torch/nn/parallel/distributed.py"},
	{name: "verl", file: "/verl/trainer/ppo/ray_trainer.py"},
	{name: "skyrl", file: "skyrl_train/trainer.py"},
	{name: "nemo-rl", file: "nemo_rl/algorithms/grpo.py"},
	{name: "nemo-gym", file: "nemo_gym/server_utils.py"},
	{name: "slime", file: "slime/rollout/sglang_rollout.py"},
	{name: "nsys", file: "torch/autograd/graph.py", format: "nsys-sqlite"},
	{name: "plain", format: "nsys-sqlite"},
	{name: "of Intel", change: func(s *summary.Summary) {
		s.Devices = slices.Clone(s.Devices)
		for i := range s.Devices {
			s.Devices[i].Name = "Intel(R) Arc(TM) B580 Graphics"
		}
	}},
	{name: "recommender", change: func(s *summary.Summary) {
		s.Ops = append(slices.Clone(s.Ops), summary.Op{Name: "fbgemm::split_embedding_codegen_lookup_sgd_function"})
	}},
}

func init() {
	idle := 0.4
	side := func(metric string) func(*summary.Summary) {
		return func(s *summary.Summary) {
			s.Series = append(slices.Clone(s.Series), summary.Series{Metric: metric, N: 1, Median: &idle})
		}
	}
	variations = append(variations, variation{name: "rollouts that wait", change: side("rollout.idle")}, variation{name: "a trainer that waits", change: side("trainer.idle")},
		variation{name: "both sides wait", change: func(s *summary.Summary) {
			side("rollout.idle")(s)
			side("trainer.idle")(s)
		}},
		variation{name: "another pool is fuller", change: func(s *summary.Summary) {
			full := 1.5
			s.Series = append(slices.Clone(s.Series), summary.Series{Metric: "kv_cache.usage", N: 1, Max: &full})
		}},
		variation{name: "trainer and rollouts on the same GPUs", change: func(s *summary.Summary) {
			s.Phases = append(slices.Clone(s.Phases), summary.Phase{Input: -1, Path: "sleep-wake", Source: summary.SourceLog, InSteps: &summary.InSteps{Steps: 1, StepNS: 10, NS: 1}})
		}})
}

// withoutPyTorch replaces the names by which a capture shows PyTorch.
var withoutPyTorch = strings.NewReplacer("aten::", "app::", "at::native::", "app::", "DataLoader", "Reader", "torch/", "app/", "triton_", "fused_")

// of returns a run with the variation.
func (v variation) of(t *testing.T, s *summary.Summary) *summary.Summary {
	t.Helper()
	out := *s
	if v.name == "plain" {
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		out = summary.Summary{}
		if err := json.Unmarshal([]byte(withoutPyTorch.Replace(string(text))), &out); err != nil {
			t.Fatal(err)
		}
		out.Kernels = append(out.Kernels, summary.Kernel{Name: "saxpy", Class: "compute"})
	}
	if v.file != "" {
		out.Lines = append(slices.Clone(s.Lines), summary.Line{File: v.file})
	}
	if v.format != "" {
		if out.Inputs = slices.Clone(s.Inputs); len(out.Inputs) == 0 {
			out.Inputs = []summary.Input{{Path: "run"}}
		}
		for i := range out.Inputs {
			out.Inputs[i].Format = v.format
		}
	}
	if v.change != nil {
		v.change(&out)
	}
	return &out
}

// TestConditions: each remedy with a condition is given in a labelled run, and withheld in a variation
// of that run that has the finding too. Those without a condition are listed, so that none is lost.
// Ids and texts of remedies for one software say so, and conditions must agree with them.
func TestConditions(t *testing.T) {
	conditional := map[string]bool{}
	for _, p := range rule.DefaultThresholds().Pages() {
		for _, r := range p.Remedies {
			conditional[r.ID] = r.When != ""
		}
	}
	settled := map[string]bool{}
	for _, run := range slices.Concat(labelledRuns(), causeRuns()) {
		th, err := rule.ParseThresholds([]byte(run.limits), "limits.yaml")
		if err != nil {
			t.Fatal(err)
		}
		type given struct{ rule, subject, id string }
		in, not := map[given]bool{}, map[given]bool{}
		for _, v := range variations {
			r := Judge(v.of(t, run.in(t)), th)
			for _, f := range r.Findings {
				for id := range conditional {
					not[given{f.Rule, f.Subject, id}] = not[given{f.Rule, f.Subject, id}] || !slices.Contains(ids(f.Next), id)
				}
				for _, step := range f.Next {
					in[given{f.Rule, f.Subject, step.ID}] = true
					if conditional[step.ID] {
						checkShown(t, run.name, v, r.Stacks, step)
					}
				}
			}
		}
		for g := range in {
			settled[g.id] = settled[g.id] || not[g]
		}
	}
	listed := map[string]bool{}
	text, err := os.ReadFile(filepath.FromSlash("testdata/unconditional.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for id := range strings.FieldsSeq(string(text)) {
		listed[id] = true
		if _, known := conditional[id]; !known || conditional[id] {
			t.Errorf("%s is listed, and is no remedy without a condition", id)
		}
	}
	for id, has := range conditional {
		switch {
		case !has && !listed[id]:
			t.Errorf("%s has no condition, and testdata/unconditional.txt does not list it", id)
		case has && !settled[id]:
			t.Errorf("%s has a condition, and no labelled run has it in one variation and not in another with the same finding", id)
		}
	}
}

// causeRuns are runs of a second with one cause each, for remedies of causes that no other labelled
// run has in a program without PyTorch.
func causeRuns() (out []labelled) {
	add := func(name string, s *summary.Summary) {
		out = append(out, labelled{name: name, in: func(*testing.T) *summary.Summary { return s }})
	}
	for _, i := range []summary.Idle{
		{Owner: summary.OwnerLaunch, MaxNS: 300 * ms}, {Owner: summary.OwnerNothing}, {Owner: summary.OwnerHost, State: summary.StateCopy},
		{Owner: summary.OwnerHost, State: summary.StateData, Name: "next"},
		{Owner: summary.OwnerHost, State: summary.StatePython, Name: "run.py(7): evaluate", MaxNS: 300 * ms},
		{Owner: summary.OwnerHost, State: summary.StatePython, Name: "run.py(9): log_metrics", MaxNS: 300 * ms},
	} {
		s := one(600, 0, 0)
		i.NS, i.Count = 600*ms, 2
		s.Idle = []summary.Idle{i}
		add(i.Owner+" "+i.State+" "+i.Name, s)
	}
	few := idleSummary(299*ms, ms)
	few.Devices[0].LargestGaps = []summary.Gap{{NS: 299 * ms}, {NS: ms}}
	add("few gaps", few)
	for _, name := range []string{"cublas::gemv2T_kernel<float>", "ampere_sgemm_128x64_tn"} {
		s := one(0, 0, 0)
		s.Kernels = []summary.Kernel{{Name: name, Class: "compute", Category: "gemm", Count: 1000, TotalNS: 1000 * ms, MaxNS: ms}}
		add(name, s)
	}
	exchanged := one(0, 400, 0)
	exchanged.Kernels = []summary.Kernel{{Name: "ncclDevKernel_SendRecv", Class: "comm", Category: "all-to-all", Count: 100, TotalNS: 400 * ms, MaxNS: 4 * ms}}
	add("all-to-alls", exchanged)
	moving := one(0, 0, 0)
	moving.Kernels = []summary.Kernel{{Name: "add", Class: "compute", Category: "elementwise", Count: 1000, TotalNS: 400 * ms, MaxNS: ms},
		{Name: "scale", Class: "compute", Category: "elementwise", Count: 1000, TotalNS: 400 * ms, MaxNS: ms}}
	add("kernels that move data", moving)
	slow := loggen.Each(60, 2, func(i int) loggen.Line { // fewer requests run while others queue
		if i%4 == 0 {
			return loggen.Line{Running: 40, Usage: 0.5, Tokens: 1200}
		}
		return loggen.Line{Running: 10, Usage: 0.5, Tokens: 1200, Queued: 30}
	}).SGLang()
	out = append(out, labelled{name: "requests queue for prefill", in: given(slow)})
	prefill := loggen.Each(60, 2, func(i int) loggen.Line { return loggen.Line{Prefill: true, Usage: 0.5, Prompt: 100, Queued: 30} }).SGLang()
	out = append(out, labelled{name: "requests queue on a prefill server", in: given(strings.ReplaceAll(prefill, "#queue-req:", "#inflight-req: 3, #queue-req:"))})
	copied := func(name string, count, bytes int64) summary.Copy {
		return summary.Copy{Name: name, Class: "copy", Count: count, TotalNS: 50 * ms, MinNS: 10_000, MaxNS: ms, Bytes: &bytes}
	}
	for _, rows := range [][]summary.Copy{
		{copied("Memcpy HtoD (Pinned -> Device)", 100, 1<<30)}, {copied("Memcpy HtoD (Pageable -> Device)", 1000, 1<<20)},
		{copied("Memcpy DtoH (Device -> Pinned)", 100, 1<<30)}, {copied("Memcpy DtoD (Device -> Device)", 10, 1<<20)},
		{copied("Memcpy PtoP (Device -> Device)", 10, 1<<20)}, {copied("Memset (Device)", 10, 1<<20)},
		{copied("Memcpy HtoD (Pinned -> Device)", 10, 1<<30), copied("Memcpy DtoH (Device -> Pinned)", 10, 1<<30)},
	} {
		s := one(0, 0, 200)
		s.Copies = rows
		add(rows[0].Name, s)
	}
	return out
}

// ofPyTorch are words of texts that only programs with PyTorch can follow.
var ofPyTorch = []string{"torch.", "DataLoader", ".item()", "pin_memory", "non_blocking", "zero_grad", "DataParallel", "record_function"}

// checkShown reports a remedy with a condition in a run that does not show what the remedy is for, by
// its id and text, whatever its condition says.
func checkShown(t *testing.T, run string, v variation, stacks []rule.Stack, r finding.Step) {
	t.Helper()
	has := func(id string) bool {
		return slices.ContainsFunc(stacks, func(s rule.Stack) bool { return s.ID == id })
	}
	for _, software := range variations {
		trains := software.name == "fsdp" || software.name == "ddp" // by collectives alone, too
		excluded := !trains || slices.ContainsFunc([]string{"jax", "vllm", "sglang", "sfllm", "megatron", "deepspeed"}, has)
		if strings.HasPrefix(strings.Replace(r.ID, "fsdp2", "fsdp", 1), software.name+"-") && !has(software.name) && excluded {
			t.Errorf("%s, shown as of %s: %s is for %s", run, v.name, r.ID, software.name)
		}
	}
	ofNsys := strings.HasSuffix(r.ID, "-nsys")
	if ofNsys && v.format == "" {
		t.Errorf("%s, shown as of %s: %s is for captures of Nsight Systems", run, v.name, r.ID)
	}
	if v.name == "plain" && len(stacks) == 0 && !ofNsys {
		for _, word := range ofPyTorch {
			if text := rule.Text(r); strings.Contains(text, word) {
				t.Errorf("%s: a program without PyTorch is told: %s: %s", run, r.ID, text)
			}
		}
	}
}

// blanksIn returns the arguments that a wording needs.
func blanksIn(w *rule.Wording) []string {
	texts := []string{w.Title}
	for _, line := range w.Evidence {
		texts = append(texts, line.Text)
	}
	return blanks(strings.Join(texts, " "))
}

// TestWordings says every finding of every labelled run: no blank is left, and what a wording gives
// under a condition is given in one run and withheld in another.
func TestWordings(t *testing.T) {
	type choice struct{ rule, id string }
	given, withheld := map[choice]bool{}, map[choice]bool{}
	for _, run := range slices.Concat(labelledRuns(), causeRuns()) {
		for _, f := range Judge(run.in(t), rule.DefaultThresholds()).Findings {
			say := rule.WordingOf(f.Rule)
			for _, line := range append([]string{f.Title}, f.Evidence...) {
				for _, blank := range blanksIn(say) {
					if strings.Contains(line, "{"+blank+"}") {
						t.Errorf("%s: %s says %q, and measures no %s", run.name, f.Rule, line, blank)
					}
				}
			}
			for _, c := range say.Next {
				if c.When != "" {
					has := slices.Contains(ids(f.Next), c.ID)
					given[choice{f.Rule, c.ID}] = given[choice{f.Rule, c.ID}] || has
					withheld[choice{f.Rule, c.ID}] = withheld[choice{f.Rule, c.ID}] || !has
				}
			}
		}
	}
	for _, p := range rule.DefaultThresholds().Pages() {
		for _, c := range rule.WordingOf(p.ID).Next {
			if k := (choice{p.ID, c.ID}); c.When != "" && !(given[k] && withheld[k]) {
				t.Errorf("%s, %s: given in a run: %t, withheld in one with the finding: %t", p.ID, c.ID, given[k], withheld[k])
			}
		}
	}
}
