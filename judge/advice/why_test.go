package advice

import (
	"testing"

	"assay/summary"
)

// TestTimeOfOthers: the time of several other ranks is their median, and is called that; that of one is its own.
func TestTimeOfOthers(t *testing.T) {
	for with, want := range map[int]string{
		1: "rank 4: idle for 90 ms, 20 ms on the other: its CPU launches late",
		3: "rank 4: idle for 90 ms, a median of 20 ms on the others: its CPU launches late",
	} {
		r := summary.RankWait{Rank: 4, Others: &summary.Comparison{With: with, IdleNS: 90_000_000, IdleOthersNS: 20_000_000}}
		if got, ok := WhyLate("rank 4", r); !ok || len(got) != 1 || got[0] != want {
			t.Errorf("%d others: %q, want %q", with, got, want)
		}
	}
}
