package judge

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/internal/test"

	"assay/internal/test/loggen"
	"assay/judge/finding"
	"assay/judge/rule"
)

// noisy is the noise of a job on Ray.
var noisy = loggen.Noise{Ray: true, Interleaved: true, Torn: true}

// taught is a run of reinforcement learning: steps of 100 s with these seconds of
// generation, training, weight sync, log-probs, data and evaluation.
func taught(gen, train, sync, probs, data, eval float64) loggen.Trainer {
	return loggen.Repeat(12, func(n int) loggen.Step {
		return loggen.Step{Seconds: 100, Phases: []loggen.Phase{{Name: "gen", Seconds: gen}, {Name: "update_actor", Seconds: train}, {Name: "sync_rollout_weights", Seconds: sync},
			{Name: "old_log_prob", Seconds: probs}, {Name: "dataloader", Seconds: data}, {Name: "testing", Seconds: eval}}}
	})
}

// labelledLogs are logs of trainers and servers.
func labelledLogs() []labelled {
	return slices.Concat(labelledTrainers(), labelledServers(), labelledAsync(), labelledRoles())
}

// steady returns n steps of 10 s; other gives those that take another time.
func steady(n int, other func(number int) float64) loggen.Trainer {
	return loggen.Repeat(n, func(number int) loggen.Step {
		s := 10.0
		if v := other(number); v > 0 {
			s = v
		}
		return loggen.Step{Seconds: s}
	})
}

