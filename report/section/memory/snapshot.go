package memory

import (
	"fmt"
	"slices"

	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view"
)

// The limits of the sections on memory snapshots.
const (
	snapshotDetails = 2 // GPUs whose allocation sites are listed
	maxHolders      = summary.MaxOwners
	screenHolders   = 6
	maxShownSteps   = 20
)

// Snapshots returns the memory use of each GPU.
func Snapshots(ctx *section.Context) []doc.Section {
	rows := view.Snapshots(ctx.Summary)
	if len(rows) == 0 {
		return nil
	}
	labels := view.SnapshotLabels(ctx.Summary, rows)
	out := []doc.Section{{Title: "GPU memory", Blocks: append(ctx.Pictures("memory-reserved.png"),
		usageTable(rows, labels))}}
	if spread := spreadTable(ctx, rows, labels); spread != nil {
		out = append(out, doc.Section{Title: "Memory by use over GPUs", Blocks: spread})
	}
	for i, m := range rows[:min(snapshotDetails, len(rows))] {
		of := ""
		if len(rows) > 1 {
			of = ": " + labels[i]
		}
		out = append(out, doc.Section{Title: "Memory by use" + of, Blocks: useTable(ctx, &m)})
		if i == 0 {
			out = append(out, doc.Section{Title: "Memory by allocation site" + of,
				Blocks: append(ctx.Pictures("memory-owners.png"), holders(m)...)})
		} else {
			out = append(out, doc.Section{Title: "Memory by allocation site" + of, Blocks: holders(m)})
		}
		out = append(out, doc.Section{Title: "Segments" + of, Blocks: segments(m)},
			doc.Section{Title: "Allocator" + of, Blocks: allocator(m)})
	}
	return out
}

func optional(scale doc.Scale, n *int64) string {
	if n == nil {
		return ""
	}
	return scale.Text(*n)
}

func usageTable(rows []summary.Snapshot, labels []string) doc.Table {
	var sizes []int64
	for _, m := range rows {
		sizes = append(sizes, view.MostReserved(m))
	}
	scale := doc.SizeScaleOf(sizes...)
	t := doc.Table{Title: "GPUs", Columns: []doc.Column{
		doc.Col("GPU", doc.Text), doc.Col(scale.Head("peak allocated"), doc.Number),
		doc.Col(scale.Head("peak reserved"), doc.Number), doc.Col(scale.Head("available"), doc.Number),
		doc.Col(scale.Head("reserved"), doc.Number), doc.Col(scale.Head("allocated"), doc.Number),
		doc.Col(scale.Head("pending free"), doc.Number), doc.Col(scale.Head("inactive split"), doc.Number),
		doc.Col(scale.Head("cached"), doc.Number), doc.Col("inactive split %", doc.Number),
	}}
	for i, m := range rows {
		peak, highest := "", ""
		if m.Peak != nil {
			peak, highest = scale.Text(m.Peak.Live), scale.Text(m.Peak.HighestReserved)
		}
		waiting := ""
		if m.Waiting > 0 {
			waiting = scale.Text(m.Waiting)
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{
			labels[i], peak, highest, optional(scale, m.Capacity), scale.Text(m.Reserved), scale.Text(m.Allocated), waiting,
			scale.Text(m.Split),
			scale.Text(m.Cached), unit.Share(m.Split, m.Reserved),
		}})
	}
	t.Note = "Peaks cover the history; the other columns are at the snapshot. "
	t.Note += "Reserved (cudaMalloc) is the sum of allocated, pending free (perhaps used by another stream), " +
		"inactive split (free, in partly used segments) and cached (free, releasable)."
	t.Note += " It excludes the CUDA context, NCCL and other processes."
	if slices.ContainsFunc(rows, func(m summary.Snapshot) bool { return m.Capacity != nil }) {
		t.Note += " Available: reserved plus free in the driver when an allocation failed."
	}
	return t.Cut(section.MaxDevices).WithoutEmpty()
}

// holders lists the allocation sites of allocated memory, and its largest allocations.
func holders(m summary.Snapshot) []doc.Block {
	if len(m.Owners) == 0 {
		return []doc.Block{doc.Paragraph{Text: "No block was in use."}}
	}
	at := "when the snapshot was taken"
	if m.Peak != nil && m.OwnersAt == "peak" {
		at = "at the peak" + peakPlace(m)
	}
	text := fmt.Sprintf("%s was allocated %s", unit.Bytes(m.OwnersBytes), at)
	if h := m.History; h != nil && h.OlderBlocks > 0 {
		text += fmt.Sprintf("; %s (%s) older than the recorded history", label.Plural(h.OlderBlocks, "block"),
			unit.Bytes(h.OlderBytes))
	}
	blocks := []doc.Block{doc.Paragraph{Text: text + "."}, heldTable("kinds", "used for", kinds(m), m.OwnersBytes)}
	if len(m.Labels) > 0 {
		blocks = append(blocks, heldTable("labels", "label of the program", m.Labels, m.OwnersBytes))
	}
	t := siteTable(m.Owners, m.OwnersBytes)
	t.Note = fmt.Sprintf("Site: the innermost function outside PyTorch; the JSON has the full stacks. %% of the %s allocated.", unit.Bytes(m.OwnersBytes))
	if p := m.Peak; p != nil && p.Sizes == "requested" && m.OwnersAt == "peak" {
		t.Note += " Sizes are as requested; the allocator rounds them up."
	}
	blocks = append(blocks, t)
	if len(m.Largest) > 0 {
		largest := siteTable(m.Largest, m.OwnersBytes).Cut(10)
		largest.Title = "allocations"
		largest.Note = "The largest single allocations."
		blocks = append(blocks, largest)
	}
	return blocks
}

