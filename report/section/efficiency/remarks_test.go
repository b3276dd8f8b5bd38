package efficiency_test

import (
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/summary"
)

// TestFusionRemark: mul is 2,679,732 of 14,000,000 ns. Under 15%, or where bytes are known
// for less than half of the GPU time, there is no remark.
func TestFusionRemark(t *testing.T) {
	const remark = "Memory-bound elementwise operators, normalizations and reductions take 19.1% of total GPU time (2.68 ms)."
	s := samplerun.Efficient()
	if text := markdown(t, s); !strings.Contains(text, remark) {
		t.Error("the report has no remark on fusion")
	}
	s.Efficiency.Devices[0].BytesKnownNS = 6_900_000
	if text := markdown(t, s); strings.Contains(text, "torch.compile fuses") {
		t.Error("a remark on fusion, although most bytes are unknown")
	}
	s = samplerun.Efficient()
	s.Efficiency.Devices[0].GPUNS = 18_000_000
	if text := markdown(t, s); strings.Contains(text, "torch.compile fuses") {
		t.Error("a remark on fusion under its limit")
	}
}

// TestPrecisionRemark: 66.9 TFLOP/s in fp32 and 494.7 in TF32. The mm took 4.055 ms for 0.2
// TFLOP, which take 0.404 ms in TF32.
func TestPrecisionRemark(t *testing.T) {
	s := samplerun.Efficient()
	if text := markdown(t, s); strings.Contains(text, "TF32") {
		t.Error("a remark on TF32 for bf16")
	}
	s.Efficiency.Devices[0].PeakTFLOPS["tf32"] = 494.7
	for i := range s.Efficiency.Rows {
		if r := &s.Efficiency.Rows[i]; r.Op == "aten::mm" {
			r.Dtype, r.Kernel, r.FLOPs, r.Bytes = "fp32", "ampere_sgemm_128x64_nn", samplerun.Whole(200e9), nil
		}
	}
	const remark = "Matrix products in fp32 without TF32 take 29.0% of total GPU time (4.06 ms). TF32 saves at most 3.65 ms (26.1%): torch.set\\_float32\\_matmul\\_precision"
	if text := markdown(t, s); !strings.Contains(text, remark) && !strings.Contains(text, strings.ReplaceAll(remark, `\`, "")) {
		_, section, _ := strings.Cut(text, "\n## Efficiency: FLOPs")
		t.Errorf("the report has no remark on TF32:\n%.1500s", section)
	}
}

// TestGivenFLOPs: model FLOPs of the user give an MFU that is no lower bound, also without
// shapes; it is followed by what logs say.
func TestGivenFLOPs(t *testing.T) {
	s := samplerun.Efficient()
	d := &s.Efficiency.Devices[0]
	mfu := 0.4
	d.ModelFLOPs, d.MFU, d.MFUFrom = 8e12, &mfu, summary.MFUOfUser
	tokens := 7100.0
	s.Series = []summary.Series{{Metric: "throughput.tokens_per_gpu", Unit: "token/s", Producer: "torchtitan", N: 9, Median: &tokens}}
	const given = "MFU: 40.0%. MFU = model FLOPs / (peak × GPU window) = 8 TFLOP / (1 PFLOP/s × 20 ms). Model FLOPs: those of --model-flops, for each whole step."
	text := markdown(t, s)
	for _, want := range []string{given + " HFU, from the operators: at least 13.8%.", "(torchtitan): 7,100 tokens/s per GPU."} {
		if !strings.Contains(text, want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	s.Efficiency.Rows = []summary.EfficiencyRow{{Op: "aten::mm", GPUNS: 10, Count: 1, Unknown: "no shapes"}}
	d.FLOPsKnownNS, d.BytesKnownNS, d.HFU = 0, 0, nil
	if text := markdown(t, s); !strings.Contains(text, given) || !strings.Contains(text, "tokens/s per GPU") {
		t.Error("without shapes, the MFU of the user's FLOPs is not shown")
	}
	d.ModelFLOPs, d.MFU = 0, nil
	if text := markdown(t, s); !strings.Contains(text, "the capture has no whole step") {
		t.Error("without a whole step, the report does not say why MFU is unknown")
	}
}
