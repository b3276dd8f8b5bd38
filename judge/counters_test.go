package judge

import (
	"slices"
	"strings"
	"testing"

	"assay/judge/counters"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// counterOf returns a row with durations in milliseconds and shares in percent;
// a negative share is one that was not collected.
func counterOf(kernel string, n int64, compute, memory float64) summary.Counter {
	k := summary.Counter{Kernel: kernel, Launches: 1, Shapes: 1, Timed: 1, TotalNS: n * ms}
	if n < 0 {
		k.Timed, k.TotalNS = 0, 0
	}
	k.ComputePct, k.MemoryPct = share(compute), share(memory)
	return k
}

func share(v float64) *float64 {
	if v < 0 {
		return nil
	}
	return &v
}

func counted1(rows ...summary.Counter) *summary.Summary {
	return &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "ncu.csv", Format: "ncu"}}, Counters: rows}
}

// TestSides meets every limit exactly and misses it by a little: the thresholds
// are 60% for latency, 80% for near, 10 points of difference.
func TestSides(t *testing.T) {
	for _, tc := range []struct {
		compute, memory float64
		want            finding.Bound
		near            bool
	}{
		{0, 0, counters.SideLatency, false}, {59.99, 59.99, counters.SideLatency, false}, {60, 0, counters.SideCompute, false}, {0, 60, counters.SideMemory, false},
		{60, 50, counters.SideCompute, false}, {60, 50.01, counters.SideBalanced, false}, {65, 60, counters.SideBalanced, false}, {61, 75, counters.SideMemory, false},
		{80, 20, counters.SideCompute, true}, {79.99, 20, counters.SideCompute, false}, {20, 80, counters.SideMemory, true}, {85, 84, counters.SideBalanced, true}, {100, 104, counters.SideBalanced, true},
		{-1, 90, counters.SideUnknown, false}, {90, -1, counters.SideUnknown, false},
	} {
		s := Judge(counted1(counterOf("k", 1, tc.compute, tc.memory)), rule.DefaultThresholds()).Sides
		if len(s) != 1 || s[0].Side != tc.want || s[0].Near != tc.near || s[0].Kernel != "k" {
			t.Errorf("compute %v, memory %v: %+v, want %s, %v", tc.compute, tc.memory, s, tc.want, tc.near)
		}
	}
}

func TestCounterVerdict(t *testing.T) {
	for _, tc := range []struct {
		name            string
		rows            []summary.Counter
		bound, sentence string
	}{
		{"one memory-bound kernel", []summary.Counter{counterOf("copy", 20, 1.3, 61.84)}, "memory",
			`Memory-bound kernels: 100.0% of kernel time (20 ms of 20 ms); limit 50%`},
		{"most time is near the limit, most to gain elsewhere", []summary.Counter{counterOf("gemm", 70, 95, 40), counterOf("tiny", 30, 5, 10)}, "latency",
			`Latency-bound kernels: 30.0% of kernel time (30 ms of 100 ms); limit 25%`},
		{"nearly all is near the limit", []summary.Counter{counterOf("gemm", 90, 95, 40), counterOf("tiny", 10, 5, 10)}, "near-limit",
			`Kernels near peak: 90.0% of kernel time (90 ms of 100 ms); limit 25%`},
		{"a limit met exactly", []summary.Counter{counterOf("a", 50, 30, 30), counterOf("b", 50, 95, 3)}, "latency",
			`Latency-bound kernels: 50.0% of kernel time (50 ms of 100 ms); limit 50%`},
		{"nothing reaches its limit", []summary.Counter{counterOf("a", 24, 30, 30), counterOf("b", 20, 3, 70), counterOf("c", 20, 70, 3), counterOf("d", 18, 70, 70), counterOf("e", 18, 90, 0)}, "mixed",
			"No dominant bottleneck: latency-bound kernels 24.0%, memory-bound kernels 20.0%, compute-bound kernels 20.0%, balanced kernels 18.0%, kernels near peak 18.0%"},
		{"no durations", []summary.Counter{counterOf("a", -1, 30, 30), counterOf("b", -1, 90, 3)}, "latency",
			`Latency-bound kernels: 50.0% of the launches (1 of 2); limit 50%`},
		{"no shares", []summary.Counter{counterOf("a", 10, -1, -1)}, "unknown",
			"No % of peak for 100.0% of kernel time (10 ms of 10 ms)"},
	} {
		r := Judge(counted1(tc.rows...), rule.DefaultThresholds())
		if r.Verdict.Bound != finding.Bound(tc.bound) || r.Verdict.Sentence != tc.sentence {
			t.Errorf("%s:\ngot  %s: %s\nwant %s: %s", tc.name, r.Verdict.Bound, r.Verdict.Sentence, tc.bound, tc.sentence)
		}
	}
}

