package report

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/judge"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// The limits of the sections on counters.
const (
	maxCounted    = 25 // kernels of the table
	screenCounted = 8
	advisedMost   = 6   // kernels with rules of their profiler
	adviceColumns = 420 // of each rule
)

// side returns what limits the kernel of row i.
func (b *builder) side(i int) judge.Side {
	if i < len(b.result.Sides) {
		return b.result.Sides[i]
	}
	return judge.Side{Side: judge.SideUnknown}
}

// peakText returns a percentage of a peak, or "–" if it was not collected.
func peakText(p *float64) string {
	if p == nil {
		return unit.None
	}
	return fmt.Sprintf("%.1f%%", *p)
}

// countedKernels returns the kernels with their counters, in % of the peaks of the GPU.
func (b *builder) countedKernels() Section {
	if len(b.Counters) == 0 {
		return Section{}
	}
	weights, total, timed := view.CounterWeights(b.Summary)
	var means []int64
	for _, k := range b.Counters[:min(maxCounted, len(b.Counters))] {
		means = append(means, mean(k.TotalNS, k.Timed))
	}
	scale := scaleOf(means...)
	t := Table{Title: "kernels", More: Rest{Total: total, Of: b.counterWord(timed)}, Columns: []Column{
		{"kernel", KernelName}, {"%", Number}, {"launches", Number}, {scale.head("mean"), Number},
		{"compute %", Number}, {"memory %", Number}, {"limited by", Text}, {"DRAM %", Number}, {"DRAM rate", Number}, {"L1 hits", Number}, {"L2 hits", Number},
		{"achieved occupancy", Number}, {"theoretical occupancy", Number}, {"occupancy limiter", Text}, {"registers", Number}, {"waves per SM", Number}, {"FLOP/s", Text}, {"shapes", Number}, {"category", Text},
	}}
	for i, k := range b.Counters {
		t.Rows = append(t.Rows, Row{Weight: weights[i], Cells: []string{
			k.Kernel, unit.Share(weights[i], total), unit.Count(k.Launches), orNone(k.Timed > 0, scale.text(mean(k.TotalNS, k.Timed))),
			peakText(k.ComputePct), peakText(k.MemoryPct), words.Side(b.side(i)),
			optionalPct(k.DRAMPct), dramRate(k), optionalPct(k.L1HitPct), optionalPct(k.L2HitPct),
			optionalPct(k.OccupancyPct), optionalPct(k.TheoreticalPct), label.Clip(label.Clean(strings.Join(k.Limiters, ", ")), 40),
			optionalFigure(k.Registers, "%.0f"), optionalFigure(k.Waves, "%.2f"), workText(k), severalShapes(k), label.Clip(label.Clean(k.Category), 24),
		}})
	}
	t = t.cut(maxCounted).withoutEmpty()
	t.Note = "% of " + b.counterTotal(total, timed) + ". Compute and memory: throughput in % of peak. Occupancy: active warps in % of the maximum of an SM."
	t.Note += " Values are means over the launches, weighted by duration. The profiler runs each launch alone, so these times are not comparable with a timeline."
	return Section{Title: "Kernel counters: % of peak", Blocks: append(b.pictures("kernels-peaks.png"), t)}
}

func orNone(known bool, text string) string {
	if !known {
		return unit.None
	}
	return text
}

func optionalPct(p *float64) string { return optionalFigure(p, "%.1f%%") }

func optionalFigure(p *float64, format string) string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf(format, *p)
}

func dramRate(k summary.Counter) string {
	if k.DRAMBytes == nil || k.BytesNS <= 0 {
		return ""
	}
	return unit.Rate(*k.DRAMBytes, k.BytesNS)
}

// workText returns the rate of the precision that has most of a kernel's FLOPs.
func workText(k summary.Counter) string {
	best := -1
	for i, w := range k.Work {
		if w.NS > 0 && (best < 0 || w.FLOPs > k.Work[best].FLOPs) {
			best = i
		}
	}
	if best < 0 {
		return ""
	}
	w := k.Work[best]
	rate := float64(w.FLOPs) / float64(w.NS) * 1e9
	text := unit.FLOPRate(rate) + " " + label.Clip(label.Clean(w.Precision), 12)
	if w.PeakFLOPs != nil && *w.PeakFLOPs > 0 {
		text += fmt.Sprintf(" (%.1f%% of its peak)", 100*rate/float64(*w.PeakFLOPs))
	}
	return text
}

