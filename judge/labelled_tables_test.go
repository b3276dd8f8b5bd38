package judge

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/analyze/phase"
	"assay/ingest"
	"assay/judge/rule"
	"assay/summary"
)

// given makes a run of files with these contents, each read and measured as a
// user's file is, and merged.
func given(contents ...string) func(*testing.T) *summary.Summary {
	return func(t *testing.T) *summary.Summary {
		t.Helper()
		var sums []*summary.Summary
		for i, text := range contents {
			f, err := ingest.Open(ingest.Stdin, strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			f.Path = fmt.Sprintf("input%d", i)
			in, err := ingest.Load(f, analyze.Needs())
			f.Close()
			if err != nil {
				t.Fatalf("%v\n%s", err, text)
			}
			sums = append(sums, measuredAs(in))
		}
		s := summary.Merge(sums...)
		for _, is := range s.Issues {
			if is.Severity == "suspect" && is.Code != "log-cut" { // real logs often end within a line
				t.Errorf("the run is not what it should be: %s at %s: %s", is.Code, is.First, is.Help)
			}
		}
		return s
	}
}

func measuredAs(in *ingest.Input) *summary.Summary {
	from := summary.Input{Path: in.Path, Format: in.Format, Rank: in.Rank}
	opt := analyze.DefaultOptions()
	switch {
	case in.Series != nil:
		opt.Phases = phase.Default()
		return analyze.Series(in.Series, from, opt)
	case in.Tables != nil:
		return analyze.Tables(in.Tables, from, opt)
	case in.Profile != nil:
		return analyze.Profile(in.Profile, from, opt)
	case in.Counters != nil:
		return analyze.Counters(in.Counters, from, opt)
	case in.Memory != nil:
		return analyze.Snapshot(in.Memory, from, opt)
	case in.Timeline != nil:
		return analyze.MemoryTimeline(in.Timeline, from, opt)
	}
	return analyze.Trace(in.Trace, from, opt)
}

// rocprofStats is the table of totals of kernels that rocprofv3 writes.
func rocprofStats(rows ...printed) string {
	var b strings.Builder
	b.WriteString("\"Name\",\"Calls\",\"TotalDurationNs\",\"AverageNs\",\"Percentage\",\"MinNs\",\"MaxNs\",\"StdDev\"\n")
	for _, r := range rows {
		fmt.Fprintf(&b, "%q,%d,%d,%f,%f,1,%d,0.5\n", r.name, r.runs, r.ms*ms, float64(r.ms*ms)/float64(r.runs), 100.0/float64(len(rows)), r.ms*ms)
	}
	return b.String()
}

// A printed is a row of a printed table: milliseconds and how often.
type printed struct {
	name     string
	ms, runs int64
}

// statsTable is a report as nsys stats prints it of a run. Without rows it has none
// but its header, as where a filter left nothing.
func statsTable(run, report, title string, rows ...printed) string {
	var b strings.Builder
	all := int64(0)
	for _, r := range rows {
		all += r.ms
	}
	fmt.Fprintf(&b, "Processing [%s.sqlite] with [reports/%s.py]... \n\n ** %s (%s):\n\n", run, report, title, report)
	fmt.Fprintf(&b, " %8s  %15s  %9s  %-60s\n %s\n", "Time (%)", "Total Time (ns)", "Instances", "Name",
		strings.Join([]string{strings.Repeat("-", 8), strings.Repeat("-", 15), strings.Repeat("-", 9), strings.Repeat("-", 60)}, "  "))
	for _, r := range rows {
		fmt.Fprintf(&b, " %8.1f  %15d  %9d  %-60s\n", 100*float64(r.ms)/float64(all), r.ms*ms, r.runs, r.name)
	}
	return b.String() + "\n"
}

func statsKernels(rows ...printed) string {
	return statsTable("run", "cuda_gpu_kern_sum", "CUDA GPU Kernel Summary", rows...)
}

func statsCalls(rows ...printed) string {
	return statsTable("run", "cuda_api_sum", "CUDA API Summary", rows...)
}

func statsCopies(rows ...printed) string {
	return statsTable("run", "cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)", rows...)
}

// statsWithout is what nsys stats prints where a run has nothing for a report.
func statsWithout(report, what string) string {
	return fmt.Sprintf("Processing [run.sqlite] with [reports/%s.py]... \nSKIPPED: run.sqlite does not contain %s data.\n\n", report, what)
}

// threeKernels are 100 ms of work for each hundred in which nothing stands out.
func threeKernels(hundreds int64) []printed {
	return []printed{{"gemm_a", 40 * hundreds, 100 * hundreds}, {"softmax_b", 35 * hundreds, 100 * hundreds}, {"rope_c", 25 * hundreds, 100 * hundreds}}
}

// labelledTables are runs that have only totals.
func labelledTables() []labelled {
	return slices.Concat(labelledStats(), labelledStatsCosts(), labelledTorch(), labelledTorchCosts())
}

// labelledStats are reports of nsys stats that say too little.
func labelledStats() []labelled {
	noKernels := statsWithout("cuda_gpu_kern_sum", "CUDA kernel")
	ranges := statsTable("run", "nvtx_sum", "NVTX Range Summary", printed{"step", 500, 10})
	// The host waits for 900 ms: a table with 90 ms of kernels has those of the
	// graphs, as far as can be told, and one with less does not.
	graphs := statsCalls(printed{"cudaDeviceSynchronize", 900, 10}, printed{"cudaGraphLaunch", 80, 100}, printed{"cudaLaunchKernel", 20, 300})
	return []labelled{
		{name: "nsys had nothing for any report", label: rule.TablesEmpty,
			in: given(noKernels + statsWithout("cuda_api_sum", "CUDA trace") + statsWithout("nvtx_sum", "NV Tools Extension (NVTX)"))},
		{name: "rocprof counts three launches", label: rule.TooLittleWork, in: given(rocprofStats(printed{"sort_rows", 5, 3}))},
		{name: "headers with nothing below", label: rule.TablesEmpty, in: given(statsKernels() + statsCopies())},
		{name: "ranges and no CUDA", label: rule.SumsOnly, near: rule.TablesEmpty, in: given(noKernels + ranges)},

		{name: "another profiler had the GPU", label: rule.KernelsUnrecorded,
			in: given(noKernels + statsCalls(printed{"cudaLaunchKernel", 90, 200}, printed{"cudaMemcpyAsync", 10, 5}))},
		{name: "calls of the driver in a file of their own, most of them allocations", label: rule.KernelsUnrecorded,
			in: given(noKernels, statsCalls(printed{"cuMemAlloc_v2", 900, 7}, printed{"cuLaunchKernelEx", 100, 50}))},
		{name: "the report of kernels was not asked for", label: rule.SumsOnly, near: rule.KernelsUnrecorded,
			in: given(statsCalls(printed{"cudaLaunchKernel", 90, 200}, printed{"cudaMemcpyAsync", 10, 5}))},
		{name: "nothing was launched, only copied", label: rule.SumsOnly, near: rule.KernelsUnrecorded,
			in: given(noKernels + statsCalls(printed{"cudaMemcpyAsync", 100, 50}) + statsCopies(printed{"[CUDA memcpy Host-to-Device]", 30, 50}))},

		{name: "graphs beside a few kernels", label: rule.GraphsHideKernels, num: 80 * ms, den: 900 * ms,
			in: given(graphs + statsKernels(printed{"fill", 40, 150}, printed{"copy_a", 40, 150}))},
		{name: "graphs alone", label: rule.GraphsHideKernels, num: 0, den: 200 * ms,
			in: given(noKernels + statsCalls(printed{"cudaStreamSynchronize", 200, 40}, printed{"cudaGraphLaunch", 300, 40}))},
		{name: "graphs whose kernels were recorded", label: rule.WaitingCalls, near: rule.GraphsHideKernels, num: 900 * ms, den: 1000 * ms,
			in: given(graphs + statsKernels(printed{"fill", 30, 150}, printed{"copy_a", 30, 150}, printed{"gemm_b", 30, 150}))},

		{name: "nothing stands out in a run of nsys", label: rule.SumsOnly,
			in: given(statsKernels(threeKernels(1)...) + statsCalls(printed{"cudaLaunchKernel", 90, 300}, printed{"cudaMemcpyAsync", 10, 5}) +
				statsCopies(printed{"[CUDA memcpy Host-to-Device]", 5, 5}))},
		{name: "tables beside a timeline", label: rule.ComputeBound, near: rule.SumsOnly, num: 950 * ms, den: 1000 * ms,
			in: func(t *testing.T) *summary.Summary {
				s := one(50, 0, 0)
				s.Tables = given(statsKernels(threeKernels(1)...))(t).Tables
				return s
			}},
	}
}

// labelledStatsCosts are reports of nsys stats in which something stands out.
func labelledStatsCosts() []labelled {
	work := statsKernels(threeKernels(1)...)
	deviceOps := statsTable("run", "cuda_gpu_sum", "CUDA GPU Summary (Kernels/MemOps)",
		printed{"[CUDA memset]", 60, 900}, printed{"gemm_a", 15, 10}, printed{"softmax_b", 14, 10}, printed{"rope_c", 11, 10})
	return []labelled{
		{name: "the host waits for six tenths of its calls", label: rule.WaitingCalls, num: 600 * ms, den: 1000 * ms,
			in: given(work + statsCalls(printed{"cudaStreamSynchronize", 600, 60}, printed{"cudaLaunchKernel", 400, 300}))},
		{name: "the host waits for less than half", label: rule.SumsOnly, near: rule.WaitingCalls,
			in: given(work + statsCalls(printed{"cudaLaunchKernel", 501, 300}, printed{"cudaStreamSynchronize", 499, 60}))},
		{name: "the host waits for a device at work", label: rule.CommWork, near: rule.WaitingCalls, num: 250 * ms, den: 1000 * ms,
			in: given(statsKernels(printed{"gemm_a", 400, 90}, printed{"gemm_b", 350, 90}, printed{"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)", 250, 9}) +
				statsCalls(printed{"cudaDeviceSynchronize", 950, 9}, printed{"cudaLaunchKernel", 50, 189}))},

		{name: "a fifth of the work is NCCL's", label: rule.CommWork, num: 200 * ms, den: 1000 * ms,
			in: given(statsKernels(printed{"gemm_a", 400, 90}, printed{"gemm_b", 400, 90}, printed{"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgs)", 200, 9}))},
		{name: "an engine's own all-reduce, by several kernels", label: rule.CommWork, num: 45 * ms, den: 100 * ms,
			in: given(statsTable("run", "cuda_gpu_sum", "CUDA GPU Summary (Kernels/MemOps)", printed{"gemm_a", 30, 90}, printed{"gemm_b", 25, 90},
				printed{"void vllm::cross_device_reduce_1stage<__nv_bfloat16, 8>", 25, 400}, printed{"void vllm::cross_device_reduce_2stage<__nv_bfloat16, 8>", 20, 40}))},
		{name: "one part in a thousand too little communication", label: rule.SumsOnly, near: rule.CommWork,
			in: given(statsKernels(printed{"gemm_a", 401, 90}, printed{"gemm_b", 400, 90}, printed{"ncclDevKernel_SendRecv(ncclDevKernelArgs)", 199, 9}))},
		{name: "reductions on the device are no communication", label: rule.SumsOnly, near: rule.CommWork,
			in: given(statsKernels(printed{"void at::native::reduce_kernel<512, 1, ReduceOp>", 45, 90}, printed{"gemm_a", 30, 90}, printed{"gemm_b", 25, 90}))},

		{name: "copies from the host at their limit", label: rule.CopyWork, num: 150 * ms, den: 1000 * ms,
			in: given(statsKernels(printed{"gemm_a", 300, 90}, printed{"gemm_b", 300, 90}, printed{"rope_c", 250, 90}) + statsCopies(printed{"[CUDA memcpy Host-to-Device]", 150, 9}))},
		{name: "memsets are most of one table of all work", label: rule.CopyWork, num: 60 * ms, den: 100 * ms, in: given(deviceOps)},
		{name: "copies to the host just under it", label: rule.SumsOnly, near: rule.CopyWork,
			in: given(statsKernels(printed{"gemm_a", 300, 90}, printed{"gemm_b", 300, 90}, printed{"rope_c", 251, 90}) + statsCopies(printed{"[CUDA memcpy Device-to-Host]", 149, 9}))},
		{name: "copies, and no table of kernels to hold them against", label: rule.SumsOnly, near: rule.CopyWork,
			in: given(statsCopies(printed{"[CUDA memcpy Host-to-Device]", 25, 90}))},

		{name: "cudaMalloc and cudaFree in the loop", label: rule.AllocationCalls, num: 300 * ms, den: 1000 * ms,
			in: given(work + statsCalls(printed{"cudaLaunchKernel", 700, 300}, printed{"cudaFree", 200, 50}, printed{"cudaMalloc", 100, 50}))},
		{name: "segments that grow page by page", label: rule.AllocationCalls, num: 100 * ms, den: 1000 * ms,
			in: given(work + statsCalls(printed{"cuLaunchKernel", 900, 300}, printed{"cuMemMap", 50, 500}, printed{"cuMemCreate", 30, 500}, printed{"cuMemUnmap", 20, 500}))},
		{name: "allocation has just under a tenth of the calls", label: rule.SumsOnly, near: rule.AllocationCalls,
			in: given(work + statsCalls(printed{"cudaLaunchKernel", 901, 300}, printed{"cudaMalloc", 99, 50}))},

		{name: "half of the runs take 4 µs", label: rule.ShortKernels,
			in: given(statsKernels(printed{"gemm_a", 40, 1500}, printed{"gemm_b", 40, 1000}, printed{"add", 10, 2500}))},
		{name: "ten kernels that all take 9.1 µs", label: rule.ShortKernels,
			in: given(statsKernels(shortOnes(10, 110)...) + statsCalls(printed{"cudaLaunchKernel", 25, 1100}))},
		{name: "one run less in a hundred takes 4 µs", label: rule.SumsOnly, near: rule.ShortKernels,
			in: given(statsKernels(printed{"gemm_a", 40, 1500}, printed{"gemm_b", 40, 1050}, printed{"add", 10, 2450}))},
		{name: "all take 10 µs", label: rule.SumsOnly, near: rule.ShortKernels, in: given(statsKernels(shortOnes(10, 100)...))},
	}
}

// shortOnes are n kernels of 1 ms each in so many runs.
func shortOnes(n int, runs int64) (out []printed) {
	for i := range n {
		out = append(out, printed{fmt.Sprintf("pointwise_%d", i), 1, runs})
	}
	return out
}

// A torchLine is a row as torch.profiler prints it: times by itself on the CPU and
// on the device in milliseconds, MiB that it allocated on each more than it gave
// back, and how often it ran.
type torchLine struct {
	name                string
	host, device        int64
	hostBytes, devBytes int64
	total, runs         int64 // total is the GPU time with callees; device if it is 0
}

// torchTable is a table as torch.profiler prints it. The device's total is of its
// own rows, or, where there are none, of the operators.
func torchTable(lines ...torchLine) string {
	var b strings.Builder
	row := func(cells ...string) {
		fmt.Fprintf(&b, "%60s", cells[0])
		for _, c := range cells[1:] {
			fmt.Fprintf(&b, "  %14s", c)
		}
		b.WriteString("  \n")
	}
	rule := func() { row(strings.Repeat("-", 60), dashes, dashes, dashes, dashes, dashes, dashes) }
	rule()
	row("Name", "Self CPU", "Self CUDA", "CUDA total", "Self CPU Mem", "Self CUDA Mem", "# of Calls")
	rule()
	var host, ops, device int64
	for _, l := range lines {
		if host += l.host; l.host == 0 {
			device += l.device
		} else {
			ops += l.device
		}
		row(l.name, fmt.Sprintf("%d.000ms", l.host), fmt.Sprintf("%d.000ms", l.device), fmt.Sprintf("%d.000ms", max(l.device, l.total)),
			fmt.Sprintf("%d.00 MB", l.hostBytes), fmt.Sprintf("%d.00 MB", l.devBytes), fmt.Sprint(l.runs))
	}
	rule()
	if device == 0 {
		device = ops
	}
	fmt.Fprintf(&b, "Self CPU time total: %d.000ms\nSelf CUDA time total: %d.000ms\n", host, device)
	return b.String()
}

var dashes = strings.Repeat("-", 14)

// torchWork is 100 ms of kernels in which nothing stands out, that an operator
// launched in so many milliseconds of the host.
func torchWork(host int64, more ...torchLine) string {
	lines := []torchLine{{name: "aten::mm", host: host, runs: 300},
		{name: "gemm_a", device: 40, runs: 100}, {name: "softmax_b", device: 35, runs: 100}, {name: "rope_c", device: 25, runs: 100}}
	return torchTable(append(lines, more...)...)
}

// withTotal is the run of a printed table with another total of the GPU.
func withTotal(ns int64, text string) func(*testing.T) *summary.Summary {
	return func(t *testing.T) *summary.Summary {
		s := given(text)(t)
		for i := range s.Tables {
			if table := &s.Tables[i]; table.Of == summary.OfDeviceOp {
				table.Totals = make([]*int64, len(table.Columns))
				table.Totals[table.Column("total")] = &ns
			}
		}
		return s
	}
}

// labelledTorch are tables of torch.profiler that say too little, or nothing.
func labelledTorch() []labelled {
	alike := func(n int) (lines []torchLine) {
		for i := range n {
			lines = append(lines, torchLine{name: fmt.Sprintf("aten::op_%d", i), host: 1, devBytes: 100, runs: 9})
		}
		return lines
	}
	return []labelled{
		{name: "a run on the CPU", label: rule.WithoutDevice,
			in: given(torchTable(torchLine{name: "aten::mm", host: 90, runs: 30}, torchLine{name: "aten::relu", host: 10, runs: 30}))},
		{name: "the rows of kernels were not printed", label: rule.WithoutDevice,
			in: given(torchTable(torchLine{name: "train_step", host: 300, total: 420, runs: 3}, torchLine{name: "cudaDeviceSynchronize", host: 200, runs: 3}))},
		{name: "operators have the device's time, as before Kineto", label: rule.SumsOnly, near: rule.WithoutDevice,
			in: given(torchTable(torchLine{name: "aten::mm", host: 50, device: 60, runs: 30}, torchLine{name: "aten::relu", host: 10, device: 40, runs: 30}))},

		{name: "the kernels exceed the printed total", label: rule.TotalDoubted, in: withTotal(99*ms, torchWork(100))},
		{name: "ranges among the kernels of a long table", label: rule.TotalDoubted,
			in: withTotal(100*ms, torchWork(100, torchLine{name: "encode", device: 20, runs: 3}, torchLine{name: "decode", device: 20, runs: 3}))},
		{name: "the total has rows that were not printed", label: rule.SumsOnly, near: rule.TotalDoubted, in: withTotal(110*ms, torchWork(100))},
		{name: "the total shows which row is a range", label: rule.SumsOnly, near: rule.TotalDoubted,
			in: given(strings.Replace(torchWork(100, torchLine{name: "encode", device: 31, runs: 3}),
				"CUDA time total: 131", "CUDA time total: 100", 1))},

		{name: "nothing stands out in a table of torch.profiler", label: rule.SumsOnly, in: given(torchWork(100))},

		{name: "one operator allocates three quarters of the device's memory", label: rule.LargestAllocator,
			in: given(torchWork(100, torchLine{name: "aten::empty", host: 1, devBytes: 3000, runs: 30}, torchLine{name: "aten::resize_", host: 1, devBytes: 1000, runs: 30}))},
		{name: "all that is allocated is the host's", label: rule.LargestAllocator,
			in: given(torchWork(90, torchLine{name: "aten::stack", host: 10, hostBytes: 700, runs: 8}))},
		{name: "ten allocate alike", label: rule.LargestAllocator, in: given(torchWork(100, alike(10)...))},
		{name: "eleven allocate alike", label: rule.SumsOnly, near: rule.LargestAllocator, in: given(torchWork(100, alike(11)...))},
		{name: "who allocates gives as much back", label: rule.SumsOnly, near: rule.LargestAllocator,
			in: given(torchWork(100, torchLine{name: "aten::empty", host: 1, devBytes: -500, runs: 30}))},
	}
}

// labelledTorchCosts are tables of torch.profiler in which something stands out.
func labelledTorchCosts() []labelled {
	return []labelled{
		{name: "operators take the host three times as long as the device", label: rule.HostWork, num: 300 * ms, den: 400 * ms, in: given(torchWork(300))},
		{name: "launches and a data loader", label: rule.HostWork, num: 160 * ms, den: 260 * ms,
			in: given(torchWork(20, torchLine{name: "cudaLaunchKernel", host: 60, runs: 300}, torchLine{name: "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", host: 80, runs: 4}))},
		{name: "149 ms of the host beside 100 ms of the device", label: rule.SumsOnly, near: rule.HostWork, in: given(torchWork(149))},
		{name: "values are read one by one, and the host waits for each", label: rule.WaitingCalls, near: rule.HostWork, num: 200 * ms, den: 210 * ms,
			in: given(torchWork(100, torchLine{name: "aten::_local_scalar_dense", host: 1, runs: 40},
				torchLine{name: "cudaStreamSynchronize", host: 200, runs: 40}, torchLine{name: "cudaLaunchKernel", host: 10, runs: 300}))},

		{name: "conversions between types", label: rule.CopyOperators, num: 20 * ms, den: 120 * ms,
			in: given(torchWork(80, torchLine{name: "aten::copy_", host: 20, device: 20, runs: 90}, torchLine{name: "bfloat16_copy_kernel_cuda", device: 20, runs: 90}))},
		{name: "copies by operators, as before Kineto", label: rule.CopyOperators, num: 10 * ms, den: 100 * ms,
			in: given(torchTable(torchLine{name: "aten::mm", host: 50, device: 90, runs: 30}, torchLine{name: "aten::copy_", host: 10, device: 10, runs: 30}))},
		{name: "copies that no operator launched", label: rule.CopyWork, near: rule.CopyOperators, num: 25 * ms, den: 125 * ms,
			in: given(torchWork(100, torchLine{name: "Memcpy HtoD (Pageable -> Device)", device: 25, runs: 9}))},
		{name: "aten::copy_ has 9 ms of 109", label: rule.SumsOnly, near: rule.CopyOperators,
			in: given(torchWork(100, torchLine{name: "aten::copy_", host: 20, device: 9, runs: 90}, torchLine{name: "bfloat16_copy_kernel_cuda", device: 9, runs: 90}))},
	}
}
