package analyze_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/summary"
)

// apiRow, kernelRow and copyRow are events of a call, a kernel and a copy or
// memset of device 0; times are in us.
func apiRow(name string, thread, correlation int, start, dur float64) string {
	return fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":%q,"pid":1,"tid":%d,"ts":%.3f,"dur":%.3f,"args":{"correlation":%d}}`, name, thread, start, dur, correlation)
}

func kernelRow(correlation int, start, dur float64) string {
	return fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%.3f,"dur":%.3f,"args":{"device":0,"stream":7,"correlation":%d}}`, start, dur, correlation)
}

func copyRow(name string, correlation int, bytes int64, start, dur float64) string {
	cat, size := "gpu_memcpy", ""
	if strings.HasPrefix(name, "Memset") {
		cat = "gpu_memset"
	}
	if bytes >= 0 {
		size = fmt.Sprintf(`,"bytes":%d`, bytes)
	}
	return fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":0,"tid":8,"ts":%.3f,"dur":%.3f,"args":{"device":0,"stream":8,"correlation":%d%s}}`, cat, name, start, dur, correlation, size)
}

// TestSynchronization works out by hand for how long the host stood still and
// what of the idle time not waiting could have saved.
//
//	time     0    10   20   30   40   50   60
//	host     L[wait          ]       L
//	device    [k1           ]           [k2 ]
//	          5             30          53  60
//
// The window is 5 to 60, and the gap of 23 from 30 to 53 ends with work that the
// host launched at 50: later than the gap began, so it could have come earlier.
func TestSynchronization(t *testing.T) {
	first := []string{apiRow("cudaLaunchKernel", 1, 1, 0, 2), kernelRow(1, 5, 25)}
	second := []string{apiRow("cudaLaunchKernel", 1, 2, 50, 2), kernelRow(2, 53, 7)}
	story := func(more ...string) []string { return slices.Concat(first, second, more) }
	for _, tc := range []struct {
		name   string
		events []string
		want   []summary.Sync
	}{
		{"nothing waits", story(), nil},
		// It takes 29, of which 26 are in the window: more than the gap.
		{"a wait", story(apiRow("cudaDeviceSynchronize", 1, 9, 2, 29)),
			[]summary.Sync{{Calls: 1, HostNS: 26_000, LostNS: 23_000, Longest: "cudaDeviceSynchronize", MaxNS: 29_000, MaxStartNS: 2_000}}},
		// The gap is longer, but not for the wait.
		{"a short wait", story(apiRow("hipStreamSynchronize", 1, 9, 28, 3)),
			[]summary.Sync{{Calls: 1, HostNS: 3_000, LostNS: 3_000, Longest: "hipStreamSynchronize", MaxNS: 3_000, MaxStartNS: 28_000}}},
		// The second of them does not hide the first: 26, not 1.
		{"two waits", story(apiRow("cudaDeviceSynchronize", 1, 9, 2, 29), apiRow("cudaStreamSynchronize", 1, 8, 33, 1)),
			[]summary.Sync{{Calls: 2, HostNS: 27_000, LostNS: 23_000, Longest: "cudaDeviceSynchronize", MaxNS: 29_000, MaxStartNS: 2_000}}},
		// Two threads at the same time are one time: 10 to 31. Both launch.
		{"two threads", story(apiRow("cudaDeviceSynchronize", 1, 9, 10, 20), apiRow("cudaDeviceSynchronize", 2, 8, 15, 16),
			apiRow("cudaLaunchKernel", 2, 3, 54, 1), kernelRow(3, 60, 0)),
			[]summary.Sync{{Calls: 2, HostNS: 21_000, LostNS: 20_000, Longest: "cudaDeviceSynchronize", MaxNS: 20_000, MaxStartNS: 10_000}}},
		// It keeps no work from being launched.
		{"a thread that launches nothing", story(apiRow("cudaDeviceSynchronize", 2, 9, 2, 29)), nil},
		// The event is the end of all work, so the device has none until the next launch.
		{"an event", story(apiRow("cudaEventSynchronize", 1, 9, 2, 29)),
			[]summary.Sync{{EventCalls: 1, EventHostNS: 26_000, EventLostNS: 23_000, Longest: "cudaEventSynchronize", MaxNS: 29_000, MaxStartNS: 2_000}}},
		{"an event before the end of the work", story(apiRow("cudaEventSynchronize", 1, 9, 2, 20)), nil},
		{"an event of a device without work", story(apiRow("cudaEventSynchronize", 1, 9, 32, 10)), nil},
		{"before the window", story(apiRow("cudaDeviceSynchronize", 1, 9, 2, 3)), nil},
		{"after the window", story(apiRow("cudaDeviceSynchronize", 1, 9, 60, 40)), nil},
		// The work was launched at 3, before the gap: something else held it.
		{"work launched before", slices.Concat(first, []string{apiRow("cudaLaunchKernel", 1, 2, 3, 1), kernelRow(2, 53, 7), apiRow("cudaDeviceSynchronize", 1, 9, 5, 26)}),
			[]summary.Sync{{Calls: 1, HostNS: 26_000, Longest: "cudaDeviceSynchronize", MaxNS: 26_000, MaxStartNS: 5_000}}},
		// 23 of the first gap; of the next, 60 to 80, the 3 that are left.
		{"time that is used up", story(apiRow("cudaDeviceSynchronize", 1, 9, 2, 29), apiRow("cudaLaunchKernel", 1, 3, 75, 1), kernelRow(3, 80, 1)),
			[]summary.Sync{{Calls: 1, HostNS: 26_000, LostNS: 26_000, Longest: "cudaDeviceSynchronize", MaxNS: 29_000, MaxStartNS: 2_000}}},
	} {
		if diff := gocmp.Diff(tc.want, measured(t, list(tc.events...)).Syncs); diff != "" {
			t.Errorf("%s: want(-) got(+)\n%s", tc.name, diff)
		}
	}
}

