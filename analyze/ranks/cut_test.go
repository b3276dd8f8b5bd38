package ranks

import (
	"slices"
	"testing"

	"assay/internal/test/rankgen"
	"assay/summary"
)

// scenarioNamed returns the files of a generated run, and what is true of it.
func scenarioNamed(name string) ([]rankgen.File, rankgen.Truth) {
	all := rankgen.Scenarios()
	j, given := all[slices.IndexFunc(all, func(s rankgen.Scenario) bool { return s.Name == name })].Job()
	return j.Files(given), j.Truth(given)
}

// TestCutRank: a rank whose input ends early takes nothing from the comparison of the others.
// It waits as long as they do, so their waits are those of the whole run.
func TestCutRank(t *testing.T) {
	const cut, left = 3, 5
	for _, name := range []string{"slow_gpu", "slow_host", "no_seq"} {
		files, truth := scenarioNamed(name)
		rows := func(marked bool) *summary.Summary {
			s, members := summaryOf(t, files), measured(t, files)
			m := &members[cut]
			m.Cut = marked
			m.Columns.Runs = m.Columns.Runs[:left]
			for i := range s.Kernels { // what is left of its kernels is a part, too
				if k := &s.Kernels[i]; k.Input == m.Input {
					k.Count, k.TotalNS = k.Count/4, k.TotalNS/4
				}
			}
			Match(members).AddTo(s)
			return s
		}
		s := rows(true)
		for _, r := range s.Ranks {
			want := truth.Ranks[files[r.Input].Place]
			if r.Rank == cut {
				if r.Collectives != left {
					t.Errorf("%s: the rank that was cut is compared in %d collectives, want %d", name, r.Collectives, left)
				}
				continue
			}
			if name != "no_seq" && (r.WaitNS != want.Wait || r.TransferNS != want.Transfer) || r.Collectives != want.Collectives || r.Incomplete != 0 {
				t.Errorf("%s: rank %d waits %d ns in %d collectives, transfer %d ns; want %d ns in %d, %d ns", name, r.Rank, r.WaitNS, r.Collectives, r.TransferNS, want.Wait, want.Collectives, want.Transfer)
			}
		}
		if len(s.Topologies) != 1 || s.Topologies[0].PeersFrom != "all" {
			t.Errorf("%s: the ranks were divided by their kernels: %+v", name, s.Topologies)
		}
		for _, c := range s.Collectives {
			if c.Ranks != len(files)-1 || !c.Partial || c.BusBWGBps != nil {
				t.Errorf("%s: %s of %d ranks, partial %v, bandwidth %v; want %d, true, none", name, c.Op, c.Ranks, c.Partial, c.BusBWGBps, len(files)-1)
			}
		}
		// A rank that recorded fewer collectives, with its file complete, leaves the others without
		// a sum in those that it lacks.
		for _, r := range rows(false).Ranks {
			if r.Collectives > left {
				t.Errorf("%s: rank %d is compared in %d collectives, and rank %d has %d", name, r.Rank, r.Collectives, cut, left)
			}
		}
	}
}
