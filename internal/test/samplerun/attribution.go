package samplerun

import (
	"fmt"
	"math"
	"strings"

	"assay/summary"
)

// attributedStart is a moment on a clock that counts from 1970.
const attributedStart = int64(1_763_000_000_000_000_123)

// Attributed is a training run on n GPUs that waits for its host, with all
// that can be known of where work came from. Of rank r, in ms:
//
//	compute 380, copies 20, idle 600+10r, so the window is 1000+10r
//
//	idle: host-late 480+10r, of that synchronizing 250+10r, python 150 and
//	  data-loading 80; launch-latency 50, dependency 40, nothing-offered 20,
//	  unknown 10
//	kernels: gemm 300, elementwise 60, attention 20; copies 20; GPU work 400
//	operators, self: aten::mm 300, aten::add_ 60, aten::copy_ 20, none of its
//	  own Attention but 20 in total; 20 of attention is of no operator
//	modules, total: GPT 340, in it Block_0 200 (in it Linear_0 150) and Block_1
//	  140, and Norm 3, which is under 1% of 400
//	queue: empty 550+10r, one 100, two or three 150, four or more 200
//	critical path of the step of 100+r: operators on the CPU 60, compute 30+r, communication 10; all CPU work
//	twice as fast gives 30, compute 15; what communication gives is withheld for one rank
func Attributed(n int64) *summary.Summary {
	s := &summary.Summary{Schema: summary.Schema}
	for r := range n {
		s.Inputs = append(s.Inputs, summary.Input{
			Path: fmt.Sprintf("traces/rank%d.json", r), Format: "kineto", Compression: "none", Bytes: 5 << 20, Events: 9000,
			Rank: int(r), RankFrom: "trace", Complete: true,
		})
		attributedDevice(s, r)
		attributedIdle(s, r)
		attributedWork(s, r)
		attributedLaunches(s, r)
		attributedMemory(s, r)
		attributedPath(s, r, n)
	}
	s.Sort()
	return s
}

func attributedDevice(s *summary.Summary, r int64) {
	d := summary.Device{
		Input: int(r), Rank: int(r), Device: r, Name: "NVIDIA H100 80GB HBM3", StartNS: attributedStart, WindowNS: (1000 + 10*r) * MS, Events: 3100,
		Activity: Cells(map[summary.Class]int64{Comp: 380, Copies: 20, 0: 600 + 10*r}),
		Strip: &summary.Strip{BinNS: 10 * MS, NS: map[string][]int64{
			"compute": strip(100+int(r), 10, 48), "copy": strip(100+int(r), 48, 50),
		}},
		LargestGaps: []summary.Gap{
			{StartNS: attributedStart + 500*MS, NS: (100 + 10*r) * MS, Owner: summary.OwnerHost, State: summary.StateSync, Name: "cudaStreamSynchronize",
				Before: "Memcpy DtoH (Device -> Pageable)", After: "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn"},
			{StartNS: attributedStart + 700*MS, NS: 80 * MS, Owner: summary.OwnerHost, State: summary.StateData, Name: "DataLoader.__next__",
				Before: "void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)", After: "flash_fwd_kernel"},
			{StartNS: attributedStart + 800*MS, NS: 40 * MS, Owner: summary.OwnerDependency, Before: "flash_fwd_kernel", After: "flash_fwd_kernel"},
		},
	}
	for i := range int64(3000) {
		d.Durations.Add([]int64{200 * US, 170 * US, 10 * US}[i%3]) // 1000 of each: 380 ms
	}
	for range 100 {
		d.Gaps.Add((600 + 10*r) * MS / 100)
	}
	s.Devices = append(s.Devices, d)
	for i := range int64(4) {
		s.Steps = append(s.Steps, summary.Step{
			Input: int(r), Rank: int(r), Device: r, Name: fmt.Sprintf("ProfilerStep#%d", i), Number: i,
			StartNS: attributedStart + i*240*MS, WallNS: (210 + 10*i) * MS,
			Activity: Cells(map[summary.Class]int64{Comp: 95, Copies: 5, 0: 110 + 10*i}),
		})
	}
	for i, k := range []struct {
		name, category, op string
		total              int64
	}{
		{"ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_nn", "gemm", "aten::mm", 300},
		{"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<float>>(int)", "elementwise", "aten::add_", 60},
		{"flash_fwd_kernel", "attention", "", 20},
	} {
		s.Kernels = append(s.Kernels, summary.Kernel{
			Name: k.name, Class: "compute", Category: k.category, Rule: k.category, Input: int(r), Rank: int(r), Device: r, Stream: 7, Op: k.op,
			Count: 1000, TotalNS: k.total * MS, MinNS: int64(1+i) * US, MaxNS: MS,
		})
	}
	s.Copies = append(s.Copies, summary.Copy{
		Name: "Memcpy DtoH (Device -> Pageable)", Class: "copy", Input: int(r), Rank: int(r), Device: r, Stream: 7, Count: 100, TotalNS: 20 * MS, MinNS: US, MaxNS: MS,
	})
}

