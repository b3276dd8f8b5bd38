package analyze_test

import (
	"fmt"
	"testing"
)

// TestMergedDevices: the devices of merged ranks are distinguished by the process of their work, if each
// process made calls. Rank r has 12 kernels of 10 us times r+1, on a device of the given number.
func TestMergedDevices(t *testing.T) {
	event := func(category, name, pid string, id int, at, dur float64, args string) string {
		return fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":%q,"tid":3,"ts":%f,"dur":%f,"args":{"correlation":%d%s}}`, category, name, pid, at, dur, id, args)
	}
	for _, tc := range []struct {
		name   string
		host   []string // process of the calls of each rank
		gpu    []string // process of its kernels
		device []int
		want   []int64 // compute of each device in ns
	}{
		{"processes named by file", []string{"r0.json", "r1.json"}, []string{"r0.json", "r1.json"}, []int{0, 0}, []int64{120_000, 240_000}},
		{"numbers moved by rank", []string{"4001", "104001", "204001"}, []string{"0", "100000", "200000"}, []int{0, 0, 0}, []int64{120_000, 240_000, 360_000}},
		{"numbers that differ stay", []string{"a", "b"}, []string{"a", "b"}, []int{3, 1}, []int64{240_000, 120_000}},
		{"one process, its kernels in two", []string{"7", "7"}, []string{"0", "1"}, []int{0, 0}, []int64{360_000}},
	} {
		var events []string
		for r := range tc.host {
			for i := range 12 {
				at, id := 1000*float64(i+1)+300*float64(r), i+1
				if tc.name != "processes named by file" {
					id += 100 * r
				}
				events = append(events, event("cuda_runtime", "cudaLaunchKernel", tc.host[r], id, at, 5, ""),
					event("kernel", "k", tc.gpu[r], id, at+20, 10*float64(r+1), fmt.Sprintf(`,"device":%d,"stream":3`, tc.device[r])))
			}
		}
		s := measured(t, list(events...))
		var got []int64
		for i, d := range s.Devices {
			got = append(got, d.Activity.Compute())
			if l := s.Launches[i]; l.Without > 0 || l.Delays.Count() != l.Launched {
				t.Errorf("%s: GPU %d: %d without a call", tc.name, d.Device, l.Without)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(tc.want) {
			t.Errorf("%s: compute of %v ns, want %v", tc.name, got, tc.want)
		}
	}
}
