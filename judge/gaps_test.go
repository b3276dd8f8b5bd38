package judge

import (
	"slices"
	"strings"
	"testing"

	"assay/summary"
)

// longSummary is a run of 100 s with the given gaps, longest first, and idle for
// no longer than they are.
func longSummary(gaps ...summary.Gap) *summary.Summary {
	idle := int64(0)
	for _, g := range gaps {
		idle += g.NS / ms
	}
	s := of(device(0, 0, map[summary.Class]int64{0: idle, comp: 100_000 - idle}))
	d := &s.Devices[0]
	for i, g := range gaps {
		d.Gaps.Add(g.NS)
		if i < summary.MaxLargestGaps {
			d.LargestGaps = append(d.LargestGaps, g)
		}
	}
	return s
}

func TestLongGaps(t *testing.T) {
	gap := func(n int64) summary.Gap { return summary.Gap{StartNS: 9_000, NS: n * ms} }
	for _, tc := range []struct {
		name  string
		gaps  []summary.Gap
		title string // without its limit; "" for no finding
		level Level
	}{
		{"none", nil, "", Info},
		{"just too short", []summary.Gap{gap(499)}, "", Info},
		{"too little of the window", []summary.Gap{gap(500)}, "", Info},
		{"two", []summary.Gap{gap(700), gap(500), gap(499)}, "Gaps of 500 ms and longer: 1.2% of the window (1.2 s of 100 s)", Info},
		{"a warning", []summary.Gap{gap(6000)}, "Gaps of 500 ms and longer: 6.0% of the window (6 s of 100 s)", Warn},
		{"more than are kept one by one", []summary.Gap{gap(900), gap(900), gap(900), gap(900), gap(900), gap(800), gap(700), gap(400)},
			"Gaps of 500 ms and longer: 6.0% of the window (6 s of 100 s)", Warn},
		{"the profiler's own work", []summary.Gap{{NS: 3000 * ms, ProfilerNS: 1000 * ms}, {NS: 1400 * ms, ProfilerNS: 901 * ms}, {NS: 1300 * ms, Owner: summary.OwnerNothing}},
			"Gaps of 500 ms and longer: 2.0% of the window (2 s of 100 s)", Info},
		{"the profiler's own work among many", []summary.Gap{{NS: 1500 * ms, ProfilerNS: 1100 * ms}, gap(900), gap(900), gap(900), gap(900), gap(800)},
			"Gaps of 500 ms and longer: 4.4% of the window (4.4 s of 100 s)", Info},
	} {
		r := Judge(longSummary(tc.gaps...), DefaultThresholds())
		if tc.title == "" {
			if slices.Contains(rulesOf(r), RuleLongGaps) {
				t.Errorf("%s: %+v", tc.name, find(t, r, RuleLongGaps))
			}
			continue
		}
		f := find(t, r, RuleLongGaps)
		if !strings.HasPrefix(f.Title, tc.title+"; limit ") || f.Level != tc.level || len(f.Next) == 0 {
			t.Errorf("%s: %s (%s)\nwant %s (%s)", tc.name, f.Title, f.Level, tc.title, tc.level)
		}
	}
	f := find(t, Judge(longSummary(
		summary.Gap{StartNS: 9_001, NS: 5000 * ms, ProfilerNS: 20 * ms, Owner: summary.OwnerHost, State: summary.StatePython, Name: "train.py(7): save"}, gap(800), gap(700), gap(600)), DefaultThresholds()), RuleLongGaps)
	if want := "gap of 5 s at 9.001 µs, 20 ms of it profiler overhead: host wait: Python code, \"train.py(7): save\""; len(f.Evidence) != 4 || f.Evidence[1] != want || f.Evidence[2] != "gap of 800 ms at 9.000 µs" {
		t.Errorf("evidence %q", f.Evidence)
	}
}

