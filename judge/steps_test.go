package judge

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/timeline"
	"assay/summary"
)

// loop is a device whose steps take so many ms each; a tenth is idle.
func loop(ns ...int64) *summary.Summary {
	s := one(100, 0, 0)
	at := int64(0)
	var all summary.Activity
	for i, n := range ns {
		a := summary.Activity{0: n * ms / 10, summary.ClassCompute: n*ms - n*ms/10}
		s.Steps = append(s.Steps, summary.Step{Name: fmt.Sprint("step ", i), Number: int64(i), StartNS: at, WallNS: n * ms, Activity: a, Marker: summary.MarkedByProgram})
		at += n * ms
		all = all.Plus(a)
	}
	s.Devices[0].Activity, s.Devices[0].WindowNS = all, all.Window()
	return s
}

func statesOf(s *summary.Summary) string {
	var words []string
	for _, st := range Judge(s, rule.Thresholds{}).States {
		words = append(words, string(st))
	}
	return strings.Join(words, " ")
}

// TestStepStates: which steps count in medians.
func TestStepStates(t *testing.T) {
	for _, tc := range []struct {
		name, want string
		ns         []int64
	}{
		{"all alike", "steady steady steady steady", []int64{10, 10, 11, 10}},
		{"slow first ones", "warm-up warm-up steady steady steady steady", []int64{90, 20, 10, 10, 10, 11}},
		{"at the limit", "warm-up steady steady steady", []int64{15, 10, 10, 10}},
		{"under the limit", "steady steady steady steady", []int64{149, 100, 100, 100}},
		{"half cannot be warm-up", "warm-up steady steady", []int64{100, 10, 10}},
		{"too few to tell", "steady steady", []int64{100, 10}},
		{"short edges", "edge steady steady steady edge", []int64{2, 10, 10, 10, 5}},
		{"short in the middle is none", "steady steady steady steady", []int64{10, 2, 10, 10}},
		{"slow later", "steady steady steady slow steady", []int64{10, 10, 10, 16, 10}},
	} {
		if got := statesOf(loop(tc.ns...)); got != tc.want {
			t.Errorf("%s: got %s, want %s", tc.name, got, tc.want)
		}
	}
	// Allocating is warm-up only while the median step does not.
	s := loop(10, 10, 10, 10)
	s.Steps[0].Allocs, s.Steps[1].Loads = 3, 1
	if got := statesOf(s); got != "warm-up warm-up steady steady" {
		t.Errorf("first ones that allocate and load: %s", got)
	}
	for i := range s.Steps {
		s.Steps[i].Allocs, s.Steps[i].Loads = 3, 0
	}
	if got := statesOf(s); got != "steady steady steady steady" {
		t.Errorf("all allocate: %s", got)
	}
	// Batches may be short, and kinds have medians of their own.
	s = loop(100, 10, 100, 10, 100, 10)
	for i := range s.Steps {
		s.Steps[i].Kind = []string{"prefill", "decode"}[i%2]
	}
	if got := statesOf(s); strings.Count(got, "steady") != 6 {
		t.Errorf("prefill and decode: %s", got)
	}
	if g := Judge(s, rule.Thresholds{}).Groups; len(g) != 2 || g[0].Kind != "prefill" || g[0].MedianNS != 100*ms || g[1].MedianNS != 10*ms {
		t.Errorf("groups %+v", g)
	}
}

// TestStepGroups: median and spread are those of the steps that count: of 8, 9,
// 10, 12 the median is 9.5 and the distances 1.5, 0.5, 0.5, 2.5 have one of 1.
func TestStepGroups(t *testing.T) {
	g := Judge(loop(100, 8, 12, 9, 10), rule.Thresholds{}).Groups
	if len(g) != 1 {
		t.Fatalf("%d groups", len(g))
	}
	want := timeline.StepGroup{Marker: summary.MarkedByProgram, Steps: 5, WarmUp: 1, MedianNS: 9_500_000, SpreadNS: ms, MinNS: 8 * ms, MaxNS: 12 * ms,
		Activity: summary.Activity{0: 3_900_000, summary.ClassCompute: 35_100_000}, Bound: "compute", Share: 0.9}
	if g[0].Share < 0.899 || g[0].Share > 0.901 {
		t.Errorf("share %v, want 0.9", g[0].Share)
	}
	g[0].Share = 0.9
	if !reflect.DeepEqual(g[0], want) {
		t.Errorf("got  %+v\nwant %+v", g[0], want)
	}
}

func levelOf(r Result, id string) string {
	if f := findingOf(r.Findings, id); f != nil {
		return f.Level.String()
	}
	return "none"
}

