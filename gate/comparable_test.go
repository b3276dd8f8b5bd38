package gate_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"assay/compare"
	"assay/gate"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/summary/view/comparability"
)

// copyOf returns a copy of a summary that f has changed.
func copyOf(t *testing.T, s *summary.Summary, f func(s *summary.Summary)) *summary.Summary {
	t.Helper()
	b, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	out := new(summary.Summary)
	if err := json.Unmarshal(b, out); err != nil {
		t.Fatal(err)
	}
	if f != nil {
		f(out)
	}
	return out
}

// TestComparableAlike gives the same pairs of runs to a comparison and to gates: both
// give the same reasons, in the same words. Those that each pair must have follow from
// how it was made.
func TestComparableAlike(t *testing.T) {
	whole := ofTrace(t, recorded(t, tracegen.LLMTrainStep()).text)
	whole.Inputs[0].Complete = true
	as := func(f func(s *summary.Summary)) []*summary.Summary { return []*summary.Summary{copyOf(t, whole, f)} }
	issue := func(code, severity string, n int64) func(s *summary.Summary) {
		return func(s *summary.Summary) {
			s.Issues = append(s.Issues, summary.Issue{Code: code, Severity: severity, Count: n, Help: "Help."})
		}
	}
	loss := func(missing, atEnd, overdue int64) func(s *summary.Summary) {
		return func(s *summary.Summary) {
			s.LaunchLosses = []summary.LaunchLoss{{Kind: summary.LossKernel, Calls: 1000, Missing: missing, AtEnd: atEnd, Overdue: overdue}}
		}
	}
	twoDevices := func(s *summary.Summary) {
		d := s.Devices[0]
		d.Device++
		s.Devices = append(s.Devices, d)
	}
	repeat := func(f func(s *summary.Summary)) []*summary.Summary { // two runs of one rank
		return []*summary.Summary{summary.Merge(as(nil)[0], as(f)[0])}
	}
	model := func(name string) func(s *summary.Summary) {
		return func(s *summary.Summary) { s.Devices[0].Name = name }
	}
	copies := func(list []*summary.Summary) (out []*summary.Summary) { // merging takes the rows of its arguments
		for _, s := range list {
			out = append(out, copyOf(t, s, nil))
		}
		return out
	}
	for _, tc := range []struct {
		name      string
		base, now []*summary.Summary
		want      []string
		decides   bool // a gate can decide
	}{
		{"itself", as(nil), as(nil), nil, true},
		{"another GPU", as(nil), as(model("NVIDIA A100")), []string{comparability.OtherHardware}, false},
		{"a GPU without a name", as(model("")), as(nil), []string{comparability.HardwareUnknown}, false},
		{"no names", as(model("")), as(model("")), nil, true},
		{"two devices", as(nil), as(twoDevices), []string{comparability.OtherDeviceCount}, false},
		{"another rank", as(nil), as(func(s *summary.Summary) { s.Inputs[0].Rank, s.Devices[0].Rank = 3, 3 }), []string{comparability.OtherRanks}, true},
		{"another profiler", as(nil), as(func(s *summary.Summary) { s.Inputs[0].Format = "nsys-sqlite" }), []string{comparability.OtherFormat}, false},
		{"two formats of one profiler", as(func(s *summary.Summary) { s.Inputs[0].Format = "nsys-json" }), as(func(s *summary.Summary) { s.Inputs[0].Format = "nsys-sqlite" }), nil, true},
		{"fewer steps", as(nil), as(func(s *summary.Summary) { s.Steps = s.Steps[:1] }), []string{comparability.StepCount}, true},
		{"steps of another definition", as(nil), as(func(s *summary.Summary) { s.Steps[0].Cut = "work" }), []string{comparability.StepDefinition}, true},
		{"timestamps of two clocks", as(nil), as(issue(summary.ClocksImplausible, "suspect", 1)), []string{comparability.ClocksImplausible}, false},
		{"work at impossible times", as(issue("work-time-implausible", "suspect", 90)), as(nil), []string{comparability.ClocksImplausible}, false},
		{"some work at impossible times", as(nil), as(issue("work-time-implausible", "info", 1)), nil, true},
		{"most work before its launch", as(nil), as(issue("work-before-launch", "suspect", 100_000)), []string{comparability.ClocksImplausible}, false},
		{"a damaged export", as(nil), as(issue("export-cut", "data-loss", 1)), []string{comparability.DeviceRecordsMissing, comparability.DataLoss}, false},
		{"a quarter lost", as(nil), as(loss(250, 0, 0)), []string{comparability.DeviceRecordsMissing}, false},
		{"a quarter lost at the end", as(nil), as(loss(250, 250, 250)), []string{comparability.DeviceRecordsMissing}, false},
		{"less than half queued at the end", as(loss(499, 499, 0)), as(nil), nil, true},
		{"half at the end", as(loss(500, 500, 0)), as(nil), []string{comparability.DeviceRecordsMissing}, false},
		{"data of both lost", as(issue("event-malformed", "data-loss", 500)), as(issue("event-malformed", "data-loss", 500)), []string{comparability.DataLoss, comparability.DataLoss}, false},
		{"a second run on another GPU", repeat(nil), repeat(model("NVIDIA A100")), []string{comparability.OtherHardware}, false},
		{"runs of different steps", repeat(nil), repeat(func(s *summary.Summary) { s.Steps = s.Steps[:1] }), []string{comparability.StepCount}, true},
	} {
		var base, now []compare.Run
		for i := range tc.base {
			base, now = append(base, compare.Split(tc.base[i])...), append(now, compare.Split(tc.now[i])...)
		}
		c, err := compare.Runs(base, now, compare.Options{Force: true})
		if err != nil {
			t.Fatal(err)
		}
		gates, err := gate.Parse([]byte("gpu.busy_share: {max_decrease: 50%, noise: 0%}"), "g.yaml")
		if err != nil {
			t.Fatal(err)
		}
		rep, err := gate.Check(gates, gate.Runs(copies(tc.now)), gate.Runs(copies(tc.base)), gate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var ofGates, ofDiff, codes []string
		for _, r := range rep.Reasons {
			ofGates = append(ofGates, fmt.Sprintf("%s %s: %s", r.Level, r.Code, r.Text()))
			codes = append(codes, r.Code)
		}
		shared := []string{comparability.ClocksImplausible, comparability.DeviceRecordsMissing, comparability.OtherHardware, comparability.HardwareUnknown, comparability.OtherDeviceCount,
			comparability.OtherRanks, comparability.OtherFormat, comparability.DataLoss, comparability.StepCount, comparability.StepDefinition}
		for _, r := range c.Reasons {
			if slices.Contains(shared, r.Code) {
				ofDiff = append(ofDiff, fmt.Sprintf("%s %s: %s", r.Level, r.Code, r.Text))
			}
		}
		if !slices.Equal(codes, tc.want) || !slices.Equal(ofGates, ofDiff) {
			t.Errorf("%s: reasons of gates %q\nof the comparison %q\nwant the codes %q", tc.name, ofGates, ofDiff, tc.want)
		}
		if o := rep.Outcomes[0]; (o.Result == gate.Pass) != tc.decides {
			t.Errorf("%s: the gate is %s: %s", tc.name, o.Result, o.Why)
		}
		refused := len(c.Reasons) > 0 && c.Reasons[0].Level == compare.Refuse
		if _, err := compare.Runs(base, now, compare.Options{}); (err != nil) != refused {
			t.Errorf("%s: the comparison ends with %v", tc.name, err)
		}
	}
}

// TestStepsOfOtherDefinitions: a gate on the time of steps does not pass if they were cut by
// another definition than those of the baseline, and gates on the window do.
func TestStepsOfOtherDefinitions(t *testing.T) {
	whole := ofTrace(t, recorded(t, tracegen.LLMTrainStep()).text)
	whole.Inputs[0].Complete = true
	byWork := copyOf(t, whole, func(s *summary.Summary) {
		for i := range s.Steps {
			s.Steps[i].Cut = "work"
		}
	})
	const limits = "{max_increase: 500%, noise: 0%}"
	gates, err := gate.Parse([]byte("step.median: "+limits+"\nidle.share: "+limits+"\n\"idle.share{steps=1-2}\": "+limits+"\n"), "g.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		base, now *summary.Summary
		passes    bool
	}{{whole, whole, true}, {byWork, byWork, true}, {whole, byWork, false}, {byWork, whole, false}} {
		rep, err := gate.Check(gates, gate.Runs([]*summary.Summary{copyOf(t, tc.now, nil)}), gate.Runs([]*summary.Summary{copyOf(t, tc.base, nil)}), gate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range rep.Outcomes {
			if want := tc.passes || o.Gate.Text == "idle.share"; (o.Result == gate.Pass) != want {
				t.Errorf("%+v is %s: %s", o.Gate, o.Result, o.Why)
			}
		}
	}
}
