package report

import (
	"cmp"
	"fmt"
	"slices"

	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// screenSnapshots has the memory of the devices, and who had it on the one with
// the most.
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
	t := Table{Title: "devices", Columns: []Column{
		{"device", Text}, {"peak live", Number}, {"highest", Number}, {"reserved", Number}, {"allocated", Number}, {"split", Number}, {"cached", Number},
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
	s := Section{Title: "Device memory", Lead: scale.unit + "; peak live and highest reserved of the history, the rest at its end", Blocks: []Block{t.cut(screenDevices)}}
	if text := allocatorLine(rows[0]); text != "" {
		s.Blocks = append(s.Blocks, List{{Text: text}})
	}
	return []Section{s, screenHoldersOf(rows[0], labels[0], len(rows) > 1)}
}

// allocatorLine says in a line what the allocator did.
func allocatorLine(m summary.Snapshot) string {
	h := m.History
	if h == nil {
		return ""
	}
	text := plural(h.Allocs, "allocation")
	if span := h.SpanNS(); span > 0 {
		text += fmt.Sprintf(" in %s", unit.Duration(span))
	}
	text += ", " + driverCalls(h)
	if m.Failed > 0 {
		text += ", " + plural(m.Failed, "failed allocation")
	}
	return text
}

func screenHoldersOf(m summary.Snapshot, label string, several bool) Section {
	if len(m.Owners) == 0 {
		return Section{}
	}
	s := Section{Title: "Who had the memory", Lead: fmt.Sprintf("share of %s live at the %s", unit.Bytes(m.OwnersBytes), m.OwnersAt)}
	if several {
		s.Lead += " on " + label
	}
	t := ownerTable(m.Owners, m.OwnersBytes)
	// The table has at most as many owners as the summary keeps; the rest is known
	// by its bytes alone.
	s.Blocks = []Block{t.cut(screenHolders)}
	return s
}

// timelines says what the memory was for, by category.
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
	text := fmt.Sprintf("The peak of %s is %s after the first of %s, which cover %s. %s are older than the profile.", unit.Bytes(t.Peak),
		unit.Duration(max(0, summary.Plus(t.PeakNS, -max(0, t.StartNS)))), plural(t.Moments, "moment"), unit.Duration(max(0, t.NS)), unit.Bytes(t.Older))
	return Paragraph{Text: text}
}

func categoryTable(t summary.MemoryTimeline) Table {
	scale := sizeScaleOf(t.Peak)
	list := slices.Clone(t.Categories)
	slices.SortStableFunc(list, func(a, b summary.CategoryBytes) int {
		return cmp.Or(cmp.Compare(b.AtPeak, a.AtPeak), cmp.Compare(b.Highest, a.Highest), cmp.Compare(a.Name, b.Name))
	})
	out := Table{Title: "categories", Columns: []Column{{"category", Text}, {"share", Number}, {scale.head("at the peak"), Number}, {scale.head("highest"), Number}}}
	for _, c := range list {
		out.Rows = append(out.Rows, Row{Weight: c.AtPeak, Cells: []string{clip(clean(c.Name), 40), unit.Share(c.AtPeak, t.Peak), scale.text(c.AtPeak), scale.text(c.Highest)}})
	}
	out.Note = "Categories are those that PyTorch's profiler worked out. The highest of each may be at another moment than the peak of all."
	return out
}

// screenTimelines has the categories of the timeline with the highest peak.
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

// memoryBound says in a few words what a verdict on memory is; "" if it is not
// one.
func memoryBound(bound string) string {
	switch bound {
	case "out-of-memory":
		return "out of memory"
	case "memory-pressure":
		return "nearly out of memory"
	case "fragmentation":
		return "fragmented memory"
	case "allocator-churn":
		return "allocator at work all the time"
	case "memory-growth":
		return "memory grows from step to step"
	case "memory-owner":
		return "one owner has most of the memory"
	case "memory-healthy":
		return "memory is healthy"
	}
	return ""
}
