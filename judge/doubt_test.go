package judge

import (
	"testing"

	"assay/judge/rule"
	"assay/summary"
)

// TestDoubt: what speaks against a verdict that is not withheld. The window is 1 s.
func TestDoubt(t *testing.T) {
	unknown := func(idle, unknown int64, code string) *summary.Summary {
		s := one(idle, 0, 0)
		s.Idle = []summary.Idle{{Owner: summary.OwnerUnknown, NS: unknown * ms, Count: 5}, {Owner: summary.OwnerLaunch, Name: "cudaLaunchKernel", NS: (idle - unknown) * ms, Count: 5}}
		if code != "" {
			s.Issues = []summary.Issue{{Code: code, Severity: "info", Count: 3}}
		}
		return s
	}
	clipped := func(ns int64) *summary.Summary {
		s := one(0, 0, 0)
		s.Inputs[0].ClippedNS = ns
		return s
	}
	lost := func(ns int64) *summary.Summary {
		s := one(800, 0, 0)
		s.LaunchLosses = []summary.LaunchLoss{{Kind: summary.LossKernel, Calls: 1000, Missing: 60}}
		s.Devices[0].UncertainNS = ns
		return s
	}
	few := lost(300 * ms)
	few.LaunchLosses[0].Missing = 2
	for _, tc := range []struct {
		name   string
		s      *summary.Summary
		code   string
		causes bool
	}{
		{"all causes known", unknown(120, 0, "clocks-differ"), "", false},
		{"unknown over the limit of launches", unknown(120, 120, "clocks-differ"), "clocks-differ", true},
		{"no launch call", unknown(120, 110, "kernels-without-launch"), "kernels-without-launch", true},
		{"unknown, and the rest within the limit", unknown(120, 30, "launches-missing"), "launches-missing", true},
		{"too little idle time for a cause", unknown(90, 90, "launches-missing"), "", false},
		{"idle time itself decides", unknown(600, 600, "clocks-differ"), "", false},
		{"clipped by a tenth", clipped(100 * ms), "duration-overruns", false},
		{"clipped by less", clipped(99 * ms), "", false},
		{"lost work can fill a tenth", lost(100 * ms), rule.RecordsMissing, false},
		{"lost work can fill less", lost(99 * ms), "", false},
		{"few kernels are lost", few, "", false},
	} {
		v := Judge(tc.s, rule.DefaultThresholds()).Verdict
		if v.Abstained != nil {
			t.Errorf("%s: withheld, %s", tc.name, v.Sentence)
		}
		switch d := v.Doubt; {
		case d == nil && tc.code != "", d != nil && (d.Code != tc.code || d.OfCauses != tc.causes):
			t.Errorf("%s: %+v, want %q, of causes %v", tc.name, d, tc.code, tc.causes)
		}
	}
}
