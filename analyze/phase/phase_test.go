package phase

import (
	"math/rand/v2"
	"strings"
	"testing"

	"assay/internal/settings"
)

// TestMatch compares the vocabulary with names as producers write them. Names
// with a file are in that capture, the others in the documentation of their
// framework.
func TestMatch(t *testing.T) {
	for _, tc := range []struct {
		name string
		want Match
	}{
		// Captures.
		{"ProfilerStep#4", Match{"torch-step", "PyTorch", CutMarker, "", 4, 0, 0}},
		{"step[DECODE bs=32]", Match{"sglang-decode", "SGLang", CutWork, "decode", -1, 32, 0}},
		{"execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)", Match{"vllm-decode", "vLLM", CutWork, "decode", -1, 32, 32}},
		{"capture_32_DECODE", Match{"capture-traces", "", "", "graph-capture", -1, 32, 0}},
		{"capture_32_FULL", Match{"capture-traces", "", "", "graph-capture", -1, 32, 0}},
		{"## forward ##", Match{"forward", "", "", "forward", -1, 0, 0}},
		{"## backward ##", Match{"backward", "", "", "backward", -1, 0, 0}},
		{"## optimizer ##", Match{"optimizer", "", "", "optimizer", -1, 0, 0}},
		{"## data_load ##", Match{"data-loader", "", "", "data", -1, 0, 0}},
		{"## load_batch ##", Match{"data-loader", "", "", "data", -1, 0, 0}},
		{"DistributedDataParallel.forward", Match{"forward", "", "", "forward", -1, 0, 0}},
		{"Optimizer.step#FusedAdam.step", Match{"optimizer", "", "", "optimizer", -1, 0, 0}},
		{"Optimizer.zero_grad#SGD.zero_grad", Match{"optimizer", "", "", "optimizer", -1, 0, 0}},
		{"enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", Match{"data-loader", "", "", "data", -1, 0, 0}},
		{"[param|pytorch.model.alex_net|0|0|0|warmup|forward]", Match{"warm-up", "", "", "warm-up", -1, 0, 0}},
		{"[param|pytorch.model.alex_net|0|0|0|measure|forward]", Match{"measured", "", "", "measured", -1, 0, 0}},
		{"init_model", Match{"setup", "", "", "setup", -1, 0, 0}},
		{"warmup", Match{"warm-up", "", "", "warm-up", -1, 0, 0}},
		{"benchmark_loop", Match{"measured", "", "", "measured", -1, 0, 0}},
		{"generate_data", Match{"data-loader", "", "", "data", -1, 0, 0}},
		{"Step 190 to 200", Match{"numbered-step", "", CutMarker, "", 190, 0, 0}},
		{"iteration 16", Match{"numbered-step", "", CutMarker, "", 16, 0, 0}},
		// Names from captures that mark neither a step nor a phase.
		{"scaled dot product attention", Match{}},
		{"nccl:all_reduce", Match{}},
		{"## Call CompiledFxGraph f4ii27ddivzklxr54hd45chngp247rp2ytmjxpq3f55wet", Match{}},
		{"MPI_Send", Match{}},
		{"Stage::runRemote", Match{}},
		{"", Match{}},
		// Inference servers.
		{"step[EXTEND bs=4 toks=8192]", Match{"sglang-prefill", "SGLang", CutWork, "prefill", -1, 4, 8192}},
		{"step[EXTEND]", Match{"sglang-prefill", "SGLang", CutWork, "prefill", -1, 0, 0}},
		{"step[MIXED bs=12]", Match{"sglang-mixed", "SGLang", CutWork, "mixed", -1, 12, 0}},
		{"step[TARGET_VERIFY bs=8 toks=40]", Match{"sglang-verify", "SGLang", CutWork, "verify", -1, 8, 40}},
		{"step[DRAFT_EXTEND bs=8]", Match{"sglang-draft", "SGLang", CutWork, "draft", -1, 8, 0}},
		{"step[DRAFT_EXTEND_V2 bs=7 toks=21]", Match{"sglang-draft", "SGLang", CutWork, "draft", -1, 7, 21}},
		{"step[IDLE bs=0]", Match{"sglang-idle", "SGLang", CutWork, "idle", -1, 0, 0}},
		{"step[DECODE bs=1e9]", Match{"sglang-decode", "SGLang", CutWork, "decode", -1, 0, 0}}, // not 1
		{"step[DECODE bs=0]", Match{"sglang-idle", "SGLang", CutWork, "idle", -1, 0, 0}},
		{"execute_context_0(0)_generation_0(0)", Match{"vllm-idle", "vLLM", CutWork, "idle", -1, 0, 0}},
		{"execute_context_2(700)_generation_30(30)", Match{"vllm-mixed", "vLLM", CutWork, "mixed", -1, 32, 730}},
		{"execute_context_2_generation_30", Match{"vllm-mixed", "vLLM", CutWork, "mixed", -1, 32, 0}},
		{"execute_context_0(0)_generation_10(40)", Match{"vllm-decode", "vLLM", CutWork, "decode", -1, 10, 40}},
		{"execute_new_0_cached_12", Match{"vllm-decode", "vLLM", CutWork, "decode", -1, 12, 0}},
		{"execute_new_5_cached_0", Match{"vllm-prefill", "vLLM", CutWork, "prefill", -1, 5, 0}},
		{"execute_new_5_cached_10", Match{"vllm-mixed", "vLLM", CutWork, "mixed", -1, 15, 0}},
		{"execute_new_password_request", Match{}},
		{"[Executor] _forward_step 812: 0 ctx reqs, 64 gen reqs", Match{"tensorrt-llm-decode", "TensorRT-LLM", CutWork, "decode", 812, 64, 0}},
		{"[Executor] _forward_step 9: 3 ctx reqs, 6000 ctx tokens, 0 gen reqs", Match{"tensorrt-llm-prefill", "TensorRT-LLM", CutWork, "prefill", 9, 3, 6000}},
		{"_forward_step: 2 ctx reqs, 8 gen reqs", Match{"tensorrt-llm-mixed", "TensorRT-LLM", CutWork, "mixed", -1, 10, 0}},
		{"executeStep: 0 ctx reqs, 0 gen reqs", Match{"tensorrt-llm-idle", "TensorRT-LLM", CutWork, "idle", -1, 0, 0}},
		{"decode[bs=24 tok=24]", Match{"atom-decode", "ATOM", CutWork, "decode", -1, 24, 24}},
		{"execute_context_3(1024)_generation_0(0)", Match{"vllm-prefill", "vLLM", CutWork, "prefill", -1, 3, 1024}},
		{"execute_context_0(0)_generation_16(16)", Match{"vllm-decode", "vLLM", CutWork, "decode", -1, 16, 16}},
		{"execute_20_context_3(sq1024sk1024)_generation_17(sq17sk900)", Match{"vllm-mixed", "vLLM", CutWork, "mixed", -1, 20, 1041}},
		{"prefill[bs=2]", Match{"atom-prefill", "ATOM", CutWork, "prefill", -1, 2, 0}},
		// Trainers.
		{"step", Match{"trainer-step", "", CutMarker, "", -1, 0, 0}},
		{"perf/step_time", Match{"trainer-step", "", CutMarker, "", -1, 0, 0}},
		{"generate", Match{"skyrl-generation", "SkyRL", "", "generation", -1, 0, 0}},
		{"timing/generate", Match{"skyrl-generation", "SkyRL", "", "generation", -1, 0, 0}},
		{"postprocess_generator_output", Match{"skyrl-reward", "SkyRL", "", "reward", -1, 0, 0}},
		{"fwd_logprobs_values_reward", Match{"skyrl-log-probs", "SkyRL", "", "log-probs", -1, 0, 0}},
		{"apply_reward_kl_penalty", Match{"skyrl-advantage", "SkyRL", "", "advantage", -1, 0, 0}},
		{"compute_advantages_and_returns", Match{"skyrl-advantage", "SkyRL", "", "advantage", -1, 0, 0}},
		{"train_critic_and_policy", Match{"skyrl-training", "SkyRL", "", "training", -1, 0, 0}},
		{"sync_weights_to_inference_engines", Match{"skyrl-weight-sync", "SkyRL", "", "weight-sync", -1, 0, 0}},
		{"convert_to_training_input", Match{"skyrl-data", "SkyRL", "", "data", -1, 0, 0}},
		{"wait_for_generation_buffer", Match{"skyrl-wait", "SkyRL", "", "wait", -1, 0, 0}},
		{"save_checkpoints", Match{"skyrl-checkpoint", "SkyRL", "", "checkpoint", -1, 0, 0}},
		{"gen", Match{"verl-generation", "veRL", "", "generation", -1, 0, 0}},
		{"timing_s/old_log_prob", Match{"verl-log-probs", "veRL", "", "log-probs", -1, 0, 0}},
		{"ref", Match{"verl-log-probs", "veRL", "", "log-probs", -1, 0, 0}},
		{"adv", Match{"verl-advantage", "veRL", "", "advantage", -1, 0, 0}},
		{"update_actor", Match{"verl-training", "veRL", "", "training", -1, 0, 0}},
		{"update_weights", Match{"verl-weight-sync", "veRL", "", "weight-sync", -1, 0, 0}},
		{"testing", Match{"verl-evaluation", "veRL", "", "evaluation", -1, 0, 0}},
		{"stop_profile", Match{"verl-profiler", "veRL", "", "profiler", -1, 0, 0}},
		{"reward", Match{"rl-reward", "", "", "reward", -1, 0, 0}},
		{"generation", Match{"nemo-generation", "NeMo RL", "", "generation", -1, 0, 0}},
		{"environment", Match{"nemo-reward", "NeMo RL", "", "reward", -1, 0, 0}},
		{"policy_and_reference_logprobs", Match{"nemo-log-probs", "NeMo RL", "", "log-probs", -1, 0, 0}},
		{"policy_training", Match{"nemo-training", "NeMo RL", "", "training", -1, 0, 0}},
		{"prepare_for_generation/transfer_and_update_weights", Match{"nemo-weight-sync", "NeMo RL", "", "weight-sync", -1, 0, 0}},
		{"prepare_for_generation", Match{"nemo-sleep-wake", "NeMo RL", "", "sleep-wake", -1, 0, 0}},
		{"idle/buffer_starvation", Match{"nemo-wait", "NeMo RL", "", "wait", -1, 0, 0}},
		{"perf/actor_train_time", Match{"slime-training", "slime", "", "training", -1, 0, 0}},
		{"perf/update_weights_time", Match{"slime-weight-sync", "slime", "", "weight-sync", -1, 0, 0}},
		{"wake_up_time", Match{"slime-sleep-wake", "slime", "", "sleep-wake", -1, 0, 0}},
		{"train_wait_time", Match{"slime-wait", "slime", "", "wait", -1, 0, 0}},
		{"profiling/Time taken: GRPOTrainer.vLLM.generate", Match{"trl-generation", "TRL", "", "generation", -1, 0, 0}},
		{"GRPOTrainer._get_per_token_logps_and_entropies", Match{"trl-log-probs", "TRL", "", "log-probs", -1, 0, 0}},
		{"[pl][profile]run_training_batch", Match{"lightning-step", "Lightning", CutMarker, "", -1, 0, 0}},
		// A number that int64 cannot represent is ignored.
		{"ProfilerStep#99999999999999999999", Match{"torch-step", "PyTorch", CutMarker, "", -1, 0, 0}},
	} {
		if got := Default().Match(tc.name); got != tc.want {
			t.Errorf("%q: got %+v, want %+v", tc.name, got, tc.want)
		}
	}
}

