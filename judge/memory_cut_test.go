package judge

import (
	"testing"

	"assay/internal/test"
	"assay/judge/finding"
	"assay/judge/rule"
)

// TestCutSnapshot: wherever a snapshot is cut, it has no cause that its missing part could change: in the whole file one
// site takes 51% of the peak, in its first 3% a site takes 61%. The fix is to pass the whole file.
func TestCutSnapshot(t *testing.T) {
	whole := string(test.Unpacked(t, "../testdata/h200/out_of_memory/snapshot_oom.pickle.gz"))
	of := func(text string) (has map[string]bool, r Result) {
		has, r = map[string]bool{}, Judge(given(text)(t), rule.DefaultThresholds())
		for _, f := range r.Findings {
			has[f.Rule] = true
		}
		return has, r
	}
	if has, r := of(whole); !has[rule.MemoryExhausted] || !has[rule.MemoryOwner] || r.Verdict.Bound != finding.BoundOutOfMemory {
		t.Errorf("the whole file: %v, %s", has, r.Verdict.Sentence)
	}
	for _, percent := range []int{3, 8, 30, 95} {
		has, r := of(whole[:len(whole)*percent/100])
		if has[rule.MemoryOwner] || has[rule.MemoryFragmented] || has[rule.MemoryGrowth] || has[rule.AllocatorChurn] || r.Verdict.Bound != finding.BoundUnknown {
			t.Errorf("cut to %d%%: %v, %s", percent, has, r.Verdict.Sentence)
		}
		f := find(t, r, rule.MemoryUnrecorded)
		if next := ids(f.Next); len(next) == 0 || next[0] != "read-the-whole-snapshot" {
			t.Errorf("cut to %d%%: fixes %v", percent, next)
		}
	}
}
