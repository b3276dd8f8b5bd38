package report

import (
	"cmp"
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// screenSnapshots returns the memory of the GPUs, and the allocation sites of the GPU
// with the most memory.
func (b *builder) screenSnapshots() []Section {
	rows := view.Snapshots(b.Summary)
	if len(rows) == 0 {
		return nil
	}
	labels := view.SnapshotLabels(b.Summary, rows)
	var sizes []int64
	for _, m := range rows {
		sizes = append(sizes, view.MostReserved(m))
	}
	scale := sizeScaleOf(sizes...)
	t := Table{Title: "GPUs", Columns: []Column{
		{"GPU", Text}, {"peak alloc.", Number}, {"peak res.", Number}, {"reserved", Number}, {"allocated", Number}, {"split", Number}, {"cached", Number},
	}}
	for i, m := range rows {
		peak, highest := unit.None, unit.None
		if m.Peak != nil {
			peak, highest = scale.text(m.Peak.Live), scale.text(m.Peak.HighestReserved)
		}
		t.Rows = append(t.Rows, Row{Cells: []string{
			labels[i], peak, highest, scale.text(m.Reserved), scale.text(m.Allocated), scale.text(m.Split), scale.text(m.Cached),
		}})
	}
	s := Section{Title: "GPU memory", Lead: scale.unit + "; peaks over the history, other columns at its end", Blocks: []Block{t.cut(screenDevices)}}
	if text := allocatorLine(rows[0]); text != "" {
		s.Blocks = append(s.Blocks, List{{Text: text}})
	}
	return []Section{s, screenHoldersOf(rows[0], labels[0], len(rows) > 1)}
}

// allocatorLine returns what the allocator did, in one line.
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

func screenHoldersOf(m summary.Snapshot, label string, several bool) Section {
	if len(m.Owners) == 0 {
		return Section{}
	}
	of := fmt.Sprintf("%s allocated at the %s", unit.Bytes(m.OwnersBytes), m.OwnersAt)
	if several {
		of += " on " + label
	}
	s := Section{Title: "Memory by allocation site (" + of + ")"}
	t := siteTable(m.Owners, m.OwnersBytes)
	s.Blocks = []Block{t.cut(screenHolders)}
	return s
}

// timelines returns the memory by category.
func (b *builder) timelines() []Section {
	var out []Section
	for i, t := range b.MemoryTimelines {
		if i == snapshotDetails {
			break
		}
		s := Section{Title: "Memory by category", Blocks: []Block{timelineSentence(t), categoryTable(t)}}
		if i == 0 {
			s.Blocks = append(b.pictures("memory-categories.png"), s.Blocks...)
		}
		if len(b.MemoryTimelines) > 1 {
			s.Title += fmt.Sprintf(": %s rank %d", view.InputNumber(t.Input), t.Rank)
		}
		out = append(out, s)
	}
	return out
}

func timelineSentence(t summary.MemoryTimeline) Paragraph {
	text := fmt.Sprintf("Peak: %s, %s after the first of %s (%s in total). %s is older than the profile.", unit.Bytes(t.Peak),
		unit.Duration(max(0, summary.Plus(t.PeakNS, -max(0, t.StartNS)))), label.Plural(t.Moments, "moment"), unit.Duration(max(0, t.NS)), unit.Bytes(t.Older))
	return Paragraph{Text: text}
}

func categoryTable(t summary.MemoryTimeline) Table {
	scale := sizeScaleOf(t.Peak)
	list := slices.Clone(t.Categories)
	slices.SortStableFunc(list, func(a, b summary.CategoryBytes) int {
		return cmp.Or(cmp.Compare(b.AtPeak, a.AtPeak), cmp.Compare(b.Highest, a.Highest), cmp.Compare(a.Name, b.Name))
	})
	out := Table{Title: "categories", Columns: []Column{{"category", Text}, {"%", Number}, {scale.head("at the peak"), Number}, {scale.head("maximum"), Number}}}
	for _, c := range list {
		out.Rows = append(out.Rows, Row{Weight: c.AtPeak, Cells: []string{label.Clip(label.Clean(c.Name), 40), unit.Share(c.AtPeak, t.Peak), scale.text(c.AtPeak), scale.text(c.Highest)}})
	}
	out.Note = "Categories are from PyTorch's profiler. % of the peak. The maxima may be at different times."
	return out
}

// screenTimelines returns the categories of the timeline with the highest peak.
func (b *builder) screenTimelines() Section {
	if len(b.MemoryTimelines) == 0 {
		return Section{}
	}
	t := slices.MaxFunc(b.MemoryTimelines, func(a, c summary.MemoryTimeline) int {
		return cmp.Or(cmp.Compare(a.Peak, c.Peak), cmp.Compare(c.Input, a.Input))
	})
	table := categoryTable(t)
	table.Note = ""
	return Section{Title: "Memory by category", Lead: "peak " + unit.Bytes(t.Peak), Blocks: []Block{table}}
}
