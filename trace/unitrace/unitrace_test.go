package unitrace_test

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
	"assay/trace/unitrace"
)

func read(t testing.TB, text string) *trace.Trace {
	t.Helper()
	tr, err := trace.Read(strings.NewReader(text), "app.4711.json", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// said returns what a trace says, sorted: work with the call that launched it, calls and ranges. What the format cannot say
// is left out: operators, the directions of copies, registers, and the numbers of streams.
func said(t *trace.Trace, shift int64) (out []string) {
	say := func(words ...any) { out = append(out, strings.TrimSpace(fmt.Sprintln(words...))) }
	calls := make(map[trace.ID]string)
	for c := range t.Calls.All() {
		if c.Correlation != 0 {
			calls[c.Correlation] = fmt.Sprint(c.Start+shift, " ", c.Dur)
		}
		say("call", c.Start+shift, c.Dur, t.Tracks[c.Track].PID, t.Tracks[c.Track].TID)
	}
	for a := range t.Activities.All() {
		on, name, d := t.Tracks[a.Track], t.Name(a.Name), t.Detail(a.Detail)
		if a.Kind != trace.Kernel {
			name = a.Kind.String()
		}
		grid := fmt.Sprint(d.Grid, d.Block)
		if a.Kind != trace.Kernel {
			grid = ""
		}
		say("work", a.Start+shift, a.Dur, name, grid, on.Device, "by", calls[a.Correlation])
	}
	for s := range t.Spans.All() {
		if s.Kind == trace.Annotation {
			say("note", s.Start+shift, s.Dur, t.Name(s.Name), t.Tracks[s.Track].TID)
		}
	}
	slices.Sort(out)
	return out
}

// TestPrograms: generated programs say the same as in Kineto.
func TestPrograms(t *testing.T) {
	const shift = 1_700_000_000_000_000_000
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
		got := read(t, string(vendorgen.Unitrace(want, shift)))
		if !unitrace.Recast(got) || got.Meta.Tool != unitrace.Format || got.Meta.Host != "node7" {
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

// plain reports whether unitrace could have written a trace: threads are numbers, and a call has a number of its own.
func plain(t *trace.Trace) bool {
	numbers, starts := make(map[trace.ID]bool), make(map[[2]int64]bool)
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

// device returns a trace of one span of a GPU, in a process of a name.
func device(process, name string) string {
	return fmt.Sprintf(`{ "traceEvents":[
{"ph": "M", "name": "process_name", "pid": 4711, "ts": 1, "args": {"name": "RANK 3 HOST<node7>"}},
{"ph": "M", "name": "process_name", "pid": 4294967199, "ts": 1, "args": {"name": %q}},
{"ph": "X", "tid": 4294967295, "pid": 4294967199, "name": %q, "cat": "gpu_op", "ts": 1704161511420306.25, "dur": 2, "args": {"id": "7"}}]}`, process, name)
}

// TestNames: what the names of processes and of work say.
func TestNames(t *testing.T) {
	const max1550 = "RANK 3 DEVICE<node7>[Intel(R) Data Center GPU Max 1550] 0:18:0:0 #0.1"
	for _, tc := range []struct{ process, name, want string }{
		{max1550, "gemm<float>[SIMD16 {4; 2; 1} {32; 1; 1}]", "kernel gemm<float> [4 2 1] [32 1 1] -1 on Intel(R) Data Center GPU Max 1550"},
		{max1550, "Tile #1: gemm", "kernel gemm [0 0 0] [0 0 0] -1 on Intel(R) Data Center GPU Max 1550"},
		{max1550, "zeCommandListAppendMemoryCopy(M2D)[4096]", "gpu_memcpy Memcpy HtoD (Pageable -> Device) [0 0 0] [0 0 0] 4096 on Intel(R) Data Center GPU Max 1550"},
		{max1550, "zeCommandListAppendMemoryCopy(D2H)[8]", "gpu_memcpy Memcpy DtoH (Device -> Pinned) [0 0 0] [0 0 0] 8 on Intel(R) Data Center GPU Max 1550"},
		{"DEVICE<n> 0:3:0:0 #0", "zeCommandListAppendMemoryFill(D)[64]", "gpu_memset Memset [0 0 0] [0 0 0] 64 on Intel GPU"},
		{"DEVICE<n> 0:3:0:0 #0", "clEnqueueWriteBuffer", "gpu_memcpy Memcpy [0 0 0] [0 0 0] -1 on Intel GPU"},
		{"DEVICE<n> 0:3:0:0 #0", "zeCommandListAppendBarrier", ""},
	} {
		tr := read(t, device(tc.process, tc.name))
		if !unitrace.Recast(tr) || strings.HasPrefix(tc.process, "RANK") && (tr.Meta.Rank == nil || *tr.Meta.Rank != 3) {
			t.Fatalf("%s is not recognized: %v", tc.process, tr.Meta.Rank)
		}
		got := ""
		for a := range tr.Activities.All() {
			d := tr.Detail(a.Detail)
			got = fmt.Sprint(a.Kind, " ", tr.Name(a.Name), " ", d.Grid, d.Block, d.Bytes, " on ", tr.Meta.Devices[tr.Tracks[a.Track].Device])
		}
		if strings.ReplaceAll(got, "][", "] [") != strings.ReplaceAll(tc.want, "][", "] [") {
			t.Errorf("%s: %q, want %q", tc.name, got, tc.want)
		}
	}
	if tr := read(t, device("Device 0", "k")); unitrace.Recast(tr) {
		t.Error("another trace is taken for one of unitrace")
	}
}

// FuzzRecast: no trace breaks the meaning of its lanes.
func FuzzRecast(f *testing.F) {
	f.Add([]byte(device("DEVICE<n>[Intel] 0:3:0:0 #0.1", "k[SIMD16 {4; 2; 1} {32; 1; 1}]")))
	f.Fuzz(func(t *testing.T, in []byte) {
		tr, err := trace.Read(bytes.NewReader(in), "t.json", trace.SelectAll())
		if err != nil {
			return
		}
		before := tr.Spans.Len() + tr.Ops.Len()
		if unitrace.Recast(tr) && tr.Spans.Len()+tr.Ops.Len()+tr.Activities.Len()+tr.Calls.Len() < before {
			t.Fatal("spans were lost")
		}
	})
}
