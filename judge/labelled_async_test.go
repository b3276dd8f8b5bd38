package judge

import (
	"fmt"
	"testing"

	"assay/internal/test/loggen"
	"assay/judge/finding"
	"assay/judge/rule"
)

// beside is a run of veRL whose rollouts run in parallel with the trainer: steps of 50 s in which the trainer waits for samples
// and trains, and the share of the time in which the rollouts were idle.
func beside(wait, train, idle float64) loggen.Trainer {
	return loggen.Repeat(10, func(int) loggen.Step {
		return loggen.Step{Seconds: 50, Extra: []string{fmt.Sprintf("fully_async/rollouter/idle_ratio:%v", idle), "fully_async/count/current_param_version:3"},
			Phases: []loggen.Phase{{Name: "gen", Seconds: wait}, {Name: "update_actor", Seconds: train}, {Name: "old_log_prob", Seconds: 3}, {Name: "param_sync", Seconds: 1}}}
	})
}

// nemoAsync is the console of NeMo RL with rollouts in parallel with the training; idle is the trainer's waiting.
func nemoAsync(steps int, idle, train float64) (text string) {
	for i := range steps {
		text += fmt.Sprintf("========================= Step %d/500 =========================\n⏱️  Timing:\n  • Total step time: 80.00s\n  • exposed_generation: %.2fs (%.1f%%)\n  • policy_training: %.2fs (%.1f%%)\n  • policy_and_reference_logprobs: 6.00s (7.5%%)\n\n", i+1, idle, idle/0.8, train, train/0.8)
	}
	return text
}

func labelledAsync() []labelled {
	return []labelled{
		{name: "rollouts wait for a trainer that is busy", label: rule.RolloutsWait, in: given(beside(2, 43, 0.35).VeRL())},
		{name: "rollouts wait most of the time", label: rule.RolloutsWait, in: given(beside(3, 42, 0.62).VeRL())},
		{name: "rollouts wait a little", label: "", near: rule.RolloutsWait, in: given(beside(3, 42, 0.16).VeRL())},
		{name: "a trainer waits for samples, under the name of generation", label: rule.WaitShare, num: 10 * 21e9, den: 10 * 50e9, in: given(beside(21, 24, 0.03).VeRL())},
		{name: "a trainer of NeMo RL waits for what generation exposes", label: rule.WaitShare, num: 8 * 28e9, den: 8 * 80e9, in: given(nemoAsync(8, 28, 44))},
		{name: "a trainer that hardly waits", label: "", near: rule.WaitShare, in: given(nemoAsync(8, 6, 66))},
	}
}

// TestAsyncVerdicts: waiting of both sides is judged as waiting, and a trainer that trains all the time is none that
// trains too much, because its rollouts run elsewhere. A run that generates in its steps is judged as before.
func TestAsyncVerdicts(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		bound      finding.Bound
		rule       string
	}{
		{"the trainer waits more", beside(20, 25, 0.3).VeRL(), finding.BoundRollouts, rule.WaitShare},
		{"the rollouts wait more", beside(6, 39, 0.55).VeRL(), finding.BoundTrainer, rule.RolloutsWait},
		{"nobody waits", beside(1, 44, 0.05).VeRL(), finding.BoundMixed, ""},
		{"a busy trainer of NeMo RL", nemoAsync(9, 2, 70), finding.BoundMixed, ""},
		{"generation within the step", taught(70, 20, 1, 5, 1, 1).VeRL(), finding.BoundGeneration, rule.GenerationShare},
	} {
		r := Judge(given(tc.text)(t), rule.DefaultThresholds())
		if r.Verdict.Bound != tc.bound || r.Verdict.Rule != tc.rule {
			t.Errorf("%s: %s by %q (%s), want %s by %q", tc.name, r.Verdict.Bound, r.Verdict.Rule, r.Verdict.Sentence, tc.bound, tc.rule)
		}
	}
}

// TestSidesOfAdvice: who should get more GPUs depends on who waits.
func TestSidesOfAdvice(t *testing.T) {
	for _, tc := range []struct {
		name, text, rule, gives, not string
	}{
		{"only the trainer waits", beside(20, 25, 0.02).VeRL(), rule.WaitShare, "balance-the-sides", "loosen-both-sides"},
		{"both wait", beside(20, 25, 0.3).VeRL(), rule.WaitShare, "loosen-both-sides", "balance-the-sides"},
		{"only the rollouts wait", beside(1, 44, 0.3).VeRL(), rule.RolloutsWait, "speed-up-the-trainer", "loosen-both-sides"},
	} {
		next := ids(find(t, Judge(given(tc.text)(t), rule.DefaultThresholds()), tc.rule).Next)
		has := map[string]bool{}
		for _, id := range next {
			has[id] = true
		}
		if !has[tc.gives] || has[tc.not] {
			t.Errorf("%s: %v, want %s and not %s", tc.name, next, tc.gives, tc.not)
		}
	}
}

// TestTimersOfDeepSpeed: the timers of a step, of which those of its micro-steps are the same time again. Steps of
// 250 ms, with 50, 150 and 50 ms; 100 ms of the backward pass are an all-reduce.
func TestTimersOfDeepSpeed(t *testing.T) {
	text := ""
	for i := 1; i <= 8; i++ {
		line := func(format string, args ...any) {
			text += fmt.Sprintf("[2026-05-01 10:00:%02d,000] [INFO] [logging.py:107:log_dist] [Rank 0] ", i) + fmt.Sprintf(format, args...) + "\n"
		}
		line("step=%d, skipped=0, lr=[3e-05], mom=[[0.9, 0.95]]", i)
		line("time (ms) | fwd_microstep: 50.00 | bwd_microstep: 150.00 | bwd_inner_microstep: 50.00 | bwd_allreduce_microstep: 100.00 | step_microstep: 50.00")
		line("time (ms) | fwd: 50.00 | bwd: 150.00 | bwd_inner: 50.00 | bwd_allreduce: 100.00 | step: 50.00")
	}
	s := given(text)(t)
	checkShares(t, "DeepSpeed", s)
	f := find(t, Judge(s, rule.DefaultThresholds()), rule.LoggedCommunication)
	if f.NumeratorNS != 8*100e6 || f.DenominatorNS != 8*250e6 {
		t.Errorf("%s: %d of %d", f.Title, f.NumeratorNS, f.DenominatorNS)
	}
	for _, p := range s.Phases {
		if p.Producer != "DeepSpeed" {
			t.Errorf("%s is of %s", p.Path, p.Producer)
		}
	}
}
