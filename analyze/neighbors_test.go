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

// TestProcesses has two processes in one file, whose threads take turns. The first drives GPUs 0 and
// 2, the second GPUs 1 and 3; both launch on GPU 4, which belongs to neither, and GPU 5 is the only one
// of a third. All times in us: GPU 0 works in 0-10 and 40-50, GPU 2 in 5-20, GPU 1 in 0-50, GPU 3 in
// 20-30 and 45-60.
func TestProcesses(t *testing.T) {
	var events []string
	n := 0
	work := func(process string, device int, start, end float64) {
		n++
		events = append(events,
			fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"hipLaunchKernel","pid":%q,"tid":3,"ts":%.3f,"dur":0.5,"args":{"correlation":%d}}`, process, start-1, n),
			fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"k","pid":%d,"tid":1,"ts":%.3f,"dur":%.3f,"args":{"device":%d,"stream":1,"correlation":%d}}`,
				device, start, end-start, device, n))
	}
	work("22", 3, 20, 30)
	work("22", 3, 45, 60)
	work("22", 1, 0, 50)
	work("11", 0, 0, 10)
	work("11", 0, 40, 50)
	work("11", 2, 5, 20)
	work("11", 4, 0, 10)
	work("22", 4, 30, 60)
	work("33", 5, 0, 10)
	work("33", 5, 50, 60)
	s := measured(t, "["+strings.Join(events, ",")+"]")
	type found struct {
		process          int
		neighbor, shared int64
	}
	want := []found{
		{1, 10_000, 5_000},  // idle in 10-40, GPU 2 works until 20; both work in 5-10
		{2, 0, 15_000},      // never idle; GPU 3 works too in 20-30 and 45-50
		{1, 0, 5_000},       // one kernel
		{2, 15_000, 15_000}, // idle in 30-45, GPU 1 works
		{0, 0, 0},
		{0, 0, 0}, // idle in 10-50
	}
	for i, d := range s.Devices {
		got := found{process: d.Process, shared: d.SharedNS}
		for _, r := range s.Idle {
			if r.Device == d.Device && r.Owner == summary.OwnerNeighbor {
				got.neighbor += r.NS
			}
		}
		if got != want[i] {
			t.Errorf("GPU %d: %+v, want %+v", d.Device, got, want[i])
		}
	}
	if len(s.Devices) != len(want) {
		t.Errorf("%d GPUs", len(s.Devices))
	}
}

// TestProcessWithoutLinks: if no launch is linked to the work of two GPUs, it is of the process that made
// all calls; of two processes with calls, it may be either.
func TestProcessWithoutLinks(t *testing.T) {
	kernel := func(device int, start float64) string {
		return fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"k","pid":%d,"tid":7,"ts":%.3f,"dur":9,"args":{"device":%d,"stream":7}}`, device, start, device)
	}
	call := func(process int) string {
		return fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaDeviceSynchronize","pid":%d,"tid":1,"ts":2,"dur":40}`, process)
	}
	for other, want := range map[int]int{3: 1, 4: 0} {
		s := measured(t, "["+strings.Join([]string{call(3), call(other), kernel(0, 0), kernel(1, 10), kernel(0, 20), kernel(1, 30)}, ",")+"]")
		if len(s.Devices) != 2 || s.Devices[0].Process != want || s.Devices[1].Process != want {
			t.Errorf("calls of processes 3 and %d: %+v, want process %d", other, s.Devices, want)
		}
	}
}
