package nsysstats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/trace"
)

// A told is a trace of one thread and two streams that a test defines row by
// row. Times are in ns.
type told struct {
	a              *trace.Assembler
	thread, stream trace.TrackID
	meta           trace.Meta
}

func tell() *told {
	a := trace.NewAssembler("told", trace.SelectAll())
	return &told{a: a, thread: a.Thread(10, 11), stream: a.Stream(10, 0, 7)}
}

func (s *told) sym(text string) trace.Sym { return s.a.Sym([]byte(text)) }

// work adds a GPU operation; bytes is -1 if its size is unknown.
func (s *told) work(kind trace.Kind, name string, id, start, end, bytes int64) {
	sym := s.sym(name)
	s.a.Activity(trace.Activity{Start: start, Dur: end - start, Kind: kind, Name: sym, Track: s.stream, Correlation: trace.IDOf(id),
		Detail: s.a.Detail(trace.Detail{Bytes: bytes}, sym)})
}

func (s *told) call(name string, id, start, end int64) {
	s.a.Call(trace.Call{Start: start, Dur: end - start, Kind: trace.Runtime, Name: s.sym(name), Track: s.thread, Correlation: trace.IDOf(id)})
}

func (s *told) span(kind trace.Kind, name, category string, start, end int64) {
	s.a.Span(trace.HostSpan{Start: start, Dur: end - start, Kind: kind, Name: s.sym(name), Category: s.sym(category), Track: s.thread})
}

func (s *told) async(name, category string, start, end int64) {
	s.a.Async(trace.HostSpan{Start: start, Dur: end - start, Kind: trace.Annotation, Name: s.sym(name), Category: s.sym(category), Track: s.thread})
}

// report returns the rows of one report, one line each, and its notes.
func (s *told) report(t *testing.T, name string) (lines, notes []string) {
	t.Helper()
	return rowsOf(t, s.a.Trace(s.meta, 0, true), name)
}

func rowsOf(t *testing.T, tr *trace.Trace, name string) (lines, notes []string) {
	t.Helper()
	tables := Tables(tr, []string{name}, 1<<20)
	if len(tables) != 1 || tables[0].Name != name {
		t.Fatalf("%s: %d tables", name, len(tables))
	}
	for _, row := range tables[0].Rows {
		if len(row) != len(tables[0].Columns) {
			t.Errorf("%s: %d cells for %d columns: %q", name, len(row), len(tables[0].Columns), row)
		}
		lines = append(lines, strings.Join(row, "|"))
	}
	return lines, tables[0].Notes
}

func check(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: want(-) got(+)\n%s", what, diff)
	}
}

// TestKernels: for 10, 20 and 40 the mean is 23 1/3, the median 20 and the
// deviation the root of (1600+100+2500)/9/2 = 233 1/3; for 13 and 18 the median
// is 15.5 and the deviation 5/√2. Copies and CUDA graphs traced as one event
// are not kernels.
func TestKernels(t *testing.T) {
	s := tell()
	for i, ns := range []int64{40, 10, 20} {
		s.work(trace.Kernel, "a", 0, int64(100*i), int64(100*i)+ns, -1)
	}
	s.work(trace.Kernel, "one", 0, 0, 9, -1)
	s.work(trace.Kernel, "two", 0, 0, 18, -1)
	s.work(trace.Kernel, "two", 0, 50, 63, -1)
	s.work(trace.Kernel, "before one", 0, 90, 99, -1)
	s.work(trace.Kernel, trace.OpaqueGraph, 0, 200, 300, -1)
	s.work(trace.Memcpy, "Memcpy HtoD", 0, 0, 1000, 5)
	got, notes := s.report(t, "cuda_gpu_kern_sum")
	check(t, "rows", got,
		"58.8|70|3|23.3|20.0|10|40|15.3|a",
		"26.1|31|2|15.5|15.5|13|18|3.5|two",
		"7.6|9|1|9.0|9.0|9|9|0.0|before one",
		"7.6|9|1|9.0|9.0|9|9|0.0|one")
	check(t, "notes", notes, "CUDA graphs traced as one event are not included (1 launch, 100 ns in total); record with --cuda-graph-trace=node to see their kernels")
}

