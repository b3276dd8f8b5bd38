package judge

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"assay/ingest/partial"
	"assay/internal/test/loggen"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// inRoles are the logs of a trainer of veRL and of a server of SGLang: in each of eight steps 100 s of generation, whose
// sequences are left at each second as given, then the trainer, log-probs first, and 1 s of weight sync.
func inRoles(train, probs int, left func(second int) int, settings string) (trainer, server string) {
	var log, serve strings.Builder
	log.WriteString(settings)
	stamp := func(at int) string {
		return time.Unix(1_767_312_000+int64(at), 0).UTC().Format("2006-01-02 15:04:05")
	}
	at := 0
	for step := 1; step <= 8; step++ {
		for i := 1; i <= 100; i++ {
			fmt.Fprintf(&serve, "[%s DP0 TP0] Decode batch, #running-req: %d, #token: 900, token usage: 0.30, cuda graph: True, gen throughput (token/s): 900.00, #queue-req: 0, \n", stamp(at+i), left(i))
		}
		at += 101 + train + probs
		fmt.Fprintf(&log, "[%s] step:%d - timing_s/gen:100.0 - timing_s/old_log_prob:%d.0 - timing_s/update_actor:%d.0 - timing_s/update_weights:1.0 - timing_s/step:%d.0\n", stamp(at), step, probs, train, 101+train+probs)
	}
	return log.String(), serve.String()
}

// tailed is a batch of 100 sequences of which 95 end by a second, and 5 run to the end.
func tailed(by int) func(int) int {
	return func(second int) int {
		if second >= by {
			return 5
		}
		return 100 - 95*second/by
	}
}

const apart, colocated = "+ python3 -m verl actor_rollout_ref.hybrid_engine=False\n", "+ python3 -m verl actor_rollout_ref.hybrid_engine=True\n"

// labelledRoles are jobs of reinforcement learning, with typical shares but where the trainer is short.
func labelledRoles() []labelled {
	of := func(train, probs int, left func(int) int, settings string) func(*testing.T) *summary.Summary {
		trainer, server := inRoles(train, probs, left, settings)
		return joined(trainer, server)
	}
	alone, _ := inRoles(50, 20, tailed(98), apart)
	unknown, _ := inRoles(45, 22, tailed(98), "")
	return []labelled{
		{name: "rollout and trainer take turns on GPUs of their own", label: rule.RolesInTurn, num: 8 * 70e9, den: 8 * 171e9, in: joined(alone)},
		{name: "roles in turn on unknown GPUs", label: rule.RolesInTurn, num: 8 * 67e9, den: 8 * 168e9, in: joined(unknown)},
		{name: "a trainer that is short", label: rule.GenerationShare, near: rule.RolesInTurn, in: of(8, 2, tailed(98), apart)},
		{name: "rollout and trainer share GPUs", label: "", near: rule.RolesInTurn, in: of(50, 20, tailed(98), colocated)},
		{name: "the last 5% of the sequences take 31% of generation", label: rule.RolloutTail, in: of(50, 20, tailed(69), colocated)},
		{name: "the last 5% take a fifth of generation", label: rule.RolloutTail, in: of(50, 20, tailed(80), colocated)},
		{name: "a short tail", label: "", near: rule.RolloutTail, in: of(50, 20, tailed(96), colocated)},
	}
}

// TestRolesFound: what an overlap of roles and a cut of the tail would save, by hand; not where roles overlap already, on
// shared GPUs, or without reinforcement learning. Unless the GPUs of the roles are known, an overlap is for information.
func TestRolesFound(t *testing.T) {
	type want struct {
		rule  string
		value float64 // 0 for none
		level finding.Level
	}
	turns, _ := inRoles(50, 20, tailed(98), "")
	busy := usedGPUs(85, 85, 85, 85)
	for _, tc := range []struct {
		name  string
		texts []string
		want  []want
	}{
		{"in turn, GPUs of their own", list(inRoles(50, 20, tailed(98), apart)), []want{{rule.RolesInTurn, 70.0 / 171, finding.Warn}, {rule.RolloutTail, 0, none}}},
		{"in turn, by the trainer alone", []string{turns}, []want{{rule.RolesInTurn, 70.0 / 171, finding.Info}, {rule.RolloutTail, 0, none}}},
		{"on shared GPUs with a tail", list(inRoles(50, 20, tailed(69), colocated)), []want{{rule.RolesInTurn, 0, none}, {rule.RolloutTail, 31.0 / 171, finding.Warn}}},
		{"phases of a step, with other timers", []string{taught(60, 30, 1, 5, 1, 2).VeRL()}, []want{{rule.RolesInTurn, 0.35, finding.Info}}},
		{"GPUs that are in use in all phases", []string{busy.Log(), busy.Dmon()}, []want{{rule.RolesInTurn, 0, none}}},
		{"roles that overlap", []string{beside(2, 43, 0.35).VeRL()}, []want{{rule.RolesInTurn, 0, none}, {rule.RolloutTail, 0, none}}},
		{"pre-training", []string{steady(30, func(int) float64 { return 0 }).Megatron()}, []want{{rule.RolesInTurn, 0, none}}},
	} {
		r := Judge(joined(tc.texts...)(t), rule.DefaultThresholds())
		for _, w := range tc.want {
			value, level := 0.0, none
			for _, f := range r.Findings {
				if f.Rule == w.rule {
					value, level = f.Value, f.Level
				}
			}
			if value < w.value-0.01 || value > w.value+0.01 || level != w.level {
				t.Errorf("%s: %s is %.3f, level %v; want %.3f, level %v", tc.name, w.rule, value, level, w.value, w.level)
			}
		}
	}
}

