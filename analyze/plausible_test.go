package analyze_test

import (
	"fmt"
	"strings"
	"testing"
)

func calledAt(name string, corr int, ts, dur float64) string {
	return fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":%q,"pid":1,"tid":1,"ts":%.3f,"dur":%v,"args":{"correlation":%d}}`, name, ts, dur, corr)
}

// ranAt is a kernel of a stream; more has further members of its args.
func ranAt(stream, corr int, ts, dur float64, more string) string {
	return fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":%d,"ts":%.3f,"dur":%v,"args":{"device":0,"stream":%d,"correlation":%d%s}}`, stream, ts, dur, stream, corr, more)
}

// TestWorkAfterWait: work that starts after a call that waited for the device, and was
// launched before that call, is at an impossible time. Slower launches are not.
func TestWorkAfterWait(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events []string
		want   int64
	}{
		{"late", []string{calledAt("cudaLaunchKernel", 1, 0, 5), calledAt("cudaDeviceSynchronize", 2, 10, 100), ranAt(7, 1, 5000, 9, "")}, 1},
		{"of the driver", []string{calledAt("cuLaunchKernel", 1, 0, 5), calledAt("cuCtxSynchronize", 2, 10, 100), ranAt(7, 1, 5000, 9, "")}, 1},
		{"of an export, whose names have a version", []string{calledAt("cudaLaunchKernel_v7000", 1, 0, 5), calledAt("cudaDeviceSynchronize_v3020", 2, 10, 100), ranAt(7, 1, 5000, 9, "")}, 1},
		{"within the wait", []string{calledAt("cudaLaunchKernel", 1, 0, 5), calledAt("cudaDeviceSynchronize", 2, 10, 6000), ranAt(7, 1, 5000, 9, "")}, 0},
		{"within the drift of clocks", []string{calledAt("cudaLaunchKernel", 1, 0, 5), calledAt("cudaDeviceSynchronize", 2, 10, 4500), ranAt(7, 1, 5000, 9, "")}, 0},
		{"launched after the wait", []string{calledAt("cudaDeviceSynchronize", 2, 0, 5), calledAt("cudaLaunchKernel", 1, 10, 5), ranAt(7, 1, 5000, 9, "")}, 0},
		{"launched during the wait, by another thread", []string{calledAt("cudaDeviceSynchronize", 2, 0, 50), calledAt("cudaLaunchKernel", 1, 10, 5), ranAt(7, 1, 5000, 9, "")}, 0},
		{"a wait for one stream", []string{calledAt("cudaLaunchKernel", 1, 0, 5), calledAt("cudaStreamSynchronize", 2, 10, 100), ranAt(7, 1, 5000, 9, "")}, 0},
		{"another device", []string{calledAt("cudaLaunchKernel", 1, 0, 5), calledAt("cudaDeviceSynchronize", 2, 10, 100), ranAt(7, 1, 5000, 9, ""),
			strings.ReplaceAll(ranAt(8, 9, 20, 9, ""), `"device":0`, `"device":1`)}, 0},
		{"a long queue, worked off without a pause", []string{calledAt("cudaLaunchKernel", 1, 0, 5), calledAt("cudaLaunchKernel", 2, 10, 5), ranAt(7, 1, 10, 900_000, ""), ranAt(7, 2, 900_010, 9, "")}, 0},
		{"a pause after all calls", []string{calledAt("cudaLaunchKernel", 1, 0, 5), calledAt("cudaLaunchKernel", 2, 10, 5), ranAt(7, 1, 10, 9, ""), ranAt(7, 2, 900_010, 9, "")}, 1},
	} {
		s := measured(t, list(tc.events...))
		if is := issue(s, "work-time-implausible"); is.Count != tc.want {
			t.Errorf("%s: %+v, want %d", tc.name, s.Issues, tc.want)
		}
	}
}