// TestCopies: a size is printed in units of 10^6 bytes. Copies are grouped by
// direction, not by kinds of memory.
func TestCopies(t *testing.T) {
	s := tell()
	s.work(trace.Memcpy, "Memcpy HtoD (Pageable -> Device)", 0, 0, 30, 104857600)
	s.work(trace.Memcpy, "Memcpy HtoD (Pinned -> Device)", 0, 50, 70, 1000)
	s.work(trace.Memcpy, "Memcpy UVM DtoH", 0, 80, 90, 500)
	s.work(trace.Memcpy, "Memcpy kind 17", 0, 80, 85, -1)
	s.work(trace.Memcpy, "CopyHostToDevice", 0, 90, 94, -1)
	s.work(trace.Memset, "Memset (Device)", 0, 95, 126, 2_000_000)
	tr := s.a.Trace(s.meta, 0, true)
	got, _ := rowsOf(t, tr, "cuda_gpu_mem_time_sum")
	check(t, "times", got,
		"50.0|50|2|25.0|25.0|20|30|7.1|[CUDA memcpy Host-to-Device]",
		"31.0|31|1|31.0|31.0|31|31|0.0|[CUDA memset]",
		"10.0|10|1|10.0|10.0|10|10|0.0|[CUDA memcpy Unified Device-to-Host]",
		"5.0|5|1|5.0|5.0|5|5|0.0|[CUDA memcpy kind 17]",
		"4.0|4|1|4.0|4.0|4|4|0.0|[CUDA memcpy CopyHostToDevice]")
	got, notes := rowsOf(t, tr, "cuda_gpu_mem_size_sum")
	check(t, "sizes", got, // the deviation of two values is half their distance times √2
		"104.859|2|52.429|52.429|0.001|104.858|74.145|[CUDA memcpy Host-to-Device]",
		"2.000|1|2.000|2.000|2.000|2.000|0.000|[CUDA memset]",
		"0.001|1|0.001|0.001|0.001|0.001|0.000|[CUDA memcpy Unified Device-to-Host]")
	check(t, "notes", notes, "2 copies are not included because their size is unknown")
}

// TestCalls: versions with four digits after a name are removed.
func TestCalls(t *testing.T) {
	s := tell()
	s.meta.APINames = map[string]string{"cudaLaunchKernel": "cudaLaunchKernel_v7000", "cudaGraphLaunch": "cudaGraphLaunch_v10000"}
	s.call("cudaLaunchKernel", 1, 0, 5)
	s.call("cudaGraphLaunch", 2, 10, 13)
	s.call("cuGetProcAddress_v2", 3, 20, 21)
	s.call("cudaMalloc_v3020", 4, 30, 31)
	s.span(trace.OSCall, "poll", "osrt", 0, 7)
	s.span(trace.OffCPU, "(thread not running)", "sched", 0, 9)
	tr := s.a.Trace(s.meta, 0, true)
	got, _ := rowsOf(t, tr, "cuda_api_sum")
	check(t, "calls", got,
		"50.0|5|1|5.0|5.0|5|5|0.0|cudaLaunchKernel",
		"30.0|3|1|3.0|3.0|3|3|0.0|cudaGraphLaunch_v10000",
		"10.0|1|1|1.0|1.0|1|1|0.0|cuGetProcAddress_v2",
		"10.0|1|1|1.0|1.0|1|1|0.0|cudaMalloc")
	got, _ = rowsOf(t, tr, "osrt_sum")
	check(t, "calls of the operating system", got, "100.0|7|1|7.0|7.0|7|7|0.0|poll")
}