const none = finding.Level(-1)

func list(a, b string) []string { return []string{a, b} }

// namedAs gives the inputs of a run other paths.
func namedAs(texts []string, paths ...string) func(*testing.T) *summary.Summary {
	return func(t *testing.T) *summary.Summary {
		s := joined(texts...)(t)
		for i := range paths {
			s.Inputs[i].Path = paths[i]
		}
		return partial.Join([]partial.Part{{Summary: s}})
	}
}

// TestServersOfOtherRoles: a server that judges is no replica of a rollout, and its KV cache does not decide the verdict
// of the job; two rollouts, and the server alone, are judged as before.
func TestServersOfOtherRoles(t *testing.T) {
	log := func(running, queued int, usage float64) string {
		return loggen.Each(40, 10, func(int) loggen.Line {
			return loggen.Line{Running: running, Queued: queued, Usage: usage, Tokens: 1200}
		}).VLLM()
	}
	for _, tc := range []struct {
		name          string
		texts, paths  []string
		uneven, cache finding.Level
		bound         finding.Bound
	}{
		{"two rollouts", []string{log(40, 0, 0.5), log(10, 0, 0.5)}, []string{"rollout-0.log", "rollout-1.log"}, finding.Info, none, finding.BoundMixed},
		{"a rollout and a judge", []string{log(40, 0, 0.5), log(10, 0, 0.5)}, []string{"rollout.log", "judge.log"}, none, none, finding.BoundMixed},
		{"the cache of the judge is full", []string{log(40, 0, 0.5), log(30, 9, 0.97)}, []string{"rollout.log", "judge.log"}, none, finding.Info, finding.BoundMixed},
		{"the cache of a rollout is full", []string{log(40, 9, 0.97), log(30, 0, 0.5)}, []string{"rollout.log", "judge.log"}, none, finding.Critical, finding.BoundKVCache},
		{"the judge alone", []string{log(30, 9, 0.97)}, []string{"judge.log"}, none, finding.Critical, finding.BoundKVCache},
	} {
		r := Judge(namedAs(tc.texts, tc.paths...)(t), rule.DefaultThresholds())
		got := map[string]finding.Level{rule.UnevenReplicas: none, rule.KVCacheFull: none}
		for _, f := range r.Findings {
			got[f.Rule] = f.Level
		}
		if got[rule.UnevenReplicas] != tc.uneven || got[rule.KVCacheFull] != tc.cache || r.Verdict.Bound != tc.bound {
			t.Errorf("%s: %v, %s", tc.name, got, r.Verdict.Sentence)
		}
	}
}

// scored is a log of veRL with the seconds of log-probs and of rewards in steps of 100 s.
func scored(probs, reward float64) string {
	return loggen.Repeat(12, func(int) loggen.Step {
		return loggen.Step{Seconds: 100, Phases: []loggen.Phase{{Name: "gen", Seconds: 40}, {Name: "update_actor", Seconds: 58 - probs - reward}, {Name: "old_log_prob", Seconds: probs}, {Name: "reward", Seconds: reward}}}
	}).VeRL()
}

// TestAdviceOfScoring: the fixes are those of the phase that is slow.
func TestAdviceOfScoring(t *testing.T) {
	for _, tc := range []struct {
		name, text, gives, not string
	}{
		{"slow rewards", scored(2, 30), "score-while-others-generate", "raise-log-prob-micro-batches"},
		{"slow log-probs", scored(30, 2), "raise-log-prob-micro-batches", "score-while-others-generate"},
		{"rewards of 16 s and log-probs of 15 s", scored(15, 16), "raise-log-prob-micro-batches", "none"},
	} {
		next := ids(find(t, Judge(given(tc.text)(t), rule.DefaultThresholds()), rule.LogProbsShare).Next)
		has := map[string]bool{}
		for _, id := range next {
			has[id] = true
		}
		if !has[tc.gives] || has[tc.not] {
			t.Errorf("%s: %v, want %s and not %s", tc.name, next, tc.gives, tc.not)
		}
	}
}
