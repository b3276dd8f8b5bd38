package metric

import (
	"strings"
	"testing"

	"assay/summary"
)

const ms = int64(1_000_000)

// twoRanks is a run on two GPUs, small enough to check by hand. In ms:
//
//	rank 0: compute 50, compute+comm 10, comm 20, copy 5, idle 15: window 100
//	rank 1: compute 70, compute+comm 10, comm 10, copy 0, idle 10: window 100
//
// Steps 3 and 4 of each rank are 40 and 60 long. Graphs launch 30 of 100 pieces.
func twoRanks() *summary.Summary {
	n := func(v int64) *int64 { return &v }
	cells := func(compute, both, comm, copied, idle int64) (a summary.Activity) {
		a[summary.ClassCompute], a[summary.ClassCompute|summary.ClassComm], a[summary.ClassComm] = compute*ms, both*ms, comm*ms
		a[summary.ClassCopy], a[0] = copied*ms, idle*ms
		return a
	}
	s := &summary.Summary{Schema: summary.Schema}
	for r := range 2 {
		in := summary.Input{Path: "d/r.json", Format: "kineto", Events: 5000, Rank: r, RankFrom: "trace", Complete: true, SpanNS: 100 * ms}
		s.Inputs = append(s.Inputs, in)
		a := cells(50, 10, 20, 5, 15)
		if r == 1 {
			a = cells(70, 10, 10, 0, 10)
		}
		s.Devices = append(s.Devices, summary.Device{Input: r, Rank: r, Device: int64(r), WindowNS: 100 * ms, Activity: a, Events: 100})
		s.Steps = append(s.Steps,
			summary.Step{Input: r, Rank: r, Device: int64(r), Number: 3, StartNS: 0, WallNS: 40 * ms, Activity: cells(30, 0, 0, 0, 10)},
			summary.Step{Input: r, Rank: r, Device: int64(r), Number: 4, StartNS: 40 * ms, WallNS: 60 * ms, Activity: cells(60, 0, 0, 0, 0)})
		s.Kernels = append(s.Kernels,
			summary.Kernel{Input: r, Rank: r, Device: int64(r), Name: "gemm_nt", Class: "compute", Category: "gemm", Op: "aten::mm", Count: 20, TotalNS: 40 * ms, MaxNS: 9 * ms},
			summary.Kernel{Input: r, Rank: r, Device: int64(r), Name: "gemm_tn", Class: "compute", Category: "gemm", Op: "aten::addmm", Count: 10, TotalNS: 20 * ms, MaxNS: 4 * ms},
			summary.Kernel{Input: r, Rank: r, Device: int64(r), Name: "nccl", Class: "comm", Category: "all-reduce", Count: 10, TotalNS: 40 * ms, MaxNS: 8 * ms})
		s.Launches = append(s.Launches, summary.Launches{Input: r, Rank: r, Device: int64(r), Calls: 38, PerStep: []int64{18 + int64(r), 20}})
		s.Calls = append(s.Calls,
			summary.Call{Input: r, Rank: r, Name: "cudaLaunchKernel", Kind: "launch", Count: 35, Launched: 35},
			summary.Call{Input: r, Rank: r, Name: "cudaGraphLaunch", Kind: "graph-launch", Count: 3, Launched: 15},
			summary.Call{Input: r, Rank: r, Name: "cudaMemcpyAsync", Kind: "copy", Count: 2, Launched: 2})
	}
	s.Copies = []summary.Copy{{Name: "Memcpy HtoD", Class: "copy", Count: 4, TotalNS: 5 * ms, Bytes: n(4096)}, {Name: "Memset", Class: "memset", Count: 1, TotalNS: 1 * ms}}
	s.Syncs = []summary.Sync{{HostNS: 30 * ms}}
	s.Idle = []summary.Idle{{Owner: summary.OwnerHost, State: summary.StateData, NS: 9 * ms}, {Owner: summary.OwnerLaunch, NS: 6 * ms}, {Input: 1, Rank: 1, Device: 1, Owner: summary.OwnerHost, State: summary.StateOp, NS: 10 * ms}}
	s.Memory = []summary.Memory{
		{PeakAllocated: n(40), PeakReserved: n(60), Capacity: n(80)},
		{Input: 1, Rank: 1, Device: 1, PeakAllocated: n(50), Capacity: n(100)},
		{OnHost: true, PeakAllocated: n(9999)},
	}
	s.Efficiency = efficiencyOfTwo()
	s.Annotations = []summary.Annotation{{Name: "sync weights", Count: 2, CPUTotalNS: 3000 * ms, GPUTotalNS: 8 * ms}, {Input: 1, Rank: 1, Name: "sync weights", Count: 2, CPUTotalNS: 1000 * ms, GPUTotalNS: 8 * ms}}
	return s
}

