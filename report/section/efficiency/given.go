package efficiency

import (
	"fmt"

	"assay/internal/unit"
	"assay/summary/view/efficiency"
)

// given states MFU from model FLOPs that the user gave. These cover whole steps, so MFU is exact and not a
// lower bound. HFU is computed from the operators.
func given(total efficiency.Total) string {
	const flag = "--model-flops"
	switch {
	case total.ModelFLOPs == 0:
		return "MFU is unknown: " + flag + " counts per step, and the capture has no whole step."
	case total.MFU == nil || *total.MFU <= 0 || total.WallNS <= 0:
		return "MFU is unknown: assay has no peak of " + gpuNames(total) + " for the FLOPs of " + flag + "; set one with --set-peak."
	}
	peak := float64(total.ModelFLOPs) / (*total.MFU * float64(total.WallNS)) * 1e9
	text := fmt.Sprintf("MFU: %s. MFU = model FLOPs / (peak × GPU window) = %s / (%s × %s%s). Model FLOPs: those of %s, for each whole step.",
		percent(*total.MFU), work(total, total.ModelFLOPs), unit.FLOPRate(peak), unit.Duration(mean(total,
			total.WallNS)), perGPU(total), flag)
	switch {
	case total.HFU == nil:
	case total.FLOPsKnownNS < total.GPUNS:
		text += " HFU, from the operators: at least " + percent(*total.HFU) + "."
	default:
		text += " HFU, from the operators: " + percent(*total.HFU) + "."
	}
	return text
}
