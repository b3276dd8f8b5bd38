package analyze_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"assay/analyze"
	"assay/summary"
	"assay/trace"
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

// noneNegative checks every number of a summary except starts, which may be
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
// times are, and a window of more than 100 hours has neither strip nor gaps nor
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
		{"as long as int64", list(event("kernel", "a", 0, "0", "1"), event("kernel", "a", 0, "9223372036854774.806", "1"), step),
			math.MaxInt64 - 1, 2000, true, "from 0 ns to 9223372036854775806 ns", 0, 0},
		{"longer than int64", list(event("kernel", "a", 0, "-9000000000000000", "1"), event("kernel", "a", 0, "9000000000000000", "1"), step),
			math.MaxInt64, 1000, true, "from -9000000000000000000 ns to 9000000000000001000 ns", 0, 0},
		{"99 hours", list(event("kernel", "a", 0, "0", "1"), event("kernel", "a", 0, "356400000000", "1"), step),
			356400000001000, 2000, false, "", 1, 1},
		{"101 hours", list(event("kernel", "a", 0, "0", "1"), event("kernel", "a", 0, "363600000000", "1"), step),
			363600000001000, 2000, true, "rank 0 GPU 0", 0, 0},
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
	// Events are up to 100 hours long, so it takes 25,621 of them.
	many := func(n int, event string) string { return list(slices.Repeat([]string{event}, n)...) }
	big := func(cat string, bytes int64) string {
		return fmt.Sprintf(`{"ph":"X","cat":%q,"name":"Memcpy","pid":0,"tid":7,"ts":0,"dur":1,"args":{"bytes":%d}}`, cat, bytes)
	}
	host := event("cpu_op", "a", 0, "0", "360000000000")
	for _, tc := range []struct {
		name, in string
		sums     int64 // that reach the limit
	}{
		{"bytes", list(big("gpu_memcpy", math.MaxInt64-1), big("gpu_memcpy", 2)), 1},
		{"a few bytes", list(big("gpu_memcpy", 1), big("gpu_memcpy", 2)), 0},
		{"host totals", many(25_621, host), 1},
		{"host", many(25_620, host), 0},
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

// TestImplausibleStep: a marker of more than 100 hours is none.
func TestImplausibleStep(t *testing.T) {
	mark := func(phase string, ts int64) string {
		return fmt.Sprintf(`{"ph": %q, "cat": "user_annotation", "name": "ProfilerStep#2", "pid": 9, "tid": 7, "ts": %d}`, phase, ts)
	}
	s := measured(t, list(event("kernel", "k", 0, "0", "10"),
		event("user_annotation", "ProfilerStep#1", 9, "0", "5"), mark("B", 5), mark("E", 9000000000000000)))
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

// measuredIn measures a trace with so much room in its tables.
func measuredIn(t *testing.T, in string, rows int) *summary.Summary {
	t.Helper()
	tr, err := trace.Read(strings.NewReader(in), "in", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	opt := analyze.DefaultOptions()
	opt.MaxRows = rows
	return analyze.Trace(tr, summary.Input{}, opt)
}

// TestTooManyRows: a table without room pools what it cannot hold, by device
// and class, and every sum is what it is with room.
func TestTooManyRows(t *testing.T) {
	var events []string
	for i := range 300 {
		name, cat := fmt.Sprint("k", i), "kernel"
		switch i % 4 {
		case 1:
			name = fmt.Sprint("ncclDevKernel_AllReduce_", i)
		case 2:
			name, cat = fmt.Sprint("Memcpy ", i), "gpu_memcpy"
		case 3:
			name, cat = fmt.Sprint("Memset ", i), "gpu_memset"
		}
		for run := range 2 {
			events = append(events, event(cat, name, i/4%2, fmt.Sprint(1000*run+i), fmt.Sprint(i%7+run)))
		}
	}
	type sum struct{ count, ns int64 }
	sums := func(s *summary.Summary) map[string]sum {
		out := make(map[string]sum)
		add := func(class string, device, count, ns int64) {
			key := fmt.Sprint(class, device)
			out[key] = sum{out[key].count + count, out[key].ns + ns}
		}
		for _, k := range s.Kernels {
			add(k.Class, k.Device, k.Count, k.TotalNS)
		}
		for _, c := range s.Copies {
			add(c.Class, c.Device, c.Count, c.TotalNS)
		}
		return out
	}
	whole := measuredIn(t, list(events...), 0)
	for _, rows := range []int{1, 10, 149, 150} {
		s := measuredIn(t, list(events...), rows)
		if got, want := sums(s), sums(whole); !reflect.DeepEqual(got, want) {
			t.Errorf("%d rows: %v, want %v", rows, got, want)
		}
		if !reflect.DeepEqual(s.Devices, whole.Devices) {
			t.Errorf("%d rows: devices differ", rows)
		}
		pooled := int64(0)
		for _, k := range s.Kernels {
			if k.Name == "(other kernels)" {
				pooled += k.Count
			}
		}
		for _, c := range s.Copies {
			if c.Name == "(other copies)" {
				pooled += c.Count
			}
		}
		if want := 2 * int64(max(0, 150-rows)*2); pooled != want || issue(s, "too-many-rows").Count != want {
			t.Errorf("%d rows: %d events pooled, issue %+v, want %d", rows, pooled, issue(s, "too-many-rows"), want)
		}
		if len(s.Kernels) > rows+4 || len(s.Copies) > rows+4 {
			t.Errorf("%d kernels and %d copies in %d rows", len(s.Kernels), len(s.Copies), rows)
		}
	}
}

// TestTooManySpans: spans of the host are pooled with their self times, those
// that may overlap apart from the others.
func TestTooManySpans(t *testing.T) {
	var events []string
	for i := range 50 {
		events = append(events, event("cpu_op", fmt.Sprint("op", i), 0, fmt.Sprint(10*i), "9"),
			fmt.Sprintf(`{"ph":"b","cat":"a","id":%d,"name":"n%d","pid":1,"tid":1,"ts":%d}`, i, i, i),
			fmt.Sprintf(`{"ph":"e","cat":"a","id":%d,"name":"n%d","pid":1,"tid":1,"ts":%d}`, i, i, i+5))
	}
	s := measuredIn(t, list(events...), 10)
	var count, self, async, pooled int64
	for _, p := range s.Spans {
		count, self = count+p.Count, self+p.SelfNS
		if p.Async {
			async += p.TotalNS
		}
		if p.Name == "(other spans)" {
			pooled += p.Count
		}
	}
	if len(s.Spans) != 22 || count != 100 || self != 50*9000 || async != 50*5000 || pooled != 80 || issue(s, "too-many-rows").Count != 80 {
		t.Errorf("%d spans of %d events, %d ns self, %d ns async, %d pooled: %+v", len(s.Spans), count, self, async, pooled, s.Issues)
	}
}

// TestDevicesLeftOut: those of the lowest numbers are measured, and what the
// others did is counted.
func TestDevicesLeftOut(t *testing.T) {
	const devices, most = 4200, 4096
	var events []string
	for dev := range devices {
		events = append(events, event("kernel", fmt.Sprint("k", dev), devices-1-dev, "0", "5"), event("gpu_memcpy", "m", dev, "5", "5"))
	}
	s := measuredIn(t, list(events...), 0)
	if is := issue(s, "devices-left-out"); is.Count != 2*(devices-most) || is.Severity != "data-loss" {
		t.Errorf("left out: %+v", is)
	}
	if len(s.Devices) != most || s.Devices[most-1].Device != most-1 || len(s.Kernels) != most || len(s.Copies) != most || len(s.Streams) != most {
		t.Errorf("%d devices, %d kernels, %d copies, %d streams; want %d", len(s.Devices), len(s.Kernels), len(s.Copies), len(s.Streams), most)
	}
	s = measuredIn(t, list(events[:10]...), 3)
	if len(s.Streams) != 3 || issue(s, "too-many-streams").Count != int64(len(s.Devices)-3) {
		t.Errorf("%d streams of %d devices in 3 rows: %+v", len(s.Streams), len(s.Devices), s.Issues)
	}
}

// TestLongNames: names fill a table, too.
func TestLongNames(t *testing.T) {
	var events []string
	for i := range 100 {
		events = append(events, event("kernel", fmt.Sprint(strings.Repeat("x", 10_000), i), 0, fmt.Sprint(i), "1"))
	}
	s := measuredIn(t, list(events...), 1000)
	total := int64(0)
	for _, k := range s.Kernels {
		total += k.TotalNS
	}
	if len(s.Kernels) != 26 || total != 100_000 || issue(s, "too-many-rows").Count != 75 {
		t.Errorf("%d rows of %d ns, issues %+v", len(s.Kernels), total, s.Issues)
	}
}

// TestDetached checks that no name of a summary shares memory with the trace,
// which would keep the whole trace allocated.
func TestDetached(t *testing.T) {
	for _, in := range []string{
		list(event("kernel", "k", 0, "0", "1"), event("gpu_memcpy", "m", 0, "1", "1"), event("user_annotation", "ProfilerStep#1", 9, "0", "2")),
		list(event("cpu_op", "op", 0, "0", "1")),
	} {
		tr, err := trace.Read(strings.NewReader(in), "in", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		theirs := make(map[*byte]string)
		for i := range tr.Names() {
			theirs[unsafe.StringData(tr.Name(trace.Sym(i)))] = tr.Name(trace.Sym(i))
		}
		s := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
		var names []string
		for _, r := range s.Kernels {
			names = append(names, r.Name)
		}
		for _, r := range s.Copies {
			names = append(names, r.Name)
		}
		for _, r := range s.Steps {
			names = append(names, r.Name)
		}
		for _, r := range s.Spans {
			names = append(names, r.Name, r.Process, r.Thread)
		}
		if len(names) != 3 {
			t.Errorf("%d names, want 3: %q", len(names), names)
		}
		for _, name := range names {
			if theirs[unsafe.StringData(name)] != "" {
				t.Errorf("%q lies in the memory of the trace", name)
			}
		}
	}
}

// TestKernelsWithoutName: kernels whose name is null, empty, blank or missing are
// counted in an issue.
func TestKernelsWithoutName(t *testing.T) {
	named := event("kernel", "a", 0, "0", "5")
	for name, want := range map[string]int64{`"name":"a"`: 0, `"name":""`: 1, `"name":" "`: 1, `"name":null`: 1, `"nome":"a"`: 1} {
		s := measured(t, list(named, strings.Replace(named, `"name":"a"`, name, 1)))
		if is := issue(s, "kernels-without-name"); is.Count != want || want > 0 && is.Severity != "suspect" {
			t.Errorf("%s: %+v, want %d", name, is, want)
		}
	}
}
