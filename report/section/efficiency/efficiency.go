package efficiency

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view/efficiency"
)

// The limits of the sections.
const (
	maxOperators = 15
	maxSteps     = 12
	maxTransfers = 20
)

// Sections returns all sections on efficiency. If no FLOPs and bytes are known, there is at most one line.
func Sections(ctx *section.Context) []doc.Section {
	if ctx.Summary.Efficiency.IsZero() {
		return nil
	}
	total := efficiency.Sum(ctx.Summary)
	if total.FLOPsKnownNS == 0 && total.BytesKnownNS == 0 {
		return []doc.Section{nothing(ctx, total), floor(ctx), savings(ctx), occupancy(ctx), Transfers(ctx)}
	}
	return []doc.Section{whole(ctx, total), gpus(ctx, total), steps(ctx), decode(ctx), floor(ctx), savings(ctx), occupancy(ctx), counted(ctx), Transfers(ctx),
		unknowns(ctx, total)}
}

// nothing returns the one line of a run without input shapes. MFU from model FLOPs that the user gave, and
// the numbers of logs, need no shapes.
func nothing(ctx *section.Context, total efficiency.Total) doc.Section {
	s := doc.Section{Title: title, Lead: "FLOPs and bytes of operators are unknown."}
	nsight := ofNsight(ctx.Summary)
	shapes := nsight && len(ctx.Summary.Efficiency.Rows) == 0
	for _, u := range efficiency.Unknowns(ctx.Summary) {
		shapes = shapes || u.Reason == words.NoShapes
	}
	switch {
	case shapes && nsight:
		s.Lead = "FLOPs and bytes are unknown: the capture has no operators with input shapes. " +
			"With PyTorch, run the steps in torch.autograd.profiler.emit_nvtx(record_shapes=True), and record with nsys profile --trace=cuda,nvtx."
	case shapes:
		s.Lead = "FLOPs and bytes are unknown: the capture has no input shapes. Record with record_shapes=True."
	}
	if total.MFUFrom == summary.MFUOfUser {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: given(total)})
	}
	if !shapes && s.Blocks == nil {
		return doc.Section{}
	}
	if text := logged(ctx); text != "" {
		s.Blocks = append(s.Blocks, doc.Paragraph{Text: text})
	}
	return s
}

// ofNsight reports whether all GPUs come from exports of Nsight Systems.
func ofNsight(s *summary.Summary) bool {
	for _, d := range s.Efficiency.Devices {
		if d.Input < 0 || d.Input >= len(s.Inputs) || !strings.HasPrefix(s.Inputs[d.Input].Format, "nsys-") {
			return false
		}
	}
	return len(s.Efficiency.Devices) > 0
}

const title = "Efficiency: FLOPs, bytes and roofline"

// whole returns the coverage, MFU and the operators with the most recoverable time.
func whole(ctx *section.Context, total efficiency.Total) doc.Section {
	s := doc.Section{Title: title, Lead: coverage(total) + communication(total)}
	if isStated(ctx.Summary) {
		s.Lead += " XLA, the compiler, states them."
	}
	texts := []string{utilization(ctx, total), logged(ctx), clocks(ctx.Summary), matrix(ctx, total),
		recoverable(ctx, total), graphs(ctx, total)}
	for _, text := range append(texts, remarks(ctx, total)...) {
		if text != "" {
			s.Blocks = append(s.Blocks, doc.Paragraph{Text: text})
		}
	}
	s.Blocks = append(s.Blocks, ctx.Pictures("efficiency-recoverable.png", "efficiency-roofline.png")...)
	return doc.Section{Title: s.Title, Lead: s.Lead, Blocks: append(s.Blocks, operators(ctx, total))}
}

// coverage states for which share of the GPU time FLOPs and bytes are known.
func coverage(total efficiency.Total) string {
	work := efficiency.Work(&total.EfficiencySums)
	of := func(ns int64) string { return unit.Share(min(ns, work), work) }
	if of(total.FLOPsKnownNS) == of(total.BytesKnownNS) {
		return fmt.Sprintf("FLOPs and bytes are known for %s of total GPU time (%s%s).", of(total.FLOPsKnownNS),
			unit.DurationOf(mean(total, total.FLOPsKnownNS), mean(total, work)), perGPU(total))
	}
	return fmt.Sprintf("FLOPs are known for %s of total GPU time, bytes for %s (total %s%s).", of(total.FLOPsKnownNS),
		of(total.BytesKnownNS),
		unit.Duration(mean(total, work)), perGPU(total))
}