// TestLongGapsToldWithIdle: 20 of 100 s are idle, of which 12 in two long gaps.
func TestLongGapsToldWithIdle(t *testing.T) {
	s := longSummary(summary.Gap{StartNS: 1_000, NS: 7000 * ms}, summary.Gap{StartNS: 2_000, NS: 5000 * ms})
	s.Devices[0].Activity[0], s.Devices[0].Activity[comp] = 20_000*ms, 80_000*ms
	r := Judge(s, DefaultThresholds())
	if slices.Contains(rulesOf(r), RuleLongGaps) {
		t.Errorf("findings %q", rulesOf(r))
	}
	wantEvidence(t, find(t, r, RuleGPUIdle),
		"gaps of 1 ms and longer: 60.0% of the idle time (2 gaps, 12 s of 20 s); the CPU launched nothing",
		"gaps of 500 ms and longer: 60.0% of the idle time (2 gaps, 12 s of 20 s)",
		"gap of 7 s at 1.000 µs", "gap of 5 s at 2.000 µs")
}

// utilized is a device whose window is in chunks of 10 ms, the last of 5, with
// the milliseconds of each that are busy.
func utilized(busy ...int64) summary.Device {
	u := &summary.Utilization{ChunkNS: 10 * ms}
	sum := int64(0)
	for _, n := range busy {
		u.BusyNS = append(u.BusyNS, n*ms)
		sum += n
	}
	window := int64(10*len(busy)) - 5
	d := device(0, 0, map[summary.Class]int64{0: window - sum, comp: sum})
	d.StartNS, d.Utilization = 1000*ms, u
	return d
}

func TestLowUtilization(t *testing.T) {
	// Low are the third and fourth chunk, with 7 of 20 ms, and the 27th, with 4 of
	// 10. The fifth has its half; the last has 3 of 5, because it is shorter.
	busy := []int64{10, 10, 4, 3, 5, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 10, 4, 10, 10, 3}
	f := find(t, Judge(of(utilized(busy...)), DefaultThresholds()), RuleLowUtilization)
	if want := "GPU time utilization under 50%: 10.2% of the window (30 ms of 295 ms); limit 10%"; f.Title != want || f.Level != Info {
		t.Errorf("got  %s (%s)\nwant %s", f.Title, f.Level, want)
	}
	want := []string{
		"35.0% from 1020000.000 µs to 1040000.000 µs (busy for 7 ms of 20 ms)",
		"40.0% from 1260000.000 µs to 1270000.000 µs (busy for 4 ms of 10 ms)",
	}
	if !slices.Equal(f.Evidence, want) || len(f.Next) == 0 {
		t.Errorf("got  %q\nwant %q", f.Evidence, want)
	}
	busy[29] = 2 // of 5: low too, and it follows no other
	if f := find(t, Judge(of(utilized(busy...)), DefaultThresholds()), RuleLowUtilization); f.NumeratorNS != 35*ms || len(f.Evidence) != 3 {
		t.Errorf("%+v", f)
	}
	busy[2], busy[29] = 5, 3 // 20 ms are 6.8%
	if r := Judge(of(utilized(busy...)), DefaultThresholds()); slices.Contains(rulesOf(r), RuleLowUtilization) {
		t.Errorf("findings %q", rulesOf(r))
	}
}

// TestUtilizationToldWithIdle: the two halves of the window differ, and idle
// time is over its limit; if all of it is as bad, there is no where to tell.
func TestUtilizationToldWithIdle(t *testing.T) {
	first := slices.Concat(slices.Repeat([]int64{2}, 15), slices.Repeat([]int64{10}, 14), []int64{5})
	r := Judge(of(utilized(first...)), DefaultThresholds())
	if slices.Contains(rulesOf(r), RuleLowUtilization) {
		t.Errorf("findings %q", rulesOf(r))
	}
	wantEvidence(t, find(t, r, RuleGPUIdle),
		"GPU time utilization under 50%: 50.8% of the window (150 ms of 295 ms); largest loss: 20.0% from 1000000.000 µs to 1150000.000 µs (busy for 30 ms of 150 ms)")
	r = Judge(of(utilized(slices.Repeat([]int64{2}, 30)...)), DefaultThresholds())
	if all := strings.Join(find(t, r, RuleGPUIdle).Evidence, " "); strings.Contains(all, "utilization") {
		t.Errorf("evidence %s", all)
	}
}
