package judge

import (
	"slices"
	"strings"
	"testing"

	"assay/internal/test/tracegen"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// These tests read a verdict as who gets it does: what is said first must be true,
// be about the trouble, and not be taken back by what is said next.

// troubled judges the run of a trouble.
func troubled(t *testing.T, name string) Result {
	t.Helper()
	i := slices.IndexFunc(troubles(), func(tr tracegen.Trouble) bool { return tr.Name == name })
	if i < 0 {
		t.Fatalf("no trouble is called %q", name)
	}
	return Judge(traced(t, troubles()[i].Ranks), rule.DefaultThresholds())
}

// TestFirstStepIsOfTheCause: the host of each of these waits for a step's end, too,
// and that is not what the device waits for.
func TestFirstStepIsOfTheCause(t *testing.T) {
	for name, want := range map[string]string{
		"loader": "load-data-ahead", "loader_by_its_stack": "load-data-ahead",
		"malloc_in_steps": "allocate-less", "free_in_steps": "allocate-less",
		"graphs_not_recorded": "record-graph-nodes", "eager_decode": "launch-less",
		"item_after_each_kernel": "remove-synchronization",
	} {
		if f := troubled(t, name).Findings[0]; f.Next[0].ID != want {
			t.Errorf("%s: the first step is %q, want %q", name, f.Next[0].ID, want)
		}
	}
}

// TestNothingToSaveInGraphs: while graphs may have run, no wait has cost idle time.
func TestNothingToSaveInGraphs(t *testing.T) {
	f := troubled(t, "graphs_not_recorded").Findings[0]
	if len(f.Next) != 1 || strings.Contains(strings.Join(f.Evidence, " "), "could save") {
		t.Errorf("evidence %q\nsteps %q", f.Evidence, texts(f.Next))
	}
}

// TestLateRankNamesItsLimits: the exposed communication that the straggler replaces can
// be critical although the waiting is not. Its cause is part of the evidence.
func TestLateRankNamesItsLimits(t *testing.T) {
	r := troubled(t, "slow_rank")
	f := find(t, r, rule.StragglingRank)
	if g := Judge(ranked(t, "slow_gpu"), rule.DefaultThresholds()).Findings[0]; !strings.HasSuffix(g.Title, "; limit 10%") || !strings.HasSuffix(g.Evidence[0], "; limit 20%") {
		t.Errorf("%s\n%q\nhave not the limits 10%% and 20%%", g.Title, g.Evidence)
	}
	if f.Level != finding.Critical || findingOf(r.Findings, rule.UnevenRanks) != nil {
		t.Errorf("level %s\n%s", f.Level, told(r))
	}
	if !slices.ContainsFunc(f.Evidence, func(e string) bool { return strings.HasPrefix(e, "Compute imbalance: rank 1 takes 40 ms") }) ||
		!slices.Equal(ids(f.Next), []string{"compare-the-gpu", "even-out-the-work", "check-throttling"}) {
		t.Errorf("evidence %q\nsteps %q", f.Evidence, texts(f.Next))
	}
}

// TestEvenStepsOfUnevenRanks: one rank's steps take 8 ms and the other's 5 ms, each
// the same time whenever they run.
func TestEvenStepsOfUnevenRanks(t *testing.T) {
	r := troubled(t, "more_tokens")
	if findingOf(r.Findings, rule.UnevenSteps) != nil {
		t.Errorf("steps of even length are called uneven:\n%s", told(r))
	}
	want := "Compute imbalance: rank 0 takes 40 ms; the mean is 32.5 ms (18.8% less); limit 10%"
	if got := find(t, r, rule.UnevenRanks).Title; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// Half of the lengths lie 1.5 ms or more from the middle one.
	s := traced(t, troubles()[slices.IndexFunc(troubles(), func(tr tracegen.Trouble) bool { return tr.Name == "lengths_that_vary" })].Ranks)
	f := find(t, Judge(s, rule.DefaultThresholds()), rule.UnevenSteps)
	walls := make([]int64, len(s.Steps))
	for i, st := range s.Steps {
		walls[i] = st.WallNS
	}
	slices.Sort(walls)
	low, high := walls[(len(walls)-1)/2], walls[len(walls)/2]
	far, middle := 0, low+(high-low)/2
	for _, st := range s.Steps {
		if max(st.WallNS-middle, middle-st.WallNS) >= f.NumeratorNS {
			far++
		}
	}
	if 2*far < len(s.Steps) || f.DenominatorNS != middle || !strings.HasPrefix(f.Title, "Step time varies: MAD ") {
		t.Errorf("%s: %d of %d steps are so far off %d ns", f.Title, far, len(s.Steps), middle)
	}
}

// TestMemoryBoundIsNotComputeBound: what says that memory decides must not say of
// the window, or of its steps, that compute does.
func TestMemoryBoundIsNotComputeBound(t *testing.T) {
	r := troubled(t, "small_arithmetic")
	if r.Verdict.Bound != "memory" || findingOf(r.Findings, rule.SteadySteps) != nil || strings.Contains(told(r), "compute-bound run") {
		t.Errorf("%s-bound\n%s", r.Verdict.Bound, told(r))
	}
}

// TestNothingElseIsNotSaid: calls that block the CPU are over a limit of their own,
// though no part of the window is.
func TestNothingElseIsNotSaid(t *testing.T) {
	r := troubled(t, "copy_back")
	if find(t, r, rule.SyncCopies).Level != finding.Warn || strings.Contains(r.Verdict.Sentence, "nothing else") {
		t.Errorf("%s\n%s", r.Verdict.Sentence, told(r))
	}
}

// TestNoEmptyEvidence: a line about no gaps says nothing, and counts have the plural
// of their noun.
func TestNoEmptyEvidence(t *testing.T) {
	for _, name := range []string{"loader", "long_pauses", "eager_decode", "graphs_as_one_event"} {
		for _, f := range troubled(t, name).Findings {
			for _, line := range append(f.Evidence, f.Title) {
				if strings.Contains(line, "(0 gaps") || strings.Contains(line, "launchs") {
					t.Errorf("%s: %s", name, line)
				}
			}
		}
	}
}

// TestStepsForProgramsWithoutTorch: who runs C++ under Nsight Systems can do nothing
// with torch.compile; and where a name is PyTorch's, or the profiler is, can.
func TestStepsForProgramsWithoutTorch(t *testing.T) {
	of := func(format, kernel string) string {
		s := one(600, 0, 200)
		s.Inputs = []summary.Input{{Format: format}}
		s.Kernels = []summary.Kernel{{Name: kernel, Class: "compute", Category: "elementwise", Count: 10, TotalNS: 200 * ms}}
		var steps []string
		for _, f := range Judge(s, rule.DefaultThresholds()).Findings {
			steps = append(steps, texts(f.Next)...)
		}
		return strings.Join(steps, "\n")
	}
	const forTorch, plain = "torch.compile(model", "cudaStreamBeginCapture"
	for _, tc := range []struct {
		format, kernel string
		torch          bool
	}{
		{"nsys-sqlite", "saxpy(double*, double)", false},
		{"nsys-sqlite", "void at::native::vectorized_elementwise_kernel<4>()", true},
		{"kineto", "saxpy(double*, double)", true},
	} {
		got := of(tc.format, tc.kernel)
		if strings.Contains(got, forTorch) != tc.torch || strings.Contains(got, plain) == tc.torch {
			t.Errorf("%s with %q: torch %v, steps\n%s", tc.format, tc.kernel, tc.torch, got)
		}
		if !tc.torch && (strings.Contains(got, "torch") || strings.Contains(got, ".item()")) {
			t.Errorf("%s with %q is told of PyTorch:\n%s", tc.format, tc.kernel, got)
		}
	}
}

// TestVerdictWithoutSetup: a program that is recorded while it loads its model is not
// bound by the copies of that, if enough of it was recorded besides.
func TestVerdictWithoutSetup(t *testing.T) {
	of := func(setup, steady summary.Activity) Result {
		s := one(0, 0, 0)
		s.Phases = []summary.Phase{{Path: "setup/loading", Activity: setup}, {Path: "measured", Activity: steady}}
		s.Devices[0].Activity = setup.Plus(steady)
		s.Devices[0].WindowNS = s.Devices[0].Activity.Window()
		s.Sort()
		return Judge(s, rule.DefaultThresholds())
	}
	setup := summary.Activity{0: 200 * ms, summary.ClassCopy: 500 * ms}
	for _, tc := range []struct {
		steady          int64 // ms of compute
		bound, sentence string
	}{
		{300, "compute", "Compute: 100.0% of the window without setup (300 ms of 300 ms)"},
		{15, "compute", "Compute: 100.0% of the window without setup (15 ms of 15 ms)"}, // 2.1% of the window
		{14, "copies", "Exposed copies: 70.0% of the window (500 ms of 714 ms)"},        // under 2%
		{2_100, "compute", "Compute: 100.0% of the window without setup (2.1 s of 2.1 s)"},
		{2_101, "copies", "Exposed copies: 17.9% of the window (500 ms of 2.8 s)"}, // setup is under 25%
	} {
		r := of(setup, summary.Activity{summary.ClassCompute: tc.steady * ms})
		// Where nothing else is left to judge by, the first thing to do is to record it.
		first := rule.Text(find(t, r, r.Verdict.Rule).Next[0])
		if got := first == "Record again without setup, so that shares describe only steady steps: schedule=torch.profiler.schedule(wait=1, warmup=1, active=3)."; got != (tc.steady == 14) {
			t.Errorf("%d ms: the first step is %q", tc.steady, first)
		}
		if r.Verdict.Bound != finding.Bound(tc.bound) || !strings.HasPrefix(r.Verdict.Sentence, tc.sentence) {
			t.Errorf("%d ms: %s-bound: %s\nwant %s: %s", tc.steady, r.Verdict.Bound, r.Verdict.Sentence, tc.bound, tc.sentence)
		}
	}
}

// TestIdleAfterWarmUp: what the warm-up waited for is not what the rest waits for.
func TestIdleAfterWarmUp(t *testing.T) {
	s := one(0, 0, 0)
	setup, steady := summary.Activity{0: 9_000 * ms, comp: 1_000 * ms}, summary.Activity{0: 600 * ms, comp: 400 * ms}
	s.Phases = []summary.Phase{{Path: "warm-up", Activity: setup}, {Path: "measured", Activity: steady}}
	s.Devices[0].Activity = setup.Plus(steady)
	s.Devices[0].WindowNS = s.Devices[0].Activity.Window()
	s.Idle = []summary.Idle{{Owner: summary.OwnerHost, State: summary.StateAlloc, Name: "cudaFree", NS: 9_600 * ms, Count: 3, MaxNS: 9_000 * ms}}
	s.Sort()
	f := find(t, Judge(s, rule.DefaultThresholds()), rule.GPUIdle)
	if want := "GPU idle: 60.0% of the window without warm-up (600 ms of 1 s); limit 50%"; f.Title != want {
		t.Errorf("got  %s\nwant %s", f.Title, want)
	}
	if len(f.Next) != 1 || !strings.HasPrefix(rule.Text(f.Next[0]), "Record again without warm-up") || strings.Contains(strings.Join(f.Evidence, " "), "allocating") {
		t.Errorf("evidence %q\nsteps %q", f.Evidence, texts(f.Next))
	}
}

// TestOtherAccelerator: who records an accelerator that is no GPU has not forgotten
// an option of the profiler.
func TestOtherAccelerator(t *testing.T) {
	for category, told := range map[string]bool{"mtia_ccp_events": true, "hpu_op": true, "cpu_op": false} {
		s := &summary.Summary{Inputs: []summary.Input{{Format: "kineto"}}, Spans: []summary.Span{{Name: "merge", Category: category, Count: 1, SelfNS: ms}}}
		r := Judge(s, rule.DefaultThresholds())
		if got := strings.Contains(r.Verdict.Sentence, "another accelerator ("+category+")"); got != told || r.Verdict.Bound != "unknown" {
			t.Errorf("%s: %s", category, r.Verdict.Sentence)
		}
		if steps := strings.Join(texts(r.Findings[0].Next), " "); strings.Contains(steps, "ProfilerActivity.CUDA") == told {
			t.Errorf("%s: steps %q", category, steps)
		}
	}
}

// TestSendLess: if DDP was found, no advice names FSDP's switches, and the other
// way round.
func TestSendLess(t *testing.T) {
	for name, has := range map[string]string{"DistributedDataParallel.forward": "DDP", "FullyShardedDataParallel.forward": "FSDP", "forward": ""} {
		s := one(0, 300, 0)
		s.Inputs = []summary.Input{{Format: "kineto"}}
		s.Annotations = []summary.Annotation{{Name: name, Count: 1}}
		steps := strings.Join(texts(find(t, Judge(s, rule.DefaultThresholds()), rule.ExposedComm).Next), " ")
		for _, of := range []string{"DDP", "FSDP"} {
			if told := strings.Contains(steps, "With "+of+": reduce gradients in bfloat16"); told != slices.Contains(strings.Fields(has), of) {
				t.Errorf("%s: of %s told %v: %s", name, of, told, steps)
			}
			if !strings.Contains(has, of) && strings.Contains(steps, of) {
				t.Errorf("%s is told of %s: %s", name, of, steps)
			}
		}
	}
}

// TestLongPausesAreNamed: a pause of milliseconds in a function has the name of that, and
// the advice for what it does.
func TestLongPausesAreNamed(t *testing.T) {
	f := troubled(t, "long_pauses").Findings[0]
	if len(f.Next) != 2 || f.Next[0].ID != "save-asynchronously" || !strings.HasPrefix(rule.Text(f.Next[1]), `Move "demo/train.py(90): save" off the thread`) {
		t.Errorf("steps %q", texts(f.Next))
	}
}

// TestLongGapsNameTheHost: of the longest gap it is known what the host did.
func TestLongGapsNameTheHost(t *testing.T) {
	f := find(t, troubled(t, "checkpoint_of_600_ms"), rule.LongGaps)
	if !strings.HasPrefix(rule.Text(f.Next[0]), `Move "demo/train.py(90): save" off the thread`) {
		t.Errorf("steps %q", texts(f.Next))
	}
}
