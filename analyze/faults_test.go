package analyze_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestOverruns: a record that outlasts several later ones of its stream is clipped at the next one,
// and no other record is named. n kernels of 100 us run every 150 us; more has the others.
func TestOverruns(t *testing.T) {
	const n = 60
	stream := func(name string, dur func(i int) float64) (events []string) {
		for i := range n {
			e := ranAt(7, i+1, 1000+150*float64(i), dur(i), "")
			events = append(events, strings.Replace(e, `"name":"k"`, fmt.Sprintf(`"name":%q`, name), 1))
		}
		return events
	}
	usual := func(int) float64 { return 100 }
	for _, tc := range []struct {
		name    string
		events  []string
		kernels float64 // expected kernel time in us
		count   int64   // of clipped records
	}{
		{"none", stream("k", usual), 100 * n, 0},
		{"one of 4 ms", stream("k", func(i int) float64 { return map[bool]float64{true: 4000, false: 100}[i == 20] }), 100*(n-1) + 150, 1},
		{"two", stream("k", func(i int) float64 { return map[bool]float64{true: 4000, false: 100}[i == 20 || i == 3] }), 100*(n-2) + 300, 2},
		{"the last one may be long", stream("k", func(i int) float64 { return map[bool]float64{true: 4000, false: 100}[i == n-1] }), 100*(n-1) + 4000, 0},
		{"one that only the next overlaps", stream("k", func(i int) float64 { return map[bool]float64{true: 299, false: 100}[i == 20] }), 100*(n-1) + 299, 0},
		{"a tenth of all", stream("k", func(i int) float64 { return map[bool]float64{true: 900, false: 100}[i%10 == 0] }), 90*n + 90*n, 0},
		{"every kernel: the stream is none", stream("k", func(int) float64 { return 700 }), 700 * n, 0},
		{"one of nine, a ninth of all", stream("k", func(i int) float64 { return map[bool]float64{true: 4000, false: 100}[i == 2] })[:9], 100*8 + 150, 1},
		{"two of nine: the stream is none", stream("k", func(i int) float64 { return map[bool]float64{true: 4000, false: 100}[i == 2 || i == 4] })[:9], 100*7 + 8000, 0},
		{"on a stream of its own", append(stream("k", usual), ranAt(9, 900, 2000, 8000, "")), 100*n + 8000, 0},
		{"nodes of one graph launch", append(stream("k", usual),
			ranAt(7, 500, 20_000, 2000, `,"graph id":4`), ranAt(7, 500, 20_010, 100, `,"graph id":4`), ranAt(7, 500, 20_020, 100, `,"graph id":4`),
			ranAt(7, 500, 20_040, 100, `,"graph id":4`)), 100*n + 2300, 0},
	} {
		s := measured(t, list(tc.events...))
		got := int64(0)
		for _, k := range s.Kernels {
			got += k.TotalNS
		}
		if is := issue(s, "duration-overruns"); got != int64(1000*tc.kernels) || is.Count != tc.count {
			t.Errorf("%s: %d ns of kernels, %d clipped (%s); want %d ns, %d", tc.name, got, is.Count, is.Help, int64(1000*tc.kernels), tc.count)
		}
		if is := issue(s, "work-time-implausible"); tc.count > 0 && is.Count > 0 {
			t.Errorf("%s: %d records after a clipped one are blamed", tc.name, is.Count)
		}
	}
}

// TestTimelessRecords: records that have lost their times are in no sum, and say nothing of clocks.
func TestTimelessRecords(t *testing.T) {
	const start = 1.6e15 // us; the clock of the capture
	var events []string
	for i := range 30 {
		at, dur := start+200*float64(i), 100.0
		events = append(events, calledAt("cudaLaunchKernel", i+1, at, 5))
		if at += 20; i%3 == 0 {
			at, dur = 0, 0
		}
		events = append(events, ranAt(7, i+1, at, dur, ""))
	}
	s := measured(t, list(events...))
	if k := s.Kernels[0]; len(s.Kernels) != 1 || k.Count != 20 || k.TotalNS != 20*100_000 {
		t.Errorf("kernels are %+v", s.Kernels)
	}
	if is := issue(s, "gpu-events-without-time"); is.Count != 10 {
		t.Errorf("%d records without time, want 10", is.Count)
	}
	for _, code := range []string{"work-before-launch", "window-implausible", "kernels-without-duration"} {
		if is := issue(s, code); is.Count > 0 {
			t.Errorf("%s: %s", code, is.Help)
		}
	}

	// Near miss: a capture whose clock begins at 0 has an operation of no time at 0.
	s = measured(t, list(ranAt(7, 1, 0, 0, ""), ranAt(7, 2, 10, 100, ""), ranAt(7, 3, 500, 100, "")))
	if is := issue(s, "gpu-events-without-time"); is.Count != 0 || s.Kernels[0].Count != 3 {
		t.Errorf("%d records without time, kernels %+v", is.Count, s.Kernels)
	}
}
