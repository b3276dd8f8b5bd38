package compare

import (
	"math/rand/v2"
	"testing"
)

// TestExplaining checks that the named parts have the direction of the change, are the largest of it, and
// sum to most of it unless the next one is small or there are too many.
func TestExplaining(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 7))
	for range 2000 {
		deltas, all := make([]int64, 1+rnd.IntN(8)), int64(0)
		for i := range deltas {
			deltas[i] = rnd.Int64N(2001) - 1000
			all += deltas[i]
		}
		most := 1 + rnd.IntN(4)
		named, other := Explaining(deltas, all, most)
		used, sum := map[int]bool{}, int64(0)
		for k, i := range named {
			if used[i] || (deltas[i] > 0) != (all > 0) || k > 0 && magnitude(deltas[i]) > magnitude(deltas[named[k-1]]) {
				t.Fatalf("%v of %v: %v", all, deltas, named)
			}
			used[i], sum = true, sum+deltas[i]
		}
		for i, d := range deltas { // what is not named is smaller, and was not needed
			if used[i] || d == 0 || (d > 0) != (all > 0) {
				continue
			}
			enough := 10*magnitude(sum) >= 8*magnitude(all)
			if len(named) > 0 && magnitude(d) > magnitude(deltas[named[len(named)-1]]) || !enough && len(named) < most && 20*magnitude(d) >= magnitude(all) {
				t.Fatalf("%v of %v: %v lacks %d", all, deltas, named, i)
			}
		}
		if over := 10*magnitude(sum) > 12*magnitude(all); over != (other >= 0) || other >= 0 && (deltas[other] > 0) == (all > 0) {
			t.Fatalf("%v of %v: %v and %d", all, deltas, named, other)
		}
	}
}

// TestMoved checks units and decimals.
func TestMoved(t *testing.T) {
	for _, tc := range []struct {
		of        string
		base, new int64
		want      string
	}{
		{"ns", 48_600_000_000, 63_600_000_000, "step 48.6 → 63.6 s (+15.0 s)"},
		{"ns", 17_980_000_000, 6_100_000_000, "step 17.98 → 6.10 s (-11.88 s)"},
		{"ns", 126_740_000_000, 136_950_000_000, "step 126.7 → 137.0 s (+10.2 s)"},
		{"ns", 251_500_000, 276_650_000, "step 251.5 → 276.7 ms (+25.2 ms)"},
		{"ns", 700_000_000_000, 1_400_000_000_000, "step 11.7 → 23.3 min (+11.7 min)"},
		{"ns", 100, 1000, "step 100 ns → 1.00 µs (+0.90 µs, ×10)"},
		{"ns", 5_000_000_000, 0, "step 5.00 → 0.00 s (-5.00 s)"},
		{"ns", 0, 5_000_000_000, "step 0.00 → 5.00 s (+5.00 s)"},
		{"bytes", 1 << 31, 1 << 32, "step 2.00 → 4.00 GiB (+2.00 GiB)"},
		{"", 1000, 2500, "step 1,000 → 2,500 (+1,500)"},
	} {
		if got := UnitOf(tc.of, tc.base, tc.new).Moved("step", tc.base, tc.new); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
	if got := UnitOf("ns", 48_600_000_000, 48_700_000_000).Unchanged("step", 48_600_000_000, 48_700_000_000); got != "step unchanged: 48.7 s (+0.1 s)" {
		t.Error(got)
	}
}