// TestRanges: a range is identified by its domain and text; operators that were
// recorded as ranges are identified by their original text.
func TestRanges(t *testing.T) {
	tellRanges := func() *told {
		s := tell()
		s.span(trace.Annotation, "step", "nvtx", 0, 40)
		s.span(trace.Annotation, "step", "user_annotation", 50, 60)
		s.span(trace.Annotation, "step", "nvtx:NCCL", 0, 20)
		s.span(trace.OtherKind, "no range", "library", 0, 500)
		s.async("step", "nvtx", 0, 15)
		op := s.sym("aten::mm")
		shape := s.a.Shape(trace.Shape{Dims: s.sym("[[1, 2]]")}, op)
		s.a.Op(trace.Op{Start: 1, Dur: 10, Name: op, Track: s.thread, Sequence: 6, External: 7, Shape: shape})
		op = s.sym("aten::t")
		s.a.Op(trace.Op{Start: 12, Dur: 5, Name: op, Track: s.thread, External: 8, Shape: s.a.Shape(trace.Shape{}, op)})
		return s
	}
	s := tellRanges()
	got, _ := s.report(t, "nvtx_sum")
	check(t, "operators are no ranges", got,
		"58.8|50|2|25.0|25.0|10|40|21.2|PushPop|:step",
		"23.5|20|1|20.0|20.0|20|20|0.0|PushPop|NCCL:step",
		"17.6|15|1|15.0|15.0|15|15|0.0|StartEnd|:step")
	s = tellRanges()
	s.meta.NVTXOps = true
	got, _ = s.report(t, "nvtx_sum")
	check(t, "operators are ranges", got,
		"50.0|50|2|25.0|25.0|10|40|21.2|PushPop|:step",
		"20.0|20|1|20.0|20.0|20|20|0.0|PushPop|NCCL:step",
		"15.0|15|1|15.0|15.0|15|15|0.0|StartEnd|:step",
		"10.0|10|1|10.0|10.0|10|10|0.0|PushPop|:aten::mm, seq = 5, op_id = 7, sizes = [[1, 2]]",
		"5.0|5|1|5.0|5.0|5|5|0.0|PushPop|:aten::t, op_id = 8")
}

// TestProjection: a range is projected from the first start to the last end of
// the work launched in it, whenever it ran, including nested ranges.
//
//	time (thousands)  0         10        20        30        40        50
//	outer             [oooooooooooooooooooooooo]
//	inner               [iiii]     [iiii]
//	idle                                            [iiii]
//	started                   [ssssssssss]
//	calls                a  b         c    d                e
//	kernels                   aaaa bb   cccccccc       ddd    eee
func TestProjection(t *testing.T) {
	s := tell()
	const k = 1000
	s.span(trace.Annotation, "outer", "nvtx", 0, 25*k)
	s.span(trace.Annotation, "inner", "nvtx", 2*k, 7*k)
	s.span(trace.Annotation, "inner", "nvtx", 13*k, 18*k)
	s.span(trace.Annotation, "idle", "nvtx", 30*k, 35*k)
	s.async("started", "nvtx", 8*k, 20*k)
	launch := func(name string, id, at, from, to int64) {
		s.call("cudaLaunchKernel", id, at*k, at*k+k)
		s.work(trace.Kernel, name, id, from*k, to*k, -1)
	}
	launch("a", 1, 3, 8, 12)
	launch("b", 2, 6, 13, 15)
	launch("c", 3, 16, 18, 26)
	launch("d", 4, 20, 33, 36) // the call ends after "started" does
	launch("e", 5, 42, 46, 49) // outside all ranges
	s.work(trace.Memcpy, "Memcpy DtoH", 3, 27*k, 28*k, 4)
	got, _ := s.report(t, "nvtx_gpu_proj_sum")
	check(t, "rows", got,
		":outer|PushPop|28000|25000|1|28000.0|28000.0|28000|28000|0.0|5|5.0|0.0|2.0",
		":inner|PushPop|17000|10000|2|8500.0|8500.0|7000|10000|2121.3|4|2.0|1.0|0.0",
		":started|StartEnd|10000|12000|1|10000.0|10000.0|10000|10000|0.0|2|2.0||")
}

