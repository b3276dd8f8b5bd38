package counters

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/judge/counters"
	"assay/report/doc"
	"assay/report/section"
	"assay/report/words"
	"assay/summary"
	"assay/summary/view"
)

// The limits of the sections on counters.
const (
	maxCounted    = 25 // kernels in the table
	screenCounted = 8
	advisedMost   = 6   // kernels whose advice is listed
	adviceColumns = 420 // length of each advice
)

// side returns what limits the kernel of row i.
func side(ctx *section.Context, i int) counters.Side {
	if i < len(ctx.Result.Sides) {
		return ctx.Result.Sides[i]
	}
	return counters.Side{Side: counters.SideUnknown}
}

// peakText returns a percentage of a peak, or "–" if it was not collected.
func peakText(p *float64) string {
	if p == nil {
		return unit.None
	}
	return fmt.Sprintf("%.1f%%", *p)
}

// Kernels returns the kernels with their counters, in % of the peaks of the GPU.
func Kernels(ctx *section.Context) doc.Section {
	if len(ctx.Counters) == 0 {
		return doc.Section{}
	}
	weights, total, timed := view.CounterWeights(ctx.Summary)
	var means []int64
	for _, k := range ctx.Counters[:min(maxCounted, len(ctx.Counters))] {
		means = append(means, doc.Mean(k.TotalNS, k.Timed))
	}
	scale := doc.ScaleOf(means...)
	t := doc.Table{Title: "kernels", More: doc.Rest{Total: total, Of: counterWord(ctx, timed)}, Columns: []doc.Column{
		doc.Col("kernel", doc.KernelName), doc.Col("%", doc.Number), doc.Col("launches", doc.Number),
		doc.Col(scale.Head("mean"), doc.Number),
		doc.Col("compute %", doc.Number), doc.Col("memory %", doc.Number), doc.Col("limited by", doc.Text),
		doc.Col("DRAM %", doc.Number), doc.Col("DRAM rate", doc.Number), doc.Col("L1 hits", doc.Number),
		doc.Col("L2 hits", doc.Number),
		doc.Col("achieved occupancy", doc.Number), doc.Col("theoretical occupancy", doc.Number),
		doc.Col("occupancy limiter", doc.Text), doc.Col("registers", doc.Number), doc.Col("waves per SM", doc.Number),
		doc.Col("FLOP/s", doc.Text), doc.Col("shapes", doc.Number), doc.Col("category", doc.Text),
	}}
	for i, k := range ctx.Counters {
		t.Rows = append(t.Rows, doc.Row{Weight: weights[i], Cells: []string{
			k.Kernel, unit.Share(weights[i], total), unit.Count(k.Launches),
			orNone(k.Timed > 0, scale.Text(doc.Mean(k.TotalNS, k.Timed))),
			peakText(k.ComputePct), peakText(k.MemoryPct), words.Side(side(ctx, i)),
			optionalPct(k.DRAMPct), dramRate(k), optionalPct(k.L1HitPct), optionalPct(k.L2HitPct),
			optionalPct(k.OccupancyPct), optionalPct(k.TheoreticalPct),
			label.Clip(label.Clean(strings.Join(k.Limiters, ", ")), 40),
			optionalFigure(k.Registers, "%.0f"), optionalFigure(k.Waves, "%.2f"), workText(k), severalShapes(k),
			label.Clip(label.Clean(k.Category), doc.WordColumns),
		}})
	}
	t = t.Cut(maxCounted).WithoutEmpty()
	t.Note = "% of " + counterTotal(ctx, total, timed) + ". Compute and memory: throughput in % of peak. Occupancy: active warps in % of the maximum of an SM."
	t.Note += " Values are means over the launches, weighted by duration. The profiler runs each launch alone, so these times are not comparable with a timeline."
	return doc.Section{Title: "Kernel counters: % of peak", Blocks: append(ctx.Pictures("kernels-peaks.png"), t)}
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

// counterWord names the weights of kernels, which are the denominator of the shares.
func counterWord(ctx *section.Context, timed bool) string {
	if timed {
		return "profiled kernel time"
	}
	return "launches"
}

func counterTotal(ctx *section.Context, total int64, timed bool) string {
	if timed {
		return "total kernel time of the profiled launches (" + unit.Duration(total) + ")"
	}
	return unit.Count(total) + " launches, because durations were not collected"
}

// Screen returns the short table for the screen.
func Screen(ctx *section.Context) doc.Section {
	if len(ctx.Counters) == 0 {
		return doc.Section{}
	}
	weights, total, timed := view.CounterWeights(ctx.Summary)
	t := doc.Table{Title: "kernels", More: doc.Rest{Total: total, Of: counterWord(ctx, timed)}, Columns: []doc.Column{
		doc.Col("%", doc.Number), doc.Col("compute", doc.Number), doc.Col("memory", doc.Number),
		doc.Col("occupancy", doc.Number), doc.Col("limited by", doc.Text), doc.Col("kernel", doc.KernelName),
	}}
	for i, k := range ctx.Counters {
		t.Rows = append(t.Rows, doc.Row{Weight: weights[i], Cells: []string{
			unit.Share(weights[i], total), peakText(k.ComputePct), peakText(k.MemoryPct), peakText(k.OccupancyPct),
			words.Side(side(ctx, i)), k.Kernel,
		}})
	}
	of := "total kernel time " + unit.Duration(total) + ", profiled one by one"
	if !timed {
		of = "% of " + unit.Count(total) + " launches; no durations"
	}
	return doc.Section{Title: "Kernel counters in % of peak (" + of + ")", Blocks: []doc.Block{t.Cut(screenCounted)}}
}

// Advice lists the profiler's own advice for the kernels with the most time.
func Advice(ctx *section.Context) doc.Section {
	var list doc.List
	left := int64(0)
	for _, k := range ctx.Counters {
		if len(k.Rules) == 0 {
			continue
		}
		if len(list) == advisedMost {
			left++
			continue
		}
		it := doc.Item{Text: "Kernel", Code: label.Clip(label.Clean(label.TidyKernel(k.Kernel)), doc.NameColumns)}
		for _, r := range k.Rules {
			it.Sub = append(it.Sub, adviceItem(r, k.Launches))
		}
		list = append(list, it)
	}
	if list == nil {
		return doc.Section{}
	}
	if left > 0 {
		list = append(list, doc.Item{Text: fmt.Sprintf("The JSON has %s.", label.Plural(left, "more kernel"))})
	}
	return doc.Section{Title: "Nsight Compute rules", Lead: "Texts of Nsight Compute. " +
		"A speedup is its estimate (upper bound), for the launch (global) or for the part that the rule covers (local).", Blocks: []doc.Block{list}}
}

func adviceItem(r summary.Advice, launches int64) doc.Item {
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
	return doc.Item{Mark: label.Clip(label.Clean(r.Type), 10),
		Text: text + ": " + wholeSentences(label.Clean(r.Text), adviceColumns)}
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

// Line states the number of profiled launches and kernels.
func Line(ctx *section.Context) string {
	launches := int64(0)
	names := map[string]bool{}
	var capabilities []string
	for _, k := range ctx.Counters {
		launches += k.Launches
		names[k.Kernel] = true
		if k.Capability != "" {
			capabilities = append(capabilities, label.Clip(label.Clean(k.Capability), 12))
		}
	}
	line := label.Plural(launches, "launch") + " of " + label.Plural(int64(len(names)), "kernel")
	slices.Sort(capabilities)
	if list := slices.Compact(capabilities); len(list) > 0 {
		line += ", compute capability " + strings.Join(list[:min(3, len(list))], ", ")
	}
	return line
}
