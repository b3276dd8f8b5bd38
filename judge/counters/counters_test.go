package counters

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"assay/judge/rule"
	"assay/judge/tree"
	"assay/summary"
)

// TestCounterShares: every kernel counts for one rule, so their parts sum to
// all kernel time.
func TestCounterShares(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var rows []summary.Counter
		for i := range 1 + rnd.IntN(30) {
			rows = append(rows, summary.Counter{Kernel: fmt.Sprint(i), Launches: 1, TotalNS: 1 + rnd.Int64N(1000), ComputePct: known(rnd), MemoryPct: known(rnd)})
		}
		b := New(tree.NewContext(&summary.Summary{Counters: rows}, rule.DefaultThresholds()))
		sum := b.weightOf(rule.CountersMissing)
		for _, g := range groups() {
			sum += b.weightOf(g.rule)
		}
		if sum != b.total {
			t.Fatalf("parts sum to %d of %d", sum, b.total)
		}
	}
}

// known returns a share of a peak in percent, or nil in one of 20 cases: not collected.
func known(rnd *rand.Rand) *float64 {
	v := rnd.Float64()*105 - 5
	if v < 0 {
		return nil
	}
	return &v
}