// TestStepFindings: which findings steps lead to, and which they do not.
func TestStepFindings(t *testing.T) {
	many := func(n int, slow ...int) []int64 {
		ns := make([]int64, n)
		for i := range ns {
			ns[i] = 10
		}
		for _, i := range slow {
			ns[i] = 30
		}
		return ns
	}
	for _, tc := range []struct {
		name, rule, want string
		ns               []int64
	}{
		{"no warm-up", rule.WarmUpSteps, "none", many(5)},
		{"a little warm-up", rule.WarmUpSteps, "info", []int64{20, 10, 10, 10, 10, 10, 10, 10, 10}},
		{"mostly warm-up", rule.WarmUpSteps, "warn", []int64{100, 10, 10, 10, 10}},
		{"one slow of 40", rule.SlowSteps, "info", many(40, 20)},
		{"one slow of 8", rule.SlowSteps, "warn", many(8, 5)},
		{"a third slow of 9 is no more than a warning", rule.SlowSteps, "warn", many(9, 3, 6, 8)},
		{"a third slow of 30", rule.SlowSteps, "critical", many(30, 4, 6, 8, 10, 12, 14, 16, 18, 20, 23)},
		{"every third of 9", rule.PeriodicStalls, "warn", many(9, 2, 5, 8)},
		{"every third of 30", rule.PeriodicStalls, "critical", many(30, 2, 5, 8, 11, 14, 17, 20, 23, 26, 29)},
		{"a distance of two slow ones is no period", rule.PeriodicStalls, "none", many(9, 3, 6)},
		{"one of them comes late", rule.PeriodicStalls, "none", many(12, 2, 5, 8, 10)},
		{"all in a row", rule.PeriodicStalls, "none", many(12, 5, 6, 7)},
		{"even", rule.UnevenSteps, "none", []int64{100, 104, 96, 100, 103}},
		{"uneven", rule.UnevenSteps, "warn", []int64{100, 120, 80, 115, 85, 100}},
		{"too few to be uneven", rule.UnevenSteps, "none", []int64{100, 120, 80}},
	} {
		if got := levelOf(Judge(loop(tc.ns...), rule.Thresholds{}), tc.rule); got != tc.want {
			t.Errorf("%s: %s is %s, want %s", tc.name, tc.rule, got, tc.want)
		}
	}
}

// TestWarmUpIsLeftOut: a warm-up that is a quarter of the steps' time or more does
// not decide over the run, unless nothing is left without it.
func TestWarmUpIsLeftOut(t *testing.T) {
	first := func(ns, idle int64) *summary.Summary { // of four steps, the others of 10 ms
		s := loop(ns, 10, 10, 10)
		s.Steps[0].Activity = summary.Activity{0: idle * ms, summary.ClassCompute: (ns - idle) * ms}
		s.Devices[0].Activity = summary.Activity{0: idle*ms + 3*ms, summary.ClassCompute: (27 + ns - idle) * ms}
		return s
	}
	r := Judge(first(500, 500), rule.Thresholds{})
	if f := find(t, r, rule.WarmUpSteps); r.Verdict.Bound != "compute" || r.Findings[0].Rule != f.Rule || f.Level != finding.Warn {
		t.Errorf("long: verdict %+v, findings %q", r.Verdict, rulesOf(r))
	}
	if want := "Compute: 90.0% of the window without warm-up (27 ms of 30 ms)"; !strings.Contains(r.Verdict.Sentence, want) {
		t.Errorf("long: %q, want it to say %q", r.Verdict.Sentence, want)
	}
	// 15 ms of 45 are a third, and 14 of 44 the same; of steps that are not far over
	// the median nothing is left out.
	if r := Judge(first(14, 14), rule.Thresholds{}); r.Verdict.Bound != "host" || findingOf(r.Findings, rule.GPUIdle) == nil {
		t.Errorf("no warm-up: verdict %+v", r.Verdict)
	}
	// What is between the steps stays, and the steps are bound by something else.
	s := loop(10, 10, 10, 10)
	s.Devices[0].Activity = summary.Activity{0: 503 * ms, summary.ClassCompute: 36 * ms}
	s.Devices[0].WindowNS = 539 * ms
	r = Judge(s, rule.Thresholds{})
	if f := findingOf(r.Findings, rule.SteadySteps); r.Verdict.Bound != "host" || f == nil || !strings.Contains(f.Title, "The median step is compute-bound; the whole window is host-bound") {
		t.Errorf("between steps: verdict %s, finding %+v", r.Verdict.Bound, f)
	}
}
