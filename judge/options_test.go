package judge

import (
	"slices"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view"
)

// TestImpossibleChanges: a kernel at more than half of its roofline cannot run twice as fast, so the change is
// not proposed. Operators of less than half of the kernel's time, or at half of the roofline, do not say so, and
// a kernel that memory limits can be fused away.
func TestImpossibleChanges(t *testing.T) {
	const change = "--scale kernel~^dgrad_tile$=0.5"
	for _, tc := range []struct {
		name            string
		known, roofline int64 // of 80 ms of the kernel
		bound, rule     string
		want            bool // proposed
	}{
		{"at 60% of the peak", 80, 48, summary.BoundCompute, rule.DominantKernel, false},
		{"at half", 80, 40, summary.BoundCompute, rule.DominantKernel, true},
		{"at 75%, of half of its time", 40, 30, summary.BoundCompute, rule.DominantKernel, false},
		{"at 75%, of a third of its time", 27, 20, summary.BoundCompute, rule.DominantKernel, true},
		{"at 90% of the bandwidth", 80, 72, summary.BoundMemory, rule.DominantKernel, false},
		{"at 90% of the bandwidth, to be fused", 80, 72, summary.BoundMemory, rule.MemoryBandwidth, true},
		{"at 60% of the peak, fusing does not help", 80, 48, summary.BoundCompute, rule.MemoryBandwidth, false},
		{"roofline unknown", 80, -1, "", rule.DominantKernel, true},
	} {
		s := followed(idleRun(), map[string]int64{change: 70, "--gap 0.5": 90})
		s.Kernels = []summary.Kernel{{Name: "dgrad_tile", Class: "compute", TotalNS: 50 * ms}, {Name: "dgrad_tile", Class: "compute", Stream: 3, TotalNS: 30 * ms}}
		row := summary.EfficiencyRow{Kernel: "dgrad_tile", GPUNS: tc.known * ms, Bound: tc.bound}
		if tc.roofline >= 0 {
			row.RooflineNS = &[]int64{tc.roofline * ms}[0]
		}
		s.Efficiency.Rows = []summary.EfficiencyRow{row}
		r := Result{Findings: []finding.Finding{{Rule: tc.rule, Next: []finding.Step{finding.Advise("x")}, Where: []finding.Place{{Kernel: "dgrad_tile"}}}}}
		list := r.Options(view.FollowedOf(s))
		if got := slices.ContainsFunc(list, func(o Option) bool { return o.Change == change }); got != tc.want || len(list) == 0 {
			t.Errorf("%s: proposed %t, want %t", tc.name, got, tc.want)
		}
	}
}

// TestImpossibleCompute: arithmetic at its peak for more than half of the compute time leaves no room for
// compute twice as fast.
func TestImpossibleCompute(t *testing.T) {
	for _, tc := range []struct {
		name     string
		roofline int64 // ms of 100 of compute
		bound    string
		want     int
	}{
		{"60 ms of arithmetic", 60, summary.BoundCompute, 0}, {"50 ms", 50, summary.BoundCompute, 1},
		{"60 ms of memory traffic", 60, summary.BoundMemory, 1},
	} {
		s := followed(idleRun(), map[string]int64{"--scale class:compute=0.5": 55})
		s.Kernels = []summary.Kernel{{Name: "a", Class: "compute", TotalNS: 100 * ms}, {Name: "reduce", Class: "comm", TotalNS: 300 * ms}}
		s.Efficiency.Rows = []summary.EfficiencyRow{{Kernel: "a", GPUNS: 70 * ms, RooflineNS: &[]int64{tc.roofline * ms}[0], Bound: tc.bound}}
		if got := (Result{}).Options(view.FollowedOf(s)); len(got) != tc.want {
			t.Errorf("%s: %d options, want %d", tc.name, len(got), tc.want)
		}
	}
}

// TestFirstFollowsVerdict: of single changes with remedies, one of the finding that decides the verdict comes
// first, unless another gives more than twice as much.
func TestFirstFollowsVerdict(t *testing.T) {
	option := func(change string, left int64, decides, step bool) Option {
		o := Option{Forecast: &summary.Forecast{Change: change, MeasuredNS: 100 * ms, ForecastNS: &[]int64{left * ms}[0]}, Decides: decides}
		if step {
			o.Step = &finding.Step{}
		}
		o.Wide, o.AtMost = view.Wide(change), view.Wide(change) || change == "--graph"
		return o
	}
	for _, tc := range []struct {
		name        string
		list        []Option
		first, over string
	}{
		{"less, but of the verdict", []Option{option("--pinned", 88, false, true), option("--scale kernel~^b$=0.5", 93, true, true)}, "--scale kernel~^b$=0.5", ""},
		{"much less", []Option{option("--pinned", 70, false, true), option("--scale kernel~^b$=0.5", 93, true, true)}, "--pinned", ""},
		{"a graph that no finding is about", []Option{option("--graph", 40, false, false), option("--host 2x", 60, true, true)}, "--host 2x", "--graph"},
		{"a graph with a remedy", []Option{option("--graph", 40, false, true), option("--host 2x", 60, true, true)}, "--graph", ""},
		{"a graph alone", []Option{option("--graph", 40, false, false)}, "--graph", ""},
		{"a graph that gives less", []Option{option("--graph", 80, false, false), option("--host 2x", 60, true, true)}, "--host 2x", ""},
	} {
		over := ""
		if o := PassedOver(tc.list); o != nil {
			over = o.Change
		}
		if o := First(tc.list); o == nil || o.Change != tc.first || over != tc.over {
			t.Errorf("%s: first %+v, passed over %q, want %s and %q", tc.name, o, over, tc.first, tc.over)
		}
	}
}
