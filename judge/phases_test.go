package judge

import (
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// learning is a run of n steps of 100 s each on one device, whose phases
// take so many s each. The devices compute in half of each phase, but for weight
// sync, data and what is in none.
func learning(producer string, n int64, phases map[string]int64) *summary.Summary {
	s := one(100, 0, 0)
	rest := int64(100)
	var all summary.Activity
	for name, sec := range phases {
		rest -= sec
		a := summary.Activity{0: n * sec * 500 * ms, summary.ClassCompute: n * sec * 500 * ms}
		if name == "weight-sync" || name == "data" {
			a = summary.Activity{0: n * sec * 1000 * ms}
		}
		s.Phases = append(s.Phases, summary.Phase{Path: name, Producer: producer, Count: n, HostNS: n * sec * 1000 * ms, MedianNS: sec * 1000 * ms, MaxNS: sec * 1000 * ms, Activity: a, Total: a})
		all = all.Plus(a)
	}
	a := summary.Activity{0: n * rest * 1000 * ms}
	s.Phases = append(s.Phases, summary.Phase{Activity: a, Total: a})
	all = all.Plus(a)
	for i := range n {
		st := summary.Step{Name: "step", Number: i, StartNS: i * 100_000 * ms, WallNS: 100_000 * ms, Activity: summary.Activity{0: 100_000 * ms}, Marker: summary.MarkedByProgram}
		for name, sec := range phases {
			st.Phases = append(st.Phases, summary.StepPhase{Name: name, NS: sec * 1000 * ms})
		}
		s.Steps = append(s.Steps, st)
	}
	s.Devices[0].Activity, s.Devices[0].WindowNS = all, all.Window()
	s.Sort()
	return s
}

// TestBands holds shares of phases to the bands of the SkyRL guide, at and
// next to each edge.
func TestBands(t *testing.T) {
	typical := map[string]int64{"generation": 50, "training": 25, "weight-sync": 10, "data": 3}
	with := func(name string, sec int64) map[string]int64 {
		out := map[string]int64{"generation": 40, "training": 20, "weight-sync": 5}
		out[name] = sec
		return out
	}
	for _, tc := range []struct {
		name, rule, want string
		steps            int64
		phases           map[string]int64
	}{
		{"typical", rule.GenerationShare, "none", 4, typical},
		{"typical", rule.TrainingShare, "none", 4, typical},
		{"typical", rule.WeightSyncShare, "none", 4, typical},
		{"typical", rule.DataShare, "none", 4, typical},
		{"under the band's end", rule.GenerationShare, "none", 4, with("generation", 59)},
		{"at the band's end", rule.GenerationShare, "warn", 4, with("generation", 60)},
		{"few steps are never critical", rule.GenerationShare, "warn", 4, map[string]int64{"generation": 90, "training": 5}},
		{"many are", rule.GenerationShare, "critical", 20, map[string]int64{"generation": 90, "training": 5}},
		{"one step says nothing", rule.GenerationShare, "none", 1, map[string]int64{"generation": 90, "training": 5}},
		{"much training", rule.TrainingShare, "info", 4, with("training", 31)},
		{"a long sync", rule.WeightSyncShare, "warn", 4, with("weight-sync", 16)},
		{"data", rule.DataShare, "warn", 4, with("data", 5)},
		{"sleep", rule.SleepShare, "warn", 4, with("sleep-wake", 30)},
		{"wait", rule.WaitShare, "warn", 4, with("wait", 12)},
		{"no reinforcement learning", rule.GenerationShare, "none", 4, map[string]int64{"generation": 90}},
		{"data of any program", rule.DataShare, "warn", 4, map[string]int64{"data": 20, "forward": 70}},
		{"a sync of 3 s", rule.WeightSyncTime, "warn", 4, with("weight-sync", 3)},
		{"a sync at its target", rule.WeightSyncTime, "none", 4, with("weight-sync", 2)},
		{"a sync of 1 s", rule.WeightSyncTime, "none", 4, with("weight-sync", 1)},
	} {
		if got := levelOf(Judge(learning("", tc.steps, tc.phases), rule.Thresholds{}), tc.rule); got != tc.want {
			t.Errorf("%s: %s is %s, want %s", tc.name, tc.rule, got, tc.want)
		}
	}
}

// TestStackAdvice: advice uses the words of the framework that marks the
// phases, with its guide.
func TestStackAdvice(t *testing.T) {
	phases := map[string]int64{"generation": 70, "training": 10, "weight-sync": 16}
	for producer, want := range map[string]string{
		"SkyRL": "trainer.placement.colocate_all=true", "veRL": "Place training and inference on the same GPUs", "": "Place training and inference on the same GPUs",
	} {
		f := findingOf(Judge(learning(producer, 4, phases), rule.Thresholds{}).Findings, rule.WeightSyncShare)
		if f == nil || !strings.Contains(strings.Join(texts(f.Next), "\n"), want) {
			t.Errorf("%q: %+v", producer, f)
		}
	}
	f := findingOf(Judge(learning("veRL", 4, phases), rule.Thresholds{}).Findings, rule.GenerationShare)
	if f == nil || !strings.Contains(strings.Join(texts(f.Next), "\n"), "actor_rollout_ref.rollout.gpu_memory_utilization") || !strings.HasPrefix(rule.SourceOf(f.Next[0]).Title, "veRL") {
		t.Errorf("veRL: %+v", f)
	}
	// A single name may be anybody's.
	f = findingOf(Judge(learning("SkyRL", 4, map[string]int64{"data": 40}), rule.Thresholds{}).Findings, rule.DataShare)
	if f == nil || strings.Contains(strings.Join(texts(f.Next), "\n"), "SkyRL") {
		t.Errorf("one name: %+v", f)
	}
}

// TestPhaseVerdicts: each phase has its own bound, and what a program does once is
// separated from the rest.
func TestPhaseVerdicts(t *testing.T) {
	s := one(100, 0, 0)
	row := func(path string, a summary.Activity) {
		s.Phases = append(s.Phases, summary.Phase{Path: path, Count: 1, Activity: a, Total: a})
	}
	row("setup", summary.Activity{summary.ClassCopy: 500 * ms, 0: 10 * ms})
	row("measured", summary.Activity{summary.ClassCompute: 300 * ms})
	row("training", summary.Activity{summary.ClassCompute: 60 * ms, summary.ClassComm: 40 * ms})
	row("", summary.Activity{0: 90 * ms})
	s.Devices[0].Activity = summary.Activity{0: 100 * ms, summary.ClassCopy: 500 * ms, summary.ClassCompute: 360 * ms, summary.ClassComm: 40 * ms}
	s.Devices[0].WindowNS = 1000 * ms
	r := Judge(s, rule.Thresholds{})
	want := map[string]string{"setup": "copies", "measured": "compute", "training": "communication"}
	for _, v := range r.Phases {
		if string(v.Bound) != want[v.Path] {
			t.Errorf("%s is bound by %s, want %s", v.Path, v.Bound, want[v.Path])
		}
		delete(want, v.Path)
	}
	if len(want) > 0 {
		t.Errorf("no verdict on %v", want)
	}
	f := findingOf(r.Findings, rule.WarmUpPhases)
	if f == nil || f.Level != finding.Warn || f.NumeratorNS != 510*ms || !slices.ContainsFunc(f.Evidence, func(e string) bool { return strings.HasPrefix(e, "without them the run is host-bound") }) {
		t.Errorf("finding %+v", f)
	}
}