// TestParse: a user's own file is tried first, a rule with a known id replaces
// the built-in one, and an error in a file names its line.
func TestParse(t *testing.T) {
	own, err := Parse([]byte("rules:\n- {id: forward, phase: my-forward, match: ['^fwd$']}\n- {id: mine, step: work, match: ['^tick (?P<number>\\d+)$']}\n"), "own.yaml")
	if err != nil {
		t.Fatal(err)
	}
	both := Default().Override(own)
	for name, want := range map[string]Match{
		"fwd":     {"forward", "", "", "my-forward", -1, 0, 0},
		"forward": {},
		"tick 7":  {"mine", "", CutWork, "", 7, 0, 0},
		"gen":     {"verl-generation", "veRL", "", "generation", -1, 0, 0},
	} {
		if got := both.Match(name); got != want {
			t.Errorf("%q: got %+v, want %+v", name, got, want)
		}
	}
	for text, want := range map[string]string{
		"":            "1: no rules",
		"rules: 3":    "1: rules: want a list",
		"rules:\n- 3": "2: ",
		"rules:\n- {id: A, phase: p, match: [x]}":                                  `2: rule id "A"`,
		"rules:\n- {id: a, match: [x]}":                                            `2: rule "a" has neither step nor phase`,
		"rules:\n- {id: a, phase: p}":                                              `2: rule "a" matches nothing`,
		"rules:\n- {id: a, phase: p, match: ['']}":                                 "an empty expression",
		"rules:\n- {id: a, phase: p, match: ['(']}":                                "missing closing",
		"rules:\n- {id: a, step: now, match: [x]}":                                 `step is "now", want "marker" or "work"`,
		"rules:\n- {id: a, phase: P p, match: [x]}":                                `phase "P p"`,
		"rules:\n- {id: a, phase: p, match: [x]}\n- {id: a, phase: p, match: [x]}": `3: rule id "a" is taken by the rule of line 2`,
		"rules:\n- {id: a, phase: p, match: [x], phse: p}":                         "2: ",
		"other: []": `1: unknown field "other", want the list rules`,
		"rules:\n- {id: a, phase: p, match: [x]}\n---\nrules:\n- {id: b, phase: p, match: [x]}": "4: second YAML document, want one",
	} {
		if _, err := Parse([]byte(text), "f.yaml"); err == nil || !strings.HasPrefix(err.Error(), "f.yaml:") || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want one that says %q", text, err, want)
		}
	}
}

