package judge

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/test/loggen"
	"assay/judge/finding"
	"assay/judge/rule"
)

// skyRL is a console of SkyRL with the seconds of the phases of each step, and how busy the GPUs are in them.
func skyRL(busy [5]int, seconds func(step int) [5]float64) loggen.Monitored {
	names := [5]string{"generate", "convert_to_training_input", "fwd_logprobs_values_reward", "train_critic_and_policy", "sync_weights"}
	m := loggen.Monitored{GPUs: 2, Uses: map[string]loggen.Use{}}
	for i, name := range names {
		m.Uses[name] = loggen.Use{Util: busy[i], Watts: 400, MiB: 60000}
	}
	m.Steps = loggen.Repeat(10, func(n int) loggen.Step {
		var s loggen.Step
		for i, sec := range seconds(n) {
			s.Phases = append(s.Phases, loggen.Phase{Name: names[i], Seconds: sec})
		}
		return s
	}).Steps
	return m
}

// TestSymptomsOfSkyRL: section 8 of SkyRL's guide names symptoms with their likely bottleneck. For each row there
// is a log in which assay finds it, and one that nearly shows it, in which assay does not.
func TestSymptomsOfSkyRL(t *testing.T) {
	each := func(gen, data, probs, train, sync float64) func(int) [5]float64 {
		return func(int) [5]float64 { return [5]float64{gen, data, probs, train, sync} }
	}
	usual := each(52, 3, 12, 27, 6)
	all := func(util int) [5]int { return [5]int{util, util, util, util, util} }
	beside := func(m loggen.Monitored) []string { return []string{m.Log(), m.Dmon()} }
	only := func(seconds func(int) [5]float64) []string { return []string{skyRL(all(90), seconds).Log()} }
	oom := func(last string) []string {
		return []string{skyRL(all(90), usual).Log() + "(FSDPPolicyWorkerBase pid=4410, ip=10.0.0.7) " + last + "\n"}
	}
	const wanted = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 4.50 GiB. GPU 0 has a total capacity of 79.10 GiB of which 1.20 GiB is free. Of the allocated memory 70.00 GiB is allocated by PyTorch, and 2.10 GiB is reserved by PyTorch but unallocated."
	timeout := func(seconds int) string {
		return fmt.Sprintf("[rank1]:[E521 03:31:45.913700292 ProcessGroupNCCL.cpp:616] [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=41, OpType=ALLREDUCE, NumelIn=8, NumelOut=8, Timeout(ms)=%d000) ran for %d100 milliseconds before timing out.", seconds, seconds)
	}
	for _, tt := range []struct {
		row   string
		rule  string
		level finding.Level // at least
		log   []string
		near  []string
	}{
		{"GPU util < 50%", rule.LowGPUUse, finding.Critical, beside(skyRL(all(46), usual)), beside(skyRL(all(56), usual))},
		{"GPU util fluctuating: weight sync", rule.LowGPUUseInPhase, finding.Warn, beside(skyRL([5]int{96, 96, 96, 96, 12}, each(46, 3, 12, 24, 14))), beside(skyRL([5]int{96, 96, 96, 96, 84}, each(46, 3, 12, 24, 14)))},
		{"GPU util fluctuating: data loading", rule.LowGPUUseInPhase, finding.Warn, beside(skyRL([5]int{96, 8, 96, 96, 96}, each(46, 14, 12, 24, 4))), beside(skyRL([5]int{96, 70, 96, 96, 96}, each(46, 14, 12, 24, 4)))},
		{"Memory spikes then OOM", rule.MemoryExhausted, finding.Warn, oom(wanted), oom("memory usage: 77.90 GiB of 79.10 GiB")},
		{"Slow first step only", rule.WarmUpSteps, finding.Info, only(func(n int) [5]float64 {
			if n == 1 {
				return [5]float64{80, 3, 60, 140, 6}
			}
			return usual(n)
		}), only(func(n int) [5]float64 {
			if n == 1 {
				return [5]float64{53, 3, 12, 28, 6}
			}
			return usual(n)
		})},
		{"All steps equally slow", rule.TrainingShare, finding.Info, only(each(34, 3, 12, 46, 4)), only(each(54, 3, 12, 25, 4))},
		{"Data loading", rule.DataShare, finding.Warn, only(each(50, 9, 12, 24, 4)), only(each(52, 4, 12, 27, 4))},
		{"Generation: long time in generate()", rule.GenerationShare, finding.Warn, only(each(68, 3, 8, 17, 4)), only(each(58, 3, 10, 24, 4))},
		{"Weight sync: long sync times in logs", rule.WeightSyncShare, finding.Warn, only(each(40, 3, 10, 22, 19)), only(each(50, 3, 12, 24, 11))},
		{"Training: high GPU util, slow", rule.TrainingShare, finding.Info, beside(skyRL(all(97), each(40, 3, 8, 44, 4))), beside(skyRL(all(97), each(54, 3, 12, 26, 4)))},
		{"Memory: OOM errors", rule.MemoryExhausted, finding.Warn, oom(strings.Replace(wanted, "torch.OutOfMemoryError", "torch.cuda.OutOfMemoryError", 1)), oom("retrying after CUDA out of memory is disabled")},
		{"Network: NCCL timeouts", rule.Hang, finding.Warn, []string{skyRL(all(90), usual).Log() + timeout(600) + "\n"}, []string{skyRL(all(90), usual).Log() + "NCCL timeout is set to 600 s\n"}},
	} {
		if f := findingOf(Judge(joined(tt.log...)(t), rule.DefaultThresholds()).Findings, tt.rule); f == nil || f.Level < tt.level {
			t.Errorf("%s: %v, want %s of level %s or higher\n%s", tt.row, f, tt.rule, tt.level, told(Judge(joined(tt.log...)(t), rule.DefaultThresholds())))
		}
		if f := findingOf(Judge(joined(tt.near...)(t), rule.DefaultThresholds()).Findings, tt.rule); f != nil && f.Level >= tt.level {
			t.Errorf("%s: nearly, and still %s: %s", tt.row, f.Level, f.Title)
		}
	}
}
