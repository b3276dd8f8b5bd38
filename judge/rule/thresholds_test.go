package rule

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
)

const ms = 1_000_000 // ns

// TestRules compares limits and the order of rules with a list that is written by hand,
// so that a limit cannot change by mistake. A new rule need not be in it.
func TestRules(t *testing.T) {
	want := []Rule{
		{ID: CaptureQuality}, {ID: NoGPUTime},
		{ID: TooLittleWork, MinEvents: 10, MinShare: 0.02},
		{ID: Clocks},
		{ID: RecordsMissing, Warn: 0.05, Critical: 0.25},
		{ID: GPUIdle, Warn: 0.15, Critical: 0.5},
		{ID: DataLoading, Warn: 0.1, Critical: 0.2},
		{ID: Allocating, Warn: 0.05, Critical: 0.2},
		{ID: LaunchBound, Warn: 0.1, Critical: 0.3},
		{ID: StragglingRank, Warn: 0.1, Critical: 0.2},
		{ID: RanksInTurn, Warn: 0.1, Critical: 0.2},
		{ID: ExposedComm, Warn: 0.10, Critical: 0.2},
		{ID: ExposedCopies, Warn: 0.05, Critical: 0.15},
		{ID: SyncCalls, Warn: 0.10, MinShare: 0.05},
		{ID: SyncCopies, Warn: 0.05, MinShare: 0.05},
		{ID: PageableCopies, Warn: 0.05, MinShare: 0.05},
		{ID: SyncMemsets, Warn: 0.05, MinShare: 0.05},
		{ID: LongGaps, Warn: 0.05, Info: 0.01, MinGapNS: 500 * ms},
		{ID: LowUtilization, Info: 0.1, MinBusy: 0.5},
		{ID: UnevenRanks, Warn: 0.1, Critical: 0.25},
		{ID: SlowWorker, Warn: 0.1, Critical: 0.25, MinEvents: 4},
		{ID: OpaqueGraphs, Warn: 0.25, Info: 0.05},
		{ID: DominantKernel, Warn: 0.5, Critical: 0.6},
		{ID: TinyKernels, Warn: 0.3, Critical: 0.6, Under: 10_000},
		{ID: MemoryBandwidth, Warn: 0.5},
		{ID: ComputeBound, Info: 0.9},
		{ID: WarmUpSteps, Margin: 0.5, MinEvents: 3, Warn: 0.25, Info: 0.001},
		{ID: WarmUpPhases, Warn: 0.25, Info: 0.01},
		{ID: SlowSteps, Margin: 0.5, MinEvents: 4, Warn: 0.05, Critical: 0.2, Info: 0.001},
		{ID: PeriodicStalls, Warn: 0.05, Critical: 0.2, Info: 0.001},
		{ID: UnevenSteps, MinEvents: 4, Warn: 0.1, Critical: 0.25},
		{ID: SteadySteps, MinEvents: 2},
		{ID: WeightSyncTime, Under: 2000 * ms, Warn: 1},
		{ID: WeightSyncShare, MinEvents: 2, Warn: 0.15, Critical: 0.3},
		{ID: GenerationShare, MinEvents: 2, Warn: 0.6, Critical: 0.75},
		{ID: TrainingShare, MinEvents: 2, Info: 0.3},
		{ID: DataShare, MinEvents: 2, Warn: 0.05, Critical: 0.15},
		{ID: WaitShare, MinEvents: 2, Warn: 0.1, Critical: 0.3},
		{ID: SleepShare, MinEvents: 2, Warn: 0.1, Critical: 0.3},
		{ID: RLUtilization, Warn: 0.2},
		{ID: LatencyBound, OfPeak: 0.6, Warn: 0.25, Critical: 0.5},
		{ID: MemoryBound, Warn: 0.25, Critical: 0.5},
		{ID: ComputeLimited, Info: 0.25},
		{ID: Balanced, Margin: 0.1, Info: 0.25},
		{ID: LowOccupancy, OfPeak: 0.5, Warn: 0.25, Critical: 0.5},
		{ID: PartialWaves, Warn: 0.1, Critical: 0.3},
		{ID: NearLimit, OfPeak: 0.8, Info: 0.25},
		{ID: CountersMissing, Warn: 0.1, Critical: 0.5},
		{ID: TablesEmpty},
		{ID: TotalDoubted},
		{ID: KernelsUnrecorded},
		{ID: GraphsHideKernels, MinShare: 0.1},
		{ID: WaitingCalls, Warn: 0.5, Critical: 0.8},
		{ID: CommWork, Warn: 0.2, Critical: 0.4},
		{ID: CopyWork, Warn: 0.15, Critical: 0.5},
		{ID: AllocationCalls, Warn: 0.1, Critical: 0.25},
		{ID: ShortKernels, Warn: 0.5, Critical: 0.8, Under: 10_000},
		{ID: WithoutDevice},
		{ID: HostWork, Warn: 0.6, Critical: 0.75},
		{ID: CopyOperators, Warn: 0.1, Critical: 0.25},
		{ID: LargestAllocator, Info: 0.1},
		{ID: SumsOnly},
		{ID: Waiting, Warn: 0.3, Critical: 0.6},
		{ID: FunctionTotal, Warn: 0.1, Critical: 0.5},
		{ID: FunctionSelf, Warn: 0.2, Critical: 0.5},
		{ID: CheapCalls, Warn: 0.2, Critical: 0.5, MinEvents: 1000, Under: 10_000},
		{ID: NestedCost, Warn: 0.9},
		{ID: GrowingAverage, Warn: 0.2, Critical: 1},
		{ID: MemoryExhausted}, {ID: MemoryPressure, Warn: 0.9, Critical: 0.97},
		{ID: MemoryFragmented, Warn: 0.15, Critical: 0.3},
		{ID: AllocatorChurn, MinEvents: 10, Warn: 0.5, Critical: 1},
		{ID: MemoryGrowth, Warn: 0.05, Critical: 0.25},
		{ID: MemoryOwner, Warn: 0.5, Critical: 0.95}, {ID: MemoryUnrecorded},
	}
	var got []Rule
	for _, r := range Rules() {
		if slices.ContainsFunc(want, func(w Rule) bool { return w.ID == r.ID }) {
			r.Meaning, r.Source = "", ""
			got = append(got, r)
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if rules := (Thresholds{}).Rules(); !slices.Equal(rules, Rules()) {
		t.Errorf("the zero thresholds are not the defaults: %+v", rules)
	}
	th := DefaultThresholds()
	th.Rules()[slices.IndexFunc(th.Rules(), func(r Rule) bool { return r.ID == GPUIdle })].Warn = 1
	if r, ok := th.Rule(GPUIdle); !ok || r.Warn != 0.15 {
		t.Errorf("a caller changed a rule to %+v", r)
	}
	if r, ok := th.Rule("none"); ok {
		t.Errorf("there is a rule %+v", r)
	}
}

func TestParseThresholds(t *testing.T) {
	th, err := ParseThresholds([]byte(`
# limits of the nightly run
gpu-idle:
  warn: 25%
  source: agreed with the team
exposed-communication: {warn: 0.3, critical: "40 %"}
compute-bound:
  info: 1
long-gaps:
  min_gap: 1.5 s
low-utilization:
  min_busy: 30%
synchronizing-calls: {warn: 20%, min_share: 1%}
`), "limits.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := Rules()
	set := func(id string, to func(*Rule)) {
		to(&want[slices.IndexFunc(want, func(r Rule) bool { return r.ID == id })])
	}
	set(GPUIdle, func(r *Rule) { r.Warn, r.Source = 0.25, "agreed with the team" })
	set(ExposedComm, func(r *Rule) { r.Warn, r.Critical = 0.3, 0.4 })
	set(SyncCalls, func(r *Rule) { r.Warn, r.MinShare = 0.2, 0.01 })
	set(LongGaps, func(r *Rule) { r.MinGapNS = 1500 * ms })
	set(LowUtilization, func(r *Rule) { r.MinBusy = 0.3 })
	set(ComputeBound, func(r *Rule) { r.Info = 1 })
	if got := th.Rules(); !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, empty := range []string{"", "# nothing\n", "---\n", "null\n", "\xef\xbb\xbf# bom\n"} {
		th, err := ParseThresholds([]byte(empty), "limits.yaml")
		if err != nil || !slices.Equal(th.Rules(), Rules()) {
			t.Errorf("%q gives %v, %+v", empty, err, th)
		}
	}
}

// TestBuiltIn: the list of limits that users see documents every rule, and a copy of it
// is a file of limits that changes nothing.
func TestBuiltIn(t *testing.T) {
	text := BuiltIn()
	for _, r := range Rules() {
		if !strings.Contains(text, "\n"+r.ID+":\n") || !strings.Contains(text, r.Meaning) || !strings.Contains(text, r.Source) {
			t.Errorf("the built-in file does not document %s", r.ID)
		}
	}
	th, err := ParseThresholds([]byte(text), "t.yaml")
	if err != nil || !slices.Equal(th.Rules(), Rules()) {
		t.Errorf("a copy of the built-in file gives %v, %+v", err, th.Rules())
	}
	// The values of the text are those of the rules: read as definitions, they give them.
	defined, err := parseRules([]byte(text))
	for i, r := range Rules() {
		if err != nil || i >= len(defined) || defined[i].Rule != r {
			t.Fatalf("rule %s: the text has %v, %+v", r.ID, err, defined[min(i, len(defined)-1)])
		}
	}
	for _, want := range []string{"\n\n# A cause replaces gpu-idle", "\n  under: 10us\n", "\n  min_gap: 500ms\n", "\n  info: 0.1%\n", "\n  min_events: 1000\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("the text lacks %q", want)
		}
	}
}

func TestParseThresholdsErrors(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"\nidle:\n  warn: 1%", `t.yaml:2: unknown rule "idle": "assay explain" lists the rules`},
		{"gpu-idle:\n  warn: 5%\n  wran: 5%", `t.yaml:3: rule "gpu-idle": unknown key "wran", want one of warn, critical, source`},
		{"gpu-idle:\n  meaning: other", `t.yaml:2: rule "gpu-idle": unknown key "meaning", want one of warn, critical, source`},
		{"gpu-idle:\n  info: 5%", `t.yaml:2: rule "gpu-idle": unknown key "info", want one of warn, critical, source`},
		{"compute-bound:\n  warn: 5%", `t.yaml:2: rule "compute-bound": unknown key "warn", want one of info, source`},
		{"gpu-idle:\n  min_events: 5", `t.yaml:2: rule "gpu-idle": unknown key "min_events", want one of warn, critical, source`},
		{"too-little-gpu-work:\n  warn: 5%", `t.yaml:2: rule "too-little-gpu-work": unknown key "warn", want one of min_events, min_share, source`},
		{"too-little-gpu-work:\n  min_events: 0", `t.yaml:2: rule "too-little-gpu-work": min_events: "0" is not a whole number from 1 on`},
		{"too-little-gpu-work:\n  min_events: 5%", `t.yaml:2: rule "too-little-gpu-work": min_events: "5%" is not a whole number from 1 on`},
		{"too-little-gpu-work:\n  min_share: 0", `t.yaml:2: rule "too-little-gpu-work": min_share: "0" is 0%, want over 0% and at most 100%`},
		{"long-gaps:\n  min_gap: 500", `t.yaml:2: rule "long-gaps": min_gap: duration "500": want a number and one of ns, us, ms, s, min, h`},
		{"long-gaps:\n  min_gap: 0s", `t.yaml:2: rule "long-gaps": min_gap: "0s" is not over 0 ns`},
		{"long-gaps:\n  critical: 50%", `t.yaml:2: rule "long-gaps": unknown key "critical", want one of min_gap, warn, info, source`},
		{"low-utilization:\n  min_busy: 500%", `t.yaml:2: rule "low-utilization": min_busy: "500%" is 500%, want over 0% and at most 100%`},
		{"gpu-idle:\n  min_gap: 1s", `t.yaml:2: rule "gpu-idle": unknown key "min_gap", want one of warn, critical, source`},
		{"synchronizing-calls:\n  min_busy: 1%", `t.yaml:2: rule "synchronizing-calls": unknown key "min_busy", want one of warn, min_share, source`},
		{"short-kernels:\n  under: 10", `t.yaml:2: rule "short-kernels": under: duration "10": want a number and one of ns, us, ms, s, min, h`},
		{"short-kernels:\n  under: 0us", `t.yaml:2: rule "short-kernels": under: "0us" is not over 0 ns`},
		{"short-kernels:\n  info: 5%", `t.yaml:2: rule "short-kernels": unknown key "info", want one of under, warn, critical, source`},
		{"gpu-idle:\n  under: 5us", `t.yaml:2: rule "gpu-idle": unknown key "under", want one of warn, critical, source`},
		{"gpu-idle:\n  warn: 15", `t.yaml:2: rule "gpu-idle": warn: "15" is 1500%, want over 0% and at most 100%`},
		{"gpu-idle:\n  warn: 0", `t.yaml:2: rule "gpu-idle": warn: "0" is 0%, want over 0% and at most 100%`},
		{"gpu-idle:\n  warn: -1%", `t.yaml:2: rule "gpu-idle": warn: "-1%" is -1%, want over 0% and at most 100%`},
		{"gpu-idle:\n  warn: much", `t.yaml:2: rule "gpu-idle": warn: share "much": want a number such as "15%" or "0.15"`},
		{"gpu-idle:\n  warn:", `t.yaml:2: rule "gpu-idle": warn: want one value, got null`},
		{"gpu-idle:\n  warn: [1%]", `t.yaml:2: rule "gpu-idle": warn: want one value, got sequence`},
		{"gpu-idle:\n  warn: 60%", `t.yaml:1: rule "gpu-idle": warn limit 60% is over the critical limit 50%`},
		{"gpu-idle: 15%", `t.yaml:1: want a mapping of keys, got string`},
		{"gpu-idle:\n", `t.yaml:1: want a mapping of keys, got null`},
		{"- gpu-idle", `t.yaml:1: want a mapping of rules, got sequence`},
		{"gpu-idle:\n  warn: 5%\n---\ngpu-idle:\n  warn: 6%", `t.yaml:4: second YAML document, want one`},
	} {
		if _, err := ParseThresholds([]byte(tc.in), "t.yaml"); err == nil || err.Error() != tc.want {
			t.Errorf("%q:\ngot  %v\nwant %s", tc.in, err, tc.want)
		}
	}
	// What the YAML parser says is its own business; the position is ours.
	for in, prefix := range map[string]string{
		"gpu-idle:\n  warn: 5%\n  warn: 6%": "t.yaml:3: malformed YAML: ",
		"gpu-idle:\n  warn: \"5%":           "t.yaml:2: malformed YAML: ",
		"a: b: c":                           "t.yaml:1: malformed YAML: ",
	} {
		if _, err := ParseThresholds([]byte(in), "t.yaml"); err == nil || !strings.HasPrefix(err.Error(), prefix) {
			t.Errorf("%q: got %v, want %s...", in, err, prefix)
		}
	}
}

