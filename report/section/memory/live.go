package memory

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view"
)

// liveDevices is the largest number of GPUs whose memory is listed by operator.
const liveDevices = 2

// Allocations returns the peaks of allocated and reserved memory, and the operators that
// allocated it.
func Allocations(ctx *section.Context) doc.Section {
	rows := view.Memory(ctx.Summary)
	if len(rows) == 0 {
		return doc.Section{}
	}
	labels := view.MemoryLabels(ctx.Summary, rows)
	var sizes []int64
	for _, m := range rows {
		for _, p := range []*int64{m.StartAllocated, m.PeakAllocated, m.PeakReserved} {
			if p != nil {
				sizes = append(sizes, *p)
			}
		}
	}
	scale := doc.SizeScaleOf(sizes...)
	size := func(p *int64) string {
		if p == nil {
			return ""
		}
		return scale.Text(*p)
	}
	t := doc.Table{Title: "rows", Columns: []doc.Column{
		doc.Col("memory of", doc.Text), doc.Col(scale.Head("peak allocated"), doc.Number),
		doc.Col(scale.Head("peak reserved"), doc.Number), doc.Col("% of GPU memory", doc.Number),
		doc.Col(scale.Head("allocated at the start"), doc.Number),
		doc.Col("peak at (ns)", doc.Number), doc.Col("allocations", doc.Number), doc.Col("frees", doc.Number),
	}}
	for i, m := range rows {
		at := ""
		if m.PeakAllocated != nil {
			at = fmt.Sprint(m.PeakNS)
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{
			labels[i], size(m.PeakAllocated), size(m.PeakReserved), reservedShare(m), size(m.StartAllocated), at,
			unit.Count(m.Allocs), unit.Count(m.Frees),
		}})
	}
	t.Note = "As reported by the framework's allocator; other memory is not included. The peaks of allocated and reserved memory may be at " +
		"different times. Peak at: ts of the trace."
	blocks := append(ctx.Pictures("memory.png"), t.Cut(section.MaxDevices).WithoutEmpty())
	listed := 0
	for i, m := range rows {
		if len(m.Live) > 0 && listed < liveDevices {
			blocks = append(blocks, liveSentence(m, labels[i]), liveTable(m))
			listed++
		}
	}
	return doc.Section{Title: "Memory", Blocks: blocks}
}

// liveSentence divides the peak into memory that was allocated during the capture, older memory, and memory whose
// allocation is not among the records: allocators of TPUs do not log what programs hold.
func liveSentence(m summary.Memory, label string) doc.Paragraph {
	text := fmt.Sprintf("%s: at the peak, %s was allocated during the capture", label, unit.Bytes(m.LiveBytes))
	if m.PeakAllocated != nil {
		text += " (of " + unit.Bytes(*m.PeakAllocated) + ")"
		if other := *m.PeakAllocated - m.LiveBytes; other > 0 && m.LiveBytes >= 0 {
			older := other
			if m.StartAllocated != nil {
				older = min(other, *m.StartAllocated)
			}
			switch {
			case older == other:
				text += fmt.Sprintf("; the other %s is older", unit.Bytes(older))
			case older > 0:
				text += fmt.Sprintf("; %s is older", unit.Bytes(older))
			}
			if other > older {
				text += fmt.Sprintf("; %s has no record of its allocation", unit.Bytes(other-older))
			}
		}
	}
	return doc.Paragraph{Text: text + "."}
}

func liveTable(m summary.Memory) doc.Table {
	var sizes []int64
	shown := int64(0)
	rows := slices.Clone(m.Live)
	slices.SortStableFunc(rows, func(a, b summary.Live) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Op, b.Op), cmp.Compare(a.Module, b.Module))
	})
	rows = rows[:min(summary.MaxLive, len(rows))]
	for _, l := range rows {
		sizes = append(sizes, l.Bytes)
		shown += l.Bytes
	}
	scale := doc.SizeScaleOf(sizes...)
	t := doc.Table{Title: "operators", Columns: []doc.Column{
		doc.Col("operator", doc.Name), doc.Col("module", doc.Name), doc.Col(scale.Head("allocated"), doc.Number),
		doc.Col("%", doc.Number), doc.Col("allocations", doc.Number),
	}}
	for _, l := range rows {
		op := l.Op
		if op == "" {
			op = "(no operator)"
		}
		t.Rows = append(t.Rows, doc.Row{Weight: l.Bytes,
			Cells: []string{op, l.Module, scale.Text(l.Bytes), unit.Share(l.Bytes, m.LiveBytes), unit.Count(l.Count)}})
	}
	t.Note = fmt.Sprintf("%% of the %s allocated during the capture and not freed at the peak.", unit.Bytes(m.LiveBytes))
	if rest := m.LiveBytes - max(0, shown); rest > 0 {
		t.Note += fmt.Sprintf(" Others: %s (%s).", unit.Bytes(rest), unit.Share(rest, m.LiveBytes))
	}
	return t.WithoutEmpty()
}

// memoryLine returns the largest peak for the screen, or "" if no peak is known.
func memoryLine(ctx *section.Context) string {
	rows := view.Memory(ctx.Summary)
	if len(rows) == 0 || rows[0].OnHost || view.PeakOf(rows[0]) <= 0 {
		return ""
	}
	m, text := rows[0], ""
	if m.PeakAllocated != nil {
		text = "peak " + unit.Bytes(*m.PeakAllocated) + " allocated"
	}
	if m.PeakReserved != nil {
		if text != "" {
			text += ", "
		}
		text += "peak " + unit.Bytes(*m.PeakReserved) + " reserved"
	}
	if share := reservedShare(m); share != "" {
		text += ", " + share + " of the GPU's " + unit.Bytes(*m.Capacity)
	}
	if len(ctx.Devices) > 1 {
		text += " on " + view.MemoryLabels(ctx.Summary, rows[:1])[0] + ", the largest"
	}
	return text
}

// reservedShare returns the peak of reserved memory as a share of the GPU memory, or "" if one of them is
// not known.
func reservedShare(m summary.Memory) string {
	if m.Capacity == nil || m.PeakReserved == nil || *m.Capacity <= 0 {
		return ""
	}
	return unit.Share(*m.PeakReserved, *m.Capacity)
}

// Screen returns a section of one line for the one-screen summary.
func Screen(ctx *section.Context) doc.Section {
	return doc.Section{Title: "Memory", Lead: memoryLine(ctx)}
}
