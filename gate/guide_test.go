package gate_test

import (
	"testing"

	"assay/gate"
	"assay/judge/rule"
	"assay/summary"
)

// loggedPhase is a phase of a log with a median.
func loggedPhase(path string, medianNS int64) summary.Phase {
	return summary.Phase{Path: path, Source: summary.SourceLog, Device: -1, Count: 5, HostNS: 5 * medianNS, MedianNS: medianNS}
}

// TestGuides: the gates of each guide are valid; a target is missed at its limit where the guide writes "under", and gates
// without a value are skipped.
func TestGuides(t *testing.T) {
	of := func(guide string) []gate.Gate {
		gates, err := gate.Parse([]byte(gate.Guide(guide)), guide)
		if err != nil {
			t.Fatal(err)
		}
		return gates
	}
	for _, g := range rule.Guides() {
		if !gate.IsGuide(g) || len(of(g)) != len(rule.TargetsOf(g)) {
			t.Errorf("%s: %d gates of %d targets", g, len(of(g)), len(rule.TargetsOf(g)))
		}
	}
	if gate.IsGuide("skyrl.yaml") || gate.Guide("other") != "" {
		t.Error("a guide that assay does not have")
	}
	synced := func(ns int64) *summary.Summary {
		return &summary.Summary{Inputs: []summary.Input{{Complete: true}}, Phases: []summary.Phase{loggedPhase("weight-sync", ns), loggedPhase("generation", 60e9)}}
	}
	used := func(share float64) *summary.Summary {
		return &summary.Summary{Inputs: []summary.Input{{Complete: true}}, Series: []summary.Series{{Metric: "memory.usage", Unit: "share",
			Producer: "m", Name: "used", N: 4, Max: &share, Median: &share, Mean: &share, Sum: &share}}}
	}
	measured := func(ns float64) *summary.Summary {
		return &summary.Summary{Inputs: []summary.Input{{Complete: true}}, Benchmarks: []summary.Benchmark{{Producer: "b",
			Metrics: []summary.Figure{{Metric: "weight_sync.time", Stat: "mean", Value: ns, Unit: "ns"}}}}}
	}
	for _, c := range []struct {
		name, guide string
		s           *summary.Summary
		want        gate.Result
	}{
		{"a weight sync of 1.99 s", "skyrl", synced(1.99e9), gate.Pass},
		{"a weight sync of exactly 2 s is not under 2 s", "skyrl", synced(2e9), gate.Fail},
		{"a weight sync that a benchmark measured", "skyrl", measured(2.1e9), gate.Fail},
		{"memory at 91%", "skyrl", used(0.91), gate.Fail},
		{"memory at 90%, which the guide of SFLLM includes", "sfllm", used(0.9), gate.Pass},
		{"memory at 65%, of which the guide of SFLLM uses more", "sfllm", used(0.65), gate.Fail},
		{"memory at 65%", "skyrl", used(0.65), gate.Pass},
		{"nothing that the guide names", "sfllm", synced(5e9), gate.Skipped},
	} {
		report, err := gate.Check(of(c.guide), []gate.Run{{Summary: c.s}}, nil, gate.Options{Thresholds: rule.DefaultThresholds()})
		if err != nil {
			t.Fatal(err)
		}
		if report.Result != c.want {
			t.Errorf("%s: %v, want %v\n%+v", c.name, report.Result, c.want, report.Outcomes)
		}
	}
}