// peakPlace returns the time of the peak in the history.
func peakPlace(m summary.Snapshot) string {
	h := m.History
	if h == nil || m.Peak.NS == nil || h.StartNS == nil || m.Peak.Entry < 0 {
		return ""
	}
	return fmt.Sprintf(", %s after the first entry of the history",
		unit.Duration(summary.Plus(*m.Peak.NS, -max(0, *h.StartNS))))
}

// kinds returns the purposes of memory with display names.
func kinds(m summary.Snapshot) []summary.Held {
	list := slices.Clone(m.Kinds)
	for i := range list {
		list[i].Name = summary.KindWords(list[i].Name)
	}
	return list
}

func heldTable(title, head string, list []summary.Held, all int64) doc.Table {
	var sizes []int64
	for _, h := range list {
		sizes = append(sizes, h.Bytes)
	}
	scale := doc.SizeScaleOf(sizes...)
	t := doc.Table{Title: title, Columns: []doc.Column{doc.Col(head, doc.Name),
		doc.Col(scale.Head("allocated"), doc.Number), doc.Col("%", doc.Number), doc.Col("allocations", doc.Number)}}
	for _, h := range list {
		name := h.Name
		if name == "" {
			name = "(no label)"
		}
		t.Rows = append(t.Rows, doc.Row{Weight: h.Bytes,
			Cells: []string{name, scale.Text(h.Bytes), unit.Share(h.Bytes, all), unit.Count(h.Count)}})
	}
	return t
}

// siteTable returns the allocation sites, the largest first.
func siteTable(list []summary.Owner, all int64) doc.Table {
	var sizes []int64
	for _, o := range list {
		sizes = append(sizes, o.Bytes)
	}
	scale := doc.SizeScaleOf(sizes...)
	t := doc.Table{Title: "sites", More: doc.Rest{Total: all, Of: "allocated memory"}, Columns: []doc.Column{
		doc.Col("%", doc.Number), doc.Col(scale.Head("allocated"), doc.Number), doc.Col("allocations", doc.Number),
		doc.Col("used for", doc.Text), doc.Col("site", doc.LineName),
	}}
	for _, o := range list[:min(maxHolders, len(list))] {
		t.Rows = append(t.Rows, doc.Row{Weight: o.Bytes, Cells: []string{
			unit.Share(o.Bytes, all), scale.Text(o.Bytes), unit.Count(o.Count),
			label.Clip(label.Clean(summary.KindWords(o.Kind)), 40), ownerName(o.Frame),
		}})
	}
	return t
}

func ownerName(frame string) string {
	if frame == "" {
		return "(no stack)"
	}
	return frame
}

// segments returns the memory by class of segment.
func segments(m summary.Snapshot) []doc.Block {
	if len(m.Classes) == 0 {
		return nil
	}
	scale := doc.SizeScaleOf(m.Reserved)
	t := doc.Table{Title: "classes", Columns: []doc.Column{
		doc.Col("segments", doc.Text), doc.Col("number", doc.Number), doc.Col(scale.Head("reserved"), doc.Number),
		doc.Col(scale.Head("allocated"), doc.Number), doc.Col(scale.Head("pending free"), doc.Number),
		doc.Col(scale.Head("inactive split"), doc.Number), doc.Col(scale.Head("cached"), doc.Number),
		doc.Col(scale.Head("largest free block"), doc.Number), doc.Col(scale.Head("rounding"), doc.Number),
	}}
	row := func(name string, u summary.Usage) {
		waiting, rounding := "", ""
		if m.Waiting > 0 {
			waiting = scale.Text(u.Waiting)
		}
		if m.Requested != nil {
			rounding = scale.Text(u.Rounding)
		}
		t.Rows = append(t.Rows, doc.Row{Cells: []string{
			name, unit.Count(u.Segments), scale.Text(u.Reserved), scale.Text(u.Allocated), waiting, scale.Text(u.Split),
			scale.Text(u.Cached),
			scale.Text(u.LargestFree), rounding,
		}})
	}
	for _, c := range m.Classes {
		row(label.Clip(label.Clean(summary.ClassWords(c.Name)), 60), c.Usage)
	}
	if len(m.Classes) > 1 {
		row("all", m.Usage)
	}
	t.Note = "At the time of the snapshot. Rounding: allocated minus requested; it is part of allocated."
	text := fmt.Sprintf("%s is free. The largest free block has %s (%s).", unit.Bytes(m.Free()),
		unit.Bytes(m.LargestFree), unit.Share(m.LargestFree, m.Free()))
	if m.Free() == 0 {
		text = "No reserved memory is free."
	}
	if m.Private > 0 {
		text += fmt.Sprintf(" Private pools (for example of CUDA graphs) have %s; %s of it is free, but only for their pool.", unit.Bytes(m.Private), unit.Bytes(m.PrivateFree))
	}
	return []doc.Block{doc.Paragraph{Text: text}, t.WithoutEmpty()}
}

