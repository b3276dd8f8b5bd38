package advice

import (
	"testing"

	"assay/summary"
)

// TestAdviceOfMissingRanks: if ranks were not given, little waiting among the others does
// not say that the ranks arrive together.
func TestAdviceOfMissingRanks(t *testing.T) {
	given := func() *summary.Summary {
		transfer, bytes := int64(180), int64(1<<20)
		return &summary.Summary{
			Ranks:       []summary.RankWait{{Rank: 0, Collectives: 9, TransferNS: 90, WaitNS: 1, CausedNS: 1}, {Rank: 1, Collectives: 9, TransferNS: 90, WaitNS: 1, CausedNS: 1}},
			Collectives: []summary.Collective{{Op: "all_reduce", Ranks: 2, GroupSize: 2, Count: 9, Bytes: &bytes, TransferNS: &transfer}},
		}
	}
	partial, missing := given(), given()
	partial.Collectives[0].GroupSize, partial.Collectives[0].Partial = 8, true
	missing.Issues = []summary.Issue{{Code: "ranks-missing", Severity: "info", Count: 6}}
	for _, tc := range []struct {
		what string
		s    *summary.Summary
		want string
	}{{"all ranks", given(), "transfer-less"}, {"2 of 8 ranks of a group", partial, "give-all-ranks"}, {"2 of 8 ranks of the job", missing, "give-all-ranks"}} {
		w, ok := WaitsOfRanks(tc.s)
		if got := w.Advice().ID; !ok || got != tc.want {
			t.Errorf("%s: %s (compared: %v), want %s", tc.what, got, ok, tc.want)
		}
	}
}