func ruled(r Result, id string) (finding.Finding, bool) {
	i := slices.IndexFunc(r.Findings, func(f finding.Finding) bool { return f.Rule == id })
	if i < 0 {
		return finding.Finding{}, false
	}
	return r.Findings[i], true
}

// TestCounterFindings: what was not collected is named with the option that
// collects it, and low occupancy with what limits it.
func TestCounterFindings(t *testing.T) {
	k := counterOf("k", 10, 23.6, 21.7)
	k.OccupancyPct, k.TheoreticalPct, k.Registers, k.Waves = share(15.5), share(18.75), share(168), share(1.89)
	k.Limiters = []string{"registers", "shared memory"}
	k.TailNS, k.WavesNS = 4*ms, 10*ms
	expected := 50.0
	k.Rules = []summary.Advice{{Name: "R", Type: "OPT", Text: "A wave is a thing. This launch has 136 blocks too many. Change that.", SpeedupKind: "global", SpeedupPct: &expected}}
	r := Judge(counted1(k), rule.DefaultThresholds())
	if f, ok := ruled(r, rule.LowOccupancy); !ok || f.Level != finding.Critical || f.Value != 1 ||
		!slices.Contains(f.Evidence, `"k": achieved 15.5%, theoretical 18.8%, limited by registers and shared memory; 168 registers per thread`) {
		t.Errorf("low occupancy: %v, %+v", ok, f)
	}
	if f, ok := ruled(r, rule.PartialWaves); !ok || f.Level != finding.Critical || f.Title != "Tail effect: partial waves lose 40.0% of kernel time (4 ms of 10 ms); limit 30%" {
		t.Errorf("waves: %v, %+v", ok, f)
	}
	if f, _ := ruled(r, rule.LatencyBound); len(f.Next) == 0 || rule.Text(f.Next[0]) != "Follow ncu's rule R (estimated speedup up to 50.0%): This launch has 136 blocks too many." {
		t.Errorf("the first step is %q", texts(f.Next))
	}
	if f, ok := ruled(r, rule.CountersMissing); ok {
		t.Errorf("all was collected, but: %+v", f)
	}
	near := k
	near.ComputePct = share(90)
	if f, ok := ruled(Judge(counted1(near), rule.DefaultThresholds()), rule.LowOccupancy); ok {
		t.Errorf("a kernel near the limit has warps enough, but: %+v", f)
	}
	r = Judge(counted1(counterOf("k", 10, 30, -1)), rule.DefaultThresholds())
	f, ok := ruled(r, rule.CountersMissing)
	if text := strings.Join(f.Evidence, "\n"); !ok || f.Level != finding.Critical || !strings.Contains(text, "--section SpeedOfLight") || !strings.Contains(text, "--section Occupancy") || !strings.Contains(text, "--section LaunchStats") {
		t.Errorf("missing: %v, %+v", ok, f)
	}
	k.OccupancyPct = nil
	if f, ok := ruled(Judge(counted1(k), rule.DefaultThresholds()), rule.CountersMissing); !ok || f.Level != finding.Info || len(f.Evidence) != 1 {
		t.Errorf("without occupancy: %v, %+v", ok, f)
	}
}