// communication states how much GPU time communication takes; "" if there is none.
func communication(total efficiency.Total) string {
	if ns := total.GPUNS - efficiency.Work(&total.EfficiencySums); ns > 0 {
		return fmt.Sprintf(" Communication (%s%s) is not included.", unit.Duration(mean(total, ns)), perGPU(total))
	}
	return ""
}

// mean divides a sum over the GPUs by their number.
func mean(total efficiency.Total, ns int64) int64 { return doc.Mean(ns, int64(max(1, total.GPUs))) }

// perGPU returns the note that times are means per GPU, or "" for one GPU.
func perGPU(total efficiency.Total) string {
	if total.GPUs < 2 {
		return ""
	}
	return fmt.Sprintf(" per GPU, mean of %d", total.GPUs)
}

// utilization states MFU and HFU with the formula and the peak.
func utilization(ctx *section.Context, total efficiency.Total) string {
	switch {
	case total.MFUFrom == summary.MFUOfUser:
		return given(total)
	case total.MFU == nil && total.MatrixFLOPs == 0:
		return "MFU is unknown: no matrix operator (GEMM, convolution, attention) has known FLOPs."
	case total.MFU == nil && total.MFUFrom == summary.MFUOver:
		return "MFU is not plausible: it would be over 100% of the peak in the GPU window. The FLOPs (of the shapes or of --model-flops), the times or the peak are wrong."
	case total.MFU == nil && withoutTypes(ctx.Summary):
		return "MFU is unknown: the capture has no types of tensors. Give the FLOPs of a step and their type, such as --model-flops 4.2e14,bf16."
	case total.MFU == nil:
		return "MFU is unknown: assay has no peak for a type of the matrix operators on " + gpuNames(total) + "; set it with --set-peak or --peaks."
	}
	devices := efficiency.Devices(ctx.Summary)
	mfu, _ := efficiency.MFU(ctx.Summary, devices)
	apart := total.ModelFLOPs != total.MatrixFLOPs || total.MFUFrom == summary.MFUOfUser
	text := "MFU and HFU: "
	if apart {
		text = "MFU: "
	}
	text += words.Utilization(mfu)
	if total.MFUFrom == summary.MFUOfUser {
		text += " from --model-flops"
	}
	if total.WithMFU > 1 {
		text += fmt.Sprintf(" (mean of %d GPUs; %s to %s)", total.WithMFU, percent(total.MinMFU), percent(total.MaxMFU))
	}
	if hfu, ok := efficiency.HFU(ctx.Summary, devices); apart && ok {
		text += ", HFU: " + words.Utilization(hfu)
	}
	text += ". " + formula(ctx, total)
	if apart && total.MFUFrom != summary.MFUOfUser {
		text += " HFU also counts recomputed FLOPs: " + work(total, total.MatrixFLOPs) + "."
	}
	switch {
	case mfu.UnrecordedNS > 0:
		text += fmt.Sprintf(" The upper limit assumes that all GPU time with unknown FLOPs and the work that was not recorded (%s) ran at the peak.", unit.Duration(mean(total, mfu.UnrecordedNS))+perGPU(total))
	case mfu.Unknown > 0:
		text += " The upper limit assumes that all GPU time with unknown FLOPs ran at the peak."
	}
	return text
}

// withoutTypes reports whether the types of tensors are missing from all matrix operators, as with NVTX
// ranges.
func withoutTypes(s *summary.Summary) bool {
	return !slices.ContainsFunc(s.Efficiency.Rows,
		func(r summary.EfficiencyRow) bool {
			return r.Unit == "matrix" && (len(r.Types) > 0 || r.From == summary.FromCompiler)
		})
}

// clocks states the clock and the power of the GPUs that a monitor recorded during the run, and the clock
// that the peaks assume. It is "" without a monitor.
func clocks(s *summary.Summary) string {
	var parts []string
	gpus := int64(1)
	text, working := workingClock(s)
	for _, m := range []struct{ metric, what string }{{"gpu.clock", "SM clock"}, {"gpu.power", "power"},
		{"gpu.throttled", "time throttled"}} {
		r := efficiency.Monitored(s, m.metric)
		if r == nil || working && m.metric != "gpu.power" {
			continue
		}
		gpus = max(gpus, r.Places)
		text := fmt.Sprintf("%s mean %s, %s to %s", m.what, unit.Value(*r.Mean, r.Unit), unit.Value(*r.Min, r.Unit),
			unit.Value(*r.Max, r.Unit))
		if peak := efficiency.PeakClock(s); m.metric == "gpu.clock" && peak > 0 {
			text += fmt.Sprintf(" (matrix peaks assume %s)", unit.Value(peak, r.Unit))
		}
		parts = append(parts, text)
	}
	if parts == nil {
		return text
	}
	return strings.TrimSpace(fmt.Sprintf("%s Monitor (%s): %s.", text, label.Plural(gpus, "GPU"),
		strings.Join(parts, "; ")))
}

