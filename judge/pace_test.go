package judge

import (
	"testing"

	"assay/internal/test/rankgen"
	"assay/summary/view"
)

// TestSlowestRank: of every generated run whose ranks are ordered, the slowest rank is one for
// which the program of the generator lets the others wait longest, and the fastest one of
// the others that wait longest.
func TestSlowestRank(t *testing.T) {
	ordered := 0
	for _, sc := range rankgen.Scenarios() {
		if testing.Short() && sc.Name != "two_nodes" && sc.Name != "slow_gpu" {
			continue
		}
		s := ranked(t, sc.Name)
		devices := view.RankDevices(s)
		if devices == nil {
			continue
		}
		p := view.PaceOf(s, devices)
		if p.Unknown != view.PaceKnown || !p.Waits {
			continue
		}
		_, _, truth := generated(sc.Name)
		caused, wait := map[int]int64{}, map[int]int64{}
		most := int64(0)
		for _, r := range truth.Ranks {
			if r.Given {
				caused[r.Number], wait[r.Number] = r.Caused, r.Wait
				most = max(most, r.Caused)
			}
		}
		slowest, fastest := s.Devices[devices[p.Slowest]].Rank, s.Devices[devices[p.Fastest]].Rank
		if caused[slowest] != most {
			t.Errorf("%s: rank %d is called slowest and causes %d ns of waiting; the most is %d", sc.Name, slowest, caused[slowest], most)
		}
		for r, ns := range wait {
			if r != slowest && ns > wait[fastest] {
				t.Errorf("%s: rank %d is called fastest and waits %d ns; rank %d waits %d", sc.Name, fastest, wait[fastest], r, ns)
			}
		}
		ordered++
	}
	if ordered < 15 && !testing.Short() {
		t.Errorf("only %d runs have an order", ordered)
	}
}
