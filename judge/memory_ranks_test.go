package judge

import (
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// ranksWithMemory returns eight ranks, of which 6 and 3 failed in this order. Rank 6 has 20 GiB of activations, the
// others have 12.
func ranksWithMemory() *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema}
	for rank := range 8 {
		s.Inputs = append(s.Inputs, summary.Input{Path: "r.pickle", Rank: rank})
		m := summary.Snapshot{Input: rank, Rank: rank, Usage: summary.Usage{Reserved: 32 * testGiB, Allocated: 30 * testGiB, Cached: 2 * testGiB},
			Peak: &summary.MemoryPeak{Live: 30 * testGiB, HighestReserved: 32 * testGiB}, Moment: &summary.MemoryMoment{At: "peak", Live: 24 * testGiB, Reserved: 32 * testGiB}}
		uses := map[string]int64{summary.UseActivations: 12, summary.UseWeights: 4, summary.UseOptimizer: 8, summary.UseCached: 8}
		if rank == 6 || rank == 3 {
			m.Moment.At = "failure"
			m.Failed, m.Capacity = 1, bytesOf(33*testGiB)
			ns := int64(1_000_000 - rank)
			m.OutOfMemory = []summary.OutOfMemory{{NS: &ns, Wanted: 4 * testGiB, Free: bytesOf(testGiB), Reserved: bytesOf(32 * testGiB), Live: bytesOf(32 * testGiB), Frame: "nets.py:9 forward"}}
		}
		if rank == 6 {
			m.Moment.Live = 32 * testGiB
			uses[summary.UseActivations], uses[summary.UseCached] = 20, 0
			m.Growing = &summary.MemoryGrowing{Ratio: 2, Fitted: 22 * testGiB, Scaled: 10 * testGiB, Needs: 32 * testGiB}
		}
		s.Snapshots = append(s.Snapshots, m)
		for owner, gib := range uses {
			if gib > 0 {
				s.MemoryUses = append(s.MemoryUses, summary.MemoryUse{Owner: owner, By: "frames", Input: rank, Rank: rank, Count: 1, Bytes: gib * testGiB})
			}
		}
	}
	return s
}

// TestMemoryOfRanks: the rank that failed first is named, with what it has more than the others.
func TestMemoryOfRanks(t *testing.T) {
	s := ranksWithMemory()
	evidence := func() string {
		r := Judge(s, rule.DefaultThresholds())
		if r.Verdict.Bound != finding.BoundOutOfMemory {
			t.Fatalf("got %v", r.Verdict)
		}
		return r.Verdict.Sentence + "\n" + strings.Join(r.Findings[0].Evidence, "\n")
	}
	all := evidence()
	// 33 GiB are there, so 11 GiB of the scaled 10 GiB would fit: 2.1 times. Twice does not explain the failure.
	for _, want := range []string{"on rank 6", "rank 3 GPU 0 failed 3 ns later", "activations 62.5% (20 GiB)", "activations: 20 GiB here, 12 GiB on the median of the other 7 GPUs"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in:\n%s", want, all)
		}
	}
	if strings.Contains(all, "would fit") {
		t.Errorf("twice the size would fit, and it failed:\n%s", all)
	}
	// With 26 GiB before, 7 GiB of 10 are left: 1.7 times would fit, 2 times needs 36 GiB.
	s.Snapshots[6].Growing = &summary.MemoryGrowing{Ratio: 2, Fitted: 26 * testGiB, Scaled: 10 * testGiB, Needs: 36 * testGiB}
	if all = evidence(); !strings.Contains(all, "this step needs 36 GiB") || !strings.Contains(all, "1.6 times") && !strings.Contains(all, "1.7 times") {
		t.Errorf("no headroom in:\n%s", all)
	}
	// Without a time of rank 3 it is not known which was first, so the first of the list is shown without an order.
	s.Snapshots[3].OutOfMemory[0].NS = nil
	if all = evidence(); strings.Contains(all, "first to fail") {
		t.Errorf("an order without times:\n%s", all)
	}
}
