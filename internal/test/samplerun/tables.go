package samplerun

import (
	"math"

	"assay/summary"
	"assay/summary/view"
)

// value returns a value that is known.
func value(n int64) *int64 { return &n }

// nsCount are the columns total, count and mean.
func nsCount(adds string) []summary.TableColumn {
	return []summary.TableColumn{
		{Name: "total", Unit: "ns", Adds: adds}, {Name: "count", Unit: "count", Adds: summary.AddsSelf}, {Name: "mean", Unit: "ns", Adds: summary.AddsEach},
	}
}

// Tables has a table of each kind of rows. Of the kernels, in ms: gemm 600 in
// 100 runs, all-reduce 300 in 10, fill 60 in 600, and 40 in 4 of 2 kernels that
// were left out; that is 1000. Calls: 500 and one that no time is known of. Of
// the ranges step has 900, of that 600 itself, and within it backward has 200
// and forward 100, of which its own time is not known.
func Tables() *summary.Summary {
	row := func(name string, total, count int64) summary.TableRow {
		return summary.TableRow{Name: name, Values: []*int64{value(total * MS), value(count), value(total * MS / max(1, count))}}
	}
	classed := func(r summary.TableRow, class, category string) summary.TableRow {
		r.Class, r.Category = class, category
		return r
	}
	kind := func(r summary.TableRow, kind string) summary.TableRow {
		r.Kind = kind
		return r
	}
	self := append(nsCount(summary.AddsTotal), summary.TableColumn{Name: "self", Unit: "ns", Adds: summary.AddsSelf})
	within := func(r summary.TableRow, self *int64) summary.TableRow {
		r.Values = append(r.Values, self)
		return r
	}
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{
		{Path: "runs/base_stats.txt", Format: "nsys-stats", Compression: "none", Bytes: 4321, Events: 20, RankFrom: "assumed", Complete: true},
	}}
	add := func(t summary.Table) {
		t.Number, t.Tool = len(s.Tables), "nsys"
		s.Tables = append(s.Tables, t)
	}
	add(summary.Table{Name: "osrt_sum", Title: "OS Runtime Summary", Of: summary.OfOSCall, Columns: nsCount(summary.AddsSelf),
		Rows: []summary.TableRow{row("poll", 90_000, 9), row("read", 10_000, 100)}})
	add(summary.Table{Name: "cuda_api_sum", Title: "CUDA API Summary", Of: summary.OfCall, Columns: nsCount(summary.AddsSelf),
		Rows: []summary.TableRow{kind(row("cudaDeviceSynchronize", 400, 1), "sync"), kind(row("cudaLaunchKernel", 100, 700), "launch"),
			{Name: "cudaMalloc", Kind: "alloc", Values: []*int64{nil, value(7), nil}}}})
	add(summary.Table{Name: "cuda_gpu_kern_sum", Title: "CUDA GPU Kernel Summary", Of: summary.OfKernel, Columns: nsCount(summary.AddsSelf),
		Rows: []summary.TableRow{classed(row("ampere_sgemm_128x64_tn", 600, 100), "compute", "gemm"),
			classed(row("ncclDevKernel_AllReduce", 300, 10), "comm", "all-reduce"), classed(row("fill_kernel", 60, 600), "compute", "fill")},
		Left: 2, Rest: []*int64{value(40 * MS), value(4), nil}})
	add(summary.Table{Name: "cuda_gpu_mem_time_sum", Of: summary.OfCopy, Columns: nsCount(summary.AddsSelf),
		Rows: []summary.TableRow{classed(row("[CUDA memcpy Host-to-Device]", 30, 3), "copy", ""), classed(row("[CUDA memset]", 10, 1), "memset", "")}})
	add(summary.Table{Name: "cuda_gpu_mem_size_sum", Of: summary.OfCopy,
		Columns: []summary.TableColumn{{Name: "total", Unit: "bytes", Adds: summary.AddsSelf}},
		Rows:    []summary.TableRow{{Name: "[CUDA memcpy Host-to-Device]", Class: "copy", Values: []*int64{value(3 << 30)}}, {Name: "[CUDA memset]", Class: "memset", Values: []*int64{value(1 << 30)}}}})
	add(summary.Table{Name: "cuda_gpu_sum", Of: summary.OfDeviceOp, Columns: nsCount(summary.AddsSelf),
		Rows: []summary.TableRow{classed(row("ampere_sgemm_128x64_tn", 600, 100), "compute", "gemm"), classed(row("[CUDA memset]", 10, 1), "memset", "")}})
	add(summary.Table{Name: "nvtx_pushpop_trace", Of: summary.OfRange, Columns: self,
		Rows: []summary.TableRow{within(row("step", 900, 1), value(600*MS)), within(row("backward", 200, 1), value(200*MS)), within(row("forward", 100, 1), nil)}})
	add(summary.Table{Name: "ops", Of: summary.OfOp, Columns: nsCount(summary.AddsTotal),
		Rows: []summary.TableRow{row("aten::linear", 700, 3), row("aten::addmm", 650, 3)}})
	add(summary.Table{Name: "functions", Of: summary.OfFunction, Columns: self,
		Rows: []summary.TableRow{within(row("main", 900, 1), value(1*MS)), within(row("train", 899, 1), value(899*MS))}})
	add(summary.Table{Name: "um_sum", Of: summary.OfRow, Columns: nsCount(summary.AddsSelf), Rows: []summary.TableRow{row("a", 2, 1), row("b", 1, 1)}})
	add(summary.Table{Name: "openacc_sum", Of: summary.OfCall, Missing: "base.sqlite does not contain OpenACC event data."})
	add(summary.Table{Name: "syscall_sum", Of: summary.OfOSCall, Columns: nsCount(summary.AddsSelf)})
	s.Sort()
	return s
}

