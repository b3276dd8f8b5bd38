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

// TestLeads: what takes the cause of the verdict away leads, by the order of its remedies, whatever others give, but
// not below a twentieth of the step. Remedies come only with the changes that they make.
func TestLeads(t *testing.T) {
	steps := func(ids ...string) (out []finding.Step) {
		for _, id := range ids {
			out = append(out, finding.Advise(id))
		}
		return out
	}
	const kernel = "--scale kernel~^rope$=0.5"
	for _, tc := range []struct {
		name     string
		verdict  string
		steps    []finding.Step
		changes  map[string]int64
		want, to string // the change and its remedy
	}{
		{"a data loader", rule.GPUIdle, steps("load-data-ahead", "launch-less"), map[string]int64{"--graph": 30, noLoader: 55},
			noLoader, "load-data-ahead"},
		{"launches first", rule.GPUIdle, steps("launch-less", "load-data-ahead"), map[string]int64{"--graph": 30, noLoader: 97}, "--graph", "launch-less"},
		{"no loader in the way", rule.GPUIdle, steps("load-data-ahead", "launch-less"), map[string]int64{"--graph": 30}, "--graph", "launch-less"},
		{"waits", rule.SyncCalls, steps("remove-synchronization", "launch-less"), map[string]int64{"--remove sync~.": 80, "--graph": 40},
			"--remove sync~.", "remove-synchronization"},
		{"waits at the end of a step", rule.SyncCalls, steps("remove-synchronization"), map[string]int64{"--remove sync~.": 96}, "", ""},
		{"pinned memory", rule.ExposedCopies, steps("pin-for-async", "overlap-copies"), map[string]int64{"--pinned 0.2": 40, hiddenCopies: 20},
			"--pinned 0.2", "pin-for-async"},
		{"copies to overlap", rule.ExposedCopies, steps("overlap-copies", "pin-for-async"), map[string]int64{"--pinned": 94, hiddenCopies: 70},
			hiddenCopies, "overlap-copies"},
		{"fewer copies", rule.ExposedCopies, steps("copy-less-to-device"), map[string]int64{"--scale class:copy=0.5": 80, hiddenCopies: 60},
			"--scale class:copy=0.5", "copy-less-to-device"},
		{"a kernel of unknown efficiency", rule.KernelGaps, steps("x"), map[string]int64{kernel: 80, "--gap 0.5": 92}, "--gap 0.5", "x"},
		{"nothing else", rule.KernelGaps, steps("x"), map[string]int64{kernel: 80}, kernel, ""},
		{"little", rule.KernelGaps, steps("x"), map[string]int64{kernel: 96, "--gap 0.5": 96}, "", ""},
	} {
		s := followed(idleRun(), tc.changes)
		for i := range s.Forecasts {
			s.Forecasts[i].Bound = slices.Contains([]string{noLoader, hiddenCopies}, s.Forecasts[i].Change)
		}
		r := Result{Verdict: finding.Verdict{Rule: tc.verdict}, Findings: []finding.Finding{{Rule: tc.verdict, Next: tc.steps}}}
		got, to := "", ""
		if o := First(r.Options(view.FollowedOf(s))); o != nil {
			if got = o.Change; o.Step != nil {
				to = o.Step.ID
			}
		}
		if got != tc.want || to != tc.to {
			t.Errorf("%s: %q by %q, want %q by %q", tc.name, got, to, tc.want, tc.to)
		}
	}
}

// TestProfilersTime: where the profiler may take the idle time, nothing that the CPU gains comes first, and a graph
// is named with that reason. A change of the GPU stays.
func TestProfilersTime(t *testing.T) {
	for _, tc := range []struct {
		name        string
		cost        bool
		changes     map[string]int64
		first, over string
	}{
		{"a graph", true, map[string]int64{"--graph": 60, "--host 2x": 50}, "", "--graph"},
		{"copies as well", true, map[string]int64{"--graph": 60, "--pinned": 80}, "--pinned", "--graph"},
		{"the CPU is the limit", false, map[string]int64{"--graph": 60, "--pinned": 80}, "--graph", ""},
	} {
		r := Result{Findings: []finding.Finding{{Rule: rule.GPUIdle, Next: []finding.Step{finding.Advise("launch-less"), finding.Advise("pin-for-async")}}}}
		if tc.cost {
			r.Findings = append(r.Findings, finding.Finding{Rule: rule.ProfilerCost})
		}
		list := r.Options(view.FollowedOf(followed(idleRun(), tc.changes)))
		first, over := "", ""
		if o := First(list); o != nil {
			first = o.Change
		}
		if o := PassedOver(list); o != nil {
			over = o.Change
		}
		if first != tc.first || over != tc.over {
			t.Errorf("%s: first %q, passed over %q, want %q and %q", tc.name, first, over, tc.first, tc.over)
		}
	}
}

// TestLateRank: where the verdict's finding asks to find a late rank, no wait for it comes first, by the savings of the
// finding: 30 of 75 of the time leave 60 of 100 ms. Other findings have no such change.
func TestLateRank(t *testing.T) {
	for id, want := range map[string]string{"find-the-late-rank": notLate, "compare-the-host": notLate, "nccl-for-gpu-tensors": "--graph"} {
		f := finding.Finding{Rule: rule.CPUCollectives, Next: []finding.Step{finding.Advise(id)}}
		f.Gain(30*ms, 75*ms, "the GPU time")
		r := Result{Verdict: finding.Verdict{Rule: f.Rule}, Findings: []finding.Finding{f}}
		o := First(r.Options(view.FollowedOf(followed(idleRun(), map[string]int64{"--graph": 40}))))
		if o == nil || o.Change != want || want == notLate && (*o.ForecastNS != 60*ms || !o.AtMost) {
			t.Errorf("%s: %+v", id, o)
		}
	}
}
