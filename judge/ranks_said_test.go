package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/internal/unit"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// TestLevelsOfRanks: the level of a finding about ranks is that of the limit in its title,
// also where the exposed communication as a whole is over a higher one.
func TestLevelsOfRanks(t *testing.T) {
	warned := 0
	for _, run := range labelledRanks() {
		r := Judge(run.in(t), rule.DefaultThresholds())
		f := r.Findings[0]
		if f.InPlaceOf != rule.ExposedComm {
			continue
		}
		want, limit := finding.Warn, f.Warn
		if f.Value >= f.Critical {
			want, limit = finding.Critical, f.Critical
		}
		if f.Level != want || !strings.HasSuffix(f.Title, "; limit "+unit.Percent(limit)) {
			t.Errorf("%s: level %v of %v: %s", run.name, f.Level, f.Value, f.Title)
		}
		if f.Level == finding.Warn {
			warned++
		}
	}
	if warned < 2 {
		t.Errorf("%d findings are warnings; the test tests little", warned)
	}
}

// TestRunsApart: of a trainer and a server, the waiting is that of the trainer alone, over the
// windows of its GPUs.
func TestRunsApart(t *testing.T) {
	f := find(t, Judge(ranked(t, "trainer_rollout"), rule.DefaultThresholds()), rule.RanksInTurn)
	j, given, truth := generated("trainer_rollout")
	var wait, window int64
	for i, file := range j.Files(given) {
		if r := truth.Ranks[i]; strings.HasPrefix(file.Name, "trainer/") {
			wait, window = wait+r.Wait, window+r.Window
		}
	}
	if f.NumeratorNS != wait || f.DenominatorNS != window {
		t.Errorf("%d of %d ns, want %d of %d", f.NumeratorNS, f.DenominatorNS, wait, window)
	}
	if want := fmt.Sprintf("Ranks late in turn (run trainer): waiting takes %s of their GPU time", unit.Share(wait, window)); !strings.HasPrefix(f.Title, want) {
		t.Errorf("title %q, want %q", f.Title, want)
	}
}

// TestSlowestTransfer: if the ranks arrive together, the cause of exposed communication is the
// transfer with most of it. The bandwidth is that of nccl-tests: 2 (n-1)/n of the bytes of an
// all-reduce, over the time.
func TestSlowestTransfer(t *testing.T) {
	for name, want := range map[string]string{
		"two_nodes":    "all-reduce of 2 MiB on 2 ranks ([0, 4] and 3 more groups)",
		"slow_network": "all-reduce of 4 MiB on 8 ranks",
	} {
		f := find(t, Judge(ranked(t, name), rule.DefaultThresholds()), rule.ExposedComm)
		_, _, truth := generated(name)
		var ns, all int64
		var gbps float64
		for row, sums := range truth.Rows {
			all += sums.Transfer*int64(sums.Given) + sums.Wait
			if row.Op == "all-reduce" && strings.HasPrefix(want, "all-reduce of "+unit.Bytes(row.Bytes)) && strings.Contains(want, fmt.Sprintf("on %d ranks", sums.Given)) {
				ns += sums.Transfer * int64(sums.Given)
				n := float64(sums.Given)
				gbps = float64(row.Bytes) * float64(sums.Count) / float64(sums.Transfer) * 2 * (n - 1) / n
			}
		}
		sentence := fmt.Sprintf("the transfer of %s is %s of the communication time, at a bus bandwidth of %.1f GB/s", want, unit.Share(ns, all), gbps)
		if !strings.HasPrefix(f.Cause, sentence) {
			t.Errorf("%s: the cause is %q, want %q", name, f.Cause, sentence)
		}
	}
}

// TestSynchronizationAfterLoading: a finding of waits for the GPU says that the idle time after
// them is data loading. The near miss waits after each kernel and loads nothing.
func TestSynchronizationAfterLoading(t *testing.T) {
	f := find(t, Judge(ranked(t, "late_in_turn"), rule.DefaultThresholds()), rule.SyncCalls)
	if !strings.HasPrefix(f.Cause, "after these calls, the CPU loads data while the GPU is idle: ") {
		t.Errorf("the cause is %q", f.Cause)
	}
	f = find(t, Judge(looped{30, "cudaStreamSynchronize", 0}.summary(t), rule.DefaultThresholds()), rule.SyncCalls)
	if strings.Contains(f.Cause, "loads data") {
		t.Errorf("without data loading, the cause is %q", f.Cause)
	}
}

// TestJobsOfDifferentSizes: ranks of jobs of different sizes are not compared by their sums of
// communication time. Those of one job are: the one with least of it is the straggler.
func TestJobsOfDifferentSizes(t *testing.T) {
	for _, mixed := range []bool{false, true} {
		s := ranked(t, "slow_gpu")
		s.Ranks, s.Collectives = nil, nil
		if mixed {
			s.Issues = append(s.Issues, summary.Issue{Code: "world-sizes-differ", Severity: "suspect", Count: 1})
		}
		r := Judge(s, rule.DefaultThresholds())
		late := slices.ContainsFunc(r.Findings, func(f finding.Finding) bool {
			return f.Rule == rule.StragglingRank || slices.ContainsFunc(f.Next, func(st finding.Step) bool { return st.ID == "find-the-late-rank" })
		})
		if late == mixed {
			t.Errorf("mixed: %v; a rank is called late: %v\n%s", mixed, late, told(r))
		}
	}
}
