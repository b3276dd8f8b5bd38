package compare_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"assay/analyze"
	"assay/analyze/phase"
	"assay/compare"
	"assay/internal/test/loggen"
	"assay/internal/test/tracegen"
	"assay/logs"
	"assay/logs/bench"
	"assay/logs/forms"
	"assay/summary"
	"assay/trace"
)

const sec = int64(1_000_000_000)

// rlTrace returns the summary of steps of reinforcement learning.
func rlTrace(t testing.TB, generation, training, sync, data int64) *summary.Summary {
	t.Helper()
	story := tracegen.RLSteps("rl", 3, generation, training, sync, data)
	tr, err := trace.Read(bytes.NewReader(story.JSON), "rl.json", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Trace(tr, summary.Input{Path: "rl.json", Format: "kineto", Complete: true}, analyze.DefaultOptions())
}

// logOf returns the summary of a log.
func logOf(t testing.TB, path, text string) *summary.Summary {
	t.Helper()
	l, err := forms.Read(strings.NewReader(text), path, forms.Default(), logs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Series(l, summary.Input{Path: path, Format: "log"}, analyze.Options{Phases: phase.Default()})
}

// rlLog returns the log of steps of veRL, in seconds. The first is 2.5 times as long.
func rlLog(t testing.TB, path string, steps int, generation, training, sync float64) *summary.Summary {
	t.Helper()
	return logOf(t, path, loggen.Repeat(steps, func(n int) loggen.Step {
		slow := 1.0
		if n == 1 {
			slow = 2.5
		}
		return loggen.Step{Phases: []loggen.Phase{{Name: "gen", Seconds: slow * generation}, {Name: "update_actor", Seconds: slow * training}, {Name: "update_weights", Seconds: slow * sync}}}
	}).VeRL())
}

func compared(t testing.TB, base, new *summary.Summary) *compare.Comparison {
	t.Helper()
	c, err := compare.Summaries(base, new, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	checkPhases(t, c)
	return c
}

// checkPhases checks that phases sum to the step.
func checkPhases(t testing.TB, c *compare.Comparison) {
	t.Helper()
	if c.Steps == nil || len(c.Phases) == 0 {
		return
	}
	var b, n, d int64
	for _, r := range c.Phases {
		if r.NewNS-r.BaseNS != r.DeltaNS {
			t.Errorf("phase %q does not add up: %+v", r.Phase, r)
		}
		b, n, d = b+r.BaseNS, n+r.NewNS, d+r.DeltaNS
	}
	if b != c.Steps.Base.MeanNS || n != c.Steps.New.MeanNS || d != c.Steps.DeltaNS || n-b != d {
		t.Errorf("phases sum to %d, %d and %d, want the steps %d, %d and %d", b, n, d, c.Steps.Base.MeanNS, c.Steps.New.MeanNS, c.Steps.DeltaNS)
	}
}

func phaseDelta(t testing.TB, c *compare.Comparison, name string) int64 {
	t.Helper()
	for _, r := range c.Phases {
		if r.Phase == name {
			return r.DeltaNS
		}
	}
	t.Fatalf("no phase %q in %+v", name, c.Phases)
	return 0
}

// TestStepOfRL: a step that grows by 11 s of generation and 4 s of weight sync is explained
// by these, in traces, in logs, and from a trace to a log.
func TestStepOfRL(t *testing.T) {
	traces := [2]*summary.Summary{rlTrace(t, 30_000, 12_000, 5_000, 1_600), rlTrace(t, 41_000, 12_000, 9_000, 1_600)}
	written := [2]*summary.Summary{rlLog(t, "a.log", 12, 31.6, 12, 5), rlLog(t, "b.log", 12, 42.6, 12, 9)}
	const want = "step 48.6 → 63.6 s (+15.0 s): generation +11.0 s, weight sync +4.0 s"
	for name, pair := range map[string][2]*summary.Summary{"traces": traces, "logs": written} {
		c := compared(t, pair[0], pair[1])
		if !strings.HasPrefix(c.Headline, want) {
			t.Errorf("%s: %s", name, c.Headline)
		}
		if g, s := phaseDelta(t, c, "generation"), phaseDelta(t, c, "weight-sync"); g != 11*sec || s != 4*sec {
			t.Errorf("%s: generation %+d, weight sync %+d", name, g, s)
		}
		back := compared(t, pair[1], pair[0])
		if !strings.HasPrefix(back.Headline, "step 63.6 → 48.6 s (-15.0 s): generation -11.0 s, weight sync -4.0 s") {
			t.Errorf("%s: %s", name, back.Headline)
		}
	}
	if c := compared(t, written[0], written[1]); c.Steps.Base.WarmUp != 1 || c.Steps.Base.Count != 11 || c.Per != compare.PerNone {
		t.Errorf("%+v", c.Steps)
	}
	c := compared(t, traces[0], written[1])
	if c.Steps.Base.From != "trace" || c.Steps.New.From != "log" || !has(c, "trace-and-log") {
		t.Errorf("%+v, %+v", c.Steps, c.Reasons)
	}
	if c.Per != compare.PerNone || len(c.Kernels.Rows) > 0 || has(c, "other-kernels") || has(c, "other-format") {
		t.Errorf("the GPU times of one side are compared: per %s, %+v", c.Per, c.Reasons)
	}
	if g := phaseDelta(t, c, "generation"); g != 42_600_000_000-30*sec-tracegen.LaunchNS {
		t.Errorf("generation %+d", g)
	}
	if !strings.HasPrefix(c.Headline, "step 48.6 → 63.6 s (+15.0 s): generation +12.6 s") {
		t.Error(c.Headline)
	}
}

// TestTraceAndLogOfOtherSteps: a trace is not compared with a log whose steps are not the same steps. A profiler may
// make a program several times slower.
func TestTraceAndLogOfOtherSteps(t *testing.T) {
	trace := rlTrace(t, 30_000, 12_000, 5_000, 1_600)
	for times, refused := range map[float64]bool{1: false, 6: false, 1000: true, .25: false, .001: true} {
		_, err := compare.Summaries(trace, rlLog(t, "a.log", 12, 31*times, 12*times, 5*times), compare.Options{})
		if (err != nil) != refused || refused && !strings.Contains(err.Error(), "not the same step") {
			t.Errorf("%g times as long: %v", times, err)
		}
	}
}

func has(c *compare.Comparison, code string) bool {
	for _, r := range c.Reasons {
		if r.Code == code {
			return true
		}
	}
	return false
}

// TestOffsetPhases: what hides a part of the change is named, too.
func TestOffsetPhases(t *testing.T) {
	c := compared(t, rlLog(t, "a", 8, 30, 20, 5), rlLog(t, "b", 8, 40, 14, 5))
	if want := "step 55.0 → 59.0 s (+4.0 s): generation +10.0 s, but training -6.0 s"; c.Headline != want {
		t.Errorf("got %q, want %q", c.Headline, want)
	}
	c = compared(t, rlLog(t, "a", 8, 30, 20, 5), rlLog(t, "b", 8, 33, 17, 5))
	if want := "step unchanged: 55.0 s (0.0 s), but its phases changed: generation +3.0 s, training -3.0 s"; c.Headline != want {
		t.Errorf("got %q, want %q", c.Headline, want)
	}
}

// TestCommonSteps: of a longer log, the steps of the same numbers count.
func TestCommonSteps(t *testing.T) {
	ramp := func(path string, from, to int) *summary.Summary {
		l := loggen.Trainer{}
		for n := from; n <= to; n++ {
			l.Steps = append(l.Steps, loggen.Step{Number: n, Phases: []loggen.Phase{{Name: "gen", Seconds: 20 + float64(n)}, {Name: "update_actor", Seconds: 10}}})
		}
		return logOf(t, path, l.VeRL())
	}
	c := compared(t, ramp("a", 1, 40), ramp("b", 11, 20))
	if c.Steps.DeltaNS != 0 || c.Steps.Base.Count != 10 || c.Steps.Base.LeftOut != 30 || !has(c, "common-steps") {
		t.Errorf("%+v", c.Steps)
	}
	c = compared(t, ramp("a", 1, 10), ramp("b", 31, 40))
	if c.Steps.DeltaNS != 30*sec || !has(c, "other-steps") {
		t.Errorf("%+v %+v", c.Steps, c.Reasons)
	}
}

// TestOverlappingPhases: phases that run at the same time are no parts of the step.
func TestOverlappingPhases(t *testing.T) {
	async := func(path string, generation float64) *summary.Summary {
		return logOf(t, path, loggen.Repeat(6, func(int) loggen.Step {
			return loggen.Step{Seconds: generation, Phases: []loggen.Phase{{Name: "gen", Seconds: generation}, {Name: "update_actor", Seconds: 20}}}
		}).VeRL())
	}
	c := compared(t, async("a", 30), async("b", 40))
	if !has(c, "phases-overlap") || c.Headline != "step 30.0 → 40.0 s (+10.0 s)" {
		t.Errorf("%s %+v", c.Headline, c.Reasons)
	}
}

// TestRandomPhases: phases sum to the step, whatever the logs have.
func TestRandomPhases(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 9))
	names := []string{"gen", "update_actor", "update_weights", "old_log_prob", "adv", "reward", "testing", "save_checkpoint"}
	random := func() *summary.Summary {
		return logOf(t, "x.log", loggen.Repeat(1+rnd.IntN(30), func(int) loggen.Step {
			var s loggen.Step
			for _, name := range names {
				if rnd.IntN(3) > 0 {
					s.Phases = append(s.Phases, loggen.Phase{Name: name, Seconds: rnd.Float64() * 60})
				}
			}
			if s.Phases == nil || rnd.IntN(4) == 0 {
				s.Seconds = 60 * rnd.Float64()
			}
			return s
		}).VeRL())
	}
	for range 60 {
		a, b := random(), random()
		there := compared(t, a, b)
		back := compared(t, b, a)
		if there.Steps != nil && there.Steps.DeltaNS != -back.Steps.DeltaNS {
			t.Errorf("there %d, back %d", there.Steps.DeltaNS, back.Steps.DeltaNS)
		}
	}
}

// TestMeasuresOfLogs: the deltas are those of the generated logs, and directions come from the metrics.
func TestMeasuresOfLogs(t *testing.T) {
	titan := func(path string, tps, mfu string) *summary.Summary {
		return logOf(t, path, loggen.Titan(20, func(n int) [7]string {
			if n == 1 {
				return [7]string{"9.5", "1.5", "30.1", "38.0", "12", "1.2", "0.4"}
			}
			return [7]string{"8.5", "1.5", "30.1", "38.0", tps, "120.5", mfu}
		}))
	}
	c := compared(t, titan("a", "5000", "40.0"), titan("b", "4000", "42.0"))
	found := 0
	for _, m := range c.Series {
		switch m.Metric {
		case "throughput.tokens_per_gpu", "throughput.tokens":
			found++
			if *m.Delta != -1000 || *m.Change != -0.2 || m.Effect != "worse" || *m.Base.Low != 5000 {
				t.Errorf("%+v %+v", m, *m.Base)
			}
		case "gpu.mfu":
			found++
			if m.Effect != "better" || *m.Change < 0.0499 || *m.Change > 0.0501 {
				t.Errorf("%+v", m)
			}
		}
	}
	if found != 2 {
		t.Errorf("%d of 2 metrics in %+v", found, c.Series)
	}
	if !strings.Contains(c.Headline, "5,000/s → 4,000/s (-20.0%, worse)") {
		t.Error(c.Headline)
	}
}

// TestNothingInCommon: a log of a trainer says nothing about one of a server.
func TestNothingInCommon(t *testing.T) {
	server := loggen.Each(20, 5, func(int) loggen.Line {
		return loggen.Line{Running: 8, Queued: 2, Usage: 0.4, Tokens: 900, Transfer: -1}
	}).SGLang()
	_, err := compare.Summaries(rlLog(t, "a", 8, 30, 20, 5), logOf(t, "b", server), compare.Options{})
	refusal := (*compare.Refusal)(nil)
	if !errors.As(err, &refusal) || refusal.Reason.Code != "nothing-in-common" || !strings.Contains(refusal.Reason.Text, "veRL") || !strings.Contains(refusal.Reason.Text, "SGLang") {
		t.Errorf("%v", err)
	}
}

// benchOf returns the summary of the result of a benchmark.
func benchOf(t testing.TB, path, text string) *summary.Summary {
	t.Helper()
	l, err := bench.Read(strings.NewReader(text), path, logs.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Series(l, summary.Input{Path: path, Format: "benchmark"}, analyze.Options{Phases: phase.Default()})
}
