package analyze_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/summary"
)

// TestNeighbors works out by hand, in us, what two GPUs wait for. GPU 0 works from 0 to 10 and from
// 30 to 40, GPU 1 from 8 to 24. GPU 0 is idle from 10 to 30: during 14 of these GPU 1 works. Both
// work from 8 to 10. A call waits from 2 to 25, so not waiting saves at most 6 of the idle time.
func TestNeighbors(t *testing.T) {
	kernel := func(device, correlation int, start, dur float64) string {
		return fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"k","pid":%d,"tid":7,"ts":%.3f,"dur":%.3f,`+
			`"args":{"device":%d,"stream":7,"correlation":%d}}`, device, start, dur, device, correlation)
	}
	launch := func(process, correlation int, start float64) string {
		return strings.Replace(apiRow("cudaLaunchKernel", 1, correlation, start, 0.5), `"pid":1`, fmt.Sprintf(`"pid":%d`, process), 1)
	}
	for other, want := range map[int]struct{ neighbor, shared, lost int64 }{
		1: {14_000, 2_000, 6_000},
		2: {0, 0, 20_000}, // a rank of its own
	} {
		s := measured(t, "["+strings.Join([]string{launch(1, 1, -1), launch(other, 2, 1), launch(1, 3, 28),
			apiRow("cudaDeviceSynchronize", 1, 9, 2, 23), kernel(0, 1, 0, 10), kernel(1, 2, 8, 16), kernel(0, 3, 30, 10)}, ",")+"]")
		var got int64
		for _, r := range s.Idle {
			if r.Device == 0 && r.Owner == summary.OwnerNeighbor {
				got += r.NS
			}
		}
		if got != want.neighbor || s.Devices[0].SharedNS != want.shared || s.Syncs[0].LostNS != want.lost {
			t.Errorf("process %d: neighbor %d, shared %d, lost %d; want %+v", other, got, s.Devices[0].SharedNS, s.Syncs[0].LostNS, want)
		}
	}
}