func labelledTrainers() []labelled {
	none := func(int) float64 { return 0 }
	run := func(name, label string, t loggen.Trainer, num, den int64) labelled {
		return labelled{name: name, label: label, num: num, den: den, in: given(t.VeRL())}
	}
	near := func(name, label, near string, text string) labelled {
		return labelled{name: name, label: label, near: near, in: given(text)}
	}
	probs := taught(40, 20, 1, 30, 1, 2)
	probs.Noise = noisy
	eval := taught(40, 18, 1, 14, 1, 25)
	rest := taught(45, 20, 1, 10, 1, 0)
	comm := loggen.Repeat(8, func(int) loggen.Step {
		return loggen.Step{Seconds: 10, Phases: []loggen.Phase{{Name: "forward-compute", Seconds: 3}, {Name: "backward-compute", Seconds: 3.9}, {Name: "backward-params-all-reduce", Seconds: 3}}}
	})
	exposed := comm
	exposed.Steps = slices.Clone(comm.Steps)
	for i := range exposed.Steps {
		exposed.Steps[i].Seconds = 15.1
	}
	gap := func(seconds float64) func(int) float64 {
		return func(n int) float64 {
			if n == 7 {
				return seconds
			}
			return 0
		}
	}
	again := func(back int) loggen.Trainer { // 30 steps, then a start from an earlier one
		t := steady(30, none)
		for n := 31 - back; n <= 50; n++ {
			t.Steps = append(t.Steps, loggen.Step{Number: n, Seconds: 10})
		}
		return t
	}
	wobble := func(n int) float64 { return 10 + 0.1*float64(n%3) }
	rise := steady(60, func(n int) float64 { return 10 + 0.1*float64(n) + 0.05*float64(n%3) })
	jump := steady(60, func(n int) float64 { return wobble(n) + 4*math.Floor(min(1, float64(n)/41)) })
	return slices.Concat([]labelled{
		run("log-probs take 30% of a step of veRL on Ray", rule.LogProbsShare, probs, probs.PhaseNS("old_log_prob"), probs.StepNS()),
		run("log-probs take 26%", rule.LogProbsShare, taught(40, 20, 1, 26, 1, 2), 12*26e9, 12*100e9),
		near("log-probs take 14%", "", rule.LogProbsShare, taught(50, 25, 1, 14, 1, 2).VeRL()),
		run("validation takes 25% of each step", rule.EvaluationShare, eval, eval.PhaseNS("testing"), eval.StepNS()),
		run("validation takes 16%", rule.EvaluationShare, taught(45, 25, 1, 5, 1, 16), 12*16e9, 12*100e9),
		near("validation takes 14%", "", rule.EvaluationShare, taught(45, 25, 1, 10, 1, 14).VeRL()),
		run("no timer covers 23% of the steps", rule.OutsidePhases, rest, rest.StepNS()-rest.PhaseNS("gen", "update_actor", "sync_rollout_weights", "old_log_prob", "dataloader"), rest.StepNS()),
		run("no timer covers 11%", rule.OutsidePhases, taught(54, 22, 1, 10, 2, 0), 12*11e9, 12*100e9),
		near("no timer covers 6%", "", rule.OutsidePhases, taught(57, 25, 1, 10, 1, 0).VeRL()),

		{name: "an all-reduce of gradients takes 30% of Megatron's iterations", label: rule.LoggedCommunication, num: comm.PhaseNS("backward-params-all-reduce"), den: comm.StepNS(), in: given(comm.Megatron())},
		{name: "an all-reduce beside a slower step", label: "", near: rule.LoggedCommunication, in: given(exposed.Megatron())},
		{name: "communication in a log with other lines", label: rule.LoggedCommunication, in: given(loggen.Trainer{Steps: comm.Steps[:6], Noise: loggen.Noise{Interleaved: true}}.Megatron())},

		{name: "two minutes between two steps of 10 s", label: rule.StalledSteps, num: 120e9, den: 20*10e9 + 120e9, in: given(steady(20, none).Timed(gap(120)))},
		{name: "half a minute between two steps", label: rule.StalledSteps, num: 30e9, den: 20*10e9 + 30e9, in: given(steady(20, none).Timed(gap(30)))},
		{name: "a minute after every five steps, of which the log has the means", label: rule.StalledSteps, num: 11 * 60e9, den: (10 + 11*50 + 11*60) * 1e9, in: given(steady(60, none).Means(5).Timed(func(int) float64 { return 60 }))},
		near("means of 25 steps", "", rule.StalledSteps, steady(300, none).Means(25).Timed(none)),
		near("a pause of 10 s in 200 s", "", rule.StalledSteps, steady(20, none).Timed(gap(10))),

		{name: "steps get longer", label: rule.SlowerOverTime, in: given(rise.VeRL())},
		{name: "steps get longer at step 41", label: rule.SlowerOverTime, in: given(jump.VeRL())},
		{name: "throughput falls", label: rule.SlowerOverTime, in: given(titan(60, func(n int) [7]string {
			return [7]string{"2.5", "0.5", "20.0", "50.0", fmt.Sprint(7000 - 30*n + 5*(n%3)), "400.0", "40.0"}
		}))},
		near("steps that vary by 2%", "", rule.SlowerOverTime, steady(60, wobble).VeRL()),

		run("a start from ten steps before", rule.Restarts, again(10), 10*10e9, 60*10e9),
		run("a start from five steps before", rule.Restarts, again(5), 5*10e9, 55*10e9),
		{name: "a start from ten steps before, with means of five steps", label: rule.Restarts, num: 10 * 10e9, den: 60 * 10e9, in: given(loggen.Trainer{Steps: append(steady(30, none).Means(5).Steps, loggen.Trainer{Steps: again(10).Steps[30:]}.Means(5).Steps...)}.VeRL())},
		near("one start", "", rule.Restarts, steady(50, none).VeRL()),
	}, labelledHealth())
}

func titan(n int, each func(int) [7]string) string { return loggen.Titan(n, each) }

// labelledHealth are logs of torchtitan.
func labelledHealth() []labelled {
	values := func(loss, norm, mfu string) string {
		return titan(20, func(n int) [7]string {
			v := [7]string{"2.5", "0.5", "20.0", "50.0", "7,000", "400.0", mfu}
			if n > 2 && n%2 == 0 {
				v[0], v[1] = loss, norm
			}
			return v
		})
	}
	return []labelled{
		{name: "infinite gradients", label: rule.NotFinite, in: given(values("2.5", "inf", "40.0"))},
		{name: "a loss that is no number", label: rule.NotFinite, in: given(values("nan", "0.5", "40.0"))},
		{name: "finite losses", label: "", near: rule.NotFinite, in: given(values("2.5", "0.5", "40.0"))},
		{name: "MFU of 12%", label: rule.LowMFU, in: given(values("2.5", "0.5", "12.0"))},
		{name: "MFU of 29.9%", label: rule.LowMFU, in: given(values("2.5", "0.5", "29.9"))},
		{name: "MFU of 0 on a GPU that the trainer does not know", label: "", near: rule.LowMFU, in: given(values("2.5", "0.5", "0.0"))},
	}
}

