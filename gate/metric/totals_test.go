package metric

import (
	"strings"
	"testing"

	"assay/summary"
)

func pointer[T any](v T) *T { return &v }

// job is two ranks that waited for each other. In ms: rank 0 waits 6 of a window of 100 and
// caused 2, rank 1 waits 2 of 100 and caused 6.
func job() *summary.Summary {
	s := twoRanks()
	s.Ranks = []summary.RankWait{
		{Rank: 0, Device: 0, WaitNS: 6 * ms, CausedNS: 2 * ms},
		{Input: 1, Rank: 1, Device: 1, WaitNS: 2 * ms, CausedNS: 6 * ms},
	}
	s.Collectives = []summary.Collective{
		{Op: "all-reduce", Group: "dp", Dtype: "BFloat16", Ranks: 2, Bytes: pointer(int64(1000)), Count: 4, TransferNS: pointer(10 * ms), WaitNS: pointer(6 * ms), BusBWGBps: pointer(300.0), AlgBWGBps: pointer(200.0)},
		{Op: "all-reduce", Group: "dp", Dtype: "Float", Ranks: 2, Bytes: pointer(int64(10)), Count: 2, TransferNS: pointer(30 * ms), WaitNS: pointer(2 * ms), BusBWGBps: pointer(100.0), AlgBWGBps: pointer(80.0)},
		{Op: "send/recv", Group: "pp", Ranks: 2, Count: 5},
	}
	return s
}

// profiles are one of CPU time, one of wall time, one of memory, and a table of nsys.
func profiles() *summary.Summary {
	table := func(clock, unit string, rows ...summary.TableRow) summary.Table {
		return summary.Table{Tool: "yappi", Name: "functions", Of: summary.OfFunction, Clock: clock, Rows: rows, Columns: []summary.TableColumn{
			{Name: "count", Unit: "count", Adds: summary.AddsSelf}, {Name: "self", Unit: unit, Adds: summary.AddsSelf}, {Name: "total", Unit: unit, Adds: summary.AddsTotal}}}
	}
	row := func(name string, values ...int64) summary.TableRow {
		r := summary.TableRow{Name: name}
		for _, v := range values {
			r.Values = append(r.Values, &v)
		}
		return r
	}
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "p.pstat", Complete: true}}}
	s.Tables = []summary.Table{
		table("cpu", "ns", row("run", 1, 1*ms, 20*ms), row("loss.forward", 3, 4*ms, 6*ms), row("loss.backward", 3, 5*ms, 9*ms)),
		table("wall", "ns", row("run", 1, 2*ms, 50*ms), row("sleep", 3, 48*ms, 48*ms)),
		table("", "bytes", row("load", 2, 4096, 8192)),
		{Tool: "nsys", Name: "cuda_gpu_kern_sum", Of: summary.OfKernel, Rows: []summary.TableRow{row("gemm_a", 30, 10), row("gemm_b", 20, 5), row("nccl", 8, 8)},
			Columns: []summary.TableColumn{{Name: "total", Unit: "ns", Adds: summary.AddsSelf}, {Name: "mean", Unit: "ns", Adds: summary.AddsEach}}},
	}
	return s
}

// counted2 are two kernels with counters: 30 ms and 10 ms.
func counted2() *summary.Summary {
	return &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "c.csv", Complete: true}}, Counters: []summary.Counter{
		{Kernel: "gemm", Category: "gemm", Class: "compute", Launches: 3, Timed: 3, TotalNS: 30 * ms, ComputePct: pointer(80.0), OccupancyPct: pointer(50.0), Registers: pointer(168.0), TailNS: 3 * ms, WavesNS: 30 * ms, DRAMBytes: pointer(int64(1 << 20))},
		{Kernel: "add", Category: "elementwise", Class: "compute", Launches: 5, Timed: 5, TotalNS: 10 * ms, ComputePct: pointer(20.0), Registers: pointer(32.0), TailNS: 2 * ms, WavesNS: 10 * ms, DRAMBytes: pointer(int64(3 << 20))},
	}}
}