// efficiencyOfTwo has matrix products that take 40 of 80 ms of rank 0 and 60 of 80 ms of rank
// 1, at 500 TFLOP/s of a peak of 1000; of copies the FLOPs are 0; 10 ms have no operator:
//
//	rank 0: 20 TFLOP of the peak's 100 TFLOP in the window of 100 ms: MFU 20 %
//	rank 1: 30 TFLOP, of which 10 are recomputed: MFU 20 %, HFU 30 %
func efficiencyOfTwo() (e summary.Efficiency) {
	n := func(v int64) *int64 { return &v }
	x := func(v float64) *float64 { return &v }
	for r := range 2 {
		matrix := int64(40+20*r) * ms
		flops := matrix / ms * 5e11
		sums := summary.EfficiencySums{
			GPUNS: 80 * ms, NoOperatorNS: 10 * ms, FLOPsKnownNS: 70 * ms, BytesKnownNS: 70 * ms, MatrixNS: matrix, MatrixFLOPs: summary.Sum(flops), ModelFLOPs: 20e12,
			WallNS: 100 * ms, MFU: x(0.2), HFU: x(0.2 + 0.1*float64(r)), RooflineNS: matrix / 2, RecoverableNS: matrix / 2,
		}
		e.Devices = append(e.Devices, summary.EfficiencyDevice{Input: r, Rank: r, Device: int64(r), EfficiencySums: sums})
		sums.WallNS, sums.MFU, sums.FLOPsKnownNS = 40*ms, x(0.5), 80*ms
		e.Steps = append(e.Steps, summary.EfficiencyStep{Input: r, Rank: r, Device: int64(r), Number: 3, EfficiencySums: sums})
		e.Rows = append(e.Rows,
			summary.EfficiencyRow{Input: r, Rank: r, Device: int64(r), Op: "aten::mm", Unit: "matrix", Dtype: "bf16", Count: 10, GPUNS: matrix, FLOPs: n(flops), Bytes: n(matrix * 100), RooflineNS: n(matrix / 2)},
			summary.EfficiencyRow{Input: r, Rank: r, Device: int64(r), Op: "aten::copy_", Unit: "none", Count: 10, GPUNS: 10 * ms, FLOPs: n(0), Bytes: n(20e9), RooflineNS: n(8 * ms)},
			summary.EfficiencyRow{Input: r, Rank: r, Device: int64(r), Op: "aten::cat", Count: 10, GPUNS: 10 * ms, Unknown: "list-type"})
	}
	return e
}