// deferredAt states in a log of vLLM that the requests of the lines with 34 are deferred.
func deferredAt(text string) string {
	return strings.ReplaceAll(text, "Waiting: 34 reqs", "Waiting: 34 reqs, Deferred: 34 reqs, External prefix cache hit rate: 90.0%")
}

func labelledServers() []labelled {
	every := func(l loggen.Line) func(int) loggen.Line { return func(int) loggen.Line { return l } }
	// decode is a decode batch of SGLang of 40 requests with half of the KV cache.
	decode := loggen.Line{Running: 40, Usage: 0.5, Tokens: 1200}
	with := func(change func(i int, l *loggen.Line)) func(int) loggen.Line {
		return func(i int) loggen.Line {
			l := decode
			change(i, &l)
			return l
		}
	}
	full := with(func(i int, l *loggen.Line) {
		l.Usage = 0.97
		if i%2 == 0 {
			l.Queued = 12
		}
	})
	queued := with(func(i int, l *loggen.Line) {
		if i%4 > 0 {
			l.Queued = 30 + i
		}
	})
	// prefill has a prefill batch before every second decode line, which is half as fast.
	stalling := func(slow float64) func(i int) loggen.Line {
		return with(func(i int, l *loggen.Line) {
			if i%4 == 1 {
				l.Prefill, l.Prompt = true, 20_000
			}
			if i%4 == 2 {
				l.Tokens = 1200 * slow
			}
		})
	}
	vllmStalls := with(func(i int, l *loggen.Line) {
		if i%2 == 1 {
			l.Prompt, l.Tokens = 9000, 500
		}
	})
	two := func(a, b loggen.Line) string {
		return loggen.Server{Replicas: [][]loggen.Line{loggen.Lines(40, 2, every(a)), loggen.Lines(40, 2, every(b))}, Noise: loggen.Noise{Interleaved: true}}.SGLang()
	}
	running := func(n int) loggen.Line { l := decode; l.Running = n; return l }
	cached := func(tokens int) func(int) loggen.Line {
		return with(func(i int, l *loggen.Line) {
			if i%2 == 0 {
				l.Prefill, l.Prompt, l.Cached = true, 100, tokens
			}
		})
	}
	transfer := func(n int) func(int) loggen.Line { return with(func(_ int, l *loggen.Line) { l.Transfer = n }) }
	eager := func(every int) func(int) loggen.Line {
		return with(func(i int, l *loggen.Line) { l.Eager = i%every == 0 })
	}
	few := loggen.Line{Running: 2, Usage: 0.02, Tokens: 60}
	return []labelled{
		{name: "requests queue on a full KV cache of SGLang", label: rule.KVCacheFull, in: given(loggen.Each(60, 2, full).SGLang())},
		{name: "vLLM preempts requests", label: rule.KVCacheFull, in: given(loggen.Each(60, 10, with(func(i int, l *loggen.Line) { l.Usage, l.Preempted = 0.99, i%3+1 })).VLLM())},
		{name: "requests queue on a full pool of Mamba states beside a KV cache that is half empty", label: rule.KVCacheFull, in: given(loggen.Each(60, 2, with(func(_ int, l *loggen.Line) { l.Queued, l.Pools = 14, "mamba num: 90, mamba usage: 0.98, " })).SGLang())},
		{name: "requests queue on a full KV cache of sliding windows", label: rule.KVCacheFull, in: given(loggen.Each(60, 2, with(func(_ int, l *loggen.Line) { l.Queued, l.Pools = 8, "swa token usage: 0.97, " })).SGLang())},
		{name: "requests queue while all pools have room", label: rule.RequestsQueued, near: rule.KVCacheFull, in: given(loggen.Each(60, 2, with(func(_ int, l *loggen.Line) { l.Queued, l.Pools = 8, "swa token usage: 0.6, mamba usage: 0.7, " })).SGLang())},
		{name: "decode of another vendor without its graphs", label: rule.EagerDecode, in: given(strings.ReplaceAll(loggen.Each(40, 2, eager(1)).SGLang(), "cuda graph", "xpu graph"))},
		{name: "forward passes run a third of the time", label: rule.GapsBetweenBatches, in: given(loggen.Each(40, 2, with(func(_ int, l *loggen.Line) { l.Pools = "fwd occupancy: 33.00%, " })).SGLang())},
		{name: "forward passes run for 65% of the time", label: rule.GapsBetweenBatches, in: given(loggen.Each(40, 2, with(func(i int, l *loggen.Line) { l.Pools = fmt.Sprintf("fwd occupancy: %d.00%%, ", 64+i%3) })).SGLang())},
		{name: "forward passes run nearly all the time", label: "", near: rule.GapsBetweenBatches, in: given(loggen.Each(40, 2, with(func(_ int, l *loggen.Line) { l.Pools = "fwd occupancy: 93.00%, " })).SGLang())},
		{name: "deferred requests of vLLM wait for another server", label: rule.TransferWaits, in: given(strings.ReplaceAll(loggen.Each(60, 10, with(func(_ int, l *loggen.Line) { l.Queued = 33 })).VLLM(), "Waiting: 33 reqs", "Waiting: 33 reqs, Deferred: 33 reqs, External prefix cache hit rate: 90.0%"))},
		{name: "deferred requests of vLLM without another server", label: "", near: rule.TransferWaits, in: given(strings.ReplaceAll(loggen.Each(60, 10, with(func(_ int, l *loggen.Line) { l.Queued = 33 })).VLLM(), "Waiting: 33 reqs", "Waiting: 33 reqs, Deferred: 33 reqs"))},
		{name: "requests of vLLM are deferred at one line of six, and queue for room at the others", label: rule.RequestsQueued, near: rule.TransferWaits, in: given(deferredAt(loggen.Each(60, 10, with(func(i int, l *loggen.Line) { l.Queued = 33 + i%6/5 })).VLLM()))},
		{name: "a full KV cache and an empty queue", label: "", near: rule.KVCacheFull, in: given(loggen.Each(60, 2, with(func(_ int, l *loggen.Line) { l.Usage = 0.97 })).SGLang())},
		{name: "requests queue beside a KV cache that is half empty", label: rule.RequestsQueued, in: given(loggen.Each(60, 2, queued).SGLang())},
		{name: "the same of vLLM", label: rule.RequestsQueued, in: given(loggen.Each(200, 10, queued).VLLM())},
		{name: "one line of 40 with a queue", label: "", near: rule.RequestsQueued, in: given(loggen.Each(40, 2, with(func(i int, l *loggen.Line) { l.Queued = i / 39 * 5 })).SGLang())},
		{name: "decode of SGLang is half as fast after prefill", label: rule.PrefillStalls, in: given(loggen.Each(100, 2, stalling(0.5)).SGLang())},
		{name: "decode of vLLM is slower in lines with prompts", label: rule.PrefillStalls, in: given(loggen.Each(100, 10, vllmStalls).VLLM())},
		{name: "prefill that decode does not notice", label: "", near: rule.PrefillStalls, in: given(loggen.Each(100, 2, stalling(1)).SGLang())},
		{name: "half of the requests are in transfer", label: rule.TransferWaits, in: given(loggen.Each(40, 2, transfer(41)).SGLang())},
		{name: "a third of the requests are in transfer", label: rule.TransferWaits, in: given(loggen.Each(40, 2, transfer(20)).SGLang())},
		{name: "two requests are in transfer", label: "", near: rule.TransferWaits, in: given(loggen.Each(40, 2, transfer(2)).SGLang())},
		{name: "decode without CUDA graphs", label: rule.EagerDecode, in: given(loggen.Each(40, 2, eager(1)).SGLang())},
		{name: "a fifth of decode without CUDA graphs", label: rule.EagerDecode, in: given(loggen.Each(40, 2, eager(5)).SGLang())},
		{name: "one batch of 40 without CUDA graph", label: "", near: rule.EagerDecode, in: given(loggen.Each(40, 2, eager(40)).SGLang())},
		{name: "two replicas, one with a third of the requests", label: rule.UnevenReplicas, in: given(two(running(45), running(15)))},
		{name: "two replicas, one with two thirds of the requests", label: rule.UnevenReplicas, in: given(two(running(45), running(30)))},
		{name: "two replicas that are nearly alike", label: "", near: rule.UnevenReplicas, in: given(two(running(45), running(40)))},
		{name: "two requests at a time", label: rule.UnderLoaded, in: given(loggen.Each(40, 10, every(few)).VLLM())},
		{name: "two requests at a time of SGLang", label: rule.UnderLoaded, in: given(loggen.Each(40, 2, every(few)).SGLang())},
		{name: "few requests on one of two replicas", label: rule.UnevenReplicas, near: rule.UnderLoaded, in: given(two(decode, few))},
		{name: "a tenth of the prompt tokens in the prefix cache", label: rule.LowCacheHits, in: given(loggen.Each(60, 2, cached(11)).SGLang())},
		{name: "a hit rate of 9% of vLLM", label: rule.LowCacheHits, in: given(loggen.Each(60, 10, with(func(_ int, l *loggen.Line) { l.Cached = 9 })).VLLM())},
		{name: "no prompt token in the prefix cache", label: "", near: rule.LowCacheHits, in: given(loggen.Each(60, 2, cached(0)).SGLang())},
	}
}