// TestWavesNearLimit: a kernel near a limit has blocks enough, and what another
// could save is no more than what it lacks to its peak.
func TestWavesNearLimit(t *testing.T) {
	half := func(compute float64) summary.Counter {
		k := counterOf("k", 100, compute, 40)
		k.Waves, k.TailNS, k.WavesNS = share(0.5), 50*ms, 100*ms
		return k
	}
	if f, ok := ruled(Judge(counted1(half(80)), rule.DefaultThresholds()), rule.PartialWaves); ok {
		t.Errorf("a kernel near the limit: %+v", f)
	}
	for compute, gain := range map[float64]int64{-1: 50 * ms, 30: 50 * ms, 50: 50 * ms, 75: 25 * ms} {
		f, ok := ruled(Judge(counted1(half(compute)), rule.DefaultThresholds()), rule.PartialWaves)
		if !ok || f.NumeratorNS != 50*ms || f.GainNS == nil || *f.GainNS != gain {
			t.Errorf("at %v%% of the peak: %v, %+v, want a gain of %d", compute, ok, f, gain)
		}
	}
}

// TestLowOccupancyWords: a kernel whose shares of the peaks were not collected is
// not said to reach neither.
func TestLowOccupancyWords(t *testing.T) {
	known, unknown := counterOf("a", 10, 20, 30), counterOf("b", 10, -1, -1)
	known.OccupancyPct, unknown.OccupancyPct = share(10), share(10)
	for want, rows := range map[string][]summary.Counter{
		"these kernels are far from both peaks":                               {known},
		"these kernels have no measured % of peak":                            {unknown},
		"these kernels are far from both peaks or have no measured % of peak": {known, unknown},
	} {
		if f, ok := ruled(Judge(counted1(rows...), rule.DefaultThresholds()), rule.LowOccupancy); !ok || f.Evidence[0] != want {
			t.Errorf("got %q, want %q", f.Evidence, want)
		}
	}
}

// TestCountersDecidedFirst: of findings of one level the one that decides the
// verdict comes first, whatever the others could gain.
func TestCountersDecidedFirst(t *testing.T) {
	waves := func(k summary.Counter) summary.Counter {
		k.WavesNS = k.TotalNS
		k.TailNS = k.TotalNS / 2
		return k
	}
	unknown := counterOf("c", 10, -1, -1)
	unknown.OccupancyPct = share(10)
	for id, s := range map[string]*summary.Summary{
		// To gain there are 25 ms of latency, 15 of memory, and 40 of empty places.
		rule.LatencyBound:    counted1(waves(counterOf("a", 50, 50, 50)), waves(counterOf("b", 50, 10, 70))),
		rule.CountersMissing: counted1(unknown),
	} {
		r := Judge(s, rule.DefaultThresholds())
		if r.Verdict.Rule != id || r.Findings[0].Rule != id || len(r.Findings) < 2 || r.Findings[1].Level != finding.Critical {
			t.Errorf("decided by %s, findings %v, want %s", r.Verdict.Rule, levelsOf(r), id)
		}
	}
}

// TestCountersBesideTimeline: counters do not change what a timeline says.
func TestCountersBesideTimeline(t *testing.T) {
	s := one(600, 0, 0)
	alone := Judge(s, rule.DefaultThresholds())
	s.Counters = []summary.Counter{counterOf("k", 10, 30, 30)}
	r := Judge(s, rule.DefaultThresholds())
	if r.Verdict != alone.Verdict {
		t.Errorf("the verdict is %+v, alone %+v", r.Verdict, alone.Verdict)
	}
	if f, ok := ruled(r, rule.LatencyBound); !ok || !strings.Contains(f.Title, "100.0% of profiled kernel time (10 ms of 10 ms)") || len(r.Findings) <= len(alone.Findings) || len(r.Sides) != 1 {
		t.Errorf("findings %+v", r.Findings)
	}
}

func TestPeakThresholds(t *testing.T) {
	th, err := rule.ParseThresholds([]byte("kernels-latency-bound: {of_peak: 20%}\nkernels-balanced: {margin: 1%}\n"), "t.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if s := Judge(counted1(counterOf("k", 1, 30, 25)), th).Sides[0]; s.Side != counters.SideCompute {
		t.Errorf("with other limits the side is %+v", s)
	}
}