// workingClock states the clock of the GPUs while they were busy, and the peak at this clock.
func workingClock(s *summary.Summary) (text string, ok bool) {
	w, ok := efficiency.WorkingClocks(s)
	if !ok {
		return "", false
	}
	low, high := unit.Value(w.Low, "hertz"), unit.Value(w.High, "hertz")
	text = "SM clock " + low + " median while the GPU worked"
	if w.GPUs > 1 {
		text = fmt.Sprintf("SM clock while the %d GPUs worked: median %s", w.GPUs, low)
		if high != low {
			text += " to " + high
		}
	}
	text += " (monitor, " + label.Plural(w.Samples, "sample") + ")"
	if peak, types := efficiency.PeakClock(s), weighty(efficiency.Matrix(s)); peak > 0 {
		text += "; matrix peaks assume " + unit.Value(peak, "hertz")
		if len(types) > 0 {
			at := func(hz float64) string { return rateText(types[0].TFLOPS * hz / peak) }
			text += ". At that clock, the " + types[0].Dtype + " peak is " + at(w.Low)
			if at(w.High) != at(w.Low) {
				text += " to " + at(w.High)
			}
		}
	}
	text += "."
	if w.Throttled != nil && *w.Throttled > 0 {
		text += " A limit of power or temperature lowered it for " + percent(*w.Throttled) + " of that time."
	}
	return text, true
}

// formula returns MFU as a quotient of numbers if one peak applies, or else the peaks that it uses.
func formula(ctx *section.Context, total efficiency.Total) string {
	types := weighty(efficiency.Matrix(ctx.Summary))
	sourceOf := func(figure string) string { return words.PeakSource(peakSource(ctx.Summary, figure)) }
	wall := unit.Duration(mean(total, total.WallNS)) + perGPU(total)
	if len(types) == 1 {
		return fmt.Sprintf("MFU = model FLOPs / (peak × GPU window) = %s / (%s × %s). Peak: %s of %s, dense, %s.",
			work(total, total.ModelFLOPs), rateText(types[0].TFLOPS),
			wall, types[0].Dtype, gpuNames(total), sourceOf(types[0].Dtype))
	}
	var peaks []string
	for i, p := range types {
		text := p.Dtype + " " + rateText(p.TFLOPS)
		if i == len(types)-1 || sourceOf(p.Dtype) != sourceOf(types[i+1].Dtype) {
			text += " (" + sourceOf(p.Dtype) + ")" // the source also applies to the types before it
		}
		peaks = append(peaks, text)
	}
	text := fmt.Sprintf("MFU = sum over types of (model FLOPs / peak) / GPU window (%s).", wall)
	if len(peaks) > 0 {
		text += " Dense peaks of " + gpuNames(total) + ": " + strings.Join(peaks, ", ") + "."
	}
	return text
}

// weighty returns the types with a peak that need at least 0.1% of the total time at peak rates.
func weighty(types []efficiency.Peak) (out []efficiency.Peak) {
	all := 0.0
	for _, p := range types {
		if p.TFLOPS > 0 {
			all += float64(p.FLOPs) / p.TFLOPS
		}
	}
	for _, p := range types {
		if p.TFLOPS > 0 && float64(p.FLOPs)/p.TFLOPS >= all/1000 {
			out = append(out, p)
		}
	}
	return out
}

// work returns a number of FLOPs, per GPU: "5.76 TFLOP".
func work(total efficiency.Total, flops summary.Sum) string {
	if !flops.Fits() {
		return "over 9.22 EFLOP of all GPUs"
	}
	text, _ := strings.CutSuffix(unit.FLOPRate(float64(mean(total, int64(flops)))), "/s")
	return text
}

func rateText(tflops float64) string { return unit.FLOPRate(tflops * 1e12) }