func attributedIdle(s *summary.Summary, r int64) {
	for _, i := range []summary.Idle{
		{Owner: summary.OwnerHost, State: summary.StateSync, Name: "cudaStreamSynchronize", NS: 250 + 10*r, Count: 50, MaxNS: 100 + 10*r},
		{Owner: summary.OwnerHost, State: summary.StatePython, Name: "/home/me/project/trainer/loop.py(123): train_step", NS: 150, Count: 700, MaxNS: 3},
		{Owner: summary.OwnerHost, State: summary.StateData, Name: "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", NS: 80, Count: 1, MaxNS: 80},
		{Owner: summary.OwnerLaunch, NS: 50, Count: 9000, MaxNS: 1},
		{Owner: summary.OwnerDependency, NS: 40, Count: 1, MaxNS: 40},
		{Owner: summary.OwnerNothing, NS: 20, Count: 2, MaxNS: 15},
		{Owner: summary.OwnerUnknown, NS: 10, Count: 3, MaxNS: 4},
	} {
		i.Input, i.Rank, i.Device = int(r), int(r), r
		i.NS, i.MaxNS = i.NS*MS, i.MaxNS*MS
		s.Idle = append(s.Idle, i)
	}
}

func attributedWork(s *summary.Summary, r int64) {
	op := func(name string, self, total, cpu, launched int64, shapes ...summary.OpShape) {
		s.Ops = append(s.Ops, summary.Op{
			Name: name, Input: int(r), Rank: int(r), Count: 500, CPUSelfNS: cpu * MS, CPUTotalNS: 2 * cpu * MS, GPUSelfNS: self * MS, GPUTotalNS: total * MS,
			Launched: launched, Shapes: int64(len(shapes)), TopShapes: shapes,
		})
	}
	op("aten::mm", 300, 300, 60, 1000,
		summary.OpShape{Dims: "[[4096, 4096], [4096, 11008]]", Types: `["bf16", "bf16"]`, Count: 400, GPUSelfNS: 225 * MS, GPUTotalNS: 225 * MS},
		summary.OpShape{Dims: "[[1, 4096], [4096, 11008]]", Types: `["bf16", "bf16"]`, Count: 100, GPUSelfNS: 75 * MS, GPUTotalNS: 75 * MS})
	op("aten::add_", 60, 60, 20, 1000)
	op("aten::copy_", 20, 20, 10, 100)
	op("Attention", 0, 20, 5, 0)
	for _, m := range []struct {
		path                  string
		self, total, backward int64
	}{
		{"GPT_0", 0, 340, 200}, {"GPT_0/Block_0", 50, 200, 120}, {"GPT_0/Block_0/Linear_0", 150, 150, 90}, {"GPT_0/Block_1", 137, 140, 80}, {"GPT_0/Block_1/Norm_1", 3, 3, 0},
	} {
		s.Modules = append(s.Modules, summary.Module{
			Path: m.path, Input: int(r), Rank: int(r), Count: 4, CPUTotalNS: m.total * MS, GPUSelfNS: m.self * MS, GPUTotalNS: m.total * MS, BackwardNS: m.backward * MS,
		})
	}
	s.Lines = append(s.Lines,
		summary.Line{File: "/home/me/project/model/attention.py", Line: 77, Function: "forward", Input: int(r), Rank: int(r), Count: 48, CPUTotalNS: 90 * MS, GPUSelfNS: 240 * MS, GPUTotalNS: 240 * MS},
		summary.Line{File: "/home/me/project/train.py", Line: 12, Function: "step", Input: int(r), Rank: int(r), Count: 4, CPUTotalNS: 900 * MS, GPUSelfNS: 120 * MS, GPUTotalNS: 360 * MS})
	s.Annotations = append(s.Annotations,
		summary.Annotation{Name: "forward | loss", Input: int(r), Rank: int(r), Count: 4, CPUTotalNS: 200 * MS, GPUSelfNS: 100 * MS, GPUTotalNS: 100 * MS},
		summary.Annotation{Name: "Optimizer.step#AdamW.step", Input: int(r), Rank: int(r), Count: 4, CPUTotalNS: 50 * MS, GPUSelfNS: 60 * MS, GPUTotalNS: 60 * MS})
	for i, name := range []string{"forward", "backward", "optimizer", "other"} {
		s.Passes = append(s.Passes, summary.Pass{Name: name, Input: int(r), Rank: int(r), Device: r, Count: 100, GPUNS: []int64{100, 220, 60, 20}[i] * MS})
	}
}