// TestLogVerdicts checks the bottleneck of logs, and that the shares of servers are what the
// generator states.
func TestLogVerdicts(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		bound      finding.Bound
		rule       string
		value      float64
	}{
		{"61% generation", taught(61, 20, 3, 10, 1, 2).VeRL(), finding.BoundGeneration, rule.GenerationShare, 0.61},
		{"training over its band, and generation not", taught(31, 55, 3, 8, 1, 1).VeRL(), finding.BoundTraining, rule.TrainingShare, 0.55},
		{"weight sync of 20%", taught(45, 20, 20, 10, 1, 1).VeRL(), finding.BoundWeightSync, rule.WeightSyncShare, 0.20},
		{"data of 8%", taught(50, 25, 3, 10, 8, 1).VeRL(), finding.BoundData, rule.DataShare, 0.08},
		{"data of 8% beside training that is 30 points over its band", taught(20, 60, 3, 8, 8, 1).VeRL(), finding.BoundTraining, rule.TrainingShare, 0.60},
		{"training a point over its band, and generation more", taught(55, 31, 1, 10, 1, 1).VeRL(), finding.BoundMixed, "", 0},
		{"training a point over its band, and nothing more", taught(28, 31, 4, 13, 4, 14).VeRL(), finding.BoundTraining, rule.TrainingShare, 0.31},
		{"weight sync a point over its band, and generation more", taught(52, 18, 16, 12, 1, 1).VeRL(), finding.BoundMixed, "", 0},
		{"training 8 points over its band, and generation more", taught(45, 38, 3, 12, 1, 1).VeRL(), finding.BoundTraining, rule.TrainingShare, 0.38},
		{"all within their bands", taught(52, 25, 1, 13, 3, 2).VeRL(), finding.BoundMixed, "", 0},
		{"steps without phases", steady(20, func(int) float64 { return 0 }).VeRL(), finding.BoundUnknown, "", 0},
	} {
		r := Judge(given(tc.text)(t), rule.DefaultThresholds())
		if r.Verdict.Bound != tc.bound || r.Verdict.Rule != tc.rule {
			t.Errorf("%s: %s by %q (%s), want %s by %q\n%s", tc.name, r.Verdict.Bound, r.Verdict.Rule, r.Verdict.Sentence, tc.bound, tc.rule, told(r))
			continue
		}
		if tc.rule != "" {
			if f := find(t, r, tc.rule); math.Abs(f.Value-tc.value) > 1e-9 {
				t.Errorf("%s: value %v, want %v", tc.name, f.Value, tc.value)
			}
		}
	}
}

