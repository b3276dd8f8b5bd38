package efficiency

import (
	"fmt"

	"assay/internal/unit"
	"assay/report/section"
	"assay/summary/view/efficiency"
)

// From these shares of total GPU time on, a remark is made. They are no findings: the
// verdict is the same where efficiency is not measured.
const (
	muchFullPrecision = 0.05
	muchFusible       = 0.15
)

// What the remarks say of the other setting: its price, and what it does.
const (
	precision = "It rounds the factors to 10 bits. bf16 with torch.autocast is faster still."
	fusion    = "torch.compile fuses neighbors, so that intermediate results are not written to memory. This gain is not part of the recoverable time."
)

// remarks says what operators of some kind cost that another setting makes faster.
func remarks(ctx *section.Context, total efficiency.Total) (out []string) {
	product, convolution := efficiency.FullPrecision(ctx.Summary)
	for _, of := range []struct {
		efficiency.Part
		what, setting string
	}{
		{product, "Matrix products", `torch.set_float32_matmul_precision("high")`},
		{convolution, "Convolutions", "torch.backends.cudnn.allow_tf32 = True"},
	} {
		if of.NS > 0 && float64(of.NS) >= muchFullPrecision*float64(total.GPUNS) {
			took := fmt.Sprintf("%s in fp32 without TF32 take %s of total GPU time (%s%s). ", of.what,
				unit.Share(of.NS, total.GPUNS), unit.Duration(mean(total, of.NS)), perGPU(total))
			saved := fmt.Sprintf("TF32 saves at most %s (%s): %s. ", unit.Duration(mean(total, of.SavedNS)),
				unit.Share(of.SavedNS, total.GPUNS), of.setting)
			out = append(out, took+saved+precision)
		}
	}
	if p := efficiency.Fusible(ctx.Summary); total.BytesKnownNS*2 >= total.GPUNS && p.NS > 0 &&
		float64(p.NS) >= muchFusible*float64(total.GPUNS) {
		took := fmt.Sprintf("Memory-bound elementwise operators, normalizations and reductions take %s of total GPU time (%s%s). ",
			unit.Share(p.NS, total.GPUNS), unit.Duration(mean(total, p.NS)), perGPU(total))
		out = append(out, took+fusion)
	}
	return out
}