// snapshots are those of two GPUs, and a timeline by category.
func snapshots() *summary.Summary {
	usage := func(allocated, split int64) summary.Usage {
		return summary.Usage{Reserved: allocated + split, Allocated: allocated, Split: split}
	}
	return &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "s.pickle", Complete: true}},
		Snapshots: []summary.Snapshot{
			{Usage: usage(700, 300), Kinds: []summary.Held{{Name: "activations", Bytes: 500}, {Name: "parameters", Bytes: 200}}, Owners: []summary.Owner{{Frame: "a.py:1 f", Bytes: 300}, {Frame: "a.py:2 g", Bytes: 200}},
				Failed: 1, History: &summary.MemoryHistory{SegmentAllocs: 7, Growth: &summary.MemoryGrowth{Steps: 4, Bytes: 40}}},
			{Device: 1, Usage: usage(900, 100), Kinds: []summary.Held{{Name: "activations", Bytes: 400}}, Owners: []summary.Owner{{Frame: "a.py:1 f", Bytes: 350}},
				History: &summary.MemoryHistory{SegmentAllocs: 5, Growth: &summary.MemoryGrowth{Steps: 2, Bytes: 30}}},
		},
		MemoryTimelines: []summary.MemoryTimeline{{Categories: []summary.CategoryBytes{{Name: "GRADIENT", AtPeak: 60}}}},
	}
}

// TestTotals checks the metrics of what has no timeline against the numbers above.
func TestTotals(t *testing.T) {
	for _, tc := range []struct {
		of         func() *summary.Summary
		gate, want string
	}{
		{job, "comm.wait_share", "4.00% (8 ms of 200 ms)"},
		{job, "comm.wait_share{rank=0}", "6.00% (6 ms of 100 ms)"},
		{job, "comm.caused_share", "75.0% (6 ms of 8 ms)"},
		{job, "comm.caused_share{rank=0}", "25.0% (2 ms of 8 ms)"},
		{job, "comm.wait_share{rank=7}", "no such rank with matched collectives"},
		{job, "comm.caused_share{rank=7}", "no such rank with matched collectives"},
		{job, "comm.wait_total", "8 ms"},
		{job, "comm.transfer_total{dtype=Float}", "30 ms"},
		{job, "comm.transfer_total{op=send/recv}", "no transfer time: ranks leave these operations before all have come"},
		{job, "comm.count", "11"},
		{job, "comm.bytes", "3.926 KiB"},          // 4·1000 + 2·10
		{job, "comm.busbw", "150 GB/s"},           // (300·10 + 100·30) / 40
		{job, "comm.algbw{group=d*}", "110 GB/s"}, // (200·10 + 80·30) / 40
		{job, "comm.count{op=broadcast}", "no such collective; there is all-reduce, send/recv"},
		{twoRanks, "comm.wait_share", errNoCollectives.Error()},
		{twoRanks, "comm.busbw", errNoCollectives.Error()},

		{profiles, "function.self{function=loss.*}", "9 ms"},
		{profiles, "function.self{function=run}", "no single clock: there are profiles of CPU time and of wall time; select clock=cpu or clock=wall"},
		{profiles, "function.self{function=run, clock=wall}", "2 ms"},
		{profiles, "function.total{function=run, clock=cpu}", "20 ms"},
		{profiles, "function.total{function=loss.*}", "no sum: the total times of 2 functions include each other; select one, or use function.self"},
		{profiles, "function.share{function=loss.*}", "90.0% (9 ms of 10 ms)"},
		{profiles, "function.calls{function=loss.*}", "6"},
		{profiles, "function.bytes{function=load}", "4 KiB"},
		{profiles, "profile.total{clock=cpu}", "10 ms"},
		{profiles, "profile.total{clock=wall}", "50 ms"},
		{profiles, "function.self{function=nothing, clock=wall}", `no such function; there is "run", "sleep"`},
		{twoRanks, "function.self{function=f}", "no profile of functions (yappi, cProfile, pprof, stacks) with such values"},
		{profiles, "table.time{table=cuda_gpu_kern_sum, row=gemm*, column=total}", "50 ns"},
		{profiles, "table.time{table=cuda_gpu_kern_sum, row=gemm_a, column=mean}", "10 ns"},
		{profiles, "table.time{table=cuda_gpu_kern_sum, row=gemm*, column=mean}", `no sum: values of "mean" do not add up, and 2 rows are selected; select one`},
		{profiles, "table.count{table=*, row=gemm_a, column=total}", "no such table or column; there are the tables cuda_gpu_kern_sum, functions and of this unit the columns count"},

		{counted2, "counters.time", "40 ms"},
		{counted2, "counters.time{category=gemm}", "30 ms"},
		{counted2, "counters.time_mean", "5 ms"},
		{counted2, "counters.launches", "8"},
		{counted2, "counters.sm_share", "65.0%"}, // (80·30 + 20·10) / 40
		{counted2, "counters.occupancy", "50.0%"},
		{counted2, "counters.registers", "168"},
		{counted2, "counters.registers{kernel=add}", "32"},
		{counted2, "counters.dram_bytes", "4 MiB"},
		{counted2, "counters.tail_share", "12.5% (5 ms of 40 ms)"},
		{counted2, "counters.l2_hit_share", "no such values among the counters that were collected"},
		{counted2, "counters.time{kernel=x}", `no such kernel; there is "add", "gemm"`},

		{snapshots, "memory.kind{kind=activations}", "500 B"},
		{snapshots, "memory.kind{kind=activations, device=1}", "400 B"},
		{snapshots, "memory.kind{kind=GRAD*}", "60 B"},
		{snapshots, "memory.kind{kind=x}", "no such kind; there is GRADIENT, activations, parameters"},
		{snapshots, "memory.site{site=a.py*}", "500 B"},
		{snapshots, "memory.site{site=*f}", "350 B"},
		{snapshots, "memory.free_share", "20.0% (400 B of 1.953 KiB)"},
		{snapshots, "memory.growth_per_step", "15 B"},
		{snapshots, "memory.driver_allocs", "12"},
		{snapshots, "memory.failed_allocs", "1"},
		{twoRanks, "memory.free_share", errNoSnapshot.Error()},
	} {
		if got := measureText(t, tc.of(), tc.gate); got != tc.want {
			t.Errorf("%s is %q, want %q", tc.gate, got, tc.want)
		}
	}
}

