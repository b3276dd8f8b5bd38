package xplane_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/diag"
	"assay/internal/profile"
	"assay/internal/test"
	"assay/internal/test/tracegen"
	"assay/internal/test/vendorgen"
	"assay/trace"
	"assay/trace/xplane"
)

// readTrace reads a Chrome trace, which must be recognized.
func readTrace(t testing.TB, file []byte) (*trace.Trace, *profile.Tables) {
	t.Helper()
	if !xplane.SniffTrace(file[:min(len(file), 4<<10)]) {
		t.Errorf("not recognized: %.300s", file)
	}
	tr, tables, err := xplane.ReadTrace(bytes.NewReader(file), "x.trace.json", trace.Select{Kinds: trace.Every})
	if err != nil {
		t.Fatal(err)
	}
	return tr, tables
}

// said returns what a trace says, sorted. What the profiler of XLA does not record is left out: arguments of operators,
// frames of Python, processes and groups of ranks.
func said(t *trace.Trace, shift int64, launches bool) (out []string) {
	say := func(words ...any) { out = append(out, strings.TrimSpace(fmt.Sprintln(words...))) }
	calls := map[trace.ID]string{}
	for c := range t.Calls.All() {
		if c.Correlation != 0 {
			calls[c.Correlation] = fmt.Sprint(c.Start+shift, c.Dur, t.Name(c.Name))
			say("call", c.Start+shift, c.Dur, t.Name(c.Name))
		} else {
			say("span", c.Start+shift, c.Dur, t.Name(c.Name))
		}
	}
	for a := range t.Activities.All() {
		on, d, name := t.Tracks[a.Track], *t.Detail(a.Detail), t.Name(a.Name)
		if a.Kind != trace.Kernel {
			name = fmt.Sprint(a.Kind, " of ", max(0, d.Bytes))
		}
		if !launches {
			d.Grid, d.Block = [3]int64{}, [3]int64{}
		}
		say("work", a.Start+shift, a.Dur, name, on.Device, on.Stream, d.Grid, d.Block, "by", calls[a.Correlation])
	}
	for s := range t.Spans.All() {
		name := strings.Replace(t.Name(s.Name), "ProfilerStep#", "step ", 1)
		if s.Kind == trace.Annotation || s.Kind == trace.OtherKind && t.Meta.Tool == trace.ToolXLA {
			say("span", s.Start+shift, s.Dur, name)
		}
	}
	for o := range t.Ops.All() {
		if t.Meta.Tool != trace.ToolXLA {
			say("span", o.Start+shift, o.Dur, t.Name(o.Name))
		} else if t.Name(o.Name) != "fusion.3" {
			say("operator", t.Name(o.Name))
		}
	}
	slices.Sort(out)
	return out
}