func attributedLaunches(s *summary.Summary, r int64) {
	call := func(name, kind string, count, total, launched, idle int64) {
		row := summary.Call{Name: name, Kind: kind, Input: int(r), Rank: int(r), Count: count, TotalNS: total * MS, MaxNS: total * MS / 10, Launched: launched, IdleNS: idle * MS}
		if kind == "sync" {
			row.WaitNS = row.TotalNS
		}
		s.Calls = append(s.Calls, row)
	}
	call("cudaStreamSynchronize", "sync", 50, 500, 0, 200)
	call("cudaDeviceSynchronize", "sync", 1, 300, 0, 0)
	call("cudaLaunchKernel", "launch", 3000, 15, 3000, 0)
	call("cudaMemcpyAsync", "copy", 100, 5, 100, 0)
	l := summary.Launches{
		Input: int(r), Rank: int(r), Device: r, Launched: 3090, Without: 10, Calls: 3000, Short: 1000, ShortNS: 5 * MS, PerStep: []int64{760, 740, 750, 750},
		Queue: []summary.QueueDepth{{From: 0, NS: (550 + 10*r) * MS}, {From: 1, NS: 100 * MS}, {From: 2, NS: 150 * MS}, {From: 4, NS: 200 * MS}},
	}
	for i := range int64(100) {
		// 60 of 12 µs, 38 of 400 µs, two of 20 ms
		delay := 12 * US
		if i >= 60 {
			delay = 400 * US
		}
		if i >= 98 {
			delay = 20 * MS
		}
		l.Delays.Add(delay)
	}
	for i := range 100 + r {
		l.QueueStrip = append(l.QueueStrip, max(0, 6500-(i%25)*500))
	}
	s.Launches = append(s.Launches, l)
	s.Graphs = append(s.Graphs,
		summary.Graph{ID: 1, Input: int(r), Rank: int(r), Device: r, Call: "cudaGraphLaunch", First: "flash_fwd_kernel", Launches: 10, Nodes: 40, WorkNS: 30 * MS, SpanNS: 40 * MS, IdleNS: 10 * MS, DelayNS: 200 * US, CallNS: 500 * US},
		summary.Graph{ID: 2, Input: int(r), Rank: int(r), Device: r, Call: "cudaGraphLaunch", First: "flash_fwd_kernel", Launches: 5, Nodes: 1, WorkNS: 10 * MS, SpanNS: 10 * MS, DelayNS: 100 * US, CallNS: 50 * US, Opaque: true})
}

func attributedMemory(s *summary.Summary, r int64) {
	const gib = int64(1) << 30
	start, allocated, reserved := 20*gib, 60*gib+r*gib, 72*gib+r*gib
	m := summary.Memory{
		Input: int(r), Rank: int(r), Device: r, Allocs: 12_000, Frees: 11_900, StartAllocated: &start, PeakAllocated: &allocated, PeakReserved: &reserved,
		PeakNS: attributedStart + 400*MS, LiveBytes: 40 * gib,
		Live: []summary.Live{
			{Op: "aten::empty", Module: "GPT_0/Block_0/Linear_0", Bytes: 24 * gib, Count: 100},
			{Op: "aten::mm", Module: "GPT_0/Block_1", Bytes: 10 * gib, Count: 50},
			{Bytes: 4 * gib, Count: 1},
		},
		Strip: &summary.MemoryStrip{StartNS: attributedStart - 5*MS, BinNS: 10 * MS},
	}
	for i := range int64(100) {
		rise := 40 - min(40, max(i-40, 40-i)) // up to 40 in the middle of bin 40
		m.Strip.Allocated = append(m.Strip.Allocated, start+(40*gib+r*gib)*rise/40)
		m.Strip.Reserved = append(m.Strip.Reserved, min(reserved, 40*gib+2*gib*i))
	}
	m.Strip.Allocated[0], m.Strip.Reserved[0] = -1, -1
	s.Memory = append(s.Memory, m)
}

// ModulesOnly returns an attributed run without operators, for the picture that
// replaces theirs, and with memory of the host alone.
func ModulesOnly() *summary.Summary {
	s := Attributed(1)
	s.Ops = nil
	s.Memory[0].OnHost = true
	return s
}