// FuzzParseThresholds: any file gives an error that names it, or limits that
// hold what a Rule promises.
func FuzzParseThresholds(f *testing.F) {
	for _, s := range []string{"", "gpu-idle:\n  warn: 5%", "gpu-idle: &a {warn: 5%}\nexposed-copies: *a", "? [a]\n: b", "!!map {}", "gpu-idle:\n  <<: {warn: 1%}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		th, err := ParseThresholds([]byte(s), "t.yaml")
		if err != nil {
			if !strings.HasPrefix(err.Error(), "t.yaml:") {
				t.Errorf("%q: %v does not name the file", s, err)
			}
			return
		}
		for _, r := range th.Rules() {
			if r.MinGapNS < 0 || r.Under < 0 || r.MinBusy < 0 || r.MinBusy > 1 || r.Warn < 0 || r.Warn > 1 || r.Critical > 0 && r.Warn > r.Critical || r.Critical > 1 || r.Info < 0 || r.Info > 1 || r.MinShare < 0 || r.MinShare > 1 || r.MinEvents < 0 {
				t.Errorf("%q: rule %+v", s, r)
			}
		}
	})
}

func TestLevelText(t *testing.T) {
	text, err := json.Marshal([]finding.Level{finding.Info, finding.Warn, finding.Critical})
	if want := `["info","warn","critical"]`; err != nil || string(text) != want {
		t.Fatalf("got %s, %v, want %s", text, err, want)
	}
	var back []finding.Level
	if err := json.Unmarshal(text, &back); err != nil || !slices.Equal(back, []finding.Level{finding.Info, finding.Warn, finding.Critical}) {
		t.Errorf("%s reads as %v, %v", text, back, err)
	}
	for _, bad := range []finding.Level{-1, 3} {
		if text, err := bad.MarshalText(); err == nil || !strings.HasPrefix(bad.String(), "level(") {
			t.Errorf("level %d is written as %q, printed as %q", int(bad), text, bad)
		}
	}
	var l finding.Level
	if err := l.UnmarshalText([]byte("fatal")); err == nil || err.Error() != `unknown level "fatal", want info, warn or critical` {
		t.Errorf("got error %v", err)
	}
}