// TestCopyCalls works out by hand what the calls of copies asked for.
//
//	time     0    10   20   30   40   50   60
//	host     [memcpy  ] [memcpy]      L   [..
//	device    k  [copy]    [copy.......]k [k
//	          2  12   18   25        45 48
//
// The window is 2 to 100.
func TestCopyCalls(t *testing.T) {
	const dtoh, htod = "Memcpy DtoH (Device -> Pageable)", "Memcpy HtoD (Pageable -> Device)"
	s := measured(t, list(
		apiRow("cudaLaunchKernel", 1, 1, -1, 1), kernelRow(1, 2, 1),
		// It returns at 20, when its copy is done: it waited for 18 in the window.
		apiRow("cudaMemcpy", 1, 2, 0, 20), copyRow(dtoh, 2, 65_537, 12, 6),
		// It returns at 30, before its copy is done.
		apiRow("cudaMemcpyAsync", 1, 3, 21, 9), copyRow(htod, 3, 65_536, 25, 20),
		apiRow("cudaLaunchKernel", 1, 4, 46, 1), kernelRow(4, 48, 2),
		// One call, three pieces of work, in two rows; its time counts once in each.
		apiRow("cudaGraphLaunch", 1, 5, 60, 4), copyRow(htod, 5, 10, 65, 1), copyRow(htod, 5, 20, 67, 1), copyRow("Memset (Device)", 5, -1, 69, 1),
		// No call is known.
		copyRow(htod, 99, 7, 70, 3),
		apiRow("cudaLaunchKernel", 1, 6, 90, 1), kernelRow(6, 99, 1),
	))
	bytes := func(n int64) *int64 { return &n }
	want := []summary.CopyCall{
		{Name: htod, Call: "cudaMemcpyAsync", Class: "copy", Count: 1, TotalNS: 20_000, MaxNS: 20_000, MaxStartNS: 25_000, Bytes: bytes(65_536), HostNS: 9_000},
		// Three gaps end with work that was launched in them: 3 to 12 no, for its call
		// began at 0; 18 to 25 is 7, 45 to 48 is 3, and of 50 to 65 the 8 of its 18 that
		// are left then.
		{Name: dtoh, Call: "cudaMemcpy", Class: "copy", Large: true, Count: 1, TotalNS: 6_000, MaxNS: 6_000, MaxStartNS: 12_000, Bytes: bytes(65_537), HostNS: 18_000, LostNS: 18_000},
		{Name: htod, Class: "copy", Count: 1, TotalNS: 3_000, MaxNS: 3_000, MaxStartNS: 70_000, Bytes: bytes(7)},
		{Name: htod, Call: "cudaGraphLaunch", Class: "copy", Count: 2, TotalNS: 2_000, MaxNS: 1_000, MaxStartNS: 65_000, Bytes: bytes(30), HostNS: 4_000},
		{Name: "Memset (Device)", Call: "cudaGraphLaunch", Class: "memset", Count: 1, TotalNS: 1_000, MaxNS: 1_000, MaxStartNS: 69_000, HostNS: 4_000},
	}
	if diff := gocmp.Diff(want, s.CopyCalls); diff != "" {
		t.Errorf("want(-) got(+)\n%s", diff)
	}
}

