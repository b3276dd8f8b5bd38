package critical

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
	alignSlack  = 100 * us                  // of clocks that were aligned by the typical end
	driftOf     = 20_000                    // clocks drift apart by one part of this, 50 ppm
)

// misfit says why the ranks of a joined graph are not of one run, or "". It looks at the collectives before
// they become transfers; bases are the first nodes of the ranks.
func (g *Graph) misfit(keys []collectiveKey, kernels []map[collectiveKey]int32, bases []int32) string {
	if len(keys) == 0 {
		return ""
	}
	wall := func(r int) int64 { // of the first collective
		src := g.ranks[r]
		at := g.nodes[kernels[r][keys[0]]+bases[r]].start + src.offset
		if base := src.t.Meta.BaseTime; base != nil {
			at = within(at, far) + *base
		}
		return at
	}
	for r := range kernels {
		if a, b := wall(0), wall(r); a >= unixTime && b >= unixTime && (a-b > mostApart || b-a > mostApart) {
			return fmt.Sprintf("rank %d recorded over a minute apart from rank %d, so they are of several runs", g.ranks[r].rank, g.ranks[0].rank)
		}
	}
	early := make([]int64, len(kernels))
	began := g.nodes[kernels[0][keys[0]]+bases[0]].start
	worst, bad, all := 0, int64(0), int64(0)
	for _, k := range keys {
		if !together().MatchString(g.name(kernels[0][k] + bases[0])) {
			continue
		}
		all++
		came := int64(-far)
		for r := range kernels {
			came = max(came, g.nodes[kernels[r][k]+bases[r]].start)
		}
		left := false
		for r := range kernels {
			if slack := alignSlack + max(0, came-began)/driftOf; g.nodes[kernels[r][k]+bases[r]].end() < came-slack {
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
	if bad < fewMatched || percent(bad, all) <= leavesEarly {
		return ""
	}
	return fmt.Sprintf("%.0f%% of the collectives end on one rank (most often %d) before they begin on another, so the ranks are of several runs or groups, or times are wrong",
		percent(bad, all), g.ranks[worst].rank)
}