func severalShapes(k summary.Counter) string {
	if k.Shapes < 2 {
		return ""
	}
	return unit.Count(k.Shapes)
}

// counterWord returns what the weights of kernels are.
func (b *builder) counterWord(timed bool) string {
	if timed {
		return "profiled kernel time"
	}
	return "launches"
}

func (b *builder) counterTotal(total int64, timed bool) string {
	if timed {
		return "total kernel time of the profiled launches (" + unit.Duration(total) + ")"
	}
	return unit.Count(total) + " launches, because durations were not collected"
}

// screenCounters returns the short table for the screen.
func (b *builder) screenCounters() Section {
	if len(b.Counters) == 0 {
		return Section{}
	}
	weights, total, timed := view.CounterWeights(b.Summary)
	t := Table{Title: "kernels", More: Rest{Total: total, Of: b.counterWord(timed)}, Columns: []Column{
		{"%", Number}, {"compute", Number}, {"memory", Number}, {"occupancy", Number}, {"limited by", Text}, {"kernel", KernelName},
	}}
	for i, k := range b.Counters {
		t.Rows = append(t.Rows, Row{Weight: weights[i], Cells: []string{
			unit.Share(weights[i], total), peakText(k.ComputePct), peakText(k.MemoryPct), peakText(k.OccupancyPct), words.Side(b.side(i)), k.Kernel,
		}})
	}
	of := "total kernel time " + unit.Duration(total) + ", profiled one by one"
	if !timed {
		of = "% of " + unit.Count(total) + " launches; no durations"
	}
	return Section{Title: "Kernel counters in % of peak (" + of + ")", Blocks: []Block{t.cut(screenCounted)}}
}

// profilerAdvice lists the rules of the profiler for the largest kernels.
func (b *builder) profilerAdvice() Section {
	var list List
	left := int64(0)
	for _, k := range b.Counters {
		if len(k.Rules) == 0 {
			continue
		}
		if len(list) == advisedMost {
			left++
			continue
		}
		it := Item{Text: "Kernel", Code: label.Clip(label.Clean(label.TidyKernel(k.Kernel)), nameColumns)}
		for _, r := range k.Rules {
			it.Sub = append(it.Sub, adviceItem(r, k.Launches))
		}
		list = append(list, it)
	}
	if list == nil {
		return Section{}
	}
	if left > 0 {
		list = append(list, Item{Text: fmt.Sprintf("The JSON has %s.", label.Plural(left, "more kernel"))})
	}
	return Section{Title: "Nsight Compute rules", Lead: "Texts of Nsight Compute. " +
		"A speedup is its estimate (upper bound), for the launch (global) or for the part that the rule covers (local).", Blocks: []Block{list}}
}

func adviceItem(r summary.Advice, launches int64) Item {
	text := label.Clip(label.Clean(r.Name), 60)
	var notes []string
	if r.SpeedupPct != nil {
		notes = append(notes, fmt.Sprintf("up to %.1f%% %s", *r.SpeedupPct, label.Clip(label.Clean(r.SpeedupKind), 10)))
	}
	if r.Launches < launches {
		notes = append(notes, fmt.Sprintf("%s of %s launches", unit.Count(r.Launches), unit.Count(launches)))
	}
	if notes != nil {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return Item{Mark: label.Clip(label.Clean(r.Type), 10), Text: text + ": " + wholeSentences(label.Clean(r.Text), adviceColumns)}
}

// wholeSentences cuts text after the last sentence that fits. It keeps at least one
// sentence.
func wholeSentences(text string, columns int) string {
	for label.Width(text) > columns {
		end := strings.LastIndex(strings.TrimSuffix(text, "."), ". ")
		if end < 0 {
			return label.Head(text, columns)
		}
		text = text[:end+1]
	}
	return text
}

// countedLine returns the numbers of profiled launches and kernels.
func (b *builder) countedLine() string {
	launches := int64(0)
	names := map[string]bool{}
	var capabilities []string
	for _, k := range b.Counters {
		launches = summary.Plus(launches, k.Launches)
		names[k.Kernel] = true
		if k.Capability != "" {
			capabilities = append(capabilities, label.Clip(label.Clean(k.Capability), 12))
		}
	}
	line := unit.Count(launches) + " launches"
	if launches == 1 {
		line = "1 launch"
	}
	line += " of " + label.Plural(int64(len(names)), "kernel")
	slices.Sort(capabilities)
	if list := slices.Compact(capabilities); len(list) > 0 {
		line += ", compute capability " + strings.Join(list[:min(3, len(list))], ", ")
	}
	return line
}
