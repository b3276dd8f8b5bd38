package judge

import (
	"slices"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view"
)

// followed adds a critical path of 100 ms to a run, and forecasts: what each change leaves of it, or a
// withheld one for -1.
func followed(s *summary.Summary, after map[string]int64) *summary.Summary {
	s.CriticalPaths = []summary.CriticalPath{{Step: "iteration 4", WindowNS: 100 * ms, Classes: summary.PathClasses{HostOp: 100 * ms}, Verdict: "ok"}}
	for change, left := range after {
		f := summary.Forecast{Step: "iteration 4", Change: change, MeasuredNS: 100 * ms, Verdict: "ok", ForecastNS: &[]int64{left * ms}[0]}
		if left < 0 {
			f.Verdict, f.ForecastNS = summary.Withheld, nil
		}
		s.Forecasts = append(s.Forecasts, f)
	}
	return s
}

// idleRun is idle for 600 ms of 1000, in which the CPU was late.
func idleRun() *summary.Summary {
	s := one(600, 0, 0)
	s.Idle = []summary.Idle{{Owner: summary.OwnerHost, Count: 9, NS: 600 * ms}}
	return s
}

// TestModelledSavings: savings are those of the forecast of the change that takes the cause away, with the
// step as the denominator; a forecast that is withheld, or of another change, leaves the upper bound.
func TestModelledSavings(t *testing.T) {
	gains := func(after map[string]int64) *finding.Finding {
		return findingOf(Judge(followed(idleRun(), after), rule.DefaultThresholds()).Findings, rule.GPUIdle)
	}
	if f := gains(map[string]int64{"--host 0": 65}); f == nil || f.GainBasis != finding.Modelled || *f.GainNS != 35*ms || f.GainOfNS != 100*ms ||
		f.GainChange != "--host 0" || f.GainVerdict != "ok" {
		t.Errorf("a CPU of no time leaves 65 of 100 ms: %+v", f)
	}
	for name, after := range map[string]map[string]int64{"withheld": {"--host 0": -1}, "another": {"--hide-comm": 10}} {
		if f := gains(after); f == nil || f.GainBasis != finding.UpperBound || *f.GainNS != 600*ms || f.GainChange != "" {
			t.Errorf("%s: %+v, want an upper bound of 600 ms", name, f)
		}
	}
	f := findingOf(Judge(idleRun(), rule.DefaultThresholds()).Findings, rule.GPUIdle)
	if f == nil || f.GainBasis != finding.UpperBound {
		t.Errorf("without a path: %+v", f)
	}
}

// TestBestCase: savings of a forecast are at most these if it is the best case; others are what to expect.
func TestBestCase(t *testing.T) {
	for _, c := range []struct{ bound, want bool }{{true, true}, {false, false}} {
		s := followed(idleRun(), map[string]int64{"--host 0": 65})
		s.Forecasts[0].Bound = c.bound
		if f := findingOf(Judge(s, rule.DefaultThresholds()).Findings, rule.GPUIdle); f == nil || f.GainBasis != finding.Modelled || f.GainBound != c.want {
			t.Errorf("bound %v: %+v", c.bound, f)
		}
	}
	f := findingOf(Judge(idleRun(), rule.DefaultThresholds()).Findings, rule.GPUIdle)
	if f.GainBound {
		t.Errorf("without a forecast: %+v", f)
	}
}

// TestSharedSavings: two findings with the same forecast are told once; with different ones each has its own.
func TestSharedSavings(t *testing.T) {
	ns := func(n int64) *int64 { return &n }
	list := func(second int64, change string) []finding.Finding {
		out := []finding.Finding{
			{Rule: "a", GainNS: ns(40 * ms), GainOfNS: 100 * ms, GainBasis: finding.Modelled, GainChange: "--host 0"},
			{Rule: "b", GainNS: ns(second), GainOfNS: 100 * ms, GainBasis: finding.Modelled, GainChange: change},
			{Rule: "c", GainNS: ns(40 * ms), GainOfNS: 100 * ms, GainBasis: finding.UpperBound},
		}
		noteShared(out)
		return out
	}
	if got := list(40*ms, "--pinned"); got[1].GainSharedWith != "a" || got[0].GainSharedWith != "" || got[2].GainSharedWith != "" {
		t.Errorf("%+v", got)
	}
	if got := list(30*ms, "--pinned"); got[1].GainSharedWith != "" {
		t.Errorf("other savings: %+v", got)
	}
}

