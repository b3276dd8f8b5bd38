package report

import (
	"slices"
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/section/timeline"
	"assay/summary"
)

// TestVerdictPointsToWhatIsOverItsLimit: that Optimize the largest kernels: use lower precision is no reason to
// stop reading where something else is critical.
func TestVerdictPointsToWhatIsOverItsLimit(t *testing.T) {
	busy := finding.Finding{Rule: rule.ComputeBound, Title: "compute is 99.9% of the window", Next: steps("gains-are-in-kernels")}
	late := finding.Finding{Rule: rule.UnevenRanks, Level: finding.Critical, Title: "rank 3 computes most", Next: steps("even-out-the-work")}
	slow := finding.Finding{Rule: rule.SlowSteps, Level: finding.Warn, Title: "2 of 12 steps are slow", Next: steps("compare-the-slowest-step")}
	lost := finding.Finding{Rule: rule.CaptureQuality, Level: finding.Warn, Title: "records were lost"}
	s := samplerun.Attributed(1)
	for _, tc := range []struct {
		name     string
		bound    string
		findings []finding.Finding
		screen   string // the arrow under the verdict
		markdown string // what is to be done first
	}{
		{"all is well", "compute", []finding.Finding{busy}, "Fix: Optimize the largest kernels: use lower precision", "What to do first:\n\n- Optimize the largest kernels: use lower precision"},
		{"a warning", "compute", []finding.Finding{slow, busy}, "Start with the 1 warning below.", "What to do first (finding slow-steps):\n\n- Compare the slowest step"},
		{"more than one", "compute", []finding.Finding{late, slow, slow, busy}, "Start with the 1 critical finding and 2 warnings below.",
			"What to do first (finding uneven-ranks):\n\n- Give all ranks the same work"},
		{"of the capture it is said elsewhere", "compute", []finding.Finding{lost, busy}, "Fix: Optimize the largest kernels: use lower precision", "What to do first:\n\n- Optimize the largest kernels: use lower precision"},
	} {
		r := judge.Result{Verdict: finding.Verdict{Bound: finding.Bound(tc.bound), Sentence: busy.Title, Rule: busy.Rule}, Findings: tc.findings}
		d := Build(s, r)
		if got := text(t, d, 80); !strings.Contains(strings.Join(strings.Fields(got), " "), tc.screen) {
			t.Errorf("%s: no %q in\n%s", tc.name, tc.screen, got[:400])
		}
		if got := render(t, d.Markdown); !strings.Contains(got, tc.markdown) {
			t.Errorf("%s: no %q in\n%s", tc.name, tc.markdown, got[:600])
		}
	}
	// Only those are "below" that are shown.
	for shown, want := range map[int]string{1: "Start with the 1 critical finding below (of 3).", 2: "Start with the 1 critical finding and 1 warning below (of 3).",
		3: "Start with the 1 critical finding and 2 warnings below."} {
		over := []finding.Finding{late, slow, slow}
		if got := overLimitsText(over, append(over[:3:3], busy), shown); got != want {
			t.Errorf("%d shown: %q, want %q", shown, got, want)
		}
	}
	// A verdict that is itself over its limit says what to do about it.
	idle := finding.Finding{Rule: rule.GPUIdle, Level: finding.Warn, Title: "GPU idle time", Next: steps("launch-less")}
	d := Build(s, judge.Result{Verdict: finding.Verdict{Bound: "host", Sentence: idle.Title, Rule: idle.Rule}, Findings: []finding.Finding{late, idle}})
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
		{rule.GPUIdle, nil, "host-bound"},
		{rule.GPUIdle, []summary.Idle{{Owner: summary.OwnerDependency, NS: 50}, {Owner: summary.OwnerHost, NS: 30}, {Owner: summary.OwnerLaunch, NS: 20}}, "host-bound"},
		{rule.GPUIdle, []summary.Idle{{Owner: summary.OwnerDependency, NS: 51}, {Owner: summary.OwnerHost, NS: 30}, {Owner: summary.OwnerBetween, NS: 20}}, "dependency-bound"},
		{rule.GPUIdle, []summary.Idle{{Owner: summary.OwnerUnknown, NS: 1}}, "GPU idle"},
		{rule.DataLoading, []summary.Idle{{Owner: summary.OwnerUnknown, NS: 1}}, "host-bound"},
	} {
		ctx := section.New(&summary.Summary{Idle: tc.owner}, judge.Result{Verdict: finding.Verdict{Bound: "host", Rule: tc.rule}})
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
	at := finding.Place{Input: s.Devices[0].Input, Rank: s.Devices[0].Rank, Device: &first}
	*at.Device = s.Devices[0].Device
	late := finding.Finding{Rule: rule.StragglingRank, Level: finding.Warn, Title: "rank 0 arrives last", Where: []finding.Place{at}}
	for _, tc := range []struct {
		findings []finding.Finding
		lead     string
		shown    []int
	}{
		{nil, "Shown: 2 of 5 GPUs (most idle time).", []int{3, 4}},
		{[]finding.Finding{late}, "Shown: 2 of 5 GPUs (named by a finding; most idle time).", []int{0, 4}},
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
