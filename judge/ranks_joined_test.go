package judge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"assay/analyze"
	"assay/ingest"
	"assay/ingest/partial"
	"assay/internal/test/rankgen"
	"assay/judge/rule"
	"assay/summary"
	"assay/summary/view"
	"assay/trace"
)

// joinedRanks returns the summary of files that are given together, as a command makes it. Files that
// cannot be read are left out.
func joinedRanks(t testing.TB, files []rankgen.File) *summary.Summary {
	t.Helper()
	var parts []partial.Part
	for i, f := range files {
		tr, err := trace.Read(bytes.NewReader(f.JSON), f.Name, analyze.Needs())
		if err != nil {
			continue
		}
		digest := sha256.Sum256(f.JSON)
		in := &ingest.Input{Path: f.Name, Format: "kineto", SHA256: hex.EncodeToString(digest[:]), Trace: tr, Rank: i, RankFrom: "assumed"}
		if tr.Meta.Rank != nil {
			in.Rank, in.RankFrom = *tr.Meta.Rank, "trace"
		}
		p, err := partial.Measure(in, partial.Options{Options: analyze.DefaultOptions()})
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, p)
	}
	parts, _, failed := partial.Arrange(parts)
	if len(failed) > 0 {
		t.Fatal(failed)
	}
	s := partial.Join(parts)
	partial.NoteRepeatedRanks(s)
	return s
}

// TestCyclesOfRanks: captures that the same processes write one after the other are one run. Its waits are
// those of all cycles, which follow from the program: in each step the others wait for 72 kernels that are a
// quarter longer.
func TestCyclesOfRanks(t *testing.T) {
	const cycles, n, slow, steps = 3, 4, 2, 5
	var files []rankgen.File
	wait := int64(0)
	for c := range cycles {
		j := rankgen.SlowGPU(n, steps, slow)
		j.BaseTime += int64(c) * 40_000_000_000
		for _, f := range j.Files(j.Places()) {
			f.Name = fmt.Sprintf("worker-%d_%d.%d.pt.trace.json", f.Place/2, 4000+7*f.Place, j.BaseTime)
			files = append(files, f)
		}
		for _, r := range j.Truth(j.Places()).Ranks {
			wait += r.Wait
		}
	}
	s := joinedRanks(t, files)
	if got := view.GPUs(s); got != n || len(s.Devices) != cycles*n {
		t.Errorf("%d GPUs in %d windows, want %d in %d", got, len(s.Devices), n, cycles*n)
	}
	if jobs := view.Jobs(s); len(jobs) != 1 {
		t.Errorf("jobs %v, want one", jobs)
	}
	f := findingOf(Judge(s, rule.DefaultThresholds()).Findings, rule.StragglingRank)
	if f == nil || !strings.HasPrefix(f.Title, "Straggler: rank 2; 3 other ranks wait") || f.NumeratorNS != wait {
		t.Fatalf("want rank 2 and %d ns, got %+v", wait, f)
	}
	if s.Issue("rank-repeated") != nil {
		t.Error("cycles are not several runs")
	}
}

// TestCascade: a rank that comes last because it had waited in its tensor group is not the cause. Two slow ranks of
// one group do not wait for each other, and both are named. The causes follow from the programs.
func TestCascade(t *testing.T) {
	for _, tc := range []struct{ run, title, root string }{
		{"tp_dp_slow", "Straggler: rank 3; 7 other ranks wait", "[0 0 0 50400000 0 0 0 0]"},
		{"tp_dp_slow_pair", "Stragglers: ranks 4 and 5; waiting", "[0 0 0 0 21600000 21600000 0 0]"},
		{"slow_gpu", "Straggler: rank 5; 7 other ranks wait", "[0 0 0 0 0 50417136 0 0]"},
	} {
		j, given, truth := generated(tc.run)
		s := joinedRanks(t, j.Files(given))
		f := findingOf(Judge(s, rule.DefaultThresholds()).Findings, rule.StragglingRank)
		if f == nil || !strings.HasPrefix(f.Title, tc.title) {
			t.Errorf("%s: %+v, want %q", tc.run, f, tc.title)
		}
		var root []int64
		for i, r := range s.Ranks {
			root = append(root, view.RootOf(r))
			if r.CausedNS != truth.Ranks[i].Caused {
				t.Errorf("%s: rank %d caused %d ns, want %d", tc.run, r.Rank, r.CausedNS, truth.Ranks[i].Caused)
			}
		}
		if fmt.Sprint(root) != tc.root {
			t.Errorf("%s: waiting began with %v, want %s", tc.run, root, tc.root)
		}
	}
}

// TestRunsAreNoCycles: other processes with the same ranks are another run.
func TestRunsAreNoCycles(t *testing.T) {
	var files []rankgen.File
	for c := range 2 {
		j := rankgen.SlowGPU(2, 4, 1)
		j.BaseTime += int64(c) * 40_000_000_000
		for _, f := range j.Files(j.Places()) {
			f.Name = fmt.Sprintf("worker_%d.%d.pt.trace.json", 4000+7*f.Place+100*c, j.BaseTime)
			files = append(files, f)
		}
	}
	s := joinedRanks(t, files)
	if got := view.GPUs(s); got != 4 || s.Issue("rank-repeated") == nil || len(view.Jobs(s)) != 2 {
		t.Errorf("%d GPUs, issues %v, jobs %v; want 4, rank-repeated and 2", got, s.Issues, view.Jobs(s))
	}
}
