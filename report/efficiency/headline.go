package efficiency

import (
	"fmt"
	"strings"

	"assay/internal/label"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view/efficiency"
	"assay/unit"
)

// Headline returns the efficiency in one sentence, or "" if neither MFU nor recoverable time
// is known.
func Headline(ctx *section.Context) string {
	if ctx.Summary.Efficiency.IsZero() {
		return ""
	}
	var parts []string
	if mfu, ok := efficiency.MFU(ctx.Summary, efficiency.Devices(ctx.Summary)); ok {
		parts = append(parts, "MFU "+words.Utilization(mfu))
	}
	if total := efficiency.Sum(ctx.Summary); total.RooflineNS > 0 && total.RecoverableNS > 0 {
		part := fmt.Sprintf("up to %s%s recoverable", unit.Duration(mean(total, total.RecoverableNS)), perGPU(total))
		if list := efficiency.Operators(ctx.Summary); len(list) > 0 { // a saved summary may have none
			part += fmt.Sprintf(", %s of it in %s", unit.Share(list[0].RecoverableNS, total.RecoverableNS), label.Clip(label.Clean(list[0].Op), 60))
		}
		parts = append(parts, part)
	}
	if parts == nil {
		return ""
	}
	return "Efficiency: " + strings.Join(parts, "; ") + "."
}

// A Fact is a number next to the verdict of a page.
type Fact struct{ Value, Name string }

// Facts returns MFU and the recoverable time, where they are known.
func Facts(ctx *section.Context) (out []Fact) {
	if ctx.Summary.Efficiency.IsZero() {
		return nil
	}
	if mfu, ok := efficiency.MFU(ctx.Summary, efficiency.Devices(ctx.Summary)); ok {
		value := percent(mfu.Least)
		if mfu.Unknown > 0 {
			value = "≥ " + value
		}
		out = append(out, Fact{value, "MFU"})
	}
	if total := efficiency.Sum(ctx.Summary); total.RooflineNS > 0 && total.RecoverableNS > 0 {
		out = append(out, Fact{"≤ " + unit.Duration(mean(total, total.RecoverableNS)), "recoverable"})
	}
	return out
}

// recoverable states the sum of the recoverable time, and what is in it.
func recoverable(ctx *section.Context, total efficiency.Total) string {
	if total.RooflineNS == 0 || total.RecoverableNS == 0 {
		return ""
	}
	var ns, overlap, copies int64 // of operators with a roofline
	for _, o := range efficiency.Operators(ctx.Summary) {
		if o.RooflineNS == nil {
			continue
		}
		ns, overlap = summary.Plus(ns, o.GPUNS), summary.Plus(overlap, o.OverlapNS)
		if o.Bound == summary.BoundLink {
			copies = summary.Plus(copies, o.RecoverableNS)
		}
	}
	text := fmt.Sprintf("Recoverable time: up to %s%s, %s of total GPU time.", unit.Duration(mean(total, total.RecoverableNS)), perGPU(total),
		unit.Share(total.RecoverableNS, efficiency.Work(&total.EfficiencySums)))
	if ns > 0 {
		text += fmt.Sprintf(" Operators with a roofline: %s GPU time, %s at the roofline (%s).", unit.Duration(mean(total, ns)),
			unit.Duration(mean(total, total.RooflineNS)), unit.Share(min(total.RooflineNS, ns), ns))
	}
	if overlap > 0 {
		text += fmt.Sprintf(" Communication ran during %s of this GPU time (%s) and may have slowed it.", unit.Duration(mean(total, overlap)), unit.Share(overlap, ns))
	}
	if copies > 0 {
		text += fmt.Sprintf(" Copies between CPU and GPU account for %s of the recoverable time, also where they overlap kernels.", unit.Duration(mean(total, copies)))
	}
	return text + " In practice, good matrix products reach 75% of the roofline, good copies 90%."
}

// remedies are what helps operators of each bound.
var remedies = []struct{ bound, text string }{
	{summary.BoundCompute, " Compute: use larger or aligned dimensions, or a smaller type."},
	{summary.BoundMemory, " Memory: fuse operators (torch.compile) or use contiguous tensors or a smaller type."},
	{summary.BoundLink, " Link: reduce copies and use pinned memory."},
	{summary.BoundLatency, " Latency: at the roofline, a call is shorter than a launch; fuse such calls or use CUDA graphs."},
}
