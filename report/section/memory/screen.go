package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view"
)

// ScreenSnapshots returns the memory of the GPUs, and the allocation sites of the GPU
// with the most memory.
func ScreenSnapshots(ctx *section.Context) []doc.Section {
	rows := view.Snapshots(ctx.Summary)
	if len(rows) == 0 {
		return nil
	}
	labels := view.SnapshotLabels(ctx.Summary, rows)
	var sizes []int64
	for _, m := range rows {
		sizes = append(sizes, view.MostReserved(m))
	}
	scale := doc.SizeScaleOf(sizes...)
	t := doc.Table{Title: "GPUs", Columns: []doc.Column{
		doc.Col("GPU", doc.Text), doc.Col("peak alloc.", doc.Number), doc.Col("peak res.", doc.Number),
		doc.Col("reserved", doc.Number), doc.Col("allocated", doc.Number), doc.Col("split", doc.Number),
		doc.Col("cached", doc.Number),
	}}
	for i, m := range rows {
		peak, highest := unit.None, unit.None
		if m.Peak != nil {
			peak, highest = scale.Text(m.Peak.Live), scale.Text(m.Peak.HighestReserved)
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{
			labels[i], peak, highest, scale.Text(m.Reserved), scale.Text(m.Allocated), scale.Text(m.Split), scale.Text(m.Cached),
		}})
	}
	s := doc.Section{Title: "GPU memory", Lead: scale.Unit + "; peaks cover the whole history, the other columns show its end", Blocks: []doc.Block{t.Cut(section.ScreenDevices)}}
	of := ""
	if len(rows) > 1 {
		of = labels[0] + ": "
	}
	for _, text := range []string{allocatorLine(rows[0]), useLine(ctx, &rows[0]), view.UnlikeOthers(ctx.Summary, &rows[0]), view.MemoryFits(ctx.Summary, &rows[0])} {
		if text != "" {
			s.Blocks = append(s.Blocks, doc.List{{Text: of + text}})
		}
	}
	if later := view.FailedLater(ctx.Summary); len(later) > 0 {
		s.Blocks = append(s.Blocks, doc.List{{Text: label.Clip(strings.Join(later, ", "), 120)}})
	}
	return []doc.Section{s, screenHoldersOf(rows[0], labels[0], len(rows) > 1)}
}

// allocatorLine summarizes the allocator's history in one line.
func allocatorLine(m summary.Snapshot) string {
	h := m.History
	if h == nil {
		return ""
	}
	text := label.Plural(h.Allocs, "allocation")
	if span := h.SpanNS(); span > 0 {
		text += fmt.Sprintf(" in %s", unit.Duration(span))
	}
	text += ", " + driverCalls(h)
	if m.Failed > 0 {
		text += ", " + label.Plural(m.Failed, "failed allocation")
	}
	return text
}

func screenHoldersOf(m summary.Snapshot, label string, several bool) doc.Section {
	if len(m.Owners) == 0 {
		return doc.Section{}
	}
	of := fmt.Sprintf("%s allocated at the %s", unit.Bytes(m.OwnersBytes), m.OwnersAt)
	if several {
		of += " on " + label
	}
	s := doc.Section{Title: "Memory by allocation site (" + of + ")"}
	t := siteTable(m.Owners, m.OwnersBytes)
	s.Blocks = []doc.Block{t.Cut(screenHolders)}
	return s
}

// Timelines returns a section for each memory timeline: memory by category.
func Timelines(ctx *section.Context) []doc.Section {
	var out []doc.Section
	for i, t := range ctx.MemoryTimelines {
		if i == snapshotDetails {
			break
		}
		s := doc.Section{Title: "Memory by category", Blocks: []doc.Block{timelineSentence(t), categoryTable(t)}}
		if i == 0 {
			s.Blocks = append(ctx.Pictures("memory-categories.png"), s.Blocks...)
		}
		if len(ctx.MemoryTimelines) > 1 {
			s.Title += fmt.Sprintf(": %s rank %d", view.InputNumber(t.Input), t.Rank)
		}
		out = append(out, s)
	}
	return out
}

func timelineSentence(t summary.MemoryTimeline) doc.Paragraph {
	text := fmt.Sprintf("Peak: %s, %s after the first of %s (%s in total). %s is older than the profile.",
		unit.Bytes(t.Peak),
		unit.Duration(max(0, summary.Plus(t.PeakNS, -max(0, t.StartNS)))), label.Plural(t.Moments,
			"moment"), unit.Duration(max(0, t.NS)), unit.Bytes(t.Older))
	return doc.Paragraph{Text: text}
}

func categoryTable(t summary.MemoryTimeline) doc.Table {
	scale := doc.SizeScaleOf(t.Peak)
	list := slices.Clone(t.Categories)
	slices.SortStableFunc(list, func(a, b summary.CategoryBytes) int {
		return cmp.Or(cmp.Compare(b.AtPeak, a.AtPeak), cmp.Compare(b.Highest, a.Highest), cmp.Compare(a.Name, b.Name))
	})
	out := doc.Table{Title: "categories", Columns: []doc.Column{doc.Col("category", doc.Text), doc.Col("%", doc.Number),
		doc.Col(scale.Head("at the peak"), doc.Number), doc.Col(scale.Head("maximum"), doc.Number)}}
	for _, c := range list {
		out.Rows = append(out.Rows, doc.Row{Weight: c.AtPeak,
			Cells: []string{label.Clip(label.Clean(c.Name), 40), unit.Share(c.AtPeak, t.Peak), scale.Text(c.AtPeak),
				scale.Text(c.Highest)}})
	}
	out.Note = "Categories are from PyTorch's profiler. % of the peak. The maxima may be at different times."
	return out
}

// ScreenTimelines returns the categories of the timeline with the highest peak.
func ScreenTimelines(ctx *section.Context) doc.Section {
	if len(ctx.MemoryTimelines) == 0 {
		return doc.Section{}
	}
	t := slices.MaxFunc(ctx.MemoryTimelines, func(a, c summary.MemoryTimeline) int {
		return cmp.Or(cmp.Compare(a.Peak, c.Peak), cmp.Compare(c.Input, a.Input))
	})
	table := categoryTable(t)
	table.Note = ""
	return doc.Section{Title: "Memory by category", Lead: "peak " + unit.Bytes(t.Peak), Blocks: []doc.Block{table}}
}
