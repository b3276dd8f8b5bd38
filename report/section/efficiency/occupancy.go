package efficiency

import (
	"fmt"
	"strings"

	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view/efficiency"
)

const (
	maxLosses = 10   // kernels in the table
	muchIdle  = 0.02 // share of kernel time from which the table is worth its place
)

// occupancy shows the kernels that leave multiprocessors idle, those first that could save most.
func occupancy(ctx *section.Context) doc.Section {
	list, gain, gpus := efficiency.Losses(ctx.Summary)
	total := int64(0)
	for i := range ctx.Summary.Kernels {
		total = summary.Plus(total, ctx.Summary.Kernels[i].TotalNS)
	}
	if len(list) == 0 || float64(gain) < muchIdle*float64(total) || mostlyIdle(ctx.Summary) {
		return doc.Section{}
	}
	var times []int64
	for _, l := range list {
		times = append(times, l.TotalNS)
	}
	scale := doc.ScaleOf(times...)
	t := doc.Table{Title: "kernels that do not fill the GPU", Columns: []doc.Column{
		doc.Col("kernel", doc.KernelName), doc.Col("category", doc.Text), doc.Col("launches", doc.Number), doc.Col(scale.Head("total"), doc.Number),
		doc.Col("runs on", doc.Text), doc.Col("threads", doc.Number), doc.Col("% occupancy", doc.Number), doc.Col("limited by", doc.Text),
		doc.Col(scale.Head("saves at most"), doc.Number),
	}}
	for _, l := range list {
		occupied := ""
		if l.Achieved != nil {
			occupied = percent(*l.Achieved)
		}
		t.Rows = append(t.Rows, doc.Row{Weight: l.GainNS, Cells: []string{l.Name, l.Category, unit.Count(l.Count), scale.Text(l.TotalNS),
			runsOn(&l.Occupancy), unit.Count(l.Block[0] * l.Block[1] * l.Block[2]), occupied, l.Limiter, scale.Text(l.GainNS)}})
	}
	t.Note = fmt.Sprintf("Saves at most: if all %[1]s worked until the end of each launch that ran alone. "+
		"Threads: per block. Occupancy: threads of a launch over those that the %[1]s can hold.", unitsOf(list)) + occupancyAdvice(list)
	over := ""
	if gpus > 1 {
		over = fmt.Sprintf(", over %d GPUs", gpus)
	}
	lead := fmt.Sprintf("Up to %s of kernel time (%s%s) in launches that leave %s idle.", unit.Duration(gain), unit.Share(gain, total), over, unitsOf(list))
	lead += idleNote(ctx.Summary)
	return doc.Section{Title: "Kernels that do not fill the GPU", Lead: lead, Blocks: []doc.Block{t.Cut(maxLosses).WithoutEmpty()}}
}

// idleNote says that the GPUs are idle for more than half of the window, or is "".
func idleNote(s *summary.Summary) string {
	idle, window := idleOf(s)
	if 2*idle <= window {
		return ""
	}
	return fmt.Sprintf(" GPUs were idle for %s of the window: shorter kernels help only where they are busy.", unit.Share(idle, window))
}

// mostlyIdle reports whether the GPUs are idle for so long that shorter kernels change nothing.
func mostlyIdle(s *summary.Summary) bool {
	const most = 0.9
	idle, window := idleOf(s)
	return float64(idle) > most*float64(window)
}

// idleOf returns the idle time of all GPUs, and the sum of their windows.
func idleOf(s *summary.Summary) (idle, window int64) {
	for i := range s.Devices {
		idle, window = summary.Plus(idle, s.Devices[i].Activity.Idle()), summary.Plus(window, s.Devices[i].Activity.Window())
	}
	return idle, window
}

// unitName names what runs the blocks of a launch. Only NVIDIA's captures have registers.
func unitName(o *summary.Occupancy) string {
	if o.Registers == nil {
		return "CUs"
	}
	return "SMs"
}

// unitsOf names what runs the blocks of all launches in a list, which may be of GPUs of several vendors.
func unitsOf(list []efficiency.Loss) string {
	names := map[string]bool{}
	for i := range list {
		names[unitName(&list[i].Occupancy)] = true
	}
	switch {
	case len(names) > 1:
		return "SMs or compute units"
	case names["CUs"]:
		return "compute units"
	}
	return "SMs"
}

// runsOn says which part of the GPU a launch uses.
func runsOn(o *summary.Occupancy) string {
	if o.Loss == summary.LossTail && o.Waves != nil {
		return fmt.Sprintf("%.2f waves", *o.Waves)
	}
	return fmt.Sprintf("%d of %d %s", o.Blocks, o.SMs, unitName(o))
}

// occupancyAdvice says what helps the kernels in the list, by what they have too few blocks for.
func occupancyAdvice(list []efficiency.Loss) string {
	products := map[string]string{
		"gemm":        "Matrix products: a smaller tile or split-K (autotuning, another library), or a larger batch.",
		"convolution": "Convolutions: another algorithm (torch.backends.cudnn.benchmark), or a larger batch.",
		"attention":   "Attention: a kernel that also divides the keys (flash decoding), or a larger batch.",
	}
	var out []string
	said := map[string]bool{}
	add := func(text string) {
		if text != "" && !said[text] {
			said[text] = true
			out = append(out, text)
		}
	}
	for _, l := range list[:min(len(list), maxLosses)] {
		switch text := products[l.Category]; {
		case l.Loss == summary.LossTail && l.Category == "gemm":
			add("Tail of matrix products: a tile with which the number of blocks is near a multiple of a wave, or stream-K.")
		case l.Loss == summary.LossTail:
		case text != "":
			add(text)
		default:
			add("Others with few blocks: divide the work into more blocks, fuse it with a neighbor, " +
				"or overlap it with other work on a second stream.")
		}
	}
	if out == nil {
		return ""
	}
	return " " + strings.Join(out, " ")
}