// TestOverlapping compares ranges that overlap with a check of every launch.
func TestOverlapping(t *testing.T) {
	s := tell()
	type one struct{ from, to int64 }
	var calls, work []one
	for i := range int64(37) {
		c := one{100 * i, 100*i + 40 + i}
		w := one{100*i + 50*(i%7), 100*i + 50*(i%7) + 10 + i*i%90}
		calls, work = append(calls, c), append(work, w)
		s.call("cudaLaunchKernel", i+1, c.from, c.to)
		s.work(trace.Kernel, "k", i+1, w.from, w.to, -1)
	}
	want := make(map[string]string)
	for i := range int64(200) {
		r := one{i * 19 % 3700, i*19%3700 + i*i%1500}
		name := fmt.Sprint("r", i)
		s.async(name, "nvtx", r.from, r.to)
		got, n := one{1 << 60, -1 << 60}, 0
		for j, c := range calls {
			if c.from >= r.from && c.to <= r.to {
				got, n = one{min(got.from, work[j].from), max(got.to, work[j].to)}, n+1
			}
		}
		if n > 0 {
			want[":"+name] = fmt.Sprint(got.to-got.from, " ", n)
		}
	}
	rows, _ := s.report(t, "nvtx_gpu_proj_sum")
	for _, line := range rows {
		cells := strings.Split(line, "|")
		if got := cells[2] + " " + cells[10]; got != want[cells[0]] {
			t.Errorf("%s: %s, want %s", cells[0], got, want[cells[0]])
		}
		delete(want, cells[0])
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// TestExecution: times start at the start of the call. A kernel that starts
// while its call still runs was not queued.
func TestExecution(t *testing.T) {
	s := tell()
	s.call("cudaLaunchKernel", 1, 0, 10)
	s.work(trace.Kernel, "k", 1, 15, 40, -1) // total 40, queued 5, runs 25
	s.call("cudaLaunchKernel", 2, 100, 130)
	s.work(trace.Kernel, "k", 2, 110, 120, -1) // total 30, not queued, runs 10
	s.call("cuLaunchKernel", 3, 200, 204)
	s.work(trace.Kernel, "k", 3, 204, 210, -1) // total 10, queued for no time, runs 6
	s.work(trace.Kernel, "k", 0, 300, 310, -1)
	got, notes := s.report(t, "cuda_kern_exec_sum")
	check(t, "rows", got,
		"10|11|0|2|1|35.0|35.0|30|40|7.1|20.0|20.0|10|30|14.1|5.0|5.0|5|5|0.0|17.5|17.5|10|25|10.6|cudaLaunchKernel|k",
		"10|11|0|1|0|10.0|10.0|10|10|0.0|4.0|4.0|4|4|0.0||||||6.0|6.0|6|6|0.0|cuLaunchKernel|k")
	check(t, "notes", notes, "1 kernel is not included because its launch call is unknown")
}

// TestMost: rows over the limit of a table are counted, and the other rows keep
// their shares.
func TestMost(t *testing.T) {
	s := tell()
	s.work(trace.Kernel, "large", 0, 0, 75, -1)
	s.work(trace.Kernel, "small", 0, 0, 20, -1)
	s.work(trace.Kernel, "tiny", 0, 0, 5, -1)
	table := Tables(s.a.Trace(s.meta, 0, true), []string{"cuda_gpu_kern_sum"}, 1)[0]
	if len(table.Rows) != 1 || table.Rows[0][0] != "75.0" || len(table.Notes) != 1 || !strings.HasPrefix(table.Notes[0], "2 rows") {
		t.Errorf("rows %q, notes %q; want the large one with 75.0 and 2 rows left out", table.Rows, table.Notes)
	}
}

// TestEmpty: an empty trace gives no rows and a reason.
func TestEmpty(t *testing.T) {
	tr := tell().a.Trace(trace.Meta{}, 0, true)
	for _, table := range Tables(tr, Names(), 10) {
		if len(table.Rows) > 0 || len(table.Notes) > 0 || table.Missing == "" || table.Title == "" {
			t.Errorf("%s: rows %q, notes %q, missing %q, title %q", table.Name, table.Rows, table.Notes, table.Missing, table.Title)
		}
	}
}

func TestTenths(t *testing.T) {
	for want, x := range map[string]float64{
		"0.0": 0, "0.3": 0.25, "0.8": 0.75, "86953.3": 86953.25, "841.1": 841.15, "170843.4": 170843.35, "1.0": 0.96, "100.0": 100,
	} {
		if got := tenths(x); got != want {
			t.Errorf("tenths(%v) = %s, want %s", x, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{
		"cuda_gpu_kern_sum": "cuda_gpu_kern_sum", "gpukernsum": "cuda_gpu_kern_sum", "nvtxsum": "nvtx_sum", "kernexecsum": "cuda_kern_exec_sum",
	} {
		if got, ok := Find(name); got != want || !ok {
			t.Errorf("Find(%q) = %q, %v", name, got, ok)
		}
	}
	for _, name := range []string{"", "cuda_gpu_trace", "CUDA_GPU_KERN_SUM"} {
		if got, ok := Find(name); ok {
			t.Errorf("Find(%q) = %q", name, got)
		}
	}
}