// TestLogsWithNoise checks that prefixes, cut lines and lines of other processes change no
// number of a finding.
func TestLogsWithNoise(t *testing.T) {
	clean := taught(70, 15, 3, 8, 1, 1)
	dirty := clean
	dirty.Noise = noisy
	a, b := Judge(given(clean.VeRL())(t), rule.DefaultThresholds()), Judge(given(dirty.VeRL())(t), rule.DefaultThresholds())
	if a.Verdict.Sentence != b.Verdict.Sentence || a.Verdict.Bound != finding.BoundGeneration {
		t.Errorf("with noise: %s: %s\nwithout: %s: %s", b.Verdict.Bound, b.Verdict.Sentence, a.Verdict.Bound, a.Verdict.Sentence)
	}
}

// TestQueueShares checks the shares of the time in which requests queue, of lines of which
// each stands for the same time.
func TestQueueShares(t *testing.T) {
	lines := loggen.Lines(81, 10, func(i int) loggen.Line {
		l := loggen.Line{Running: 40, Usage: 0.5, Tokens: 1200}
		if i%5 < 2 {
			l.Queued = 7
		}
		return l
	})
	server := loggen.Server{Replicas: [][]loggen.Line{lines, loggen.Lines(81, 10, func(int) loggen.Line { return loggen.Line{Running: 40, Usage: 0.5, Tokens: 1200} })}}
	want := loggen.ShareOfTime(lines, func(l loggen.Line) bool { return l.Queued > 0 })
	for name, text := range map[string]string{"SGLang": server.SGLang(), "vLLM": server.VLLM()} {
		f := find(t, Judge(given(text)(t), rule.DefaultThresholds()), rule.RequestsQueued)
		if math.Abs(f.Value-want) > 1e-9 {
			t.Errorf("%s: requests queue for %v of the time, want %v, that of the worse replica", name, f.Value, want)
		}
	}
}

