package analyze_test

import (
	"fmt"
	"testing"

	"assay/summary"
)

// backlog draws a capture that begins while the GPU has work of the last step, in µs:
//
//	host       backward -60 to -10       forward 0 to 30           optimizer 30 to 40
//	launches   b1 to b5 at -55 + 10i     f1 at 5, f2 at 10         o at 32
//	stream 7   b1 to b5: 0 to 100, without a gap; f1 100 to 110, f2 115 to 120; o 126 to 130
//
// If the capture begins at 0, the launches of b1 to b5 and the marker of their phase are
// not in it. The GPU waits from 110 to 115 and from 120 to 126, when all that the host had
// launched before the end of the optimizer was done, or was being started late.
func backlog(recorded bool) []string {
	note := func(name string, from, ns int) string {
		return fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":%q,"pid":1,"tid":1,"ts":%d,"dur":%d}`, name, 1000+from, ns)
	}
	var events []string
	correlation := 0
	work := func(name string, launch, at, ns int, known bool) {
		correlation++
		if known {
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}}`, 1000+launch, correlation))
		}
		events = append(events, fmt.Sprintf(`{"ph":"X","cat":"kernel","name":%q,"pid":0,"tid":7,"ts":%d,"dur":%d,"args":{"correlation":%d}}`, name, 1000+at, ns, correlation))
	}
	if recorded {
		events = append(events, note("backward", -60, 50))
	}
	for i := range 5 {
		work(fmt.Sprintf("b%d", i+1), -55+10*i, 20*i, 20, recorded)
	}
	events = append(events, note("forward", 0, 30), note("optimizer_step", 30, 10))
	work("f1", 5, 100, 10, true)
	work("f2", 10, 115, 5, true)
	work("o", 32, 126, 4, true)
	return events
}

// TestBacklogOfCapture: work that was launched before the capture began is outside phases,
// and not in the phase that the host is in when the work starts. Where its launches were
// recorded, it belongs to the phase of these; the other phases do not change.
func TestBacklogOfCapture(t *testing.T) {
	const compute = summary.ClassCompute
	for _, c := range []struct {
		recorded bool
		want     map[string]summary.Activity
	}{
		{true, map[string]summary.Activity{"backward": {compute: 100_000}, "forward": {compute: 15_000, 0: 5_000}, "optimizer": {compute: 4_000, 0: 6_000}}},
		{false, map[string]summary.Activity{"": {compute: 100_000}, "forward": {compute: 15_000, 0: 5_000}, "optimizer": {compute: 4_000, 0: 6_000}}},
	} {
		got := make(map[string]summary.Activity)
		var sum summary.Activity
		s := measured(t, list(backlog(c.recorded)...))
		for _, p := range s.Phases {
			sum = sum.Plus(p.Activity)
			if p.Activity != (summary.Activity{}) {
				got[p.Path] = p.Activity
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("launches recorded: %v: phases have %v, want %v", c.recorded, got, c.want)
		}
		if sum != s.Devices[0].Activity {
			t.Errorf("launches recorded: %v: phases sum to %v, the device has %v", c.recorded, sum, s.Devices[0].Activity)
		}
	}
}

// TestPhasesWithoutLaunches: in a capture without any launch, work counts for the phase in
// which it starts.
func TestPhasesWithoutLaunches(t *testing.T) {
	s := measured(t, list(
		event("user_annotation", "forward", 1, "0", "10"), event("user_annotation", "optimizer_step", 1, "20", "10"),
		event("kernel", "k", 0, "2", "6"), event("kernel", "k", 0, "12", "4"), event("kernel", "k", 0, "22", "5")))
	want := map[string]int64{"forward": 6_000, "optimizer": 5_000, "": 4_000}
	for _, p := range s.Phases {
		if p.Activity[summary.ClassCompute] != want[p.Path] {
			t.Errorf("%q has %d ns of compute, want %d", p.Path, p.Activity[summary.ClassCompute], want[p.Path])
		}
	}
}