// allocator returns the blocks about the allocator's recorded history.
func allocator(m summary.Snapshot) []doc.Block {
	h := m.History
	if h == nil {
		return nil
	}
	list := doc.List{{Text: historyText(h)}}
	list = append(list, doc.Item{Text: driverCalls(h) + " (for expandable segments: map and unmap calls)."})
	for _, o := range m.OutOfMemory {
		list = append(list, doc.Item{Mark: "out of memory", Text: failureText(o), Code: o.Frame})
	}
	if more := m.Failed - int64(len(m.OutOfMemory)); more > 0 {
		list = append(list, doc.Item{Text: label.Plural(more, "more failure") + "."})
	}
	if m.Configuration != "" {
		list = append(list, doc.Item{Text: "PYTORCH_CUDA_ALLOC_CONF:", Code: label.Clip(label.Clean(m.Configuration), 200)})
	}
	blocks := []doc.Block{list}
	if len(h.Steps) > 0 {
		blocks = append(blocks, stepTable(h.Steps))
	}
	return blocks
}

// driverCalls returns the numbers and sizes of cudaMalloc and cudaFree calls.
func driverCalls(h *summary.MemoryHistory) string {
	calls := func(n, bytes int64, name string) string {
		if n == 0 {
			return "no " + name
		}
		return fmt.Sprintf("%s of %s", label.Plural(n, name), unit.Bytes(bytes))
	}
	return calls(h.SegmentAllocs, h.SegmentAllocBytes, "cudaMalloc call") + ", " + calls(h.SegmentFrees,
		h.SegmentFreeBytes, "cudaFree call")
}

func historyText(h *summary.MemoryHistory) string {
	text := fmt.Sprintf("%s: %s of %s, %s", label.Plural(h.Entries, "entry"), label.Plural(h.Allocs, "allocation"),
		unit.Bytes(h.AllocBytes), label.Plural(h.Frees, "free"))
	if span := h.SpanNS(); span > 0 {
		text += fmt.Sprintf(" in %s (%s a second)", unit.Duration(span), unit.Count(perSecond(h.Allocs, span)))
	}
	return text + "."
}

// perSecond returns the rate of n events in ns nanoseconds, rounded.
func perSecond(n, ns int64) int64 { return int64(float64(n)/(float64(ns)/1e9) + 0.5) }

func failureText(o summary.OutOfMemory) string {
	text := "tried to allocate " + unit.Bytes(o.Wanted)
	if o.Free != nil {
		text += ", free in the driver " + unit.Bytes(*o.Free)
	}
	if o.Reserved != nil && o.Live != nil {
		text += fmt.Sprintf(", reserved %s, allocated %s", unit.Bytes(*o.Reserved), unit.Bytes(*o.Live))
	}
	return text + "; site"
}

func stepTable(steps []summary.MemoryStep) doc.Table {
	var sizes []int64
	for _, s := range steps {
		sizes = append(sizes, s.Peak)
	}
	scale := doc.SizeScaleOf(sizes...)
	t := doc.Table{Title: "steps", Columns: []doc.Column{
		doc.Col("step", doc.Name), doc.Col("length", doc.Number), doc.Col(scale.Head("allocated at the start"), doc.Number),
		doc.Col(scale.Head("peak allocated"), doc.Number), doc.Col("allocations", doc.Number),
		doc.Col("cudaMalloc", doc.Number), doc.Col("cudaFree", doc.Number),
	}}
	for _, s := range steps {
		t.Rows = append(t.Rows, doc.Row{Cells: []string{
			s.Name, doc.FourDigits(s.NS), scale.Text(s.Start), scale.Text(s.Peak), unit.Count(s.Allocs),
			unit.Count(s.SegmentAllocs), unit.Count(s.SegmentFrees),
		}})
	}
	t.Note = "Steps are marked by the program."
	return t.Cut(maxShownSteps)
}
