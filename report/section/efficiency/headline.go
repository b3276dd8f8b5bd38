package efficiency

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view/efficiency"
)

// Headline returns the efficiency in one sentence, or "" if nothing is known. MFU is left out if the GPU
// ran work that was not recorded, because its range is then too wide.
func Headline(ctx *section.Context) string {
	if ctx.Summary.Efficiency.IsZero() {
		return ""
	}
	var parts []string
	if mfu, ok := efficiency.MFU(ctx.Summary, efficiency.Devices(ctx.Summary)); ok && mfu.UnrecordedNS == 0 {
		parts = append(parts, "MFU "+words.Utilization(mfu))
	}
	if d, ok := decoded(ctx); ok && !floorsKnown(ctx) { // else the line of the floor has it
		parts = append(parts, fmt.Sprintf("decode at %s of memory bandwidth (batch %s)", percent(d.Share),
			unit.Count(d.Batch)))
	}
	if total := efficiency.Sum(ctx.Summary); total.MostlyPlaced() && total.RecoverableNS > 0 {
		work := efficiency.Work(&total.EfficiencySums)
		part := fmt.Sprintf("up to %s%s recoverable (%s of %s%s)", unit.Duration(mean(total, total.RecoverableNS)), perGPU(total),
			unit.Share(total.RecoverableNS, work), ofWork(&total.EfficiencySums, "GPU time"), ofPlaced(total, ", of the %s with a roofline"))
		if op, ns := mostRecoverable(ctx.Summary); ns > 0 { // a saved summary may have no rows
			part += fmt.Sprintf(", %s of it in %s", unit.Share(ns, total.RecoverableNS), label.Clip(label.Clean(op), 60))
		}
		if saved := savedByTF32(ctx, total); saved != "" {
			part = saved // more than the peak of the vector units leaves to recover
		}
		parts = append(parts, part)
	}
	if parts == nil {
		return FloorLine(ctx)
	}
	return strings.TrimSpace("Efficiency: " + strings.Join(parts, "; ") + ". " + FloorLine(ctx))
}

// savedByTF32 states what TF32 saves if that is more than can be recovered without it, or returns "".
func savedByTF32(ctx *section.Context, total efficiency.Total) string {
	product, convolution := efficiency.FullPrecision(ctx.Summary)
	saved := product.SavedNS + convolution.SavedNS
	if saved <= total.RecoverableNS {
		return ""
	}
	return fmt.Sprintf("TF32 instead of fp32 saves up to %s%s (%s of GPU time)", unit.Duration(mean(total, saved)), perGPU(total),
		unit.Share(saved, total.GPUNS))
}

// ofWork names the GPU time of which recoverable time is a share. It is without communication, whose time
// depends on other GPUs.
func ofWork(sums *summary.EfficiencySums, name string) string {
	if efficiency.Work(sums) < sums.GPUNS {
		return name + " without communication"
	}
	return name
}

// mostRecoverable returns the operator with the most recoverable time, added up over its shapes.
func mostRecoverable(s *summary.Summary) (op string, ns int64) {
	byOp := map[string]int64{}
	for _, o := range efficiency.Operators(s) {
		byOp[o.Op] += o.RecoverableNS
		if byOp[o.Op] > ns {
			op, ns = o.Op, byOp[o.Op]
		}
	}
	return op, ns
}

// decoded returns the decode steps of the batch size with the most time, if their bandwidth is known.
func decoded(ctx *section.Context) (efficiency.Decode, bool) {
	list := efficiency.DecodeOf(ctx.Summary)
	if len(list) == 0 || list[0].Known == 0 {
		return efficiency.Decode{}, false
	}
	return list[0], true
}

// A Fact is a number next to the verdict of a page.
type Fact struct{ Value, Name string }

