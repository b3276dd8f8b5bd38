package compare_test

import (
	"slices"
	"strings"
	"testing"

	"assay/compare"
	"assay/summary"
)

// TestDoubtOfASide: what speaks against the verdict of a side is a remark of the comparison, with the
// side that it concerns. The windows are 5 steps of 80 ms.
func TestDoubtOfASide(t *testing.T) {
	const ms = 1_000_000
	clipped := func(ns int64) *summary.Summary {
		s := run("a.json", 0, slices.Repeat([]int64{80 * ms}, 5), summary.Kernel{Name: "rms_norm", Class: "compute", Count: 5, TotalNS: 400 * ms})
		s.Inputs[0].ClippedNS, s.Devices[0].Events = ns, 500
		return s
	}
	idle := func(unknown int64) *summary.Summary { // 56 of 400 ms idle: the verdict is not about idle time
		s := clipped(0)
		s.Steps = nil
		s.Devices[0].Activity[summary.ClassCompute] = 344 * ms
		s.Devices[0].Activity[0] = 56 * ms
		s.Idle = []summary.Idle{{Owner: summary.OwnerUnknown, NS: unknown, Count: 9}, {Owner: summary.OwnerLaunch, NS: 56*ms - unknown, Count: 9}}
		s.Issues = []summary.Issue{{Code: "launches-missing", Severity: "info", Count: 9}}
		return s
	}
	for _, tc := range []struct {
		name      string
		base, new *summary.Summary
		want      []string
	}{
		{"neither", clipped(0), clipped(39 * ms), nil}, // 39 of 400 ms
		{"the new run", clipped(39 * ms), clipped(41 * ms), []string{"in the new run, shares are uncertain: 41 ms of impossible durations"}},
		{"both", clipped(90 * ms), clipped(50 * ms), []string{"in the base, shares are uncertain: 90 ms", "in the new run, shares are uncertain: 50 ms"}},
	} {
		c, err := compare.Summaries(tc.base, tc.new, compare.Options{})
		if err != nil {
			t.Fatal(err)
		}
		doubts(t, tc.name, c, tc.want)
	}
	if c, err := compare.Summaries(idle(50*ms), idle(0), compare.Options{}); err != nil {
		t.Fatal(err)
	} else {
		doubts(t, "causes", c, []string{"in the base, why the GPU is idle for 12.5% of the window"})
	}
	twice := clipped(90 * ms) // two runs of one rank in one summary: one verdict
	twice.Inputs = append(twice.Inputs, twice.Inputs[0])
	twice.Inputs[1].Path = "b.json"
	second := twice.Devices[0]
	second.Input = 1
	twice.Devices = append(twice.Devices, second)
	twice.Steps = nil
	c, err := compare.Summaries(twice, clipped(0), compare.Options{Force: true})
	if err != nil {
		t.Fatal(err)
	}
	doubts(t, "two runs", c, []string{"in the base, shares are uncertain: 180 ms"})
}

// doubts checks the remarks of a comparison on verdicts in doubt, by how they begin.
func doubts(t *testing.T, name string, c *compare.Comparison, want []string) {
	t.Helper()
	var got []string
	for _, r := range c.Reasons {
		if r.Code == "verdict-doubted" && r.Level == compare.Warn {
			got = append(got, r.Text)
		}
	}
	if !slices.EqualFunc(got, want, strings.HasPrefix) {
		t.Errorf("%s: %q, want %q", name, got, want)
	}
}