// gpuNames returns the models of the GPUs.
func gpuNames(total efficiency.Total) string {
	var names []string
	for _, n := range total.Names {
		if n = label.Clip(label.Clean(n), 60); n != "" {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return "this GPU"
	}
	return strings.Join(names[:min(3, len(names))], ", ")
}

// peakSource returns the source of a figure, or "" if it differs between GPUs.
func peakSource(s *summary.Summary, figure string) (source string) {
	for i := range s.Efficiency.Devices {
		from := s.Efficiency.Devices[i].SourceOf(figure)
		if i > 0 && from != source {
			return ""
		}
		source = from
	}
	return source
}

// matrix states the rate of the matrix operators while they run.
func matrix(ctx *section.Context, total efficiency.Total) string {
	var parts []string
	types, ns := efficiency.Matrix(ctx.Summary), int64(0)
	for _, p := range types {
		ns += p.NS
		if p.NS <= total.MatrixNS/1000 || p.FLOPs <= 0 || !p.FLOPs.Fits() {
			continue
		}
		achieved := float64(p.FLOPs) / float64(p.NS) / 1e3
		text := cmp.Or(p.Dtype, "other types") + " " + rateText(achieved)
		if p.TFLOPS > 0 && achieved <= p.TFLOPS {
			text += " (" + percent(achieved/p.TFLOPS) + " of peak)"
		}
		parts = append(parts, text)
	}
	if parts == nil {
		return ""
	}
	return fmt.Sprintf("Matrix operators with known FLOPs take %s of total GPU time. While they run, they achieve: %s.",
		unit.Share(ns, efficiency.Work(&total.EfficiencySums)), strings.Join(parts, ", "))
}

// operators returns the operators with the most recoverable time.
func operators(ctx *section.Context, total efficiency.Total) doc.Table {
	list := efficiency.Operators(ctx.Summary)
	times := []int64{0}
	for _, o := range list {
		times = append(times, mean(total, o.GPUNS))
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "operators", More: doc.Rest{Total: total.RecoverableNS, Of: "recoverable time"},
		Columns: []doc.Column{
			doc.Col("operator", doc.Name), doc.Col("input shapes", doc.Name), doc.Col("types", doc.Text),
			doc.Col("calls", doc.Number), doc.Col(scale.Head("GPU time"), doc.Number),
			doc.Col(scale.Head("roofline"), doc.Number), doc.Col(scale.Head("recoverable"), doc.Number),
			doc.Col("% of recoverable", doc.Number), doc.Col("% of roofline", doc.Number), doc.Col("bound", doc.Text),
			doc.Col("TFLOP/s", doc.Number), doc.Col("GB/s", doc.Number), doc.Col("FLOP/byte", doc.Number),
			doc.Col(scale.Head("during comm"), doc.Number), doc.Col("GPU time over ranks", doc.Text),
		}}
	if total.RooflineNS == 0 {
		return withoutRoofline(ctx, t, total, list, scale)
	}
	for i := range list {
		o := &list[i]
		if o.RooflineNS == nil || o.GPUNS <= 0 {
			continue // no recoverable time is known
		}
		t.Rows = append(t.Rows, doc.Row{Weight: o.RecoverableNS, Cells: []string{
			o.Op, efficiency.DimsText(o.Dims), efficiency.TypesText(o.Types), unit.Count(o.Count),
			scale.Text(mean(total, o.GPUNS)),
			scale.Text(mean(total, *o.RooflineNS)), scale.Text(mean(total, o.RecoverableNS)),
			unit.Share(o.RecoverableNS, total.RecoverableNS), ofRoofline(o), words.Bound(o.Bound),
			arithmetic(o), bandwidth(o), figure(o.Intensity()), overlapped(total, o, scale), overRanks(o, scale),
		}})
	}
	t.Note = "Recoverable: GPU time − roofline. "
	if total.GPUs > 1 {
		t.Note += fmt.Sprintf("Times are per GPU, mean of %d. ", total.GPUs)
	}
	t.Note += "Roofline: the larger of FLOPs / peak and bytes / memory bandwidth" + ofMemory(ctx.Summary) + ". " + bytesAre(ctx.Summary) +
		"TFLOP/s: of GEMM, convolution and attention."
	for _, r := range remedies {
		if slices.ContainsFunc(list, func(o efficiency.Operator) bool { return o.Bound == r.bound && o.RecoverableNS > 0 }) {
			if text := statedRemedies[r.bound]; text != "" && isStated(ctx.Summary) {
				r.text = text
			}
			t.Note += r.text
		}
	}
	if ns := mean(total, efficiency.Hidden(list)); ns > 0 {
		t.Note += fmt.Sprintf(" Other calls of these operators have no roofline and are not in the table: %s.",
			unit.Duration(ns))
	}
	if cachedRows(list) {
		t.Note += " Over 100% of the roofline: inputs in the L2 cache."
	}
	return t.Cut(maxOperators).WithoutEmpty()
}

// withoutRoofline lists operators by their GPU time, for GPUs without known peaks.
func withoutRoofline(ctx *section.Context, t doc.Table, total efficiency.Total, list []efficiency.Operator, scale doc.Scale) doc.Table {
	t.More = doc.Rest{Total: total.GPUNS, Of: "total GPU time"}
	slices.SortStableFunc(list, func(a, b efficiency.Operator) int { return cmp.Compare(b.GPUNS, a.GPUNS) })
	for i := range list {
		o := &list[i]
		if (o.FLOPs == nil || *o.FLOPs == 0) && o.Bytes == nil || o.GPUNS <= 0 {
			continue
		}
		t.Rows = append(t.Rows, doc.Row{Weight: o.GPUNS, Cells: []string{
			o.Op, efficiency.DimsText(o.Dims), efficiency.TypesText(o.Types), unit.Count(o.Count),
			scale.Text(mean(total, o.GPUNS)), "", "", "", "", "",
			arithmetic(o), bandwidth(o), figure(o.Intensity()), overlapped(total, o, scale), overRanks(o, scale),
		}})
	}
	t.Note = "By GPU time. No roofline and no recoverable time: the reasons are below. " + bytesAre(ctx.Summary) + "TFLOP/s: of GEMM, convolution and attention."
	return t.Cut(maxOperators).WithoutEmpty()
}

// ofMemory states the bandwidth of the memory and its source. It is "" if the GPUs differ.
func ofMemory(s *summary.Summary) string {
	hbm := efficiency.HBM(s)
	if hbm <= 0 {
		return ""
	}
	return fmt.Sprintf(" (%s, %s)", unit.Rate(int64(min(hbm, 1e9)*1e9), 1e9), words.PeakSource(peakSource(s, "hbm")))
}

// arithmetic returns the rate of a matrix operator. For other operators the rate has no meaning.
func arithmetic(o *efficiency.Operator) string {
	if o.Unit != "matrix" {
		return ""
	}
	return figure(o.TFLOPS())
}

// ofRoofline returns the roofline as a share of the GPU time. Only inputs in the cache can exceed 100%;
// other operators exceed it because the GPU ran above the clock of its peak, so they are limited to 100%.
func ofRoofline(o *efficiency.Operator) string {
	if *o.RooflineNS > o.GPUNS && o.Over != summary.OverCached {
		return "100%"
	}
	return unit.Share(*o.RooflineNS, o.GPUNS)
}

// cachedRows reports whether one of the listed operators exceeds the bandwidth of the memory because of the
// cache.
func cachedRows(list []efficiency.Operator) bool {
	for i := range list[:min(len(list), maxOperators)] {
		if o := &list[i]; o.RooflineNS != nil && o.Over == summary.OverCached {
			return true
		}
	}
	return false
}

// figure returns a number with three significant digits, or "".
func figure(v float64, ok bool) string {
	if !ok || v == 0 {
		return ""
	}
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v < 0.01:
		return "<0.01"
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}

// bandwidth returns the bandwidth of an operator, marked if its bytes are an estimate.
func bandwidth(o *efficiency.Operator) string {
	text := figure(o.GBPS())
	if text != "" && o.BytesIs == "estimate" {
		text = "≈" + text
	}
	return text
}

// overlapped returns the GPU time of an operator during which communication ran.
func overlapped(total efficiency.Total, o *efficiency.Operator, scale doc.Scale) string {
	if o.OverlapNS == 0 {
		return ""
	}
	return scale.Text(mean(total, o.OverlapNS))
}

// overRanks returns the minimum and maximum GPU time over the ranks, or "" if they are equal.
func overRanks(o *efficiency.Operator, scale doc.Scale) string {
	low, high := scale.Text(o.MinNS), scale.Text(o.MaxNS)
	if o.GPUs < 2 || low == high {
		return ""
	}
	return fmt.Sprintf("%s (rank %d) to %s (rank %d)", low, o.MinRank, high, o.MaxRank)
}
