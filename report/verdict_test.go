package report

import (
	"slices"
	"strings"
	"testing"

	"assay/internal/samplerun"
	"assay/judge"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/timeline"
	"assay/summary"
)

// TestVerdictPointsToWhatIsOverItsLimit: that Optimize the largest kernels: use lower precision is no reason to
// stop reading where something else is critical.
func TestVerdictPointsToWhatIsOverItsLimit(t *testing.T) {
	busy := judge.Finding{Rule: judge.RuleComputeBound, Title: "compute is 99.9% of the window", Next: steps("gains-are-in-kernels")}
	late := judge.Finding{Rule: judge.RuleUnevenRanks, Level: judge.Critical, Title: "rank 3 computes most", Next: steps("even-out-the-work")}
	slow := judge.Finding{Rule: judge.RuleSlowSteps, Level: judge.Warn, Title: "2 of 12 steps are slow", Next: steps("compare-the-slowest-step")}
	lost := judge.Finding{Rule: judge.RuleCaptureQuality, Level: judge.Warn, Title: "records were lost"}
	s := samplerun.Attributed(1)
	for _, tc := range []struct {
		name     string
		bound    string
		findings []judge.Finding
		screen   string // the arrow under the verdict
		markdown string // what is to be done first
	}{
		{"all is well", "compute", []judge.Finding{busy}, "Fix: Optimize the largest kernels: use lower precision", "What to do first:\n\n- Optimize the largest kernels: use lower precision"},
		{"a warning", "compute", []judge.Finding{slow, busy}, "Start with the 1 warning below.", "What to do first (finding slow-steps):\n\n- Compare the slowest step"},
		{"more than one", "compute", []judge.Finding{late, slow, slow, busy}, "Start with the 1 critical finding and 2 warnings below.",
			"What to do first (finding uneven-ranks):\n\n- Give all ranks the same work"},
		{"of the capture it is said elsewhere", "compute", []judge.Finding{lost, busy}, "Fix: Optimize the largest kernels: use lower precision", "What to do first:\n\n- Optimize the largest kernels: use lower precision"},
	} {
		r := judge.Result{Verdict: judge.Verdict{Bound: judge.Bound(tc.bound), Sentence: busy.Title, Rule: busy.Rule}, Findings: tc.findings}
		d := Build(s, r)
		if got := text(t, d, 80); !strings.Contains(strings.Join(strings.Fields(got), " "), tc.screen) {
			t.Errorf("%s: no %q in\n%s", tc.name, tc.screen, got[:400])
		}
		if got := render(t, d.Markdown); !strings.Contains(got, tc.markdown) {
			t.Errorf("%s: no %q in\n%s", tc.name, tc.markdown, got[:600])
		}
	}
	// A verdict that is itself over its limit says what to do about it.
	idle := judge.Finding{Rule: judge.RuleGPUIdle, Level: judge.Warn, Title: "GPU idle time", Next: steps("launch-less")}
	d := Build(s, judge.Result{Verdict: judge.Verdict{Bound: "host", Sentence: idle.Title, Rule: idle.Rule}, Findings: []judge.Finding{late, idle}})
	if got := text(t, d, 80); !strings.Contains(got, "Fix: Use CUDA graphs") {
		t.Errorf("no step in\n%s", got[:400])
	}
}

// TestHostBoundIsOfTheHost: a device that waits for another stream has been given its
// work in time.
func TestHostBoundIsOfTheHost(t *testing.T) {
	for _, tc := range []struct {
		rule  string
		owner []summary.Idle
		want  string
	}{
		{judge.RuleGPUIdle, nil, "host-bound"},
		{judge.RuleGPUIdle, []summary.Idle{{Owner: summary.OwnerDependency, NS: 50}, {Owner: summary.OwnerHost, NS: 30}, {Owner: summary.OwnerLaunch, NS: 20}}, "host-bound"},
		{judge.RuleGPUIdle, []summary.Idle{{Owner: summary.OwnerDependency, NS: 51}, {Owner: summary.OwnerHost, NS: 30}, {Owner: summary.OwnerBetween, NS: 20}}, "dependency-bound"},
		{judge.RuleGPUIdle, []summary.Idle{{Owner: summary.OwnerUnknown, NS: 1}}, "GPU idle"},
		{judge.RuleDataLoading, []summary.Idle{{Owner: summary.OwnerUnknown, NS: 1}}, "host-bound"},
	} {
		ctx := section.New(&summary.Summary{Idle: tc.owner}, judge.Result{Verdict: judge.Verdict{Bound: "host", Rule: tc.rule}})
		if got := bound(ctx); got != tc.want {
			t.Errorf("%s of %v: %q, want %q", tc.rule, tc.owner, got, tc.want)
		}
	}
}

// TestSettingsAreWhole: a name that is cut cannot be set.
func TestSettingsAreWhole(t *testing.T) {
	const setting = "generator.inference_engine.weight_transfer_threshold_cuda_ipc_GB,"
	ctx := section.New(&summary.Summary{}, judge.Result{})
	if got := ctx.Step(says("set " + setting + " to 2.0")); !strings.Contains(got, setting) {
		t.Errorf("%q", got)
	}
	if got := ctx.Step(says(strings.Repeat("x", 5000))); len(got) > doc.SettingWord+10 {
		t.Errorf("a word of %d bytes", len(got))
	}
}

// TestNamedDeviceIsShown: the screen shows the GPU of a rank that a finding names.
func TestNamedDeviceIsShown(t *testing.T) {
	s := samplerun.Attributed(5) // the last GPUs have the most idle time
	first := int64(0)
	at := judge.Place{Input: s.Devices[0].Input, Rank: s.Devices[0].Rank, Device: &first}
	*at.Device = s.Devices[0].Device
	late := judge.Finding{Rule: judge.RuleStragglingRank, Level: judge.Warn, Title: "rank 0 arrives last", Where: []judge.Place{at}}
	for _, tc := range []struct {
		findings []judge.Finding
		lead     string
		shown    []int
	}{
		{nil, "Shown: the 2 GPUs with the most idle time.", []int{3, 4}},
		{[]judge.Finding{late}, "Shown: 2 GPUs, including the one that a finding names.", []int{0, 4}},
	} {
		ctx := section.New(s, judge.Result{Findings: tc.findings})
		if got := timeline.ShownDevices(ctx); !slices.Equal(got, tc.shown) {
			t.Errorf("shows %v, want %v", got, tc.shown)
		}
		if got := timeline.ScreenBudget(ctx).Blocks; len(got) != 2 || got[1] != (doc.Paragraph{Text: tc.lead}) {
			t.Errorf("%v, want %q", got, tc.lead)
		}
	}
}
