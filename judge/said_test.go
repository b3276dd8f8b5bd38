package judge

import (
	"slices"
	"strings"
	"testing"

	"assay/internal/tracegen"
	"assay/summary"
)

// These tests read a verdict as who gets it does: what is said first must be true,
// be about the trouble, and not be taken back by what is said next.

// troubled judges the run of a trouble.
func troubled(t *testing.T, name string) Result {
	t.Helper()
	i := slices.IndexFunc(tracegen.Troubles(), func(tr tracegen.Trouble) bool { return tr.Name == name })
	if i < 0 {
		t.Fatalf("no trouble is called %q", name)
	}
	return Judge(traced(t, tracegen.Troubles()[i].Ranks), DefaultThresholds())
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
		if f := troubled(t, name).Findings[0]; f.Next[0] != say(want) {
			t.Errorf("%s: the first step is %q, want that of %s", name, f.Next[0], want)
		}
	}
}

// TestLongPausesAreNamed: a pause of milliseconds in a function is no launch that is
// slow.
func TestLongPausesAreNamed(t *testing.T) {
	f := troubled(t, "long_pauses").Findings[0]
	if len(f.Next) != 1 || !strings.HasPrefix(f.Next[0], `see what the host does in "demo/train.py(90): save"`) {
		t.Errorf("steps %q", f.Next)
	}
	for mean, want := range map[int64]string{longGap: "see-what-the-host-does", longGap - 1: "launch-less"} {
		o := ownerShare{owner: summary.OwnerHost, state: summary.StateOp, name: "aten::mm", ns: 3 * mean, count: 3}
		if got := remedies().entryOf(o.advice(&torchRecorder)[0]).id; got != want {
			t.Errorf("pieces of %d ns: %s, want %s", mean, got, want)
		}
	}
}

// TestLateRankNamesItsLimits: the exposed communication that it stands for may be
// critical where the waiting is not. What the rank does more of is told with it.
func TestLateRankNamesItsLimits(t *testing.T) {
	r := troubled(t, "slow_rank")
	f := find(t, r, RuleStragglingRank)
	for _, want := range []string{"(20 ms of 127.6 ms), over the warn limit of 10%", "(27.5 ms of 127.6 ms), over the critical limit of 20%"} {
		if !strings.Contains(f.Title, want) {
			t.Errorf("%s\nhas no %q", f.Title, want)
		}
	}
	if f.Level != Critical || findingOf(r.Findings, RuleUnevenRanks) != nil {
		t.Errorf("level %s\n%s", f.Level, told(r))
	}
	if !slices.ContainsFunc(f.Evidence, func(e string) bool { return strings.HasPrefix(e, "rank 1 computes for 40 ms") }) ||
		f.Next[len(f.Next)-1] != say("even-out-the-work") || slices.Contains(f.Next, say("send-less")) {
		t.Errorf("evidence %q\nsteps %q", f.Evidence, f.Next)
	}
}

// TestEvenStepsOfUnevenRanks: one rank's steps take 8 ms and the other's 5 ms, each
// the same time whenever they run.
func TestEvenStepsOfUnevenRanks(t *testing.T) {
	r := troubled(t, "more_tokens")
	if findingOf(r.Findings, RuleUnevenSteps) != nil {
		t.Errorf("steps of even length are called uneven:\n%s", told(r))
	}
	want := "rank 0 computes for 40 ms, the mean of 2 ranks for 32.5 ms: the difference is 18.8% of its compute time (7.5 ms of 40 ms), over the warn limit of 10%"
	if got := find(t, r, RuleUnevenRanks).Title; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	// Half of the lengths lie 1.5 ms or more from the middle one.
	s := traced(t, tracegen.Troubles()[slices.IndexFunc(tracegen.Troubles(), func(tr tracegen.Trouble) bool { return tr.Name == "lengths_that_vary" })].Ranks)
	f := find(t, Judge(s, DefaultThresholds()), RuleUnevenSteps)
	far, middle := 0, medianOf(indices(len(s.Steps)), func(i int) int64 { return s.Steps[i].WallNS })
	for _, st := range s.Steps {
		if max(st.WallNS-middle, middle-st.WallNS) >= f.NumeratorNS {
			far++
		}
	}
	if 2*far < len(s.Steps) || f.DenominatorNS != middle || !strings.HasPrefix(f.Title, "steps are uneven: half of them are ") {
		t.Errorf("%s: %d of %d steps are so far off %d ns", f.Title, far, len(s.Steps), middle)
	}
}

func indices(n int) (out []int) {
	for i := range n {
		out = append(out, i)
	}
	return out
}

// TestMemoryBoundIsNotComputeBound: what says that memory decides must not say of
// the window, or of its steps, that compute does.
func TestMemoryBoundIsNotComputeBound(t *testing.T) {
	r := troubled(t, "small_arithmetic")
	if r.Verdict.Bound != "memory" || findingOf(r.Findings, RuleSteadySteps) != nil || strings.Contains(told(r), "compute-bound run") {
		t.Errorf("%s-bound\n%s", r.Verdict.Bound, told(r))
	}
}

// TestNothingElseIsNotSaid: calls that hold the host are over a limit of their own,
// though no part of the window is.
func TestNothingElseIsNotSaid(t *testing.T) {
	r := troubled(t, "copy_back")
	if find(t, r, RuleSyncCopies).Level != Warn || strings.Contains(r.Verdict.Sentence, "nothing else") {
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
