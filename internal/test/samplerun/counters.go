package samplerun

import (
	"assay/summary"
)

// PctOf returns a percentage that is known.
func PctOf(v float64) *float64 { return &v }

// Whole returns a number that is known.
func Whole(n int64) *int64 { return &n }

// Counted returns a run of four kernels: one per bound, the first of them with several
// shapes, and one without counters.
func Counted() *summary.Summary {
	row := func(name string, ns int64, compute, memory float64) summary.Counter {
		return summary.Counter{Kernel: name, Capability: "9.0", Launches: 4, Shapes: 1, Timed: 4, TotalNS: ns, ComputePct: &compute, MemoryPct: &memory, Category: "gemm"}
	}
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "ncu.csv", Format: "ncu", Compression: "none", Events: 40, Complete: true}},
		Counters: []summary.Counter{row("near", 600_000, 20, 92), row("slow", 300_000, 20, 10), row("busy", 80_000, 70, 20), {Kernel: "bare", Launches: 2, Timed: 2, TotalNS: 20_000}}}
	k := &s.Counters[0]
	k.Shapes, k.OccupancyPct, k.TheoreticalPct, k.Limiters = 3, PctOf(40.25), PctOf(50), []string{"registers"}
	k.DRAMBytes, k.BytesNS = Whole(1_200_000_000), 600_000
	k.Rules = []summary.Advice{{Name: "R", Type: "OPT", Text: "Do it | so. Then not.", Launches: 1, SpeedupPct: PctOf(12.5), SpeedupKind: "global"}}
	return s
}

// Roofline gives the first two kernels arithmetic: 2 and 8 operations for each
// byte, at 4 and 8 TFLOP/s.
func Roofline(s *summary.Summary) *summary.Summary {
	for i, w := range []summary.Work{{FLOPs: 2_400_000_000, NS: 600_000, DRAMBytes: Whole(1_200_000_000)}, {FLOPs: 2_400_000_000, NS: 300_000, DRAMBytes: Whole(300_000_000)}} {
		w.Precision, w.PeakFLOPs, w.PeakDRAMRate = "fp32", Whole(60e12), Whole(3e12)
		s.Counters[i].Work = []summary.Work{w}
	}
	return s
}
