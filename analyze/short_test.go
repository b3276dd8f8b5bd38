package analyze_test

import (
	"fmt"
	"testing"
)

// kernelsOf are kernels on one stream; at returns the start and the duration in µs of each.
func kernelsOf(n int, at func(i int) (ts, dur float64)) (events []string) {
	for i := range n {
		ts, dur := at(i)
		events = append(events, calledAt("cudaLaunchKernel", i+1, float64(i), 0.5), ranAt(7, i+1, ts, dur, ""))
	}
	return events
}

// copiesOf are copies of the same size in bytes and duration in µs.
func copiesOf(n int, name string, bytes int, dur float64) (events []string) {
	for i := range n {
		events = append(events, fmt.Sprintf(`{"ph":"X","cat":"gpu_memcpy","name":%q,"pid":0,"tid":7,"ts":%d,"dur":%v,"args":{"device":0,"stream":7,"correlation":%d,"bytes":%d}}`,
			name, 100+1000*i, dur, 900+i, bytes))
	}
	return events
}

// TestTooShort: kernels shorter than an empty one, copies faster than any link, and durations in
// another unit than starts are an issue; short kernels, caches and regular programs are not.
func TestTooShort(t *testing.T) {
	short := func(few int, dur float64) func(int) (float64, float64) {
		return func(i int) (float64, float64) {
			if i < few {
				return float64(20 * i), dur
			}
			return float64(20 * i), 9
		}
	}
	// Durations of 12, 24, 48 and 96 µs; the next kernel starts 1 µs after the end of one that truly
	// takes times as long.
	queued := func(times float64) func(int) (float64, float64) {
		lengths := []float64{12, 24, 48, 96}
		return func(i int) (float64, float64) {
			cycle, start := 0.0, 0.0
			for _, dur := range lengths {
				cycle += times*dur + 1
			}
			for _, dur := range lengths[:i%4] {
				start += times*dur + 1
			}
			return float64(i/4)*cycle + start, lengths[i%4]
		}
	}
	paced := func(dur func(int) float64) func(int) (float64, float64) {
		return func(i int) (float64, float64) { return float64(200 * i), dur(i) }
	}
	for _, tc := range []struct {
		name   string
		events []string
		want   int64
	}{
		{"40 of 100 kernels of 0.2 µs", kernelsOf(100, short(40, 0.2)), 40},
		{"all kernels of 25 ns", kernelsOf(30, short(30, 0.025)), 30},
		{"kernels of 0.6 µs", kernelsOf(100, short(100, 0.6)), 0},
		{"5 of 100 kernels of 0.2 µs", kernelsOf(100, short(5, 0.2)), 0},
		{"9 kernels of 0.2 µs", kernelsOf(9, short(9, 0.2)), 0},

		{"1 MiB to the device in 0.2 µs", copiesOf(3, "Memcpy HtoD (Pinned -> Device)", 1<<20, 0.2), 3},
		{"1 MiB to a peer in 0.2 µs, by HIP", copiesOf(4, "Memcpy PeerToPeer", 1<<20, 0.2), 4},
		{"1 MiB within the device in 0.02 µs", copiesOf(3, "Memcpy DtoD (Device -> Device)", 1<<20, 0.02), 3},
		{"1 MiB to the device in 2 µs, over NVLink", copiesOf(3, "Memcpy HtoD (Pinned -> Device)", 1<<20, 2), 0},
		{"1 MiB within a cache in 0.1 µs", copiesOf(3, "Memcpy DtoD (Device -> Device)", 1<<20, 0.1), 0},
		{"4 KiB to the device in 0.001 µs", copiesOf(3, "Memcpy HtoD (Pinned -> Device)", 4<<10, 0.001), 0},
		{"two fast copies", copiesOf(2, "Memcpy HtoD (Pinned -> Device)", 1<<20, 0.2), 0},

		{"a tenth of all durations", kernelsOf(80, queued(10)), 80},
		{"a third of all durations", kernelsOf(60, queued(3)), 60},
		{"a full queue", kernelsOf(80, queued(1)), 0},
		{"40 kernels with a tenth of their duration", kernelsOf(40, queued(10)), 0},
		{"a launch every 200 µs", kernelsOf(80, paced(func(i int) float64 { return []float64{12, 24, 48, 96}[i%4] })), 0},
		{"equal kernels at a fixed pace", kernelsOf(80, paced(func(int) float64 { return 20 })), 0},
	} {
		s := measured(t, list(tc.events...))
		if is := issue(s, "durations-too-short"); is.Count != tc.want || tc.want > 0 && is.Severity != "suspect" {
			t.Errorf("%s: %+v, want %d", tc.name, s.Issues, tc.want)
		}
	}
}