// TestOrderOfSavings: within a level, modelled savings decide the order of the findings that have them; the
// others keep their places, and so does the finding that decides.
func TestOrderOfSavings(t *testing.T) {
	ns := func(n int64) *int64 { return &n }
	of := func(id string, gain int64, basis string, level finding.Level) finding.Finding {
		return finding.Finding{Rule: id, GainNS: ns(gain), GainOfNS: 100, GainBasis: basis, Level: level}
	}
	list := []finding.Finding{
		of("decides", 1, finding.Modelled, finding.Warn), of("small", 5, finding.Modelled, finding.Warn), of("bound", 90, finding.UpperBound, finding.Warn),
		of("large", 30, finding.Modelled, finding.Warn), of("lower", 99, finding.Modelled, finding.Info),
	}
	byModel(list, "decides")
	got := ""
	for _, f := range list {
		got += f.Rule + " "
	}
	if want := "decides large bound small lower "; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestOptions: single changes that a finding says how to make come before other single changes, and these
// before whole classes, whatever they give.
func TestOptions(t *testing.T) {
	s := followed(idleRun(), map[string]int64{"--host 2x": 40, "--scale class:host_op=0.5": 60, "--graph": 70, "--scale op~^lstm_cell$=0.5": 80,
		"--scale kernel~^wgrad_f8$=0.5": 90, "--remove sync~.": 97})
	r := Result{Findings: []finding.Finding{
		{Rule: rule.LaunchBound, Next: []finding.Step{finding.Advise("launch-more-each"), finding.Advise("vllm-graphs")}},
		{Rule: rule.DominantKernel, Next: []finding.Step{finding.Advise("x")}, Where: []finding.Place{{Kernel: "wgrad_f8"}}},
	}}
	list := r.Options(view.FollowedOf(s))
	var got []string
	for _, o := range list {
		how := "-"
		if o.Step != nil {
			how = o.Step.ID
		}
		got = append(got, o.Change+" "+how)
	}
	want := []string{"--graph vllm-graphs", "--scale kernel~^wgrad_f8$=0.5 x", "--scale op~^lstm_cell$=0.5 -", "--remove sync~. -",
		"--host 2x launch-more-each", "--scale class:host_op=0.5 launch-more-each"}
	if !slices.Equal(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	for _, c := range []struct {
		name string
		list []Option
		want string
	}{
		{"one with a remedy", list, "--graph"},
		{"without it, a smaller one", list[1:], "--scale kernel~^wgrad_f8$=0.5"},
		{"only a class has a remedy", list[2:], "--host 2x"},
		{"a class with a remedy gives little", []Option{list[2], {Forecast: list[3].Forecast, Step: &finding.Step{}, Wide: true}}, "--scale op~^lstm_cell$=0.5"},
	} {
		if o := First(c.list); o == nil || o.Change != c.want {
			t.Errorf("%s: %+v, want %s", c.name, o, c.want)
		}
	}
	if First(nil) != nil {
		t.Error("an option without a change that pays")
	}
}

// TestSuggestedSavings: savings of kernels that only copy are those of the forecast without them, whatever the change that takes them away is;
// a forecast of other work leaves the upper bound, 200 ms of 1 s.
func TestSuggestedSavings(t *testing.T) {
	for by, want := range map[string]string{summary.ByCopyKernels: finding.Modelled, summary.ByFewWarps: finding.UpperBound, "": finding.UpperBound} {
		s := one(20, 0, 0)
		s.Kernels = []summary.Kernel{{Name: "direct_copy_kernel_cuda", Class: "compute", Category: "layout", Count: 9, TotalNS: 200 * ms},
			{Name: "wgrad_f8", Class: "compute", Category: "gemm", Count: 9, TotalNS: 780 * ms}}
		s = followed(s, map[string]int64{"--scale kernel~^(?:direct_copy_kernel_cuda)$=0": 85})
		s.Forecasts[0].By = by
		f := findingOf(Judge(s, rule.DefaultThresholds()).Findings, rule.CopyKernels)
		if f == nil || f.GainBasis != want || want == finding.Modelled && *f.GainNS != 15*ms || want != finding.Modelled && *f.GainNS != 200*ms {
			t.Errorf("%q: %+v, want %s", by, f, want)
		}
	}
}
