package judge

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"
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
	{name: "data-parallel", file: "torch/nn/parallel/data_parallel.py"},
	{name: "all ranks", change: func(s *summary.Summary) {
		s.Inputs = slices.Clone(s.Inputs)
		for i := range s.Inputs {
			s.Inputs[i].WorldSize = 1
		}
	}},
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
	{name: "of AMD", change: func(s *summary.Summary) {
		s.Devices = slices.Clone(s.Devices)
		for i := range s.Devices {
			s.Devices[i].Name = "AMD Instinct MI300X"
		}
	}},
	{name: "slow launches again", change: func(s *summary.Summary) {
		s.Launches = append(slices.Clone(s.Launches), summary.Launches{Slow: 8, SlowAgain: 5})
	}},
	{name: "clocks differ", change: func(s *summary.Summary) {
		s.Issues = append(slices.Clone(s.Issues), summary.Issue{Code: summary.ClocksDiffer, Severity: "info", Count: 100})
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

// A pairOf is what the labelled runs prove of one remedy: that it is given, and which terms of its
// condition decide that.
type pairOf struct {
	given   bool
	settled map[rule.Term]bool
}

// TestConditions: each remedy is given in a labelled run. For each term of its condition there is a
// run like it in which only that term is false, and which has the finding without the remedy. What a
// remedy without a condition depends on is data, too: see [checkDecided].
func TestConditions(t *testing.T) {
	conditions, pairs := map[string]rule.When{}, map[string]*pairOf{}
	listedBy := map[string][]string{} // ids of remedies by rule
	for _, p := range rule.DefaultThresholds().Pages() {
		for _, r := range p.Remedies {
			conditions[r.ID], pairs[r.ID] = r.When, &pairOf{settled: map[rule.Term]bool{}}
			listedBy[p.ID] = append(listedBy[p.ID], r.ID)
		}
	}
	findings := map[string]map[string]int{} // numbers of findings by rule, in all and by the remedies that they give
	for _, run := range slices.Concat(labelledRuns(), remedyRuns()) {
		th, err := rule.ParseThresholds([]byte(run.limits), "limits.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range Judge(run.in(t), th).Findings {
			if findings[f.Rule] == nil {
				findings[f.Rule] = map[string]int{}
			}
			findings[f.Rule][""]++
			for _, id := range ids(f.Next) {
				findings[f.Rule][id]++
			}
			for _, id := range ids(f.Next) {
				pairs[id].given = true
			}
			for _, id := range listedBy[f.Rule] {
				pairs[id].other(f, id, conditions[id], world{run.in(t), f.Rule, th})
				pairs[id].judge(t, run.in(t), th, f.Rule, id, conditions[id], pairs)
			}
		}
	}
	for id, when := range conditions {
		if !pairs[id].given {
			t.Errorf("%s: no labelled run gives it", id)
		} else if when == "" {
			checkDecided(t, id, findings)
		}
		for _, term := range when.Terms() {
			if !pairs[id].settled[term] {
				t.Errorf("%s: no run with the finding shows that the term %+v of %q withholds it", id, term, when)
			}
		}
	}
}

// judge makes the runs of a remedy from one run with a finding of its rule: all terms true, then
// each of them false.
func (p *pairOf) judge(t *testing.T, s *summary.Summary, th rule.Thresholds, of, id string, when rule.When, pairs map[string]*pairOf) {
	t.Helper()
	terms := when.Terms()
	if p.given && len(terms) == len(p.settled) {
		return
	}
	for _, term := range terms {
		if s = (world{s, of, th}).runWith(t, term, true); s == nil {
			return
		}
	}
	met := func(s *summary.Summary, but rule.Term) bool {
		return !slices.ContainsFunc(terms, func(o rule.Term) bool { return o != but && !(world{s, of, th}).isTrue(o) })
	}
	given := func(s *summary.Summary) (found, has bool) {
		for _, f := range Judge(s, th).Findings {
			if f.Rule == of {
				found, has = true, has || slices.Contains(ids(f.Next), id)
			}
			for _, other := range ids(f.Next) {
				pairs[other].given = true
			}
		}
		return found, has
	}
	if _, has := given(s); !met(s, rule.Term{}) || !has {
		return
	}
	for _, term := range terms {
		without := (world{s, of, th}).runWith(t, term, false)
		if p.settled[term] || without == nil || !met(without, term) {
			continue
		}
		if found, has := given(without); found && has {
			t.Errorf("%s gives %s although the term %+v is false", of, id, term)
		} else if found {
			p.settled[term] = true
		}
	}
}

// checkDecided checks that a remedy without a condition of its own is given where data say so: every finding of its
// rule gives it, so that the condition is that of the rule, which has near misses; or the entry of another
// remedy names it as the one that takes its place, or the wording of a rule has the condition.
func checkDecided(t *testing.T, id string, findings map[string]map[string]int) {
	t.Helper()
	own := ""
	for _, p := range rule.DefaultThresholds().Pages() {
		w := rule.WordingOf(p.ID)
		if slices.ContainsFunc(w.Next, func(c rule.Choice) bool { return c.ID == id && c.When != "" }) || rule.Replaces(id) {
			return
		}
		if rule.Defines(p.ID, id) {
			own = p.ID
		}
	}
	n := findings[own]
	near := slices.ContainsFunc(labelledRuns(), func(l labelled) bool { return l.near == own })
	if n[id] < n[""] || n[""] < 2 || !near {
		t.Errorf("%s has no condition, and %d of %d findings of %s give it (near misses: %t)",
			id, n[id], n[""], own, near)
	}
}

// other records the terms on evidence that a finding shows to decide: its evidence has another cause, all other
// terms are true, and it does not give the remedy.
func (p *pairOf) other(f finding.Finding, id string, when rule.When, w world) {
	for _, term := range when.Terms() {
		if rule.OfEvidence(term.Word) && !p.settled[term] && !slices.Contains(ids(f.Next), id) && !w.isTrue(term) &&
			!slices.ContainsFunc(when.Terms(), func(o rule.Term) bool { return o != term && !w.isTrue(o) }) {
			p.settled[term] = true
		}
	}
}

// TestVariations: ids and texts of remedies for one software say so, and conditions must agree with
// them in every run, whatever software it shows.
func TestVariations(t *testing.T) {
	conditional := map[string]bool{}
	for _, p := range rule.DefaultThresholds().Pages() {
		for _, r := range p.Remedies {
			conditional[r.ID] = r.When != ""
		}
	}
	for i, run := range slices.Concat(labelledRuns(), causeRuns(), machineRemedies()) {
		th, err := rule.ParseThresholds([]byte(run.limits), "limits.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for n, v := range variations {
			if (i+n)%test.Every(3) != 0 {
				continue
			}
			changed := v.of(t, run.in(t))
			r := Judge(changed, th)
			plain := rule.ValueOf("plain", changed.Timelines(), r.Stacks) != ""
			for _, f := range r.Findings {
				for _, step := range f.Next {
					if conditional[step.ID] {
						checkShown(t, run.name, v, r.Stacks, plain, step)
					}
				}
			}
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
		{Owner: summary.OwnerUnknown}, {Owner: summary.OwnerLaunch, MaxNS: 300 * ms}, {Owner: summary.OwnerNothing}, {Owner: summary.OwnerHost, State: summary.StateCopy},
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
func checkShown(t *testing.T, run string, v variation, stacks []rule.Stack, plain bool, r finding.Step) {
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
	if v.name == "plain" && plain && !ofNsys {
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
	for _, run := range slices.Concat(labelledRuns(), causeRuns(), machineRemedies()) {
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
					has := slices.ContainsFunc(ids(f.Next), func(id string) bool { return strings.HasPrefix(id, c.ID) }) // or what takes its place
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