// ManyReasons is one device with n rows of everything.
func ManyReasons(n int) *summary.Summary {
	states := []string{
		summary.StateSync, summary.StateCopy, summary.StateAlloc, summary.StateLaunch, summary.StateCall,
		summary.StateData, summary.StateOp, summary.StatePython, summary.StateAnnotation, summary.StateOS,
	}
	s := OneKernel(int64(n) * MS)
	s.Devices[0].Activity = summary.Activity{0: int64(n) * MS}
	for i := range n {
		name := fmt.Sprintf("some/long/path/of/a/file_of_python_code_%d.py(%d): and_a_function_of_its_own_%d", i, i, i)
		s.Idle = append(s.Idle, summary.Idle{Owner: summary.Owners()[i%6], State: states[i%len(states)], Name: name, NS: MS, Count: 1, MaxNS: MS})
		s.Ops = append(s.Ops, summary.Op{Name: "void at::native::" + name, Count: 1, GPUSelfNS: MS, GPUTotalNS: MS})
		s.Modules = append(s.Modules, summary.Module{Path: "A" + strings.Repeat("/A", min(i, 300)), GPUSelfNS: MS, GPUTotalNS: int64(n-i) * MS})
		s.Lines = append(s.Lines, summary.Line{File: fmt.Sprintf("/a/%d/b/c.py", i), Line: 7, Function: "f", GPUSelfNS: MS, GPUTotalNS: MS})
		s.Calls = append(s.Calls, summary.Call{Name: name, Kind: "sync", Count: 1, TotalNS: MS, WaitNS: MS, IdleNS: MS})
		s.Graphs = append(s.Graphs, summary.Graph{ID: int64(i), Call: name, First: name, SpanNS: MS, Launches: 1})
		s.Annotations = append(s.Annotations, summary.Annotation{Name: name, GPUSelfNS: MS, GPUTotalNS: MS})
	}
	s.Sort()
	return s
}

// strange gives s rows with hostile names and broken numbers.
func strange(s *summary.Summary) *summary.Summary {
	values := []int64{-1, math.MinInt64, math.MaxInt64, 0, -5 * Sec, 7, math.MaxInt64 - 1}
	for i, name := range HostileNames() {
		v, w := values[i%len(values)], values[(i+2)%len(values)]
		in, rank := i, i/2
		s.Idle = append(s.Idle, summary.Idle{Input: in, Rank: rank, Owner: name, State: name, Name: name, NS: v, Count: w, MaxNS: v})
		s.Idle = append(s.Idle, summary.Idle{Input: in, Rank: rank, Owner: summary.OwnerHost, Name: name, NS: MS, Count: 1, MaxNS: MS})
		s.Ops = append(s.Ops, summary.Op{Name: name, Input: in, Rank: rank, Count: v, CPUSelfNS: w, GPUSelfNS: v, GPUTotalNS: w, Launched: v,
			TopShapes: []summary.OpShape{{Dims: name, Types: name, GPUSelfNS: v}}})
		s.Modules = append(s.Modules, summary.Module{Path: name, Input: in, Count: v, GPUSelfNS: w, GPUTotalNS: v, BackwardNS: w})
		s.Modules = append(s.Modules, summary.Module{Path: name + "/" + name, Input: in, Count: v, GPUSelfNS: v, GPUTotalNS: w})
		s.Lines = append(s.Lines, summary.Line{File: name, Line: i, Function: name, Input: in, GPUSelfNS: v, GPUTotalNS: w, CPUTotalNS: v})
		s.Annotations = append(s.Annotations, summary.Annotation{Name: name, Input: in, GPUSelfNS: v, GPUTotalNS: w})
		s.Passes = append(s.Passes, summary.Pass{Name: name, Input: in, GPUNS: v, Count: w})
		s.Calls = append(s.Calls, summary.Call{Name: name, Kind: name, Input: in, Count: v, TotalNS: w, MaxNS: v, IdleNS: w})
		s.Launches = append(s.Launches, summary.Launches{Input: in, Rank: rank, Calls: v, Launched: w, Without: v, Short: w, ShortNS: v, PerStep: []int64{v, w},
			Queue: []summary.QueueDepth{{From: v, NS: w}, {From: w, NS: v}}, QueueStrip: []int64{v, w, 1}})
		s.Graphs = append(s.Graphs, summary.Graph{ID: v, Input: in, Rank: rank, Call: name, First: name, Launches: w, Nodes: v, WorkNS: w, SpanNS: v, IdleNS: w, DelayNS: v, CallNS: w})
		s.Memory = append(s.Memory, summary.Memory{Input: in, Rank: rank, PeakAllocated: &v, PeakReserved: &w, PeakNS: v, LiveBytes: w,
			Live: []summary.Live{{Op: name, Module: name, Bytes: v, Count: w}}, Strip: &summary.MemoryStrip{StartNS: v, BinNS: max(1, w), Allocated: []int64{v, 1, w}, Reserved: []int64{w}}})
		s.Devices[i].LargestGaps = []summary.Gap{{StartNS: v, NS: w, Owner: name, State: name, Name: name, Before: name, After: name}}
	}
	s.Sort()
	return s
}
