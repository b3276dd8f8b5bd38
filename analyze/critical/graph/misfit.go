package graph

import (
	"fmt"

	"assay/internal/lazyregexp"
)

// together are collectives that no rank leaves before all have come. The root of a broadcast does.
var together = lazyregexp.New(`(?i)all_?reduce|all_?gather|reduce_?scatter|all_?to_?all`)

// No rank leaves a collective before the last has come. Once the clocks are aligned, collectives for which
// that does not hold are of several runs, of groups that do not belong together, or have wrong times.
const (
	mostApart   = 60_000_000_000            // ns between the clocks of ranks of one run
	unixTime    = 1_000_000_000_000_000_000 // tells wall clocks from times since the start of a machine
	fewMatched  = 5                         // collectives that prove nothing
	leavesEarly = 5.0                       // percent of the collectives that may be wrong
	alignSlack  = 100 * Us                  // of clocks that were aligned by the typical end
	driftOf     = 20_000                    // clocks drift apart by one part of this, 50 ppm
)

// misfit says why the ranks are not of one run, or "".
func (m *matched) misfit() string {
	gs, keys := m.gs, m.keys
	start := func(r int, k collectiveKey) int64 { return Within(gs[r].Start[m.kernels[r][k]]-m.offsets[r], Far) }
	end := func(r int, k collectiveKey) int64 { return start(r, k) + gs[r].Dur[m.kernels[r][k]] }
	wall := func(r int) int64 { // of the first collective
		at := start(r, keys[0]) + m.offsets[r]
		if base := gs[r].Ranks[0].T.Meta.BaseTime; base != nil {
			at = Within(at, Far) + *base
		}
		return at
	}
	for r := range gs {
		if a, b := wall(0), wall(r); a >= unixTime && b >= unixTime && (a-b > mostApart || b-a > mostApart) {
			return fmt.Sprintf("rank %d recorded over a minute apart from rank %d, so they are of several runs", gs[r].Ranks[0].Rank, gs[0].Ranks[0].Rank)
		}
	}
	early := make([]int64, len(gs))
	began := start(0, keys[0])
	worst, bad, all := 0, int64(0), int64(0)
	for _, k := range keys {
		if !together().MatchString(gs[0].Name(m.kernels[0][k])) {
			continue
		}
		all++
		came := int64(-Far)
		for r := range gs {
			came = max(came, start(r, k))
		}
		left := false
		for r := range gs {
			if slack := alignSlack + max(0, came-began)/driftOf; end(r, k) < came-slack {
				left = true
				if early[r]++; early[r] > early[worst] {
					worst = r
				}
			}
		}
		if left {
			bad++
		}
	}
	if bad < fewMatched || Percent(bad, all) <= leavesEarly {
		return ""
	}
	return fmt.Sprintf("%.0f%% of the collectives end on one rank (most often %d) before they begin on another, so the ranks are of several runs or groups, or times are wrong",
		Percent(bad, all), gs[worst].Ranks[0].Rank)
}
