package judge

import (
	"fmt"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// iterations are records of Megatron-LM of 10 s each; then comes a line.
func iterations(now *int, from, to int, then string) string {
	l := jobLog{now: *now}
	for n := from; n <= to; n++ {
		l.now += 10
		fmt.Fprintf(&l, "[2026-01-02 %02d:%02d:%02d] iteration %8d/  1000 | consumed samples: %d | elapsed time per iteration (ms): 10000.0 | global batch size: 64 | lm loss: 2.5E+00 |\n",
			l.now/3600, l.now/60%60, l.now%60, n, n*64)
	}
	l.WriteString(then + "\n")
	*now = l.now
	return l.String()
}

// TestJobVerdict: the verdict on a log and the table of its job follow from the same attempts.
func TestJobVerdict(t *testing.T) {
	const (
		done   = "[after training is done] datetime: x"
		died   = "[rank5]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"
		loaded = "  successfully loaded checkpoint from /ckpt/run [ t 1/8, p 1/1 ] at iteration %d\n"
	)
	several := func(end string, steps, wait int) string {
		now, text := 0, ""
		for range 3 {
			text += iterations(&now, 1, steps, end)
			now += wait
		}
		return text
	}
	resumed := func(first, at, to int) string {
		now := 0
		text := iterations(&now, 1, first, died)
		now += 20
		return text + fmt.Sprintf(loaded, at) + iterations(&now, at+1, to, done)
	}
	again := func(first, at, to int) string { // veRL prints no times
		var b strings.Builder
		steps := func(from, to int) {
			for n := from; n <= to; n++ {
				fmt.Fprintf(&b, "step:%d - timing_s/gen:8.0 - timing_s/update_actor:1.5 - timing_s/step:10.0\n", n)
			}
		}
		steps(1, first)
		fmt.Fprintf(&b, "(TaskRunner pid=7) Setting global step to %d\n", at)
		steps(at+1, to)
		return b.String()
	}
	for _, tc := range []struct {
		name, text string
		bound      finding.Bound
		rules      string // of restarts and their time
		jobs       int
		lost       int64 // in seconds
	}{
		{"three trainings that were finished", several(done, 100, 100), finding.BoundUnknown, "", 3, 0},
		{"three short ones", several(done, 10, 10), finding.BoundUnknown, "", 3, 0},
		{"three starts that failed", several(died, 30, 10), finding.BoundJobTime, rule.JobTimeLost, 1, 600},
		{"a short job with a restart", resumed(30, 20, 40), finding.BoundUnknown, rule.Restarts, 1, 100},
		{"a job that did half of its steps again", resumed(200, 20, 200), finding.BoundJobTime, rule.JobTimeLost, 1, 1800},
		{"a job that did a tenth again", resumed(200, 180, 400), finding.BoundUnknown, "", 1, 200},
		{"half of the steps again, without times", again(40, 4, 45), finding.BoundJobTime, rule.Restarts, 1, 360},
		{"a tenth of the steps again, without times", again(40, 36, 40), finding.BoundGeneration, rule.Restarts, 1, 40},
	} {
		s := given(tc.text)(t)
		r := Judge(s, rule.DefaultThresholds())
		var rules []string
		for _, f := range r.Findings {
			if f.Rule == rule.Restarts || f.Rule == rule.JobTimeLost && f.Level > finding.Info || f.Rule == rule.StalledSteps {
				rules = append(rules, f.Rule)
			}
		}
		jobs, lost := 0, int64(0)
		for i := range s.Attempts {
			jobs = max(jobs, s.Attempts[i].Job)
		}
		for _, p := range s.JobTimes {
			if p.Part == summary.PartLost {
				lost += p.NS
			}
		}
		if r.Verdict.Bound != tc.bound || strings.Join(rules, ",") != tc.rules || jobs != tc.jobs || lost != tc.lost*1e9 {
			t.Errorf("%s: %s by %q, %d jobs, %d s lost\n%s", tc.name, r.Verdict.Bound, rules, jobs, lost/1e9, told(r))
		}
		if tc.bound == finding.BoundJobTime && r.Verdict.Rule != tc.rules {
			t.Errorf("%s: the verdict rests on %q", tc.name, r.Verdict.Rule)
		}
	}
}