// StrangeTables has tables of which all names are hostile and, in every other
// input, the numbers broken.
func StrangeTables() *summary.Summary {
	values := []int64{-1, math.MinInt64, math.MaxInt64, 0, -5 * Sec, 7, math.MaxInt64 - 1}
	kinds := append(view.TableKinds(), view.TableKind{Of: "of a later version"})
	s := &summary.Summary{Schema: summary.Schema}
	for i, name := range HostileNames() {
		s.Inputs = append(s.Inputs, summary.Input{Path: name, Format: name})
		for _, j := range []int{i % 3, (i + 1) % 3}[:1+i%2] {
			t := summary.Table{Input: i, Number: j, Tool: name, Name: name, Title: name, Of: kinds[(i+j)%len(kinds)].Of, Left: values[j], Missing: name}
			for k, unit := range []string{"ns", "bytes", "count", name, "ns"} {
				adds := []string{summary.AddsSelf, summary.AddsTotal, summary.AddsEach, name}[(i+k)%4]
				t.Columns = append(t.Columns, summary.TableColumn{Name: []string{"total", "count", "mean", name, "self"}[(j+k)%5], Unit: unit, Adds: adds})
			}
			for k, rowName := range append(HostileNames(), HostileNames()...)[i : i+13] {
				r := summary.TableRow{Name: rowName, Class: name, Category: name, Kind: name, Labels: map[string]string{name: rowName, "grid": name}}
				for c := range t.Columns {
					v := values[(i+j+k+c)%len(values)]
					if i%2 == 1 {
						v = max(0, v>>10)
					}
					r.Values = append(r.Values, value(v))
				}
				r.Values[k%len(r.Values)] = nil
				t.Rows = append(t.Rows, r)
			}
			if j == 1 {
				t.Rest = []*int64{value(math.MaxInt64), nil, value(-1), nil, value(math.MinInt64)}
			}
			s.Tables = append(s.Tables, t)
		}
	}
	s.Sort()
	return s
}