// TestVerdictsOnLogs compares verdicts on real logs with sums of their timers that another
// program made, and verdicts on servers with what their lines show: the running requests
// stay at their limit, or the cache is nearly empty.
func TestVerdictsOnLogs(t *testing.T) {
	dir := test.Corpus(t)
	for _, tc := range []struct {
		path  string
		bound finding.Bound
		rule  string
		value float64 // 0 if it is not known
	}{
		{"verl/eric-haibin-lin__verl-data/gemma-2-2b-it-ppo-bsz512_4-prompt1024-resp-512-0.640.log", finding.BoundTraining, rule.TrainingShare, (4054.911 + 3457.890) / 15264.41},
		{"verl/eric-haibin-lin__verl-data/Qwen2.5-0.5B-bsz256_2-prompt1024-resp512-0.567.log", finding.BoundTraining, rule.TrainingShare, (7168.233 + 9043.618) / 31288.271},
		// Two evaluations of 102 s are outside the steps: no step takes over 36.4 s.
		{"skyrl/hi-wesley__skyrl-demo/SkyRL_notebook_cell7_console.txt", finding.BoundOverhead, rule.EvaluationShare, (203.9984 + 87.5141) / (1034.2544 + 203.9984)},
		{"nemo_rl/sunbc0120__b200-nemo-rl/terminal_output_raysubmit.txt", finding.BoundGeneration, rule.GenerationShare, 1587.54 / 2269.01},
		{"megatron/hisohara__ai-scripts/run-llama2-70B-2N.log", finding.BoundUnknown, "", 0},
		// 96 requests run at most and 93 in the median, while up to 9 queue and the cache is used by 65% at most.
		{"sglang_server/shun8686__for_debug/test_ascend_qwen3_480b_w8a8_1p1d_24p_in3k5_out1k5_50ms_decode-0.log", finding.BoundQueue, rule.RequestsQueued, 0},
		{"sglang_server/shun8686__for_debug/test_ascend_qwen3_480b_w8a8_1p1d_24p_in3k5_out1k5_50ms_prefill-0.log", finding.BoundQueue, rule.RequestsQueued, 0},
		// One request runs in the median, and the cache is used by 9.5% at most.
		{"vllm_server/LzyFischer__MemSuit/vllm_lme.log", finding.BoundUnderLoaded, rule.UnderLoaded, 0},
		// No request waits, and 207 run.
		{"vllm_server/DaisukeTakai__eval_dataset/vllm_predict.log", finding.BoundMixed, "", 0},
	} {
		text, err := os.ReadFile(filepath.Join(dir, "series", tc.path))
		if err != nil {
			t.Skip("no corpus: ", err)
		}
		r := Judge(given(string(text))(t), rule.DefaultThresholds())
		if r.Verdict.Bound != tc.bound || r.Verdict.Rule != tc.rule {
			t.Errorf("%s: %s by %q, want %s by %q\n%s", tc.path, r.Verdict.Bound, r.Verdict.Rule, tc.bound, tc.rule, told(r))
		} else if tc.value > 0 && math.Abs(find(t, r, tc.rule).Value-tc.value) > 0.001*tc.value {
			t.Errorf("%s: %s is %v, want %v", tc.path, tc.rule, find(t, r, tc.rule).Value, tc.value)
		}
	}
}