// TestBuiltIn: every rule of the file has a source for its names, which
// documents it.
func TestBuiltIn(t *testing.T) {
	nodes, err := settings.List([]byte(BuiltIn()), "rules", "rule")
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes) != len(Default().list) {
		t.Errorf("%d rules of %d", len(Default().list), len(nodes))
	}
	for _, n := range nodes {
		if !strings.Contains(n.String(), "source:") {
			t.Errorf("line %d: no source", settings.Line(n))
		}
	}
}

// slowly tries every expression for a name, one after the other.
func slowly(r *Rules, name string) string {
	for _, ru := range r.list {
		for _, p := range ru.patterns {
			if name != "" && p.expr().MatchString(name) {
				return ru.id
			}
		}
	}
	return ""
}

// TestBeginnings: trying only the expressions whose matches begin like the name gives the
// same result as trying all, for the built-in file and for unusual expressions.
func TestBeginnings(t *testing.T) {
	odd, err := Parse([]byte(`rules:
- {id: a, phase: p, match: ['^(?i:Step)|^x?y', '^(a|bc)*d', 'anywhere', '^[^a-z]Z', '^é', '^$', '^\\bword', '(?m)^line', '^(?:)q', '^.']}
- {id: b, phase: p, match: ['^(?i:task)#', '^(?:train(?:ing)?[ _]?)?(?:step|gen)\d+$', '^[aeé]+x'], ignore-case: true}
- {id: c, phase: p, match: ['^\x{fffd}1', '^\w{2}é', '^(?:a|b|)(?:x*|y)?\B1', '^(?i:\x{fffd})Z', '^\w+(?:anywhere|(?:step)+)k', '^[aes]+(?:é|x+)[^x]?(line|word)']}
- {id: d, phase: p, match: ['k'], ignore-case: true}
`), "odd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	alphabet := []string{"s", "S", "t", "step", "Step", "x", "y", "a", "bc", "d", "anywhere", "Z", "é", "word", "\n", "line", "q", "k", "K", "\u212a", "[", "#", "1", " ", "gen", "forward", "## ", "timing/", "tas", "\u017f", "train", "TRAINING", "_", "\xff", "2"}
	for _, r := range []*Rules{odd, Default()} {
		for range 20_000 {
			name := ""
			for range rnd.IntN(4) {
				name += alphabet[rnd.IntN(len(alphabet))]
			}
			if got, want := r.Match(name).Rule, slowly(r, name); got != want {
				t.Fatalf("%q: got %q, want %q", name, got, want)
			}
		}
	}
	for _, ru := range Default().list {
		for _, p := range ru.patterns {
			if len(p.begins) == 0 {
				t.Errorf("%s: every name is asked %q", ru.id, p.text)
			}
		}
	}
	for _, name := range []string{"aten::copy_", "cudaLaunchKernel", "torch/nn/modules/module.py(1747): _call_impl", "nn.Module: Linear_3", "<built-in method linear of type object at 0x7f>", "autograd::engine::evaluate_function: AddmmBackward0", "TorchDynamo Cache Lookup"} {
		asked := 0
		for _, a := range Default().candidates(name[0]) {
			if a.pattern.mayMatch(name) {
				asked++
			}
		}
		if asked > 1 {
			t.Errorf("%q is asked %d expressions", name, asked)
		}
	}
}

// FuzzParse: any file is read or refused with its name, and a match never has a
// negative batch.
func FuzzParse(f *testing.F) {
	f.Add(BuiltIn(), "step[DECODE bs=32]")
	f.Add("rules:\n- {id: a, phase: p, match: ['(?P<batch>.*)']}", "-5")
	f.Add("rules: [", "x")
	f.Fuzz(func(t *testing.T, text, name string) {
		r, err := Parse([]byte(text), "f.yaml")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f.yaml:") {
				t.Errorf("error %q has no place", err)
			}
			return
		}
		if m := r.Match(name); m.Batch < 0 || m.Number < -1 {
			t.Errorf("%+v", m)
		}
	})
}

// TestLengths: annotations of TraceLens' patches have the sums of lengths; those of vLLM do not,
// and a step with prefill is no decode step.
func TestLengths(t *testing.T) {
	for _, c := range []struct {
		name string
		want Lengths
		ok   bool
	}{
		{"execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk32785sqsq32sqsk32785)", Lengths{32, 32, 32785}, true},
		{"execute_96_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq96sk900sqsq288sqsk2700)", Lengths{32, 96, 900}, true},
		{"execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk31sqsq32sqsk31)", Lengths{}, false},
		{"execute_context_0(0)_generation_32(32)", Lengths{}, false},
		{"execute_40_context_1(sq8sk8sqsq64sqsk64)_generation_32(sq32sk999sqsq32sqsk999)", Lengths{}, false},
		{"step[DECODE bs=32]", Lengths{}, false},
		{"", Lengths{}, false},
	} {
		if got, ok := Default().Lengths(c.name); ok != c.ok || ok && got != c.want {
			t.Errorf("%q: got %+v, %v, want %+v, %v", c.name, got, ok, c.want, c.ok)
		}
	}
}
