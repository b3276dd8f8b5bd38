package analyze_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"assay/summary"
)

// event writes one complete event; ts and dur are in µs, as text.
func event(cat, name string, device int, ts, dur string) string {
	return fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":%d,"tid":7,"ts":%s,"dur":%s}`, cat, name, device, ts, dur)
}

func list(events ...string) string { return "[" + strings.Join(events, ",") + "]" }

// issue returns the issue of a code, or one of count 0.
func issue(s *summary.Summary, code string) summary.Issue {
	for _, is := range s.Issues {
		if is.Code == code {
			return is
		}
	}
	return summary.Issue{}
}

// noneNegative looks at every number of a summary but starts, which may lie
// before the clock's origin.
func noneNegative(t *testing.T, s *summary.Summary) {
	t.Helper()
	var look func(path string, v reflect.Value)
	look = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Int64:
			if v.Int() < 0 && !strings.HasSuffix(path, ".StartNS") {
				t.Errorf("%s is %d", path, v.Int())
			}
		case reflect.Pointer:
			if !v.IsNil() {
				look(path, v.Elem())
			}
		case reflect.Struct:
			for i := range v.NumField() {
				look(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				look(fmt.Sprintf("%s[%d]", path, i), v.Index(i))
			}
		case reflect.Map:
			for _, k := range v.MapKeys() {
				look(path+"."+k.String(), v.MapIndex(k))
			}
		}
	}
	look("summary", reflect.ValueOf(s))
}

// TestImplausibleWindow: the cells of a device sum to its window, whatever its
// times are, and a window of more than ten years has neither strip nor gaps nor
// steps.
func TestImplausibleWindow(t *testing.T) {
	step := event("user_annotation", "ProfilerStep#1", 9, "0", "5")
	for _, tc := range []struct {
		name, in      string
		window, busy  int64 // ns
		implausible   bool
		inHelp        string
		strips, steps int
	}{
		{"as long as int64", list(event("kernel", "a", 0, "0", "9223372036854775.806"), step),
			math.MaxInt64 - 1, math.MaxInt64 - 1, true, "from 0 ns to 9223372036854775806 ns", 0, 0},
		{"longer than int64", list(event("kernel", "a", 0, "-9000000000000000", "1"), event("kernel", "a", 0, "9000000000000000", "1"), step),
			math.MaxInt64, 1000, true, "from -9000000000000000000 ns to 9000000000000001000 ns", 0, 0},
		{"nine years", list(event("kernel", "a", 0, "0", "1"), event("kernel", "a", 0, "284018400000000", "1"), step),
			284018400000001000, 2000, false, "", 1, 1},
		{"eleven years", list(event("kernel", "a", 0, "0", "1"), event("kernel", "a", 0, "347133600000000", "1"), step),
			347133600000001000, 2000, true, "rank 0 device 0", 0, 0},
	} {
		s := measured(t, tc.in)
		noneNegative(t, s)
		d := s.Devices[0]
		if d.WindowNS != tc.window || d.Activity.Window() != tc.window || d.Activity.Busy() != tc.busy {
			t.Errorf("%s: window %d, cells %d, busy %d; want %d, busy %d", tc.name, d.WindowNS, d.Activity.Window(), d.Activity.Busy(), tc.window, tc.busy)
		}
		is := issue(s, "window-implausible")
		if is.Count > 0 != tc.implausible || !strings.Contains(is.Help, tc.inHelp) {
			t.Errorf("%s: issue %+v, want it to name %q", tc.name, is, tc.inHelp)
		}
		strips := 0
		if d.Strip != nil {
			strips++
		}
		if strips != tc.strips || len(s.Steps) != tc.steps || tc.implausible && (d.Gaps.Count() > 0 || d.LargestGaps != nil) {
			t.Errorf("%s: %d strips, %d steps, gaps %+v", tc.name, strips, len(s.Steps), d.Gaps)
		}
	}
}

// TestSumOverflow: sums stop at the limit of int64 and say so.
func TestSumOverflow(t *testing.T) {
	long := event("kernel", "a", 0, "0", "9000000000000000")
	big := func(cat string, bytes int64) string {
		return fmt.Sprintf(`{"ph":"X","cat":%q,"name":"Memcpy","pid":0,"tid":7,"ts":0,"dur":1,"args":{"bytes":%d}}`, cat, bytes)
	}
	host := event("cpu_op", "a", 0, "0", "9000000000000000")
	for _, tc := range []struct {
		name, in string
		sums     int64 // that reach the limit
	}{
		// The work of the stream, the kernel row and the histogram.
		{"kernels", list(long, long), 3},
		{"one kernel", list(long), 0},
		// The row's time, and the work of the stream.
		{"copies", list(strings.Replace(long, "kernel", "gpu_memcpy", 1), strings.Replace(long, "kernel", "gpu_memcpy", 1)), 2},
		{"bytes", list(big("gpu_memcpy", math.MaxInt64-1), big("gpu_memcpy", 2)), 1},
		{"a few bytes", list(big("gpu_memcpy", 1), big("gpu_memcpy", 2)), 0},
		{"host totals", list(host, host), 1},
		// Two threads, which have a row each.
		{"host", list(host, strings.Replace(host, `"tid":7`, `"tid":8`, 1)), 0},
	} {
		s := measured(t, tc.in)
		noneNegative(t, s)
		if is := issue(s, "sum-overflow"); is.Count != tc.sums || tc.sums > 0 && is.Severity != "suspect" {
			t.Errorf("%s: %d sums stopped, want %d", tc.name, is.Count, tc.sums)
		}
	}
}

