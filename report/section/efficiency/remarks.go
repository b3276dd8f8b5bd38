package efficiency

import (
	"fmt"

	"assay/internal/unit"
	"assay/report/section"
	"assay/summary/view/efficiency"
)

// Shares of total GPU time above which a remark is made. Remarks are not findings, because the
// verdict must not depend on whether efficiency was measured.
const (
	muchFullPrecision = 0.05
	muchFusible       = 0.15
)

// Sentences of the remarks: the cost or the effect of the other setting.
const (
	precision = "It rounds the factors to 10 bits. bf16 with torch.autocast is faster still."
	fusion    = "torch.compile fuses neighbors, so that intermediate results are not written to memory. This gain is not part of the recoverable time."
)

// remarks states how much time operators take that another setting would make faster.
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