// TestCopyThatDoesNotWait: of two copies that are alike but for when their calls
// return, one costs the host nothing.
//
//	time     0    10   20   30   40
//	host      [memcpy..]     L
//	device   k  [copy]          [k
//	            4    14      30
func TestCopyThatDoesNotWait(t *testing.T) {
	for dur, lost := range map[float64]int64{9.999: 0, 11: 11_000, 18: 16_000} {
		s := measured(t, list(apiRow("cudaLaunchKernel", 1, 1, -3, 1), kernelRow(1, 0, 1), apiRow("cudaMemcpyAsync", 1, 2, 3, dur), copyRow("Memcpy DtoH (Device -> Pageable)", 2, 8, 4, 10),
			apiRow("cudaLaunchKernel", 1, 3, 28, 1), kernelRow(3, 30, 5)))
		if len(s.CopyCalls) != 1 || s.CopyCalls[0].LostNS != lost || s.CopyCalls[0].HostNS != int64(dur*1000) {
			t.Errorf("a call of %g us: %+v", dur, s.CopyCalls)
		}
	}
}

// TestCopyCallsPooled: a table without room pools further rows, and says so once.
func TestCopyCallsPooled(t *testing.T) {
	var events []string
	for i := range 40 {
		// One name, so the table of copies has room for it, and forty calls.
		events = append(events, apiRow(fmt.Sprint("cudaMemcpy", i), 1, i+1, float64(10*i), 1), copyRow("Memcpy HtoD", i+1, 8, float64(10*i+2), 1))
	}
	s := measuredIn(t, list(events...), 10)
	count := int64(0)
	for _, r := range s.CopyCalls {
		count += r.Count
	}
	if len(s.CopyCalls) != 11 || count != 40 || issue(s, "too-many-rows").Count != 30 {
		t.Errorf("%d rows of %d copies, %d counted as pooled", len(s.CopyCalls), count, issue(s, "too-many-rows").Count)
	}
}

// TestUtilization compares with a look at every nanosecond.
func TestUtilization(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	full := 0
	for range 200 {
		var busy [400]bool
		var events []string
		first, last := len(busy), 0
		for i := range 1 + rnd.IntN(25) {
			start, dur := rnd.IntN(300), 1+rnd.IntN(99)
			for ns := start; ns < start+dur; ns++ {
				busy[ns] = true
			}
			first, last = min(first, start), max(last, start+dur)
			events = append(events, copyRow([]string{"Memcpy HtoD", "Memset"}[i%2], 0, -1, float64(start)/1000, float64(dur)/1000))
		}
		chunk := (last - first + 29) / 30
		var want []int64
		for from := first; from < last; from += chunk {
			n := int64(0)
			for ns := from; ns < min(last, from+chunk); ns++ {
				if busy[ns] {
					n++
				}
			}
			want = append(want, n)
		}
		if len(want) == 30 {
			full++
		}
		got := measured(t, list(events...)).Devices[0].Utilization
		if got.ChunkNS != int64(chunk) || !slices.Equal(got.BusyNS, want) {
			t.Fatalf("%s\ngot  %+v\nwant %d: %v", list(events...), got, chunk, want)
		}
	}
	if full == 0 {
		t.Error("no window was cut into 30 chunks")
	}
}

