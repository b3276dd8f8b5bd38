package gate

import (
	"fmt"
	"math"
	"math/rand/v2"

	"assay/summary"
)

const (
	us = int64(1_000)
	ms = 1_000 * us
)

// A program is a training program on one GPU whose runs drift. Each step has one
// stretch of compute, of compute over communication, of communication, of a copy, and
// of idle time.
type program struct {
	steps int
	// Lengths within a step.
	compute, overlap, comm, copies, idle float64 // ns
	kernels, launches                    int64   // in a step
	graphs                               bool    // half of the work is launched by graphs
	peak                                 int64   // bytes

	// drift is by how much whole runs differ, as the standard deviation of the
	// logarithm. A part of its variance, together, is that of the whole machine; the rest
	// is that of compute (clocks), communication and the host, each by its own. Within a
	// run steps differ by far less.
	drift, together float64
}

func usualProgram() program {
	return program{
		steps: 8, compute: 60e6, overlap: 15e6, comm: 10e6, copies: 1e6, idle: 14e6,
		kernels: 900, launches: 950, peak: 60 << 30, together: 0.5,
	}
}

// run returns what one run of the program measures.
func (p program) run(rng *rand.Rand, n int) *summary.Summary {
	drift := func(s float64) float64 { return math.Exp(s * rng.NormFloat64()) }
	all, own := drift(p.drift*math.Sqrt(p.together)), p.drift*math.Sqrt(1-p.together)
	gpu, net, host := all*drift(own), all*drift(own), all*drift(own)
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{
		Path: fmt.Sprintf("run%d/rank0.json", n), Format: "kineto", Events: 100_000, SHA256: fmt.Sprintf("%d-%d", n, rng.Uint64()), RankFrom: "trace", Complete: true,
	}}}
	d := summary.Device{Name: "NVIDIA H100 80GB HBM3"}
	launches := summary.Launches{}
	var work, comm int64
	for i := range p.steps {
		step := func(ns, by float64) int64 { return int64(ns * by * math.Exp(0.01*rng.NormFloat64())) }
		var a summary.Activity
		a[summary.ClassCompute] = step(p.compute, gpu)
		a[summary.ClassCompute|summary.ClassComm] = step(p.overlap, gpu)
		a[summary.ClassComm] = step(p.comm, net)
		a[summary.ClassCopy] = step(p.copies, net)
		a[0] = step(p.idle, host)
		s.Steps = append(s.Steps, summary.Step{Name: fmt.Sprintf("ProfilerStep#%d", i), Number: int64(i), StartNS: d.WindowNS, WallNS: a.Window(), Activity: a})
		d.WindowNS += a.Window()
		d.Activity = d.Activity.Plus(a)
		d.Events += p.kernels
		work += a.Compute()
		comm += a.With(summary.ClassComm)
		// A data-dependent branch: a kernel more or less.
		launches.PerStep = append(launches.PerStep, p.launches+rng.Int64N(3)-1)
		launches.Calls += p.launches
	}
	s.Devices = []summary.Device{d}
	s.Inputs[0].SpanNS = d.WindowNS
	count := int64(p.steps)*p.kernels + rng.Int64N(9) - 4
	s.Kernels = []summary.Kernel{
		{Name: "gemm", Class: "compute", Category: "gemm", Op: "aten::mm", Count: count * 9 / 10, TotalNS: work, MaxNS: work / 100},
		{Name: "ncclDevKernel_AllReduce", Class: "comm", Category: "all-reduce", Count: count - count*9/10, TotalNS: comm, MaxNS: comm / 10},
	}
	s.Launches = []summary.Launches{launches}
	s.Calls = []summary.Call{{Name: "cudaLaunchKernel", Kind: "launch", Count: launches.Calls, Launched: launches.Calls}}
	if p.graphs {
		s.Calls = append(s.Calls, summary.Call{Name: "cudaGraphLaunch", Kind: "graph-launch", Count: int64(p.steps), Launched: launches.Calls})
	}
	peak := int64(float64(p.peak) * math.Exp(0.005*rng.NormFloat64()))
	capacity := int64(80 << 30)
	s.Memory = []summary.Memory{{PeakAllocated: &peak, PeakReserved: &peak, Capacity: &capacity}}
	s.Idle = []summary.Idle{{Owner: summary.OwnerHost, State: summary.StateData, NS: d.Activity.Idle(), Count: int64(p.steps)}}
	s.Annotations = []summary.Annotation{{Name: "weight_sync", Count: 2, CPUTotalNS: 3000 * ms, GPUTotalNS: 100 * ms}, {Name: "forward", Count: int64(p.steps), CPUTotalNS: 80 * ms}}
	s.Sort()
	return s
}

// runs returns n runs of the program.
func (p program) runs(rng *rand.Rand, n int) []Run {
	var list []*summary.Summary
	for i := range n {
		list = append(list, p.run(rng, i))
	}
	return Runs(list)
}

func seeded(n uint64) *rand.Rand { return rand.New(rand.NewPCG(n, 17)) }