// TestPhaseVocabulary: a phase of "assay help phases" is the same in every metric, however it
// is written, and an annotation of that name comes first.
func TestPhaseVocabulary(t *testing.T) {
	s := twoRanks()
	var a summary.Activity
	a[summary.ClassCompute], a[0] = 30*ms, 10*ms
	for device := range int64(2) {
		s.Phases = append(s.Phases,
			summary.Phase{Device: device, Path: "weight-sync", Count: 2, HostNS: 50 * ms, Activity: a, WorkNS: 7 * ms},
			summary.Phase{Device: device, Path: "generation", Count: 4, HostNS: 400 * ms, WorkNS: 10 * ms},
			summary.Phase{Device: device, Path: "generation/decode", Count: 8, HostNS: 300 * ms, WorkNS: 20 * ms})
	}
	for _, tc := range []struct{ gate, want string }{
		{"phase.mean{phase=generation}", "100 ms"}, // two GPUs of one host
		{"phase.total{phase=decode}", "300 ms"},
		{"phase.gpu_total{phase=generation}", "60 ms"}, // with what is nested in it
		{"phase.count{phase=generation/decode}", "8"},
		{"phase.count{phase=Weight_Sync}", "2"},
		{"phase.count{phase=sync weights}", "4"}, // the annotation
		{"gpu.busy_share{phase=weight_sync}", "75.0% (60 ms of 80 ms)"},
		{"phase.mean{phase=reward}", `no phase "reward"; there is "decode", "generation", "sync weights", "weight-sync"`},
	} {
		if got := measureText(t, s, tc.gate); got != tc.want {
			t.Errorf("%s is %q, want %q", tc.gate, got, tc.want)
		}
	}
}

// TestExplain: every metric has a page, whose examples are gates of the metric.
func TestExplain(t *testing.T) {
	for _, m := range Metrics() {
		p, err := Explain(m.Name + "{rank=0}")
		selectors, examples := len(m.Keys), 2
		if m.settings {
			selectors, examples = selectors+5, 3 // four loads, and a row for all others
		}
		if m.limits {
			selectors, examples = selectors+1, 2
		}
		if err != nil || p.Name != m.Name || p.Unit == "" || len(p.Selects) != selectors || len(p.Examples) != examples {
			t.Errorf("%s: %+v, %v", m.Name, p, err)
		}
		for _, k := range p.Selects {
			if k.Meaning == "" || strings.HasSuffix(k.Example, "=") {
				t.Errorf("%s: selector %s is not explained", m.Name, k.Key)
			}
		}
		for _, line := range p.Examples {
			name, _, ok := strings.Cut(line, ": ")
			if of, _, err := Parse(name); !ok || err != nil || of.Name != m.Name {
				t.Errorf("%s: example %s: %v", m.Name, line, err)
			}
		}
	}
	if _, err := Explain("comm.busbandwidth"); err == nil || !strings.HasPrefix(err.Error(), `unknown metric "comm.busbandwidth"; metrics that begin alike are comm.busbw, `) {
		t.Errorf("an unknown metric: %v", err)
	}
	if _, err := Explain("nosuch"); err == nil || err.Error() != `unknown metric "nosuch"; "assay help gates" lists all` {
		t.Errorf("a metric like no other: %v", err)
	}
}