// TestProfilerInGap: of a gap it is known how much of it the profiler worked, on
// any thread, at whatever the same time.
func TestProfilerInGap(t *testing.T) {
	overhead := func(thread int, start, dur float64) string {
		return fmt.Sprintf(`{"ph":"X","cat":"overhead","name":"Buffer Flush","pid":1,"tid":%d,"ts":%.3f,"dur":%.3f}`, thread, start, dur)
	}
	// The gap is from 10 to 100; of the profiler's work 10 to 30 and 90 to 100 are in it.
	s := measured(t, list(kernelRow(1, 0, 10), kernelRow(2, 100, 10), overhead(1, 5, 20), overhead(2, 20, 10), overhead(1, 90, 40)))
	if g := s.Devices[0].LargestGaps; len(g) != 1 || g[0].NS != 90_000 || g[0].ProfilerNS != 30_000 {
		t.Errorf("%+v", g)
	}
}

// checkWaiting: copies by call have what copies have, chunks what was busy, and
// nothing is lost twice.
func checkWaiting(t *testing.T, x sample) {
	t.Helper()
	type key struct {
		device      int64
		class, name string
	}
	type sum struct{ count, ns, bytes int64 }
	sums := make(map[key]sum)
	add := func(k key, sign, count, ns int64, bytes *int64) {
		v := sums[k]
		v.count, v.ns = v.count+sign*count, v.ns+sign*ns
		if bytes != nil {
			v.bytes += sign * *bytes
		}
		sums[k] = v
	}
	lost, idle := make(map[int64]int64), make(map[int64]int64)
	for _, r := range x.s.Copies {
		add(key{r.Device, r.Class, r.Name}, 1, r.Count, r.TotalNS, r.Bytes)
	}
	for _, r := range x.s.CopyCalls {
		add(key{r.Device, r.Class, r.Name}, -1, r.Count, r.TotalNS, r.Bytes)
		if r.HostNS < 0 || r.MaxNS > r.TotalNS || r.MaxNS*r.Count < r.TotalNS || r.Call == "" && r.HostNS+r.LostNS > 0 {
			t.Errorf("%+v", r)
		}
		lost[r.Device] += r.LostNS
	}
	for k, v := range sums {
		if v != (sum{}) {
			t.Errorf("%+v: copies have %+v more than copies by call", k, v)
		}
	}
	for _, d := range x.s.Devices {
		idle[d.Device] = d.Activity.Idle()
		if d.Utilization == nil {
			continue
		}
		busy := int64(0)
		for _, n := range d.Utilization.BusyNS {
			busy += n
		}
		if busy != d.Activity.Busy() {
			t.Errorf("device %d: chunks sum to %d ns, want %d", d.Device, busy, d.Activity.Busy())
		}
	}
	for _, r := range x.s.Syncs {
		lost[r.Device] += r.LostNS
		window := int64(0)
		for _, d := range x.s.Devices {
			if d.Device == r.Device {
				window = d.WindowNS
			}
		}
		if r.HostNS <= 0 && r.MaxNS > 0 || r.HostNS > window || r.Calls <= 0 {
			t.Errorf("%+v in a window of %d ns", r, window)
		}
	}
	for device, ns := range lost {
		if len(x.s.Devices) == 1 && ns > idle[device] {
			t.Errorf("device %d: %d ns were lost of %d ns of idle time", device, ns, idle[device])
		}
	}
}