// TestPrograms: generated programs say in both forms what they say in Kineto.
func TestPrograms(t *testing.T) {
	n := 0
	for _, p := range tracegen.Stories() {
		want, err := trace.Read(bytes.NewReader(p.Make().JSON), p.Name, trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		planes, numbers := vendorgen.XLA(want), map[trace.ID]bool{}
		plain := want.Activities.Len() > 0 // XLA numbers each launch once
		for c := range want.Calls.All() {
			plain = plain && (c.Correlation == 0 || !numbers[c.Correlation])
			numbers[c.Correlation] = true
		}
		if !plain {
			continue
		}
		n++
		first := int64(1 << 62)
		for _, line := range said(want, 0, true) {
			var start int64
			if _, err := fmt.Sscanf(line[strings.IndexByte(line, ' ')+1:], "%d", &start); err == nil {
				first = min(first, start)
			}
		}
		space, chrome := read(t, vendorgen.Space(planes)), (*trace.Trace)(nil)
		chrome, _ = readTrace(t, vendorgen.ChromeTrace(planes))
		if diff := cmp.Diff(said(want, 1_000_000-first, true), said(space, 0, true)); diff != "" {
			t.Errorf("%s as XSpace: %.2000s", p.Name, diff)
		}
		if diff := cmp.Diff(said(want, 1_000_000-first, false), said(chrome, 0, false)); diff != "" {
			t.Errorf("%s as Chrome trace: %.2000s", p.Name, diff)
		}
		if !space.Complete || !chrome.Complete || len(chrome.Issues) > 0 {
			t.Errorf("%s: issues %v, %v", p.Name, space.Issues, chrome.Issues)
		}
	}
	if n < 10 {
		t.Errorf("%d programs", n)
	}
}

// TestFarTimes: times and durations that have no place in 19 digits of picoseconds are those of the file, to the ns.
func TestFarTimes(t *testing.T) {
	for text, want := range map[string][2]int64{
		`"ts":1.5,"dur":2.25`:                   {1500, 2250},
		`"ts":4294967295.5,"dur":1`:             {4294967295500, 1000},
		`"ts":4294967296.5,"dur":1`:             {4294967296500, 1000},
		`"ts":1753000000123456.789,"dur":8.001`: {1753000000123456789, 8001},
		`"ts":5,"dur":5000000000.5`:             {5000, 5000000000500},
	} {
		tr, _ := readTrace(t, fmt.Appendf(nil, `{"traceEvents":[{"ph":"M","pid":3,"name":"process_name","args":{"name":"/device:TPU:0"}},`+
			`{"ph":"M","pid":3,"tid":1,"name":"thread_name","args":{"name":"XLA Ops"}},{"ph":"X","pid":3,"tid":1,%s,"name":"fusion.1"}]}`, text))
		n := 0
		for a := range tr.Activities.All() {
			if n++; a.Start != want[0] || a.Dur != want[1] {
				t.Errorf("%s: %d for %d, want %d", text, a.Start, a.Dur, want)
			}
		}
		if n != 1 {
			t.Errorf("%s: %d operations", text, n)
		}
	}
}

// TestMostEvents: a Chrome trace with as many slices as XLA writes at most is cut, one with fewer is whole.
func TestMostEvents(t *testing.T) {
	head := `{"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":"/device:GPU:0"}},{"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"XLA Ops"}},`
	slice := []byte(`{"ph":"X","pid":1,"tid":1,"ts":5,"dur":1,"name":"k"},`)
	for n, whole := range map[int]bool{999_999: true, 1_000_000: false} {
		file := slices.Concat([]byte(head), bytes.TrimSuffix(bytes.Repeat(slice, n), []byte(",")), []byte("]}"))
		tr, _ := readTrace(t, file)
		cut := slices.ContainsFunc(tr.Issues, func(is diag.Issue) bool { return is.Code == "input-truncated" })
		if tr.Complete != whole || cut == whole {
			t.Errorf("%d slices: complete %v, issues %v", n, tr.Complete, tr.Issues)
		}
	}
}

// TestTPUForms: random operations that nest, in ps, give the same rows and tables in both forms, but for operations in
// flight and the name of the device, which a Chrome trace does not have. It has the model FLOPs, not those of the hardware.
func TestTPUForms(t *testing.T) {
	rng := rand.New(rand.NewPCG(test.Seed(t), 3))
	for range 30 {
		ops := vendorgen.Line{ID: 3, Name: "XLA Ops"}
		var fill func(from, to int64, depth int)
		fill = func(from, to int64, depth int) {
			for at := from; ; {
				start := at + rng.Int64N(7000)
				end := start + 1 + rng.Int64N(900_000)
				if at = end; end > to {
					return
				}
				n := rng.IntN(5)
				e := vendorgen.Event{Name: fmt.Sprintf("%%fusion.%d = f32[8]{0} fusion(\"x\")", n), Shown: fmt.Sprintf("fusion.%d", n), Start: start, Dur: end - start, Stats: []vendorgen.Stat{
					{Name: "hlo_category", Value: []string{"loop fusion", "copy-start", "convolution fusion"}[n%3]}, {Name: "tf_op", Value: "jit(f)/dot:"}, {Name: "source", Value: fmt.Sprintf("model.py:%d", n)},
					{Name: "model_flops", Value: int64(n * 1000)}, {Name: "bytes_accessed", Value: int64(n * 64)}}}
				if ops.Events = append(ops.Events, e); depth > 0 {
					fill(start, end, depth-1)
				}
			}
		}
		fill(5_000_000, 20_000_000, 2)
		steps := vendorgen.Line{ID: 4, Name: "Steps", Events: []vendorgen.Event{{Name: "7", Start: 5_000_500, Dur: 9_000_000, Stats: []vendorgen.Stat{{Name: "step_name", Value: "train 7"}, {Name: "group_id", Value: int64(7)}}}}}
		planes := []vendorgen.Plane{{Name: "/device:TPU:1", Lines: []vendorgen.Line{ops, steps}}, {Name: "/host:CPU", Lines: []vendorgen.Line{{ID: 9, Name: "main", Events: []vendorgen.Event{
			{Name: "PjitFunction(f)", Start: 1_000_499, Dur: 1_000_002}, {Name: "Eager", Start: 3_000_000, Dur: 500_000, Stats: []vendorgen.Stat{{Name: "step_name", Value: "Eager 7"}}}, {Name: "MemoryAllocation", Start: 3_100_000}}}}}}
		file := vendorgen.Space(planes)
		chrome, tables := readTrace(t, vendorgen.ChromeTrace(planes))
		if diff := cmp.Diff(describe(read(t, file)), describe(chrome)); diff != "" {
			t.Fatalf("%.3000s", diff)
		}
		if diff := cmp.Diff(rowsOf(t, file), rowsIn(t, tables)); diff != "" {
			t.Fatalf("%.2000s", diff)
		}
		if chrome.Meta.Devices[1] != "TPU" || chrome.Meta.WithoutCalls == "" {
			t.Errorf("%+v", chrome.Meta)
		}
	}
}

// TestTraceNames: names of lines may come after their events, devices may have the name of their host before them, the
// devices of a second host are left out, and so are other lanes.
func TestTraceNames(t *testing.T) {
	process := func(pid int, name string) string {
		return fmt.Sprintf(`{"ph":"M","pid":%d,"name":"process_name","args":{"name":%q}}`, pid, name)
	}
	lane := func(pid, tid int, name string) string {
		return fmt.Sprintf(`{"ph":"M","pid":%d,"tid":%d,"name":"thread_name","args":{"name":%q}}`, pid, tid, name)
	}
	slice := func(pid, tid int, name string) string {
		return fmt.Sprintf(`{"ph":"X","pid":%d,"tid":%d,"ts":5,"dur":2.5,"name":%q,"args":{"correlation_id":"8","hlo_op":"a::dot.%d"}}`, pid, tid, name, tid)
	}
	head := process(2, "n1 /device:GPU:0") + "," + lane(2, 7, "Stream #7(Compute)")
	for name, c := range map[string]struct {
		rest []string
		want string
	}{
		"in order": {[]string{slice(2, 7, "gemm"), process(9, "n1 /host:CPU"), lane(9, 1, "main"), slice(9, 1, "gemm")},
			"kernel gemm 5000+2500 on 0/7 by 8|call launch 5000+2500 by 8 on main|op dot.7 5000+2500 for 8"},
		"late":         {[]string{slice(2, 8, "sum"), lane(2, 8, "Stream #8")}, "kernel sum 5000+2500 on 0/8 by 8"},
		"another host": {[]string{slice(2, 7, "gemm"), process(3, "n2 /device:GPU:0"), lane(3, 7, "Stream #7"), slice(3, 7, "gemm")}, "kernel gemm 5000+2500 on 0/7 by 8"},
		"repeats":      {[]string{slice(2, 7, "gemm"), lane(2, 70, "XLA Ops"), slice(2, 70, "gemm")}, "kernel gemm 5000+2500 on 0/7 by 8"},
	} {
		tr, _ := readTrace(t, []byte(`{"traceEvents":[`+head+","+strings.Join(c.rest, ",")+`,{}]}`))
		lines := strings.Split(describe(tr), "\n")
		for i := range lines {
			lines[i] = strings.Replace(lines[i], " grid [0 0 0] block [0 0 0] regs -1 shared -1 bytes -1", "", 1)
		}
		if got := strings.Join(lines, "|"); got != c.want {
			t.Errorf("%s: got  %s\nwant %s", name, got, c.want)
		}
		if tr.Meta.Host != "n1" || tr.Complete != (name != "another host") {
			t.Errorf("%s: host %q, complete %v, issues %v", name, tr.Meta.Host, tr.Complete, tr.Issues)
		}
	}
}

// TestSniffTrace: timelines of TensorFlow 1, which give each stream a process, and traces of the host alone are of others.
func TestSniffTrace(t *testing.T) {
	form := `{"traceEvents":[{"ph":"M","pid":1,"name":"process_name","args":{"name":%q}},{"ph":"M","pid":1,"tid":2,"name":"thread_name","args":{"name":%q}}`
	for _, c := range []struct {
		process, thread string
		want            bool
	}{
		{"/device:GPU:0", "Stream #13(Compute)", true}, {"host7 /device:TPU:3", "XLA Modules", true}, {"/device:TPU:3 SparseCore 1", "Steps", true},
		{"/device:GPU:0/stream:all Compute", "Stream #1", false}, {"/device:GPU:0 Compute", "Steps", false}, {"/host:CPU", "Stream #1", false},
		{"/device:GPU:0", "main", false}, {"GPU 0", "stream 7", false},
	} {
		if got := xplane.SniffTrace(fmt.Appendf(nil, form, c.process, c.thread)); got != c.want {
			t.Errorf("%s, %s: %v", c.process, c.thread, got)
		}
	}
}

// TestPair compares the two forms of a capture that TensorFlow wrote.
func TestPair(t *testing.T) {
	const name = "aoberai_tf25_20210617_181207"
	space, err := os.ReadFile(filepath.Join(test.Corpus(t, "inputs", "xplane"), name+".xplane.pb"))
	if err != nil {
		t.Fatal(err)
	}
	chrome := test.Unpacked(t, filepath.Join(test.Corpus(t, "inputs", "tf_trace_json"), name+".trace.json.gz"))
	tr, _ := readTrace(t, chrome)
	if diff := cmp.Diff(said(read(t, space), 0, false), said(tr, 0, false)); diff != "" {
		t.Errorf("%.3000s", diff)
	}
}

func FuzzReadTrace(f *testing.F) {
	f.Add(vendorgen.ChromeTrace([]vendorgen.Plane{{Name: "/device:GPU:0", Lines: []vendorgen.Line{{ID: 7, Name: "Stream #7", Events: []vendorgen.Event{{Name: "k", Start: 5, Dur: 7}}}}},
		{Name: "/device:TPU:0", Lines: []vendorgen.Line{{ID: 7, Name: "XLA Ops", Events: []vendorgen.Event{{Name: "%k", Shown: "k", Dur: 9, Stats: []vendorgen.Stat{{Name: "flops", Value: int64(5)}}}}}}}}))
	f.Fuzz(func(t *testing.T, file []byte) {
		tr, _, err := xplane.ReadTrace(bytes.NewReader(file), "x", trace.Select{Kinds: trace.Every})
		if err != nil {
			return
		}
		for a := range tr.Activities.All() {
			if a.Dur < 0 || int(a.Track) >= len(tr.Tracks) {
				t.Errorf("%+v", a)
			}
		}
	})
}
