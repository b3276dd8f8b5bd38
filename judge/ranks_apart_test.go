package judge

import (
	"strings"
	"testing"

	"assay/internal/test/damage"
	"assay/internal/test/rankgen"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary/view"
)

// TestRanksApart: traces of ranks that cannot be of one run are named, and no rank is compared. What a healthy run
// does is no reason: clocks that differ, ranks that begin later or run 7 times as long, one step in common.
func TestRanksApart(t *testing.T) {
	scenario := func(name string) []rankgen.File {
		j, given, _ := generated(name)
		return j.Files(given)
	}
	apart := func(ns int64) []rankgen.File {
		files := rankgen.SlowHost(4, 5, 3).Files([]int{0, 1, 2, 3})
		later := rankgen.SlowHost(4, 5, 3)
		later.BaseTime += ns
		files[1] = later.Files([]int{1})[0]
		return files
	}
	slower := func(times float64) []rankgen.File {
		files := rankgen.Training(3, 4).Files([]int{0, 1, 2})
		files[2].JSON = damage.Scaled(files[2].JSON, times)
		return files
	}
	steps := func(by int) []rankgen.File {
		files := rankgen.Training(3, 4).Files([]int{0, 1, 2})
		files[0].JSON = damage.Renumbered(files[0].JSON, by)
		return files
	}
	for _, tc := range []struct {
		name  string
		files []rankgen.File
		want  string // of the issue; "" if the ranks can be compared
	}{
		{"short collectives", damaged(scenario("random"), "collectives of a rank a tenth as long", 2), "Rank 2 (rank2.json) leaves collectives before"},
		{"short collectives without numbers", damaged(scenario("no_seq"), "collectives of a rank a tenth as long", 4), "Rank 4 (rank4.json) leaves collectives before"},
		{"clocks differ by 10 ms", scenario("offsets"), ""},
		{"a rank begins later", scenario("begins_later"), ""},
		{"two nodes", scenario("two_nodes"), ""},
		{"other splits on every rank", scenario("experts"), ""},
		{"45 s apart", apart(45e9), ""},
		{"75 s apart", apart(75e9), "Rank 1 (rank1.json) recorded "},
		{"a rank 7 times as slow", slower(7), ""},
		{"a rank in ns", slower(1000), "Kernels with the same names take over 10 times as long or as short on rank 2 (rank2.json)"},
		{"one step in common", steps(3), ""},
		{"no step in common", steps(4), "Rank 0 (rank0.json) recorded step 7 to 10, and no other rank did."},
		{"other world size", damaged(scenario("even"), "another world size in a rank", 1), "The job of this trace has 640 ranks"},
	} {
		s := joinedRanks(t, tc.files)
		r := Judge(s, rule.DefaultThresholds())
		list := view.RanksApart(s)
		if tc.want == "" {
			if len(list) > 0 || len(s.Ranks) < 2 {
				t.Errorf("%s: %v, %d ranks compared", tc.name, list, len(s.Ranks))
			}
			continue
		}
		if len(list) != 1 || !strings.Contains(strings.ToLower(list[0].Help), strings.ToLower(tc.want)) {
			t.Errorf("%s: %+v, want %q", tc.name, list, tc.want)
		}
		if len(s.Ranks) > 0 || r.Verdict.Bound != finding.BoundUnknown || r.Unusable() == nil || findingOf(r.Findings, rule.StragglingRank) != nil {
			t.Errorf("%s: %d ranks compared, verdict %+v", tc.name, len(s.Ranks), r.Verdict)
		}
	}
}
