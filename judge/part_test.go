package judge

import (
	"testing"

	"assay/judge/rule"
	"assay/summary"
)

// TestJudgedPart: what is shown beside a verdict has its basis. Three steps of 100 ms are idle for 40 ms each, after
// warm-up of 700 ms, all of it idle.
func TestJudgedPart(t *testing.T) {
	made := func(causes bool) *summary.Summary {
		s := one(0, 0, 0)
		s.Devices[0].WindowNS = 1000 * ms
		s.Devices[0].Activity = summary.Activity{0: 820 * ms, comp: 180 * ms}
		s.Devices[0].LargestGaps = []summary.Gap{{StartNS: 10 * ms, NS: 650 * ms}, {StartNS: 720 * ms, NS: 30 * ms}}
		s.Idle = []summary.Idle{{Owner: summary.OwnerHost, State: summary.StateOp, Name: "compile", NS: 700 * ms, Count: 7},
			{Owner: summary.OwnerLaunch, NS: 120 * ms, Count: 900, ShortGapsNS: 120 * ms}}
		for i := range int64(4) {
			st := summary.Step{Name: "ProfilerStep", Number: i, StartNS: 600*ms + i*100*ms, WallNS: 100 * ms, Activity: summary.Activity{0: 40 * ms, comp: 60 * ms}}
			if i == 0 {
				st.StartNS, st.WallNS, st.Activity = 0, 700*ms, summary.Activity{0: 700 * ms}
				if causes {
					st.Idle = []summary.StepIdle{{Owner: summary.OwnerHost, State: summary.StateOp, Name: "compile", NS: 700 * ms, Count: 7}}
				}
			}
			s.Steps = append(s.Steps, st)
		}
		return s
	}
	for _, causes := range []bool{true, false} {
		s := made(causes)
		r := Judge(s, rule.DefaultThresholds())
		p := r.Judged(s)
		if got := p.GPUs[0]; got.Window() != 300*ms || got.Idle() != 120*ms || p.OnceNS != 700*ms || p.Name() != "window without warm-up" {
			t.Errorf("causes %t: %v, %s; %s", causes, got, p.Name(), r.Verdict.Sentence)
		}
		if left, want := p.LeftOut(s.Devices[0].Activity.Window(), 1), "Left out: 700 ms of warm-up (of a window of 1 s)."; left != want {
			t.Errorf("%q, want %q", left, want)
		}
		idle, name, gaps, rows := int64(120*ms), "window without warm-up", 1, 1
		if !causes { // known for the whole window only
			idle, name, gaps, rows = 820*ms, "window", 2, 2
		}
		if p.IdleGPUs[0].Idle() != idle || p.IdleName() != name || len(p.Gaps[0]) != gaps || len(p.Idle) != rows {
			t.Errorf("causes %t: %v, %s, %d gaps, %+v", causes, p.IdleGPUs[0], p.IdleName(), len(p.Gaps[0]), p.Idle)
		}
	}
	s := made(true)
	s.Steps = s.Steps[1:] // no warm-up: all of the window is judged
	if p := Judge(s, rule.DefaultThresholds()).Judged(s); p.GPUs[0] != s.Devices[0].Activity || p.LeftOut(1, 1) != "" || p.Name() != "window" {
		t.Errorf("without warm-up: %+v", p)
	}
	if p := (Result{}).Judged(s); p.GPUs[0] != s.Devices[0].Activity || len(p.Idle) != 2 {
		t.Errorf("not judged: %+v", p)
	}
	phases := made(true)
	phases.Steps = nil
	for path, a := range map[string]summary.Activity{"setup": {0: 700 * ms}, "": {0: 120 * ms, comp: 180 * ms}} {
		phases.Phases = append(phases.Phases, summary.Phase{Path: path, Activity: a, Total: a, Count: 1})
	}
	if p := Judge(phases, rule.DefaultThresholds()).Judged(phases); p.GPUs[0].Window() != 300*ms || p.IdleGPUs[0].Window() != 1000*ms {
		t.Errorf("a phase that runs once: %+v", p)
	}
}
