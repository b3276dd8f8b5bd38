package judge

import (
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// TestDecodeFloor: steps that use little of the bandwidth of the memory and of the rate of arithmetic are limited by
// their kernels. What they use is known only if each has a whole floor. A step has 10 ms of GPU time.
func TestDecodeFloor(t *testing.T) {
	const unknown, inefficient = "What limits the kernels is not known", "their efficiency limits them"
	ns := func(n int64) *int64 { return &n }
	run := served{gpu: "NVIDIA H100 80GB HBM3", marker: "execute_context_0(0)_generation_512(512)", steps: 12, layers: 16, pause: 3_000,
		kernels: []string{"ampere_bf16_s16816gemm_bf16_64x64_ldg8_f2f_stages_64x6_tn", "void flash::flash_fwd_splitkv_kernel<T>(P)"},
		ns:      []int64{150_000, 50_000}}
	moe := run
	moe.kernels, moe.ns = []string{"fused_moe_kernel", "void flash::flash_fwd_splitkv_kernel<T>(P)"}, []int64{150_000, 50_000}
	for _, tc := range []struct {
		name  string
		run   served
		rows  int
		model *summary.DecodeModel
		want  string
		says  string // in the evidence
	}{
		{"a quarter and a tenth", run, 12, &summary.DecodeModel{MemoryNS: ns(2_500_000), ComputeNS: ns(1_000_000), CacheBytes: ns(1)},
			"The kernels use 25.0% of the memory bandwidth and 10.0% of the FLOP rate: " + inefficient, "need 25.0% of the time"},
		{"experts", moe, 12, &summary.DecodeModel{MemoryNS: ns(1_000_000), ComputeNS: ns(2_000_000), CacheBytes: ns(1)},
			"The kernels use 10.0% of the memory bandwidth and 20.0% of the FLOP rate: " + inefficient, "need 20.0% of the time"},
		{"near the memory's peak", run, 12, &summary.DecodeModel{MemoryNS: ns(7_000_000), ComputeNS: ns(1_000_000), CacheBytes: ns(1)}, unknown, "arithmetic may be a limit"},
		{"near the rate's peak", run, 12, &summary.DecodeModel{MemoryNS: ns(1_000_000), ComputeNS: ns(4_500_000), CacheBytes: ns(1)}, unknown, "arithmetic may be a limit"},
		{"a cache of unknown size", run, 12, &summary.DecodeModel{MemoryNS: ns(2_500_000), ComputeNS: ns(1_000_000)}, unknown, "arithmetic may be a limit"},
		{"a rate that is not known", run, 12, &summary.DecodeModel{MemoryNS: ns(2_500_000), CacheBytes: ns(1)}, unknown, "arithmetic may be a limit"},
		{"another model", run, 12, &summary.DecodeModel{MemoryNS: ns(2_500_000), ComputeNS: ns(1_000_000), CacheBytes: ns(1), Unknown: summary.FloorLayers}, unknown, "arithmetic may be a limit"},
		{"some of the steps", run, 5, &summary.DecodeModel{MemoryNS: ns(2_500_000), ComputeNS: ns(1_000_000), CacheBytes: ns(1)}, unknown, "arithmetic may be a limit"},
		{"no model", run, 12, nil, unknown, "arithmetic may be a limit"},
		{"experts without a model", moe, 12, nil, unknown, "does not state the tokens of each expert"},
	} {
		sum, _ := tc.run.judged(t)
		sum.Efficiency.Decode = nil
		for i := range tc.rows {
			sum.Efficiency.Decode = append(sum.Efficiency.Decode, summary.EfficiencyDecode{Number: int64(i), WallNS: 11_000_000, GPUNS: 10_000_000,
				DecodeFloor: summary.DecodeFloor{Model: tc.model}})
		}
		r := Judge(sum, rule.Thresholds{})
		if r.Verdict.Bound != finding.BoundGPU || !strings.HasSuffix(strings.TrimSuffix(r.Verdict.Sentence, "."), tc.want) {
			t.Errorf("%s: %s: %s, want %s", tc.name, r.Verdict.Bound, r.Verdict.Sentence, tc.want)
		}
		said := ""
		for _, f := range r.Findings {
			if f.Rule == rule.ComputeBound {
				said = strings.Join(f.Evidence, "; ")
			}
		}
		if !strings.Contains(said, tc.says) || tc.run.kernels[0] == moe.kernels[0] && strings.Contains(said, "arithmetic may") {
			t.Errorf("%s: %q, want %q", tc.name, said, tc.says)
		}
	}
}