// TestMeasure checks every metric against what the comment of twoRanks says.
func TestMeasure(t *testing.T) {
	for _, tc := range []struct{ gate, want string }{
		{"gpu.busy_share", "87.5% (175 ms of 200 ms)"},
		{"gpu.busy_share{rank=1}", "90.0% (90 ms of 100 ms)"},
		{"gpu.busy_share{steps=3}", "75.0% (60 ms of 80 ms)"},
		{"gpu.busy_share{steps=3-4, device=0}", "90.0% (90 ms of 100 ms)"},
		{"gpu.compute_share", "70.0% (140 ms of 200 ms)"},
		{"comm.exposed_share", "15.0% (30 ms of 200 ms)"},
		{"comm.overlap_share", "40.0% (20 ms of 50 ms)"},
		{"copy.exposed_share", "2.50% (5 ms of 200 ms)"},
		{"idle.share", "12.5% (25 ms of 200 ms)"},
		{"idle.share{owner=host-late}", "9.50% (19 ms of 200 ms)"},
		{"idle.share{owner=host-late, state=data-loading}", "4.50% (9 ms of 200 ms)"},
		{"idle.share{owner=dependency}", "0% (0 ns of 200 ms)"},
		{"sync.share", "15.0% (30 ms of 200 ms)"},
		{"efficiency.mfu", "at least 20.0% (40 ms of 200 ms), FLOPs are known for 87.5% of GPU time"},
		{"efficiency.hfu", "at least 25.0% (50 ms of 200 ms), FLOPs are known for 87.5% of GPU time"},
		{"efficiency.hfu{rank=1}", "at least 30.0% (30 ms of 100 ms), FLOPs are known for 87.5% of GPU time"},
		{"efficiency.mfu{steps=3}", "50.0% (40 ms of 80 ms)"},
		{"efficiency.known", "87.5% (140 ms of 160 ms)"},
		{"efficiency.recoverable", "31.2% (50 ms of 160 ms)"},
		{"op.tflops{op=aten::mm}", "500 TFLOP/s"},
		{"op.tflops{op=*mm, dtype=bf16, rank=1}", "500 TFLOP/s"},
		{"op.tflops{op=aten::copy_}", "aten::copy_ has no FLOPs"},
		{"op.tflops{op=*mm, dtype=fp8}", "*mm ran in bf16"},
		{"op.tflops{op=*}", "417 TFLOP/s, FLOPs known for 85.7% of their GPU time"},
		{"op.gbps{op=aten::copy_}", "2 TB/s"},
		{"op.roofline{op=aten::copy_}", "80.0% (16 ms of 20 ms)"},
		{"step.median", "50 ms"},
		{"step.median{steps=4-}", "60 ms"},
		{"step.mean", "50 ms"},
		{"step.max", "60 ms"},
		{"step.count", "4"},
		{"step.count{rank=0}", "2"},
		{"kernel.count", "80"},
		{"kernels.count", "80"},
		{"kernel.count{category=gemm, rank=0}", "30"},
		{"kernel.count{kernel=gemm_*}", "60"},
		{"kernel.count{kernel=*_n*}", "40"},
		{"kernel.count{op=aten::mm}", "40"},
		{"kernel.count{class=comm}", "20"},
		{"kernel.count_per_step", "20"},
		{"kernel.mean{kernel=gemm_nt}", "2 ms"},
		{"kernel.max", "9 ms"},
		{"kernels.max", "9 ms"},
		{"kernels.total{category=gemm}", "120 ms"},
		{"kernels.total_per_step{category=gemm}", "30 ms"},
		{"kernels.share{category=gemm}", "60.0% (120 ms of 200 ms)"},
		{"launches.per_step", "19.50"}, // of 18, 20, 19, 20
		{"launches.per_step{steps=3}", "18.50"},
		{"launches.count", "76"},
		{"graph.launches", "6"},
		{"graph.share", "30.0% (30 of 100)"},
		{"copies.count", "5"},
		{"copies.total{class=copy}", "5 ms"},
		{"copies.bytes{copy=*HtoD}", "4 KiB"},
		{"copies.count{rank=1}", "0"},
		{"memory.peak", "50 B"},
		{"memory.peak_reserved", "60 B"},
		{"memory.peak_share", "75.0% (60 B of 80 B)"},
		{"memory.peak_share{device=1}", "50.0% (50 B of 100 B)"},
		{"phase.mean{phase=sync weights}", "1 s"},
		{"phase.mean{phase=sync*, rank=0}", "1.5 s"},
		{"phase.total{phase=*}", "4 s"},
		{"phase.gpu_total{phase=sync weights}", "16 ms"},
		{"phase.count{phase=sync weights}", "4"},
	} {
		if got := measureText(t, twoRanks(), tc.gate); got != tc.want {
			t.Errorf("%s is %s, want %s", tc.gate, got, tc.want)
		}
	}
	used := make(map[string]bool)
	for _, m := range Metrics() {
		used[m.Name] = true
		if m.Meaning == "" || len(m.selectors()) == 0 || m.measure == nil {
			t.Errorf("%s is not described", m.Name)
		}
		if m.Sums && !m.Rises {
			t.Errorf("%s adds up over the capture, so more of it can only raise it", m.Name)
		}
	}
	if len(used) != len(Metrics()) {
		t.Error("two metrics have one name")
	}
}

