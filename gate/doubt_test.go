package gate_test

import (
	"strings"
	"testing"

	"assay/gate"
	"assay/summary"
)

// TestDoubtOfTheBaseline: no gate decides on the change from a run whose verdict is in doubt, or to one.
func TestDoubtOfTheBaseline(t *testing.T) {
	const ms = 1_000_000
	run := func(clipped int64) *summary.Summary {
		return &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "x", Format: "kineto", Complete: true, Events: 1000, ClippedNS: clipped}},
			Kernels: []summary.Kernel{{Name: "rms_norm", Class: "compute", Count: 500, TotalNS: 400 * ms}},
			Devices: []summary.Device{{Name: "MI300X", WindowNS: 400 * ms, Events: 500, Activity: summary.Activity{summary.ClassCompute: 400 * ms}}}}
	}
	gates, err := gate.Parse([]byte("kernels.total: {max_increase: 5%, noise: 0%}"), "g.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		base, now int64
		want      gate.Result
		why       string
	}{
		{0, 0, gate.Pass, ""},
		{39 * ms, 39 * ms, gate.Pass, ""},
		{60 * ms, 0, gate.Inconclusive, "the baseline: Shares are uncertain"},
		{0, 60 * ms, gate.Inconclusive, "Shares are uncertain"},
	} {
		rep, err := gate.Check(gates, gate.Runs([]*summary.Summary{run(tc.now)}), gate.Runs([]*summary.Summary{run(tc.base)}), gate.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if o := rep.Outcomes[0]; o.Result != tc.want || !strings.Contains(o.Why, tc.why) {
			t.Errorf("clipped %d and %d: %s, %q", tc.base, tc.now, o.Result, o.Why)
		}
	}
}

// TestDoubtOfCauses: 56 of 400 ms are idle. A gate on a cause does not pass if unknown idle time may
// belong to it, and fails where the known part alone is too much.
func TestDoubtOfCauses(t *testing.T) {
	const ms = 1_000_000
	run := func(unknown, launch int64) *summary.Summary {
		return &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "x", Format: "kineto", Complete: true, Events: 1000}},
			Devices: []summary.Device{{Name: "MI300X", WindowNS: 400 * ms, Events: 500, Activity: summary.Activity{0: 56 * ms, summary.ClassCompute: 344 * ms}}},
			Issues:  []summary.Issue{{Code: "launches-missing", Severity: "info", Count: 9}},
			Idle: []summary.Idle{{Owner: summary.OwnerUnknown, NS: unknown, Count: 9}, {Owner: summary.OwnerLaunch, NS: launch, Count: 9},
				{Owner: summary.OwnerDependency, NS: 56*ms - unknown - launch, Count: 9}}}
	}
	for _, tc := range []struct {
		name, yaml string
		s          *summary.Summary
		want       gate.Result
	}{
		{"the cause may have more", "idle.share{owner=launch-latency}: '<= 5%'", run(46*ms, 10*ms), gate.Inconclusive},
		{"the cause has too much", "idle.share{owner=launch-latency}: '<= 2%'", run(46*ms, 10*ms), gate.Fail},
		{"all idle time", "idle.share: '<= 20%'", run(46*ms, 10*ms), gate.Pass},
		{"little is unknown", "idle.share{owner=launch-latency}: '<= 5%'", run(2*ms, 10*ms), gate.Pass},
	} {
		if o := outcomeOf(t, tc.yaml, tc.s); o.Result != tc.want {
			t.Errorf("%s: %s, want %s: %s", tc.name, o.Result, tc.want, o.Why)
		}
	}
}
