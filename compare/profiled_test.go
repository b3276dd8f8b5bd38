package compare_test

import (
	"slices"
	"strings"
	"testing"

	"assay/compare"
	"assay/summary"
)

// underProfiler is a run of 4 steps, each with 4 ms of compute and some idle time between launches, and with
// operators and calls that a profiler recorded.
func underProfiler(path string, idle, events int64) *summary.Summary {
	const steps, us = 4, 1000
	s := run(path, 0, slices.Repeat([]int64{4000*us + idle}, steps), summary.Kernel{Name: "add", Class: "compute", Count: 40, TotalNS: steps * 4000 * us})
	for i := range s.Steps {
		s.Steps[i].Activity = summary.Activity{summary.ClassCompute: 4000 * us, 0: idle}
	}
	s.Devices[0].Activity = summary.Activity{summary.ClassCompute: steps * 4000 * us, 0: steps * idle}
	s.Idle = []summary.Idle{{Owner: summary.OwnerLaunch, NS: steps * idle, Count: 40}}
	s.Launches = []summary.Launches{{HostEvents: steps * events}}
	return s
}

// TestProfilersOwnChange: each recorded operator or call costs 2 to 5 µs. 1,000 of them cost a step 2 to 5 ms,
// 1,200 cost 2.4 to 6 ms: idle time may change by -2.6 to +4 ms for the profiler alone.
func TestProfilersOwnChange(t *testing.T) {
	const us = 1000
	for _, tc := range []struct {
		name             string
		idle, was        int64 // µs in a step
		events, eventWas int64 // in a step
		warned           bool
	}{
		{"longer within the cost", 9900, 6000, 1200, 1000, true},
		{"longer than the cost", 10_100, 6000, 1200, 1000, false},
		{"shorter within the cost", 8000, 10_500, 1200, 1000, true},
		{"shorter than the cost", 8000, 10_700, 1200, 1000, false},
		{"no operator recorded", 8000, 6000, 0, 0, false},
		{"recorded by another profiler on one side", 8000, 6000, 1200, 0, false},
		{"as long", 6050, 6000, 1200, 1000, false},             // 0.5% of the step of 10 ms
		{"idle for less than the cost", 500, 300, 0, 0, false}, // nothing to explain
	} {
		c, err := compare.Summaries(underProfiler("a.json", tc.was*us, tc.eventWas), underProfiler("b.json", tc.idle*us, tc.events), compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		warned := slices.ContainsFunc(c.Reasons, func(r compare.Reason) bool { return r.Code == "profiler-cost" && r.Level == compare.Warn })
		if said := strings.Contains(c.Headline, "profiler's own cost"); warned != tc.warned || said != tc.warned {
			t.Errorf("%s: warned %v, in the headline %v, want %v: %s", tc.name, warned, said, tc.warned, c.Headline)
		}
	}
	busy := underProfiler("b.json", 5900*us, 1000) // compute explains the change of the step
	busy.Steps = slices.Clone(busy.Steps)
	for i := range busy.Steps {
		busy.Steps[i].WallNS += 4000 * us
		busy.Steps[i].Activity[summary.ClassCompute] = 8000 * us
	}
	c, err := compare.Summaries(underProfiler("a.json", 6200*us, 1000), busy, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(c.Headline, "profiler's own") || !slices.ContainsFunc(c.Reasons, func(r compare.Reason) bool { return r.Code == "profiler-cost" }) {
		t.Errorf("%s: %+v", c.Headline, c.Reasons)
	}
}