// TestEqualRecords: only records that one launch cannot have made are repeated.
func TestEqualRecords(t *testing.T) {
	launch, graph := calledAt("cudaLaunchKernel", 1, 0, 5), calledAt("cudaGraphLaunch", 1, 0, 5)
	a, b := ranAt(7, 1, 10, 9, ""), ranAt(7, 1, 30, 9, "")
	for _, tc := range []struct {
		name   string
		events []string
		want   int64
		kept   int64 // of the device
	}{
		{"twice", []string{launch, a, a}, 1, 1},
		{"three times", []string{launch, a, a, a}, 2, 1},
		{"of another stream", []string{launch, a, ranAt(8, 1, 10, 9, "")}, 0, 2},
		{"of another correlation", []string{launch, a, ranAt(7, 2, 10, 9, "")}, 0, 2},
		{"of another length", []string{launch, a, ranAt(7, 1, 10, 8, "")}, 0, 2},
		{"of another grid", []string{launch, ranAt(7, 1, 10, 9, `,"grid":[1,1,1]`), ranAt(7, 1, 10, 9, `,"grid":[2,1,1]`)}, 0, 2},
		{"without a correlation", []string{launch, ranAt(7, 0, 10, 9, ""), ranAt(7, 0, 10, 9, "")}, 1, 1},
		{"without a correlation, three times, and another", []string{ranAt(7, 0, 10, 9, ""), ranAt(7, 0, 10, 9, ""), ranAt(7, 0, 10, 9, ""), ranAt(7, 0, 30, 9, "")}, 2, 2},
		{"without a correlation, of another stream", []string{ranAt(7, 0, 10, 9, ""), ranAt(8, 0, 10, 9, "")}, 0, 2},
		{"without a correlation, of another grid", []string{ranAt(7, 0, 10, 9, `,"grid":[1,1,1]`), ranAt(7, 0, 10, 9, `,"grid":[2,1,1]`)}, 0, 2},
		{"without a correlation, as short as whole microseconds", []string{ranAt(7, 0, 10, 1, ""), ranAt(7, 0, 10, 1, "")}, 0, 2},
		{"without a correlation, of a graph", []string{ranAt(7, 0, 10, 9, `,"graph id":3`), ranAt(7, 0, 10, 9, `,"graph id":3`)}, 0, 2},
		{"equal kernels of a graph at one time", []string{graph, a, a, b}, 0, 3},
		{"a graph of two equal kernels", []string{graph, a, a}, 0, 2},
		{"a graph twice", []string{graph, a, b, a, b}, 2, 2},
	} {
		s := measured(t, list(tc.events...))
		if is := issue(s, "gpu-events-repeated"); is.Count != tc.want || s.Devices[0].Events != tc.kept {
			t.Errorf("%s: %d events and %+v, want %d and %d repeated", tc.name, s.Devices[0].Events, s.Issues, tc.kept, tc.want)
		}
	}
}

// TestSurplusRecords: only records that one launch of one kernel cannot have are surplus.
func TestSurplusRecords(t *testing.T) {
	launch, a, b := calledAt("cudaLaunchKernel", 1, 0, 5), ranAt(7, 1, 10, 9, ""), ranAt(8, 1, 30, 9, "")
	other := strings.ReplaceAll(calledAt("cudaLaunchKernel", 2, 20, 5), `"pid":1`, `"pid":2`)
	onOther := strings.ReplaceAll(b, `"device":0`, `"device":1`)
	for _, tc := range []struct {
		name   string
		events []string
		want   int64
	}{
		{"one", []string{launch, a}, 0},
		{"two", []string{launch, a, b}, 1},
		{"three", []string{launch, a, b, ranAt(9, 1, 50, 9, "")}, 2},
		{"on two devices", []string{launch, a, onOther}, 1},
		{"of the driver", []string{calledAt("cuLaunchKernelEx", 1, 0, 5), a, b}, 1},
		{"of HIP", []string{calledAt("hipExtModuleLaunchKernel", 1, 0, 5), a, b}, 1},
		{"of an export, whose names have a version", []string{calledAt("cudaLaunchKernel_v7000", 1, 0, 5), a, b}, 1},
		{"equal ones, which count once", []string{launch, a, a}, 0},
		{"a graph", []string{calledAt("cudaGraphLaunch", 1, 0, 5), a, b}, 0},
		{"a graph of HIP", []string{calledAt("hipGraphLaunch", 1, 0, 5), a, b}, 0},
		{"of a graph, launched with another name", []string{launch, ranAt(7, 1, 10, 9, `,"graph id":4`), ranAt(8, 1, 30, 9, `,"graph id":4`)}, 0},
		{"a copy that is split", []string{calledAt("cudaMemcpyPeerAsync", 1, 0, 5), a, b}, 0},
		{"on several devices", []string{calledAt("cudaLaunchCooperativeKernelMultiDevice", 1, 0, 5), a, b}, 0},
		{"of HIP on several devices", []string{calledAt("hipExtLaunchMultiKernelMultiDevice", 1, 0, 5), a, b}, 0},
		{"two calls of one correlation", []string{launch, calledAt("cudaLaunchKernel", 1, 20, 5), a, b}, 0},
		{"another process, whose call is missing", []string{launch, other, a, onOther, ranAt(7, 2, 60, 9, "")}, 0},
		{"another process, and two on one device", []string{launch, other, a, b, ranAt(7, 2, 60, 9, "")}, 1},
		{"without a correlation", []string{launch, ranAt(7, 0, 10, 9, ""), ranAt(7, 0, 30, 9, "")}, 0},
	} {
		s := measured(t, list(tc.events...))
		if is := issue(s, "launches-with-several-kernels"); is.Count != tc.want {
			t.Errorf("%s: %+v, want %d", tc.name, s.Issues, tc.want)
		}
	}
}

