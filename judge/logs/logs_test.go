package logs

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// noise returns n values around a level, by a fixed seed.
func noise(n int, level func(i int) float64) (out []float64) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		out = append(out, level(i)*(1+0.02*r.NormFloat64()))
	}
	return out
}

// TestTrend checks steady values, a rise along a line, and a rise at one step, whose index
// is known.
func TestTrend(t *testing.T) {
	if got := trendIn(noise(300, func(int) float64 { return 10 })); got.found && math.Abs(got.change) > 0.02 {
		t.Errorf("steady values have a trend of %v", got.change)
	}
	if got := trendIn(noise(300, func(i int) float64 { return 10 + 5*float64(i)/300 })); !got.found || got.at >= 0 || got.change < 0.25 || got.change > 0.45 {
		t.Errorf("a line from 10 to 15: %+v, want no step and a change of about 1/3, from the middle of the first third to that of the last", got)
	}
	for _, at := range []int{30, 100, 250} {
		got := trendIn(noise(300, func(i int) float64 {
			if i >= at {
				return 13
			}
			return 10
		}))
		if at == 100 && (!got.found || math.Abs(float64(got.at-at)) > 3 || math.Abs(got.change-0.3) > 0.02) {
			t.Errorf("a step of 30%% at %d: %+v", at, got)
		}
		if got.found && got.at >= 0 && math.Abs(float64(got.at-at)) > 3 {
			t.Errorf("a step at %d is found at %d", at, got.at)
		}
	}
	if got := trendIn(noise(19, func(i int) float64 { return float64(1 + i) })); got.found {
		t.Error("19 values are too few for a trend")
	}
}

// TestKindOf checks that a timer counts for the innermost phase that has a kind.
func TestKindOf(t *testing.T) {
	for path, want := range map[string]string{
		"generation": "generation", "sleep-wake/weight-sync": "weight-sync", "training/forward": "training", "training/optimizer/x": "training",
		"forward": "forward", "backward-params-all-reduce": "communication", "forward-recv": "communication", "Others": "Others",
	} {
		if got := kindOf(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// logOf is a log with steps of so many seconds and phases by path.
func logOf(steps []float64, phases ...summary.Phase) *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "train.log"}}}
	var sum, most float64
	for i, v := range steps {
		s.Steps = append(s.Steps, summary.Step{Device: summary.NoDevice, Name: fmt.Sprintf("step %d", i+1), Number: int64(i) + 1, WallNS: int64(v * 1e9), Source: summary.SourceLog, Marker: "x"})
		sum, most = sum+v*1e9, max(most, v*1e9)
	}
	s.Series = []summary.Series{{Metric: "step.time", Producer: "x", Name: "step", N: int64(len(steps)), Sum: &sum, Max: &most, Min: &most, Median: &most, Mean: &most}}
	for _, p := range phases {
		p.Source, p.Device = summary.SourceLog, summary.NoDevice
		s.Phases = append(s.Phases, p)
	}
	return s
}

// timer is a phase of each of n steps, and the time of its own if timers are within it.
func timer(path string, n int64, seconds, own float64) summary.Phase {
	return summary.Phase{Path: path, Count: n, HostNS: int64(float64(n) * seconds * 1e9), HostOwnNS: int64(float64(n) * own * 1e9), MedianNS: int64(seconds * 1e9), MaxNS: int64(seconds * 1e9)}
}

func judged(s *summary.Summary) finding.Result {
	e := New(tree.NewContext(s.Timelines(), rule.DefaultThresholds()), s)
	e.Context.Rows = e.Rules()
	return e.Judge(nil)
}

// TestNestedPhases checks that a phase within another one counts once.
func TestNestedPhases(t *testing.T) {
	r := judged(logOf(slices.Repeat([]float64{100}, 10), timer("generation", 10, 50, 50), timer("training", 10, 20, 20), timer("sleep-wake", 10, 25, 5), timer("sleep-wake/weight-sync", 10, 20, 20)))
	if r.Verdict.Rule != rule.WeightSyncShare {
		t.Fatalf("verdict %+v, want that of the weight sync", r.Verdict)
	}
	for _, f := range r.Findings {
		if f.Rule == rule.WeightSyncShare && (f.NumeratorNS != 200e9 || f.DenominatorNS != 1000e9) {
			t.Errorf("weight sync takes %d of %d", f.NumeratorNS, f.DenominatorNS)
		}
		if f.Rule == rule.SleepShare {
			t.Errorf("%s: the weight sync within it counts twice", f.Title)
		}
	}
}

// TestPhasesOutsideSteps checks that an evaluation that took longer than its step is added to the
// time that it is compared with.
func TestPhasesOutsideSteps(t *testing.T) {
	between := timer("evaluation", 2, 100, 100)
	between.OutsideNS = 200e9
	r := judged(logOf(slices.Repeat([]float64{20}, 10), timer("generation", 10, 10, 10), timer("training", 10, 6, 6), between))
	if len(r.Findings) == 0 || r.Findings[0].Rule != rule.EvaluationShare || r.Findings[0].NumeratorNS != 200e9 || r.Findings[0].DenominatorNS != 400e9 {
		t.Errorf("%+v, want 200 s of evaluation beside 200 s of steps", r.Findings)
	}
}

// TestSteps checks warm-up, alternating steps, and slow steps in a log that varies.
func TestSteps(t *testing.T) {
	has := func(r finding.Result, id string) bool {
		return slices.ContainsFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == id })
	}
	first := slices.Repeat([]float64{10}, 40)
	first[0] = 80
	if r := judged(logOf(first)); !has(r, rule.WarmUpSteps) || has(r, rule.SlowSteps) || r.Findings[0].NumeratorNS != 80e9 || r.Findings[0].Level != finding.Info {
		t.Errorf("a first step of 80 s: %+v, want warm-up for information", r.Findings)
	}
	slow := slices.Repeat([]float64{10}, 40)
	slow[11], slow[14], slow[29] = 30, 30, 30
	if r := judged(logOf(slow)); !has(r, rule.SlowSteps) || has(r, rule.PeriodicStalls) {
		t.Errorf("three slow steps: %+v", r.Findings)
	}
	slow[11], slow[14], slow[9], slow[19] = 10, 10, 30, 30
	if r := judged(logOf(slow)); has(r, rule.SlowSteps) || !has(r, rule.PeriodicStalls) {
		t.Errorf("slow steps 10, 20 and 30: %+v", r.Findings)
	}
	if r := judged(logOf(slices.Repeat([]float64{1, 5, 1.1, 5.1}, 20))); has(r, rule.UnevenSteps) {
		t.Errorf("two kinds of steps in turn: %+v", r.Findings)
	}
	if r := judged(logOf(noise(60, func(i int) float64 { return 10 + 6*math.Sin(7*float64(i)) }))); !has(r, rule.UnevenSteps) || has(r, rule.SlowSteps) {
		t.Errorf("steps from 4 to 16 s: %+v", r.Findings)
	}
	if r := judged(logOf([]float64{10, 30})); len(r.Findings) > 0 || r.Verdict.Abstained == nil {
		t.Errorf("two steps: %+v %+v", r.Verdict, r.Findings)
	}
}