// Facts returns MFU, the bandwidth of decode steps and the recoverable time, as far as they are known.
func Facts(ctx *section.Context) (out []Fact) {
	if ctx.Summary.Efficiency.IsZero() {
		return nil
	}
	if mfu, ok := efficiency.MFU(ctx.Summary, efficiency.Devices(ctx.Summary)); ok && mfu.UnrecordedNS == 0 {
		value := percent(mfu.Least)
		if mfu.Unknown > 0 {
			value = "≥ " + value
		}
		out = append(out, Fact{value, "MFU"})
	}
	if d, ok := decoded(ctx); ok {
		out = append(out, Fact{percent(d.Share), "of memory bandwidth in decode"})
	}
	if total := efficiency.Sum(ctx.Summary); total.MostlyPlaced() && total.RecoverableNS > 0 {
		out = append(out, Fact{"≤ " + unit.Duration(mean(total, total.RecoverableNS)), "recoverable"})
	}
	return out
}

// ofPlaced states the share of the GPU time that has a roofline, which limits the recoverable time. It is "" if all has one.
func ofPlaced(total efficiency.Total, format string) string {
	placed, work := total.PlacedNS(), efficiency.Work(&total.EfficiencySums)
	if placed >= work {
		return ""
	}
	return fmt.Sprintf(format, unit.Share(placed, work))
}

// recoverable states the total recoverable time, and how much of it overlaps communication or belongs to
// copies.
func recoverable(ctx *section.Context, total efficiency.Total) string {
	if total.RooflineNS == 0 || total.RecoverableNS == 0 {
		return ""
	}
	var ns, overlap, copies int64 // of operators with a roofline
	for _, o := range efficiency.Operators(ctx.Summary) {
		if o.RooflineNS == nil {
			continue
		}
		ns, overlap = ns+o.GPUNS, overlap+o.OverlapNS
		if o.Bound == summary.BoundLink {
			copies += o.RecoverableNS
		}
	}
	text := fmt.Sprintf("Recoverable time: up to %s%s, %s of %s%s.",
		unit.Duration(mean(total, total.RecoverableNS)), perGPU(total),
		unit.Share(total.RecoverableNS, efficiency.Work(&total.EfficiencySums)), ofWork(&total.EfficiencySums, "total GPU time"),
		ofPlaced(total, ", in the %s of it with a roofline; for the rest it is unknown"))
	if ns > 0 {
		text += fmt.Sprintf(" Operators with a roofline: %s GPU time, %s at the roofline (%s).",
			unit.Duration(mean(total, ns)),
			unit.Duration(mean(total, total.RooflineNS)), unit.Share(min(total.RooflineNS, ns), ns))
	}
	if overlap > 0 {
		text += fmt.Sprintf(" Communication ran during %s of this GPU time (%s) and may have slowed it.",
			unit.Duration(mean(total, overlap)), unit.Share(overlap, ns))
	}
	if copies > 0 {
		text += fmt.Sprintf(" Copies between CPU and GPU account for %s of the recoverable time, also where they overlap kernels.", unit.Duration(mean(total, copies)))
	}
	return text + " In practice, good matrix products reach 75% of the roofline, good copies 90%."
}

// statedRemedies has them for operations whose work a compiler states.
var statedRemedies = map[string]string{
	summary.BoundMemory:  " Memory: use a smaller type, and keep results in fusions of XLA.",
	summary.BoundLatency: " Latency: such an operation is too short for any limit; merge it with others.",
}

// isStated reports whether a compiler states the FLOPs and bytes.
func isStated(s *summary.Summary) bool {
	return slices.ContainsFunc(s.Efficiency.Rows, func(r summary.EfficiencyRow) bool { return r.From == summary.FromCompiler })
}

// bytesAre says what the bytes of operators are.
func bytesAre(s *summary.Summary) string {
	if isStated(s) {
		return "FLOPs and bytes: as XLA states them for each operation (bytes of the memory of the device). "
	}
	return "Bytes: each input and output once. "
}

// remedies has the remedy for operators of each bound.
var remedies = []struct{ bound, text string }{
	{summary.BoundCompute, " Compute: use larger or aligned dimensions, or a smaller type."},
	{summary.BoundMemory, " Memory: fuse operators (torch.compile) or use contiguous tensors or a smaller type."},
	{summary.BoundLink, " Link: reduce copies and use pinned memory."},
	{summary.BoundLatency, " Latency: at the roofline, a call is shorter than a launch; fuse such calls, or use CUDA graphs where there are none."},
}
