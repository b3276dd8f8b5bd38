package analyze_test

import (
	"fmt"
	"testing"

	"assay/summary"
)

// TestClocksDiffer: work that a constant moves to possible times is measured as if the clocks agreed,
// without what needs both clocks. 60 kernels of 30 us run every 80 us, each 6 us after its call of
// 4 us; a call that waits for the GPU follows every tenth. off is how much later than that the
// records of the GPU are.
func TestClocksDiffer(t *testing.T) {
	const n, hour = 60, 3.6e9
	alone := func(by float64) func(int) float64 {
		return func(i int) float64 { return map[bool]float64{true: by}[i == 40] }
	}
	all := func(by float64) func(int) float64 { return func(int) float64 { return by } }
	for _, tc := range []struct {
		name string
		off  func(i int) float64 // in us
		code string              // of the issue about times; "" for none
	}{
		{"clocks agree", all(0), ""},
		{"within what clocks are apart", all(-7.5), ""},
		{"25 us early", all(-25), summary.ClocksDiffer},
		{"an hour early", all(-hour), summary.ClocksDiffer},
		{"5 ms late", all(5000), summary.ClocksDiffer},
		{"100 hours late", all(100 * hour), summary.ClocksDiffer},
		{"one record a second early", alone(-1e6), "work-before-launch"},
		{"one record 20 ms late", alone(20_000), "work-time-implausible"},
		{"every second record an hour early", func(i int) float64 { return map[bool]float64{true: -hour}[i%2 == 0] }, "work-before-launch"},
		{"a third of the records 5 us early", func(i int) float64 { return map[bool]float64{true: -15}[i%3 == 0] }, "work-before-launch"},
		{"the later ones ever earlier", func(i int) float64 { return -160 * float64(i) }, "work-before-launch"},
	} {
		var events []string
		for i := range n {
			at := 4e12 + 80*float64(i)
			events = append(events, calledAt("hipLaunchKernel", i+1, at, 4), ranAt(3, i+1, at+10+tc.off(i), 30, ""))
			if i%10 == 9 {
				events = append(events, calledAt("hipDeviceSynchronize", 1000+i, at+5, 50))
			}
		}
		s := measured(t, list(events...))
		for _, code := range []string{summary.ClocksDiffer, "work-before-launch", "work-time-implausible"} {
			if is := issue(s, code); is.Count > 0 && code != tc.code && tc.code != "work-before-launch" || is.Count == 0 && code == tc.code {
				t.Errorf("%s: %d × %s %s", tc.name, is.Count, code, is.Help)
			}
		}
		if tc.code == "work-before-launch" || tc.code == "work-time-implausible" {
			continue
		}
		d, unknown := s.Devices[0], int64(0)
		for _, r := range s.Idle {
			if r.Owner == summary.OwnerUnknown {
				unknown += r.NS
			}
		}
		apart := tc.code != ""
		want := fmt.Sprint(59*80_000+30_000, 60*30_000, map[bool]int64{true: 59 * 50_000}[apart], apart)
		if got := fmt.Sprint(d.WindowNS, d.Activity.Compute(), unknown, s.Launches[0].Delays.Count() == 0); got != want {
			t.Errorf("%s: window, compute, idle time without a cause, no queue times: %s, want %s", tc.name, got, want)
		}
		if at := d.StartNS - 4e15; apart && (at < -5_000_000 || at > 15_000_000) {
			t.Errorf("%s: the window starts %d ns after the first call", tc.name, at)
		}
	}
}