func measureText(t *testing.T, s *summary.Summary, gate string) string {
	t.Helper()
	m, sel, err := Parse(gate)
	if err != nil {
		t.Fatal(err)
	}
	v, err := m.Measure(s, sel)
	if err != nil {
		return err.Error()
	}
	return m.Text(v)
}

// TestMeasureNothing checks that a missing part is an error that lists the existing
// parts, or the option that records it. No metric of an empty summary has a value.
func TestMeasureNothing(t *testing.T) {
	for _, tc := range []struct{ gate, want string }{
		{"gpu.busy_share{device=7}", "no such device; there is rank 0 device 0, rank 1 device 1"},
		{"step.median{steps=9-}", "no step in 9-; there is 3, 4"},
		{"kernel.count{category=attention}", "no such kernel; there are kernels of the categories all-reduce, gemm"},
		{"copies.count{copy=*DtoH}", `no such copy; there is "Memcpy HtoD", "Memset"`},
		{"copies.bytes{class=memset}", "no copy that tells its bytes"},
		{"phase.mean{phase=rollout}", `no phase "rollout"; there is "sync weights"`},
		{"idle.share{owner=host-late, steps=3}", "no owners of idle time within steps; leave out steps=, or owner= and state="},
		{"memory.peak{device=3}", "no such device in what the allocator recorded"},
	} {
		if got := measureText(t, twoRanks(), tc.gate); got != tc.want {
			t.Errorf("%s: %s, want %s", tc.gate, got, tc.want)
		}
	}
	empty := &summary.Summary{Schema: summary.Schema}
	for _, m := range Metrics() {
		name := m.Name
		if strings.HasPrefix(name, "phase.") {
			name += "{phase=x}"
		}
		if m.limits {
			name = m.Named()
		}
		if got := measureText(t, empty, name); !strings.HasPrefix(got, "no ") {
			t.Errorf("%s of nothing is %s", name, got)
		}
	}
}

// TestStepsOfDevices: a step that two devices of one host saw is one step.
func TestStepsOfDevices(t *testing.T) {
	s := twoRanks()
	s.Steps = append(s.Steps, s.Steps[:2]...)
	s.Steps[4].Device, s.Steps[5].Device = 5, 5
	for gate, want := range map[string]string{"step.count": "4", "step.mean": "50 ms"} {
		if got := measureText(t, s, gate); got != want {
			t.Errorf("%s is %s, want %s", gate, got, want)
		}
	}
}

// TestSnapshots: the peak of a snapshot is that of its history; without one what is
// allocated at the end says nothing of it.
func TestSnapshots(t *testing.T) {
	s := &summary.Summary{Snapshots: []summary.Snapshot{{Usage: summary.Usage{Allocated: 7, Reserved: 9}, Peak: &summary.MemoryPeak{Live: 40, HighestReserved: 64}}}}
	for gate, want := range map[string]string{
		"memory.peak": "40 B", "memory.peak_reserved": "64 B",
		"memory.peak_share": "no size of the device's memory; set a gate on memory.peak in its place",
	} {
		if got := measureText(t, s, gate); got != want {
			t.Errorf("%s is %s, want %s", gate, got, want)
		}
	}
	s.Snapshots[0].Peak = nil
	if got := measureText(t, s, "memory.peak"); !strings.HasPrefix(got, "no history in the snapshot") {
		t.Errorf("without a history: %s", got)
	}
}

