package judge

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"assay/analyze"
	"assay/analyze/phase"
	"assay/ingest"
	"assay/ingest/partial"
	"assay/internal/test/loggen"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// joined measures texts as the files of one run.
func joined(contents ...string) func(*testing.T) *summary.Summary {
	return func(t *testing.T) *summary.Summary {
		t.Helper()
		var all []partial.Part
		for i, text := range contents {
			f, err := ingest.Open(ingest.Stdin, strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			f.Path = fmt.Sprintf("input%d", i)
			in, err := ingest.Load(f, analyze.Needs())
			f.Close()
			if err != nil {
				t.Fatal(err)
			}
			p, err := partial.Measure(in, partial.Options{Options: analyze.Options{Phases: phase.Default()}})
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, p)
		}
		return partial.Join(all)
	}
}

// usedGPUs is a run of SkyRL whose phases have typical shares, with the use of the GPUs in
// each phase in percent.
func usedGPUs(gen, train, probs, data int) loggen.Monitored {
	m := loggen.Monitored{GPUs: 4, Uses: map[string]loggen.Use{"generate": {Util: gen}, "train_critic_and_policy": {Util: train}, "fwd_logprobs_values_reward": {Util: probs}, "convert_to_training_input": {Util: data}, "sync_weights": {Util: 60}}}
	m.Steps = loggen.Repeat(8, func(int) loggen.Step {
		return loggen.Step{Phases: []loggen.Phase{{Name: "generate", Seconds: 50}, {Name: "convert_to_training_input", Seconds: 3}, {Name: "fwd_logprobs_values_reward", Seconds: 12}, {Name: "train_critic_and_policy", Seconds: 27}, {Name: "sync_weights", Seconds: 1}}}
	}).Steps
	return m
}

// TestUnevenLogs: servers with a log each are compared, for information, if they run the same program.
func TestUnevenLogs(t *testing.T) {
	log := func(running int) loggen.Server {
		return loggen.Each(40, 10, func(int) loggen.Line { return loggen.Line{Running: running, Usage: 0.5, Tokens: 1200} })
	}
	for _, c := range []struct {
		name string
		in   func(*testing.T) *summary.Summary
		want float64 // 0 for no finding
	}{
		{"one of two servers has a quarter of the requests", joined(log(40).VLLM(), log(10).VLLM()), 0.75},
		{"servers that are nearly alike", joined(log(40).VLLM(), log(36).VLLM()), 0},
		{"servers of two programs", joined(log(40).VLLM(), log(10).SGLang()), 0},
	} {
		var value float64
		for _, f := range Judge(c.in(t), rule.DefaultThresholds()).Findings {
			if f.Rule == rule.UnevenReplicas {
				value = f.Value
				if f.Level != finding.Info {
					t.Errorf("%s: level %v", c.name, f.Level)
				}
			}
		}
		if math.Abs(value-c.want) > 1e-9 {
			t.Errorf("%s: %g, want %g", c.name, value, c.want)
		}
	}
}

// labelledMonitored are logs beside monitors, and logs of jobs that hang.
func labelledMonitored() []labelled {
	beside := func(name, label, near string, m loggen.Monitored) labelled {
		return labelled{name: name, label: label, near: near, in: joined(m.Log(), m.Dmon())}
	}
	watchdog := func(rank, seq int) string {
		return fmt.Sprintf("[rank%d]:[E1125 03:31:45.913 ProcessGroupNCCL.cpp:683] [Rank %[1]d] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=%d, OpType=ALLREDUCE, NumelIn=512, NumelOut=512, Timeout(ms)=600000) ran for 600079 milliseconds before timing out.\n", rank, seq)
	}
	nccl := func(pid, rank int, call string, peer int) string {
		return fmt.Sprintf("a:%d:5 [0] NCCL INFO ncclCommInitRankConfig comm 0xd%d rank %d nranks 2 cudaDev 0 nvmlDev 0 busId 4b000 commId 0x62 - Init COMPLETE\na:%[1]d:5 [0] NCCL INFO %[4]s: opCount 0 sendbuff (nil) recvbuff 0x7f count 64 datatype 9 op 0 root %[5]d comm 0xd%[2]d [nranks=2] stream (nil)\n", pid, rank, rank, call, peer)
	}
	stopped := usedGPUs(95, 95, 95, 95)
	stopped.Undone = true
	return []labelled{
		beside("GPUs of four at 60% in all phases", rule.LowGPUUse, "", usedGPUs(60, 60, 60, 60)),
		beside("GPUs at 40% in all phases", rule.LowGPUUse, rule.LowGPUUseInPhase, usedGPUs(40, 40, 40, 40)),
		beside("GPUs at 85% in all phases", "", rule.LowGPUUse, usedGPUs(85, 85, 85, 85)),
		{name: "GPUs at 40%, in another month", label: rule.RolesInTurn, near: rule.LowGPUUse, in: joined(usedGPUs(40, 40, 40, 40).Log(), strings.ReplaceAll(usedGPUs(40, 40, 40, 40).Dmon(), "202603", "202604"))},

		beside("log-probs leave the GPUs idle for 60%", rule.LowGPUUseInPhase, rule.LowGPUUse, usedGPUs(97, 97, 40, 97)),
		beside("training leaves the GPUs idle for 51%", rule.LowGPUUseInPhase, rule.LowGPUUse, usedGPUs(97, 49, 97, 97)),
		beside("data of 3% of the step leaves the GPUs idle", "", rule.LowGPUUseInPhase, usedGPUs(97, 97, 97, 5)),
		beside("a log that does not tell when phases ran", rule.RolesInTurn, rule.LowGPUUseInPhase, stopped),

		{name: "the watchdog of one rank gives up", label: rule.Hang, in: given(watchdog(3, 97))},
		{name: "a receive without its send", label: rule.Hang, in: given(nccl(1, 0, "Recv", 1) + nccl(2, 1, "AllReduce", 0))},
		{name: "a send with its receive", label: "", near: rule.Hang, in: given(nccl(1, 0, "Recv", 1) + nccl(2, 1, "Send", 0))},
	}
}

// TestHangAfterAnException: if a rank printed an exception while the watchdog of another one ended a call, the first
// advice is to read it; else the log does not tell which rank is missing.
func TestHangAfterAnException(t *testing.T) {
	const timeout = "[rank2]:[E1125 03:31:45.913 ProcessGroupNCCL.cpp:683] [Rank 2] Watchdog caught collective operation timeout: " +
		"WorkNCCL(SeqNum=31, OpType=BROADCAST, NumelIn=512, NumelOut=512, Timeout(ms)=600000) ran for 600079 milliseconds before timing out.\n"
	for _, tt := range []struct{ name, before, first, evidence string }{
		{"another rank", "[rank1]: Traceback (most recent call last):\n[rank1]: KeyError: 'labels'\n", "read-the-exception", "rank 1, KeyError"},
		{"the rank that waits", "[rank2]: KeyError: 'labels'\n", "dump-all-ranks", "broadcast 31"},
		{"none", "", "dump-all-ranks", "broadcast 31"},
	} {
		r := Judge(given(tt.before+timeout)(t), rule.DefaultThresholds())
		f := findingOf(r.Findings, rule.Hang)
		if f == nil || len(f.Next) == 0 || f.Next[0].ID != tt.first || !strings.Contains(f.Evidence[0], tt.evidence) {
			t.Errorf("%s: want the advice %s and the evidence %q\n%s", tt.name, tt.first, tt.evidence, told(r))
		}
	}
}
