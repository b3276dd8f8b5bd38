package judge

import (
	"strings"
	"testing"

	"assay/judge/rule"
	"assay/summary"
)

// TestOnlyCompilation: a capture in which the program compiles for most of the time, and that has no two
// steady steps, is about compilation. Graphs and faster launches would not shorten it.
func TestOnlyCompilation(t *testing.T) {
	of := func(steps []int64, phase string, once int64) Result {
		s := loop(steps...)
		window := s.Devices[0].WindowNS
		a := summary.Activity{0: once * ms}
		for i := range s.Steps { // the phase is in the first step
			if i == 0 {
				s.Steps[i].Activity = summary.Activity{0: s.Steps[i].WallNS}
			}
		}
		s.Devices[0].Activity = summary.Activity{0: window - 20*ms, comp: 20 * ms}
		s.Phases = []summary.Phase{{Path: phase, Count: 1, Activity: a, Total: a},
			{Activity: summary.Activity{0: window - 20*ms - once*ms, comp: 20 * ms}}}
		s.Idle = []summary.Idle{{Owner: summary.OwnerHost, State: summary.StateOp, Name: "codegen", NS: window - 20*ms, Count: 1, MaxNS: window - 20*ms}}
		return Judge(s, rule.DefaultThresholds())
	}
	for _, tc := range []struct {
		name           string
		steps          []int64
		once           int64
		rule, sentence string
	}{
		// Of three steps two are long, so that one counts.
		{"no steady steps", []int64{400}, 340, rule.WarmUpPhases, "Compile: 85.0% of the window (340 ms of 400 ms)"},
		{"less compilation", []int64{400}, 280, rule.GPUIdle, "GPU idle: 83.3% of the window without compile (100 ms of 120 ms)"},
		{"steady steps are left", []int64{400, 30, 30, 30, 30}, 400, "", ""},
	} {
		r := of(tc.steps, "compile", tc.once)
		if tc.rule == "" {
			if r.Verdict.Rule == rule.WarmUpPhases {
				t.Errorf("%s: %q decides", tc.name, r.Verdict.Sentence)
			}
			continue
		}
		if r.Verdict.Bound != "host" || r.Verdict.Rule != tc.rule || !strings.HasPrefix(r.Verdict.Sentence, tc.sentence) {
			t.Errorf("%s: %s-bound by %s: %s", tc.name, r.Verdict.Bound, r.Verdict.Rule, r.Verdict.Sentence)
		}
		f := find(t, r, r.Verdict.Rule)
		if got := rule.Text(f.Next[0]); !strings.HasPrefix(got, "Record again without compile") || f.Cause != "" {
			t.Errorf("%s: first step %q, cause %q", tc.name, got, f.Cause)
		}
	}
}

// TestCauseAfterWarmUp: the cause of idle time is that of the windows whose share is the headline.
func TestCauseAfterWarmUp(t *testing.T) {
	of := func(known bool) Result {
		s := loop(900, 10, 10, 10, 10)
		idle := func(name string, ns int64) summary.StepIdle {
			return summary.StepIdle{Owner: summary.OwnerHost, State: summary.StateOp, Name: name, NS: ns, Count: 1, ShortGapsNS: ns}
		}
		s.Steps[0].Activity = summary.Activity{0: 900 * ms}
		if known {
			s.Steps[0].Idle = []summary.StepIdle{idle("codegen", 890*ms), idle("aten::add", 10*ms)}
		}
		for i := 1; i < 5; i++ {
			s.Steps[i].Activity = summary.Activity{0: 6 * ms, comp: 4 * ms}
		}
		s.Devices[0].Activity = summary.Activity{0: 924 * ms, comp: 16 * ms}
		row := func(name string, ns int64) summary.Idle {
			return summary.Idle{Owner: summary.OwnerHost, State: summary.StateOp, Name: name, NS: ns, Count: 4, MaxNS: ms, ShortGapsNS: ns}
		}
		s.Idle = []summary.Idle{row("codegen", 890*ms), row("aten::add", 28*ms), row("aten::mul", 6*ms)}
		return Judge(s, rule.DefaultThresholds())
	}
	// Of 24 ms in the four steady steps, 28 - 10 are in aten::add and 6 in aten::mul.
	r := of(true)
	f := find(t, r, r.Verdict.Rule)
	if want := `100.0% of the idle time is host wait: CPU operator, mainly in "aten::add"`; f.Cause != want || !strings.Contains(f.Title, "24 ms of 40 ms") {
		t.Errorf("%s\ncause %q, want %q", f.Title, f.Cause, want)
	}
	r = of(false) // the causes are those of the whole window
	if f := find(t, r, r.Verdict.Rule); strings.Contains(f.Title, "without warm-up") && f.Cause != "" {
		t.Errorf("%s\ncause %q", f.Title, f.Cause)
	}
}
