package judge

import (
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// slowedDown is a GPU that is idle for so many of 1,000 ms, short of them in short gaps, while the launching
// thread is in operators. The profiler recorded so many events of this thread.
func slowedDown(idle, short, events int64) func(*testing.T) *summary.Summary {
	return func(*testing.T) *summary.Summary {
		s := one(idle, 0, 0)
		s.Idle = []summary.Idle{{Owner: summary.OwnerHost, State: summary.StateOp, Name: "aten::linear", NS: idle * ms,
			Count: 2000 * idle, MaxNS: ms, ShortGapsNS: short * ms}}
		s.Launches = []summary.Launches{{Launched: 1000, Calls: 1000, HostEvents: events}}
		return s
	}
}

// labelledProfiler are runs whose idle time the profiler may cause. With 2 µs for each event, 90,000 of them
// leave 120 ms of 820 ms idle: 14.6%, under 15%; 80,000 leave 140 ms of 840 ms, 16.7%. With 5 µs they leave
// nothing. Where the GPU is idle for 700 ms, the profiler explains at most half of the window.
func labelledProfiler() []labelled {
	return []labelled{
		{name: "operators that the profiler slows down", label: rule.ProfilerCost, num: 180 * ms, den: 300 * ms, in: slowedDown(300, 0, 90_000)},
		{name: "short gaps that the profiler makes", label: rule.ProfilerCost, num: 46 * ms, den: 140 * ms, in: slowedDown(140, 140, 23_000)},
		{name: "the profiler may explain the gaps, or not", label: rule.GPUIdle, near: rule.ProfilerCost, in: slowedDown(300, 0, 80_000)},
		{name: "many operators, and far more idle time", label: rule.LaunchBound, near: rule.ProfilerCost, in: slowedDown(700, 700, 300_000)},
		{name: "hardly any operators", label: rule.GPUIdle, near: rule.ProfilerCost, in: slowedDown(300, 0, 10_000)},
	}
}

// TestProfilerDoubt: between the least and the largest cost of the profiler the verdict is the same, with a
// doubt, a lower confidence and another first remedy.
func TestProfilerDoubt(t *testing.T) {
	for _, tc := range []struct {
		events int64
		bound  finding.Bound
		doubt  bool
	}{
		{90_000, finding.BoundUnknown, false},
		{88_000, finding.BoundHost, true},  // 124 ms of 824 ms: 15.05%
		{36_000, finding.BoundHost, true},  // with 5 µs: 120 ms of 820 ms
		{35_000, finding.BoundHost, false}, // with 5 µs: 125 ms of 825 ms
	} {
		r := Judge(slowedDown(300, 0, tc.events)(t), rule.DefaultThresholds())
		if d := r.Verdict.Doubt; r.Verdict.Bound != tc.bound || (d != nil) != tc.doubt || d != nil && !d.OfCauses {
			t.Errorf("%d events: %s-bound, doubt %+v", tc.events, r.Verdict.Bound, d)
			continue
		}
		f := find(t, r, r.Verdict.Rule)
		if asks := strings.HasPrefix(rule.Text(f.Next[0]), "Measure the step time without the profiler"); asks != (tc.doubt || tc.bound == finding.BoundUnknown) {
			t.Errorf("%d events: first %q", tc.events, rule.Text(f.Next[0]))
		}
		if (f.Confidence == finding.Hint) != (tc.doubt || tc.bound == finding.BoundUnknown) {
			t.Errorf("%d events: confidence %s", tc.events, f.Confidence)
		}
	}
}

// TestLoggedStepTimes: a log says how long steps take without the profiler, so nothing is estimated.
func TestLoggedStepTimes(t *testing.T) {
	for _, tc := range []struct {
		name   string
		logged int64 // ms of a step, of 100 in the capture
		bound  finding.Bound
		doubt  bool
	}{
		{"the GPU's 70 ms and little more", 74, finding.BoundUnknown, false},
		{"as in the capture", 100, finding.BoundHost, false},
		{"a little faster", 90, finding.BoundHost, false},
		{"another job", 40, finding.BoundHost, true}, // less than the GPU work of a step: estimated
	} {
		s := slowedDown(300, 0, 80_000)(t)
		for i := range int64(10) {
			s.Steps = append(s.Steps, summary.Step{Name: "s", Number: i, StartNS: i * 100 * ms, WallNS: 100 * ms,
				Activity: summary.Activity{0: 30 * ms, comp: 70 * ms}, Marker: summary.MarkedByProgram},
				summary.Step{Number: i, WallNS: tc.logged * ms, Source: summary.SourceLog, Device: summary.NoDevice, Input: 1})
		}
		s.Inputs = append(s.Inputs, summary.Input{Format: "log", Complete: true})
		s.Sort()
		if r := Judge(s, rule.DefaultThresholds()); r.Verdict.Bound != tc.bound || (r.Verdict.Doubt != nil) != tc.doubt {
			t.Errorf("%s: %s-bound, %+v\n%s", tc.name, r.Verdict.Bound, r.Verdict.Doubt, told(r))
		}
	}
}