// TestPiledUpRecords: on one stream a kernel may begin while the one before it ends, and
// the kernels of a graph may run together. Other records of a stream do not overlap.
func TestPiledUpRecords(t *testing.T) {
	many := func(name, more string, dur float64, launches bool) (out []string) {
		for i := range 40 {
			corr := 1
			if launches || i == 0 {
				corr = i + 1
				out = append(out, calledAt(name, corr, float64(10*i), 5))
			}
			out = append(out, ranAt(7, corr, float64(10*i+20), dur+float64(i)/100, more))
		}
		return out
	}
	for _, tc := range []struct {
		name   string
		events []string
		want   int64
	}{
		{"one after the other", many("cudaLaunchKernel", "", 9, true), 0},
		{"each in the end of the one before", many("cudaLaunchKernelExC", "", 19, true), 0},
		{"within the precision of the clock", many("cudaLaunchKernelExC", "", 21, true), 0},
		{"three at a time", many("cudaLaunchKernel", "", 29, true), 38},
		{"of a graph", many("cudaGraphLaunch", "", 29, false), 0},
		{"of a graph, by its number", many("cudaLaunchKernel", `,"graph id":4`, 29, true), 0},
	} {
		s := measured(t, list(tc.events...))
		if is := issue(s, "work-time-implausible"); is.Count != tc.want {
			t.Errorf("%s: %+v, want %d", tc.name, s.Issues, tc.want)
		}
	}
}

// TestWorkAfterRecordEnd: GPU work that starts after the profiler had stopped is at an
// impossible time, with or without a launch call. A trace that does not state when the
// profiler stopped, and work within the drift of clocks, raise nothing.
func TestWorkAfterRecordEnd(t *testing.T) {
	const n, every, end = 200, 200, 40_100 // µs
	stop := fmt.Sprintf(`{"name":"Record Window End","ph":"i","s":"g","pid":"","tid":"","ts":%d}`, end)
	trace := func(shift float64, calls bool, more ...string) string {
		var events []string
		for i := range n {
			at := float64(i * every)
			if calls {
				events = append(events, calledAt("cudaLaunchKernel", i+1, at, 5))
			}
			if i >= n/2 {
				at += shift
			}
			events = append(events, ranAt(7, i+1, at+20, 50, ""))
		}
		return list(append(events, more...)...)
	}
	for _, tc := range []struct {
		name string
		in   string
		want int64 // kernels of the later half that start over 1 ms after the end
	}{
		{"in time", trace(0, true, stop), 0},
		{"shifted by 20 ms", trace(20_000, true, stop), 94},
		{"shifted by 20 ms, without calls", trace(20_000, false, stop), 94},
		{"shifted, and the end is not stated", trace(20_000, true), 0},
		{"shifted by less than clocks drift", trace(1_000, true, stop), 0},
		{"of another category", trace(20_000, true, strings.Replace(stop, `"ph":"i"`, `"ph":"i","cat":"user"`, 1), strings.Replace(stop, `"ph":"i"`, `"ph":"R"`, 1)), 0},
	} {
		s := measured(t, tc.in)
		is := issue(s, "work-time-implausible")
		if is.Count != tc.want || tc.want > 0 && is.Severity != "suspect" {
			t.Errorf("%s: %+v, want %d", tc.name, s.Issues, tc.want)
		}
	}
}
