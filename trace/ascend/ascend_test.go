package ascend_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/internal/test/tracegen"
	"assay/internal/test/vendorgen"
	"assay/trace"
	"assay/trace/ascend"
)

func read(t testing.TB, text string) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(strings.NewReader(text), "trace_view.json", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// said returns what a trace says, sorted: work with the call that launched it, calls, operators and annotations. What
// the format cannot say is left out: directions and sizes of copies, grids, sequence numbers, arguments, and the number
// of the only device.
func said(t *trace.Trace, shift int64) (out []string) {
	say := func(words ...any) { out = append(out, strings.TrimSpace(fmt.Sprintln(words...))) }
	calls := make(map[trace.ID]string)
	for c := range t.Calls.All() {
		if c.Correlation != 0 {
			calls[c.Correlation] = fmt.Sprint(c.Start+shift, " ", c.Dur)
		}
		say("call", c.Start+shift, c.Dur, t.Tracks[c.Track].TID)
	}
	devices := make(map[int64]bool)
	for a := range t.Activities.All() {
		devices[t.Tracks[a.Track].Device] = true
	}
	for a := range t.Activities.All() {
		on, name := t.Tracks[a.Track], t.Name(a.Name)
		if a.Kind != trace.Kernel {
			name = "copy"
		}
		if len(devices) == 1 {
			on.Device = 0
		}
		say("work", a.Start+shift, a.Dur, name, on.Device, on.Stream, "by", calls[a.Correlation])
	}
	for o := range t.Ops.All() {
		say("op", o.Start+shift, o.Dur, t.Name(o.Name), t.Tracks[o.Track].PID, t.Tracks[o.Track].TID)
	}
	for s := range t.Spans.All() {
		if s.Kind == trace.Annotation {
			say("note", s.Start+shift, s.Dur, t.Name(s.Name), t.Tracks[s.Track].TID)
		}
	}
	slices.Sort(out)
	return out
}

const shift = 1_700_000_000_000_000_000

// TestPrograms: generated programs say the same as in Kineto.
func TestPrograms(t *testing.T) {
	n := 0
	for _, p := range tracegen.Stories() {
		want, err := trace.Read(bytes.NewReader(p.Make().JSON), p.Name, trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		if !plain(want) {
			continue
		}
		n++
		got := read(t, string(vendorgen.Ascend(want, shift)))
		if !ascend.Recast(got) || got.Meta.Tool != ascend.FormatTrace {
			t.Errorf("%s is not recognized", p.Name)
			continue
		}
		if diff := cmp.Diff(said(want, shift), said(got, 0)); diff != "" {
			t.Errorf("%s: %.2000s", p.Name, diff)
		}
	}
	if n < 10 {
		t.Errorf("%d programs", n)
	}
}

// plain reports whether Ascend's profiler could have written a trace: threads and processes are numbers, and each call
// and activity is linked at most once.
func plain(t *trace.Trace) bool {
	starts := make(map[[2]int64]bool)
	numbers := make(map[trace.ID]bool)
	for c := range t.Calls.All() {
		key := [2]int64{int64(c.Track), c.Start}
		if starts[key] || c.Correlation != 0 && numbers[c.Correlation] {
			return false
		}
		starts[key], numbers[c.Correlation] = true, true
	}
	for _, on := range t.Tracks {
		if strings.Trim(on.PID+on.TID, "0123456789") != "" && !on.OnDevice {
			return false
		}
	}
	return t.Activities.Len() > 0
}

// TestTable: a table has the same kernels.
func TestTable(t *testing.T) {
	for _, p := range tracegen.Stories()[:3] {
		want, err := trace.Read(bytes.NewReader(p.Make().JSON), p.Name, trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		table := vendorgen.AscendCSV(want, shift)
		if !ascend.SniffCSV(table[:300]) {
			t.Fatalf("%s is not recognized", p.Name)
		}
		got, err := ascend.ReadCSV(bytes.NewReader(table), "kernel_details.csv", trace.SelectAll())
		if err != nil || !got.Complete || len(got.Issues) > 0 {
			t.Fatalf("%s: %v, %+v", p.Name, err, got)
		}
		kernels := func(t *trace.Trace, shift int64) (out []string) {
			for a := range t.Activities.All() {
				if on := t.Tracks[a.Track]; a.Kind == trace.Kernel {
					out = append(out, fmt.Sprint(a.Start+shift, a.Dur, t.Name(a.Name), on.Device, on.Stream))
				}
			}
			return out
		}
		if diff := cmp.Diff(kernels(want, shift), kernels(got, 0)); diff != "" {
			t.Errorf("%s: %.1000s", p.Name, diff)
		}
	}
}

// lanes is a trace of one NPU, in µs: a product from 10 to 210 on stream 3, a collective from 110 to 310 in its own lane,
// and what repeats them: a step of the collective, its task and its wait on stream 5, and the overlap analysis.
func lanes(notOverlapped string) string {
	name := func(pid int, process string) string {
		return fmt.Sprintf(`{"name":"process_name","ph":"M","pid":%d,"tid":0,"args":{"name":%q}}`, pid, process)
	}
	thread := func(pid, tid int, text string) string {
		return fmt.Sprintf(`{"name":"thread_name","ph":"M","pid":%d,"tid":%d,"args":{"name":%q}}`, pid, tid, text)
	}
	span := func(pid, tid int, text, ts, dur string) string {
		return fmt.Sprintf(`{"ph":"X","name":%q,"pid":%d,"tid":%d,"ts":"%s.000","dur":%s}`, text, pid, tid, ts, dur)
	}
	return "[" + strings.Join([]string{
		name(800, "Ascend Hardware"), thread(800, 3, "Stream 3"), thread(800, 5, "Stream 5"),
		name(900, "Communication"), thread(900, 0, "Group 7 Communication"), thread(900, 1, "Plane 0"), name(1100, "Overlap Analysis"),
		span(800, 3, "aclnnMm_MatMulCommon_MatMulV2", "10", "200"), span(800, 5, "EVENT_WAIT", "10", "100"),
		span(800, 5, "hcom_allReduce_AicpuKernel", "110", "200"), span(900, 0, "hcom_allReduce__501_3_1", "110", "200"),
		span(900, 1, "Notify_Wait", "110", "150"), span(900, 1, "Memcpy", "260", "50"),
		span(1100, 0, "Computing", "10", "200"), span(1100, 1, "Communication", "110", "200"),
		span(1100, 2, "Communication(Not Overlapped)", "210", notOverlapped), span(1100, 3, "Free", "310", "0"),
	}, ",\n") + "]"
}

// TestLanes: work counts once, in whatever lanes it is repeated, and the profiler's own sums are compared with it.
func TestLanes(t *testing.T) {
	tr := read(t, lanes("100"))
	if !ascend.Recast(tr) || len(tr.Issues) > 0 {
		t.Fatalf("%+v", tr.Issues)
	}
	var got []string
	for a := range tr.Activities.All() {
		c := tr.Detail(a.Detail).Collective
		got = append(got, fmt.Sprint(tr.Name(a.Name), " ", a.Start, " ", a.Dur, " ", tr.Tracks[a.Track].Stream, " ", tr.Name(c.Name), " ", tr.Name(c.Group)))
	}
	want := []string{"aclnnMm_MatMulCommon_MatMulV2 10000 200000 3  ", "hcom_allReduce 110000 200000 100000 allreduce 501"}
	if !slices.Equal(got, want) || tr.Meta.Devices[0] != ascend.DeviceName {
		t.Errorf("%q, want %q; %v", got, want, tr.Meta.Devices)
	}
	tr = read(t, lanes("150")) // of 100
	ascend.Recast(tr)
	if len(tr.Issues) != 1 || tr.Issues[0].Code != "overlap-differs" ||
		!strings.Contains(tr.Issues[0].Help, "Communication(Not Overlapped) 150 µs, where the tasks yield 100 µs") {
		t.Errorf("%+v", tr.Issues)
	}
}

// TestOthers: a trace of another profiler stays as it is.
func TestOthers(t *testing.T) {
	for _, text := range []string{
		`[{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2,"args":{"device":0,"stream":7}}]`,
		`[{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"Communication"}},{"ph":"X","name":"send","pid":1,"tid":2,"ts":1,"dur":2}]`,
		`[{"name":"process_name","ph":"M","pid":1,"tid":0,"args":{"name":"Python"}},{"ph":"X","name":"f","pid":1,"tid":2,"ts":1,"dur":2}]`,
	} {
		if tr := read(t, text); ascend.Recast(tr) {
			t.Errorf("%s: taken for a trace of Ascend", text)
		}
	}
}

// TestTableOddities: cells are quoted, end in a tab or are N/A; rows that cannot be true are counted.
func TestTableOddities(t *testing.T) {
	table := "Device_id,Stream ID,Name,Type,Accelerator Core,Start Time(us),Duration(us),Input Shapes\n" +
		"3,16,Cast66,Cast,AI_VECTOR_CORE,\"1736413971558972.912\t\",3.14,\"\"\"4,1025\"\"\"\n" +
		"3,N/A,hcom_broadcast__445_0,hcom_broadcast_,HCCL,1736413971558980,8.5,N/A\n" +
		"3,16,Add7,Add,AI_VECTOR_CORE,N/A,3.14,N/A\n" +
		"3,16,Notify_Wait,N/A,HCCL,1736413971558990,3.14,N/A\n"
	tr, err := ascend.ReadCSV(strings.NewReader(table), "kernel_details.csv", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for a := range tr.Activities.All() {
		got = append(got, fmt.Sprint(tr.Name(a.Name), a.Start, " ", a.Dur, " ", tr.Tracks[a.Track].Device, " ", tr.Tracks[a.Track].Stream))
	}
	want := []string{"Cast1736413971558972912 3140 3 16", "hcom_broadcast1736413971558980000 8500 3 100000"}
	if !slices.Equal(got, want) || tr.Complete || len(tr.Issues) != 1 || tr.Issues[0].Code != "row-malformed" || tr.Issues[0].Count != 1 {
		t.Errorf("%q, want %q; complete %t, %+v", got, want, tr.Complete, tr.Issues)
	}
	if _, err := ascend.ReadCSV(strings.NewReader(table[:100]), "kernel_details.csv", trace.SelectAll()); err != ascend.ErrNoTasks {
		t.Errorf("no rows: %v", err)
	}
}

// FuzzCSV: no table breaks the reader.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("Name,Type,Accelerator Core,Start Time(us),Duration(us)\nCast66,Cast,AI_CORE,1.5,2\n"))
	f.Add([]byte("Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Stream ID\n\"a\"\"b\",,X,\"1\t\",9999999999999999999,\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		tr, err := ascend.ReadCSV(bytes.NewReader(in), "t.csv", trace.SelectAll())
		if err != nil {
			return
		}
		for a := range tr.Activities.All() {
			if a.Start < 0 || a.Dur < 0 || a.End() < a.Start {
				t.Fatalf("%+v", a)
			}
		}
	})
}

// FuzzRecast: no trace breaks the meaning of its lanes.
func FuzzRecast(f *testing.F) {
	f.Add([]byte(lanes("100")))
	f.Fuzz(func(t *testing.T, in []byte) {
		tr, err := trace.Read(bytes.NewReader(in), "t.json", trace.SelectAll())
		if err != nil {
			return
		}
		spans := tr.Spans.Len() + tr.Ops.Len()
		if ascend.Recast(tr) && tr.Spans.Len()+tr.Ops.Len()+tr.Activities.Len()+tr.Calls.Len() < spans {
			t.Fatal("spans were lost")
		}
	})
}