// TestNoCommunication: a share of 0 says so where nothing communicated.
func TestNoCommunication(t *testing.T) {
	s := &summary.Summary{Devices: []summary.Device{{WindowNS: 10, Activity: summary.Activity{summary.ClassCompute: 10}}}}
	if got, want := measureText(t, s, "comm.exposed_share"), "0% (0 ns of 10 ns), no kernel of communication ran"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestHostSpans: traces without device work have phases too, but nothing that
// devices spent on them.
func TestHostSpans(t *testing.T) {
	s := &summary.Summary{Spans: []summary.Span{{Name: "rollout", Count: 2, TotalNS: 10 * ms}}}
	for gate, want := range map[string]string{
		"phase.mean{phase=rollout}":      "5 ms",
		"phase.gpu_total{phase=rollout}": "no GPU events",
	} {
		if got := measureText(t, s, gate); got != want {
			t.Errorf("%s is %s, want %s", gate, got, want)
		}
	}
}

// TestHas compares patterns with names: "*" matches any text.
func TestHas(t *testing.T) {
	for _, tc := range []struct {
		pattern, name string
		want          bool
	}{
		{"abc", "abc", true}, {"abc", "abcd", false}, {"a*", "abc", true}, {"*c", "abc", true}, {"*b*", "abc", true},
		{"a*c", "abc", true}, {"a*c", "ac", true}, {"a*b*c", "aXbYc", true}, {"a*b*c", "aXcYb", false}, {"*", "", true},
		{"ab*ba", "aba", false}, {"*a*a", "a", false}, {"a*a*a", "aa", false}, {"a.c", "abc", false}, {"[ab]", "a", false}, {"[ab]", "[ab]", true},
	} {
		sel := Selector{[]term{{key: "kernel", value: tc.pattern}}}
		if got := sel.has("kernel", tc.name); got != tc.want {
			t.Errorf("%q matches %q: %t, want %t", tc.pattern, tc.name, got, tc.want)
		}
	}
}

// TestPhases: a phase has the time of those within it, once, and a selection
// that finds none is an error.
//
//	generation           30 busy of 40 ms
//	generation/decode    45 busy of 50 ms
//	training              8 busy of 10 ms, on rank 1 too
func TestPhases(t *testing.T) {
	cells := func(busy, idle int64) (a summary.Activity) {
		a[0] = idle * ms
		a[summary.ClassCompute] = busy * ms
		return a
	}
	s := twoRanks()
	s.Phases = []summary.Phase{
		{Path: "generation", Activity: cells(30, 10)}, {Path: "generation/decode", Activity: cells(45, 5)},
		{Path: "training", Activity: cells(8, 2)}, {Input: 1, Rank: 1, Device: 1, Path: "training", Activity: cells(8, 2)},
		{Path: "", Activity: cells(0, 99)},
	}
	for _, tc := range []struct{ gate, want string }{
		{"gpu.busy_share{phase=generation}", "83.3% (75 ms of 90 ms)"},
		{"gpu.busy_share{phase=decode}", "90.0% (45 ms of 50 ms)"},
		{"gpu.busy_share{phase=training}", "80.0% (16 ms of 20 ms)"},
		{"gpu.busy_share{phase=training, rank=1}", "80.0% (8 ms of 10 ms)"},
		{"gpu.busy_share{phase=*}", "82.7% (91 ms of 110 ms)"},
		{"idle.share{phase=generation}", "16.7% (15 ms of 90 ms)"},
		{"gpu.busy_share{phase=reward}", `no phase "reward"; there is "generation", "generation/decode", "training"`},
		{"idle.share{phase=training, owner=host-late}", "no owners of idle time within phase; leave out phase=, or owner= and state="},
		{"gpu.busy_share{phase=training, steps=3}", "no activity of phases within steps; leave out steps=, or phase="},
	} {
		got := measureText(t, s, tc.gate)
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.gate, got, tc.want)
		}
	}
}