// TestStepsOfDevices: a device has a row for each step that shares time with
// its window, and for no other.
func TestStepsOfDevices(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	rows := 0
	for range 300 {
		var events []string
		at := 0
		type span struct{ start, end int }
		var marks []span
		for i := range 1 + rnd.IntN(8) {
			at += rnd.IntN(3)
			m := span{at, at + rnd.IntN(10)}
			at = m.end
			events = append(events, event("user_annotation", fmt.Sprint("ProfilerStep#", i), 99, fmt.Sprint(m.start), fmt.Sprint(m.end-m.start)))
			marks = append(marks, m)
		}
		want := map[[2]int64]bool{} // by device and number
		for dev := range 1 + rnd.IntN(4) {
			w := span{rnd.IntN(60), 0}
			w.end = w.start + rnd.IntN(20)
			events = append(events, event("kernel", "k", dev, fmt.Sprint(w.start), fmt.Sprint(w.end-w.start)))
			for n, m := range marks {
				if max(w.start, m.start) < min(w.end, m.end) {
					want[[2]int64{int64(dev), int64(n)}] = true
				}
			}
		}
		s := measured(t, list(events...))
		for _, st := range s.Steps {
			key := [2]int64{st.Device, st.Number}
			if !want[key] {
				t.Fatalf("device %d has step %d, which is no other time of it: %v", st.Device, st.Number, events)
			}
			delete(want, key)
			rows++
		}
		if len(want) > 0 {
			t.Fatalf("no row of device and step %v: %v", want, events)
		}
	}
	if rows < 300 {
		t.Errorf("only %d rows; the test tests little", rows)
	}
}

// TestTooMany: what an input makes of steps and devices is bounded, and what is
// left out is counted.
func TestTooMany(t *testing.T) {
	const devices, marks = 1100, 100
	var events []string
	for i := range marks {
		events = append(events, event("user_annotation", fmt.Sprint("ProfilerStep#", i), 9, fmt.Sprint(10*i), "10"))
	}
	for dev := range devices {
		events = append(events, event("kernel", "k", dev, "0", fmt.Sprint(10*marks)))
	}
	s := measured(t, list(events...))
	if got, left := len(s.Steps), issue(s, "too-many-steps"); got != 100_000 || left.Count != devices*marks-100_000 || left.Severity != "data-loss" {
		t.Errorf("%d steps, left out: %+v", got, left)
	}
	if last := s.Steps[len(s.Steps)-1]; last.Device != 999 || last.Number != marks-1 {
		t.Errorf("the last row is of device %d and step %d, want those of the first 1000 devices", last.Device, last.Number)
	}
	if is := issue(s, "too-many-devices"); is.Count != devices || is.Severity != "info" || s.Devices[0].Strip != nil {
		t.Errorf("strips of %d devices: %+v", devices, is)
	}
	s = measured(t, list(events[:marks+1000]...))
	if len(s.Steps) != 100_000 || issue(s, "too-many-steps").Count+issue(s, "too-many-devices").Count != 0 || s.Devices[999].Strip == nil {
		t.Errorf("at the limits: %d steps, issues %+v", len(s.Steps), s.Issues)
	}
}

// TestImplausibleStep: a marker of more than ten years is none.
func TestImplausibleStep(t *testing.T) {
	s := measured(t, list(event("kernel", "k", 0, "0", "10"),
		event("user_annotation", "ProfilerStep#1", 9, "0", "5"), event("user_annotation", "ProfilerStep#2", 9, "5", "9000000000000000")))
	if is := issue(s, "step-implausible"); is.Count != 1 || !strings.Contains(is.Help, `"ProfilerStep#2"`) {
		t.Errorf("issue %+v", is)
	}
	if len(s.Steps) != 1 || s.Steps[0].Number != 1 || s.Steps[0].WallNS != 5000 {
		t.Errorf("steps %+v, want the first", s.Steps)
	}
}

// TestBytesOfCall: a copy that does not tell its bytes has those of its call,
// and a call without a correlation is that of no copy.
func TestBytesOfCall(t *testing.T) {
	call := func(args string) string {
		return `{"ph":"X","cat":"cuda_runtime","name":"hipMemcpyAsync","pid":1,"tid":1,"ts":0,"dur":1,"args":{` + args + `}}`
	}
	dma := func(name, args string) string {
		return fmt.Sprintf(`{"ph":"X","cat":"gpu_memcpy","name":%q,"pid":0,"tid":7,"ts":5,"dur":1,"args":{%s}}`, name, args)
	}
	s := measured(t, list(call(`"size":111`), call(`"size":222,"correlation":0`), call(`"size":4096,"correlation":5`),
		dma("linked", `"correlation":5`), dma("alone", ``), dma("of none", `"correlation":0`), dma("tells", `"bytes":64`)))
	want := map[string]int64{"linked": 4096, "tells": 64, "alone": -1, "of none": -1}
	for _, c := range s.Copies {
		got := int64(-1)
		if c.Bytes != nil {
			got = *c.Bytes
		}
		if got != want[c.Name] {
			t.Errorf("%s: %d bytes, want %d", c.Name, got, want[c.Name])
		}
		delete(want, c.Name)
	}
	if len(want) > 0 {
		t.Errorf("no rows for %v", want)
	}
}
