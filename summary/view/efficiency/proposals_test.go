package efficiency

import (
	"testing"

	"assay/summary"
)

// TestProposals: fp32 products in TF32 at the peak of the GPU, and chains by the part of the time or of the launches that
// they save.
func TestProposals(t *testing.T) {
	flops := int64(4_000_000_000) // 4e9 at 400 TFLOP/s are 10 µs
	all := func(int) bool { return true }
	fuse := func(count, total, gain int64, from string, names ...string) summary.Saving {
		return summary.Saving{Kind: summary.SavingFuse, Names: names, Count: count, TotalNS: total, GainNS: gain, GainFrom: from}
	}
	of := func(rows []summary.EfficiencyRow, savings ...summary.Saving) *summary.Summary {
		s := &summary.Summary{Kernels: []summary.Kernel{{Name: "any", TotalNS: 1_000_000, Count: 1000}}}
		s.Efficiency.Devices = []summary.EfficiencyDevice{{PeakTFLOPS: map[string]float64{"fp32": 50, "tf32": 400}}}
		s.Efficiency.Rows, s.Efficiency.Savings = rows, savings
		return s
	}
	row := func(kernel, op string, ns int64) summary.EfficiencyRow {
		return summary.EfficiencyRow{Kernel: kernel, Op: op, Unit: "matrix", Dtype: "fp32", FLOPs: &flops, GPUNS: ns}
	}
	for name, tc := range map[string]struct {
		s    *summary.Summary
		has  func(int) bool
		want []Proposal
	}{
		"two kernels of products, the longer first": {of([]summary.EfficiencyRow{row("a_sgemm", "aten::mm", 30_000), row("x_simt_(b)", "aten::bmm", 70_000)}), all,
			[]Proposal{{"scale", `kernel~^(?:x_simt_\(b\)|a_sgemm)$=0.2`, summary.ByTF32, true}}},
		"of another kind of kernel": {of([]summary.EfficiencyRow{row("tf32_gemm", "aten::mm", 90_000)}), all, nil},
		"little of the time":        {of([]summary.EfficiencyRow{row("a_sgemm", "aten::mm", 25_000)}), all, nil},
		"of another job":            {of([]summary.EfficiencyRow{row("a_sgemm", "aten::mm", 90_000)}), func(int) bool { return false }, nil},
		"shapes of one chain together": {of(nil, fuse(4, 40_000, 20_000, summary.GainOfBytes, "aten::sub", "aten::exp"), fuse(4, 60_000, 30_000, summary.GainOfBytes, "aten::sub", "aten::exp")), all,
			[]Proposal{{"fuse", "chain~aten::sub,aten::exp=0.5", summary.ByFusion, false}}},
		"bytes are not known": {of(nil, fuse(4, 40_000, 30_000, summary.GainAtMost, "aten::sub", "aten::exp")), all,
			[]Proposal{{"fuse", "chain~aten::sub,aten::exp=0.25", summary.ByFusion, true}}},
		"many launches": {of(nil, fuse(20, 2_000, 100, summary.GainOfBytes, "aten::sub", "aten::exp", "aten::mul")), all,
			[]Proposal{{"fuse", "chain~aten::sub,aten::exp,aten::mul=0.95", summary.ByFusion, false}}},
		"few, and short":    {of(nil, fuse(19, 2_000, 100, summary.GainOfBytes, "aten::sub", "aten::exp")), all, nil},
		"no chain, a cast":  {of(nil, summary.Saving{Kind: summary.SavingCast, Names: []string{"aten::copy_"}, Count: 100, TotalNS: 90_000, GainNS: 90_000}), all, nil},
		"kernels that copy": {kernelsOf(150_000, 100_000), all, []Proposal{{"scale", "kernel~^(?:copy_b|copy_a)$=0", summary.ByCopyKernels, true}}},
		"little of it":      {kernelsOf(80_000, 10_000), all, nil},
		"half of the multiprocessors, and a quarter of enough threads": {with(summary.Occupancy{Name: "gemm_(small)", TotalNS: 200_000, Count: 1, Loss: summary.LossFewSMs, GainNS: 100_000},
			summary.Occupancy{Name: "row_max", Category: "reduction", TotalNS: 100_000, AloneNS: 100_000, Count: 2, Limiter: "registers", Theoretical: share(0.125)},
			summary.Occupancy{Name: "flash", Category: "attention", TotalNS: 100_000, AloneNS: 100_000, Count: 2, Limiter: "registers", Theoretical: share(0.125)}), all,
			[]Proposal{{"scale", `kernel~^(?:gemm_\(small\))$=0.5`, summary.ByFewBlocks, true}, {"scale", "kernel~^(?:row_max)$=0.25", summary.ByFewWarps, true}}},
		"copies to the host and back, of others": {trips(30_000, 120_000), all, []Proposal{{"scale", "class:copy=0.75", summary.ByRoundTrips, true}}},
		"no other copies":                        {trips(30_000, 30_000), all, nil}, // what all copies take is forecast anyway
	} {
		got := Proposals(tc.s, tc.has)
		if len(got) != len(tc.want) {
			t.Errorf("%s: %+v", name, got)
			continue
		}
		for i := range got {
			if got[i] != tc.want[i] {
				t.Errorf("%s: %+v, want %+v", name, got[i], tc.want[i])
			}
		}
	}
}

func share(f float64) *float64 { return &f }

// kernelsOf is a run of 1 ms of kernels, two of which only copy.
func kernelsOf(b, a int64) *summary.Summary {
	return &summary.Summary{Kernels: []summary.Kernel{{Name: "gemm", Category: "gemm", TotalNS: 1_000_000 - a - b, Count: 10},
		{Name: "copy_a", Category: "layout", TotalNS: a, Count: 10}, {Name: "copy_b", Category: "layout", TotalNS: b, Count: 10}}}
}

// with adds launches to a run of 1 ms of kernels.
func with(list ...summary.Occupancy) *summary.Summary {
	s := kernelsOf(0, 0)
	s.Efficiency.Occupancy = list
	return s
}

// trips has copies, some of which go to the host and back.
func trips(back, all int64) *summary.Summary {
	s := kernelsOf(0, 0)
	s.Copies = []summary.Copy{{Name: "Memcpy DtoH", TotalNS: all}}
	s.Efficiency.Savings = []summary.Saving{{Kind: summary.SavingHost, TotalNS: back, GainNS: back, Count: 1, Names: []string{"copy to the host"}}}
	return s
}
