package view_test

import (
	"fmt"
	"slices"
	"testing"

	"assay/internal/test/samplerun"
	"assay/summary"
	"assay/summary/view"
)

// TestRankDevices: GPUs are in the order of ranks, and there is no order of one rank or of
// a rank that is given twice.
func TestRankDevices(t *testing.T) {
	for _, tc := range []struct {
		devices string
		matched int
		want    string
		of      string
	}{
		{"10:0 9:0 0:0", 0, "[2 1 0] [0 9 10]", "rank"},
		{"0:1 0:0 1:0", 0, "[1 0 2] [0:0 0:1 1:0]", "rank:GPU"},
		{"0:0", 0, "[]", ""},
		{"0:0 0:1", 0, "[]", ""},
		{"0:0 0:1", 2, "[0 1] [0 1]", "GPU"},
		{"0:0 1:0 0:0", 0, "[]", ""},
		{"", 0, "[]", ""},
	} {
		s := &summary.Summary{Ranks: make([]summary.RankWait, tc.matched)}
		for rest := tc.devices; rest != ""; {
			d := summary.Device{Input: len(s.Devices)}
			var used int
			if _, err := fmt.Sscanf(rest, "%d:%d", &d.Rank, &d.Device); err != nil {
				t.Fatal(err)
			}
			used = len(fmt.Sprintf("%d:%d", d.Rank, d.Device))
			rest = rest[min(len(rest), used+1):]
			s.Devices = append(s.Devices, d)
		}
		order := view.RankDevices(s)
		got, of := fmt.Sprint(order), ""
		if order != nil {
			var names []string
			of, names = view.RankNames(s, order)
			got += " " + fmt.Sprint(names)
		}
		if got != tc.want || of != tc.of {
			t.Errorf("%s: got %s of %q, want %s of %q", tc.devices, got, of, tc.want, tc.of)
		}
	}
}

// TestPace compares the slowest rank with the one that the sample run made slow, and each
// reason for which there must be none with a run that lacks only that.
func TestPace(t *testing.T) {
	const n = 8
	late := samplerun.Late(n)
	for _, tc := range []struct {
		name    string
		change  func(*summary.Summary)
		slowest int
		waits   bool
		unknown view.PaceUnknown
	}{
		{"waits", func(*summary.Summary) {}, late, true, view.PaceKnown},
		{"no waits", func(s *summary.Summary) { s.Ranks = nil }, late, false, view.PaceKnown},
		{"one rank without waits", func(s *summary.Summary) { s.Ranks = s.Ranks[1:] }, late, false, view.PaceKnown},
		{"broadcast", func(s *summary.Summary) { s.Collectives[0].Op = "broadcast" }, late, true, view.PaceKnown},
		{"stages", func(s *summary.Summary) { s.Collectives[0].Op = summary.OpSendRecv }, -1, true, view.PaceStages},
		{"fewer steps", func(s *summary.Summary) { s.Steps = s.Steps[1:] }, -1, true, view.PaceUneven},
		{"without steps", func(s *summary.Summary) { s.Steps = nil }, late, true, view.PaceKnown},
		{"a quarter longer", func(s *summary.Summary) { s.Devices[2].Activity[0] += s.Devices[2].Activity.Window() / 4 }, late, true, view.PaceKnown},
		{"a third longer", func(s *summary.Summary) { s.Devices[2].Activity[0] += s.Devices[2].Activity.Window()/3 + 8 }, -1, true, view.PaceUneven},
		{"no communication", func(s *summary.Summary) {
			a := &s.Devices[2].Activity
			a[0] += a[samplerun.Comm]
			a[samplerun.Comm] = 0
		}, -1, true, view.PaceNoWaiting},
		{"equal", func(s *summary.Summary) {
			for i := range s.Ranks {
				s.Ranks[i].WaitNS = s.Ranks[0].WaitNS + int64(i)*samplerun.MS
			}
		}, -1, true, view.PaceEqual},
	} {
		s := samplerun.Ranks(n)
		tc.change(s)
		p := view.PaceOf(s, view.RankDevices(s))
		if p.Slowest != tc.slowest || p.Waits != tc.waits || p.Unknown != tc.unknown {
			t.Errorf("%s: got %+v, want rank %d", tc.name, p, tc.slowest)
		}
		if p.Slowest < 0 {
			continue
		}
		// The order is that of sorted waits; the rank that caused them has none.
		sorted := slices.Sorted(slices.Values(p.OwnNS))
		if p.OwnNS[p.Slowest] != sorted[0] || p.OwnNS[p.Fastest] != sorted[n-1] || p.OwnNS[p.Median] != sorted[n/2] {
			t.Errorf("%s: got %+v of %v", tc.name, p, sorted)
		}
	}
	s := samplerun.Ranks(2)
	if p := view.PaceOf(s, view.RankDevices(s)); p.Slowest != 1 || p.Fastest != 0 || p.Median != -1 {
		t.Errorf("of two ranks: %+v", p)
	}
}

// TestRowsOfRanks compares phases and steps with the comment of samplerun.Ranks.
func TestRowsOfRanks(t *testing.T) {
	const n = 8
	s := samplerun.Ranks(n)
	s.Phases = slices.DeleteFunc(s.Phases, func(p summary.Phase) bool { return p.Rank == 3 && p.Path == "optimizer" })
	s.Phases = slices.DeleteFunc(s.Phases, func(p summary.Phase) bool { return p.Rank > 0 && p.Path == "backward" })
	devices := view.RankDevices(s)
	rows, onGPU := view.PhasesOfRanks(s, devices)
	if !onGPU || len(rows) != 2 || rows[0].Name != "forward" || rows[1].Name != "optimizer" {
		t.Fatalf("phases are %+v", rows)
	}
	forward, optimizer := rows[0], rows[1]
	if forward.Median < 30*samplerun.MS || forward.Median > 30*samplerun.MS+samplerun.MS/3 || forward.NS[samplerun.Late(n)] < 40*samplerun.MS {
		t.Errorf("forward is %+v", forward)
	}
	if want := []int64{12, 12, 12, -1, 12, 12, 12, 12}; optimizer.Median != 12*samplerun.MS || !slices.EqualFunc(optimizer.NS, want, func(ns, ms int64) bool { return ns == max(-1, ms*samplerun.MS) }) {
		t.Errorf("optimizer is %+v", optimizer)
	}
	for i := range s.Phases {
		s.Phases[i].Total = summary.Activity{}
	}
	if rows, onGPU = view.PhasesOfRanks(s, devices); onGPU || len(rows) != 2 || rows[0].Median != samplerun.MS {
		t.Errorf("without GPU time the phases are %+v", rows)
	}
	steps := view.StepsOfRanks(s, devices)
	if len(steps) != 8 || steps[5].Number != 5 {
		t.Fatalf("steps are %+v", steps)
	}
	for _, st := range steps {
		for r, ns := range st.NS {
			want := 108 * samplerun.MS
			if st.Number == 5 && r == n/3 {
				want += 12 * samplerun.MS
			}
			if ns != want || st.Median != 108*samplerun.MS {
				t.Errorf("step %d takes %d on rank %d, median %d, want %d", st.Number, ns, r, st.Median, want)
			}
		}
	}
	two := samplerun.Ranks(2)
	if rows := view.StepsOfRanks(two, view.RankDevices(two)); rows[5].Median != 114*samplerun.MS {
		t.Errorf("the median of 108 and 120 ms is %d", rows[5].Median)
	}
}
