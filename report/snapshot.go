package report

import (
	"fmt"
	"slices"

	"assay/summary"
	"assay/summary/view"
	"assay/unit"
)

// The limits of what is told of snapshots.
const (
	snapshotDetails = 2 // devices whose owners are listed
	maxHolders      = summary.MaxOwners
	screenHolders   = 6
	maxShownSteps   = 20
)

// ofMemory reports whether the report is about memory and not about time.
func (b *builder) ofMemory() bool {
	return len(b.Devices)+len(b.Counters)+len(b.Tables) == 0 && len(b.Snapshots)+len(b.MemoryTimelines) > 0
}

// snapshots says what the memory of each device was used for.
func (b *builder) snapshots() []Section {
	rows := view.Snapshots(b.Summary)
	if len(rows) == 0 {
		return nil
	}
	labels := view.SnapshotLabels(b.Summary, rows)
	out := []Section{{Title: "Device memory", Blocks: append(b.pictures("memory-reserved.png"), usageTable(rows, labels))}}
	for i, m := range rows[:min(snapshotDetails, len(rows))] {
		of := ""
		if len(rows) > 1 {
			of = ": " + labels[i]
		}
		if i == 0 {
			out = append(out, Section{Title: "Who had the memory" + of, Blocks: append(b.pictures("memory-owners.png"), holders(m)...)})
		} else {
			out = append(out, Section{Title: "Who had the memory" + of, Blocks: holders(m)})
		}
		out = append(out, Section{Title: "Segments" + of, Blocks: segments(m)}, Section{Title: "Allocator" + of, Blocks: allocator(m)})
	}
	return out
}

func optional(scale timeScale, n *int64) string {
	if n == nil {
		return ""
	}
	return scale.text(*n)
}

func usageTable(rows []summary.Snapshot, labels []string) Table {
	var sizes []int64
	for _, m := range rows {
		sizes = append(sizes, view.MostReserved(m))
	}
	scale := sizeScaleOf(sizes...)
	t := Table{Title: "devices", Columns: []Column{
		{"device", Text}, {scale.head("peak live"), Number}, {scale.head("highest reserved"), Number}, {scale.head("could have"), Number},
		{scale.head("reserved"), Number}, {scale.head("allocated"), Number}, {scale.head("waiting"), Number}, {scale.head("split"), Number},
		{scale.head("cached"), Number}, {"split of reserved", Number},
	}}
	for i, m := range rows {
		peak, highest := "", ""
		if m.Peak != nil {
			peak, highest = scale.text(m.Peak.Live), scale.text(m.Peak.HighestReserved)
		}
		waiting := ""
		if m.Waiting > 0 {
			waiting = scale.text(m.Waiting)
		}
		t.Rows = append(t.Rows, Row{Cells: []string{
			labels[i], peak, highest, optional(scale, m.Capacity), scale.text(m.Reserved), scale.text(m.Allocated), waiting, scale.text(m.Split),
			scale.text(m.Cached), unit.Share(m.Split, m.Reserved),
		}})
	}
	t.Note = "Peak and highest are of the recorded history, all else of the moment of the snapshot. Reserved is what the allocator took from the driver; it is the sum " +
		"of allocated, waiting (freed, and perhaps still in use by another stream), split (free, in a segment that something else is in) and cached (free, and can be " +
		"given back). What the CUDA context, NCCL and other processes have is not in it."
	if slices.ContainsFunc(rows, func(m summary.Snapshot) bool { return m.Capacity != nil }) {
		t.Note += " Could have: what was reserved when an allocation failed, and what the driver had left then."
	}
	return t.cut(maxDevices).withoutEmpty()
}

// holders lists who had allocated what was live, and the largest pieces of it.
func holders(m summary.Snapshot) []Block {
	if len(m.Owners) == 0 {
		return []Block{Paragraph{Text: "No block was in use."}}
	}
	at := "when the snapshot was taken"
	if m.Peak != nil && m.OwnersAt == "peak" {
		at = "at the peak" + peakPlace(m)
	}
	text := fmt.Sprintf("%s were live %s", unit.Bytes(m.OwnersBytes), at)
	if h := m.History; h != nil && h.OlderBlocks > 0 {
		text += fmt.Sprintf("; %s of %s are older than the recorded history", plural(h.OlderBlocks, "block"), unit.Bytes(h.OlderBytes))
	}
	blocks := []Block{Paragraph{Text: text + "."}, heldTable("kinds", "for", kinds(m), m.OwnersBytes)}
	if len(m.Labels) > 0 {
		blocks = append(blocks, heldTable("labels", "the program says", m.Labels, m.OwnersBytes))
	}
	t := ownerTable(m.Owners, m.OwnersBytes)
	t.Note = fmt.Sprintf("Each is the innermost function of its stack that is not PyTorch's; the JSON has the whole stacks. Shares are of the %s live.", unit.Bytes(m.OwnersBytes))
	if p := m.Peak; p != nil && p.Sizes == "requested" && m.OwnersAt == "peak" {
		t.Note += " Sizes are those that were asked for: the allocator rounds them up."
	}
	blocks = append(blocks, t)
	if len(m.Largest) > 0 {
		largest := ownerTable(m.Largest, m.OwnersBytes).cut(10)
		largest.Title = "allocations"
		largest.Note = "The largest single allocations of these."
		blocks = append(blocks, largest)
	}
	return blocks
}

// peakPlace says when in the history the peak was.
func peakPlace(m summary.Snapshot) string {
	h := m.History
	if h == nil || m.Peak.NS == nil || h.StartNS == nil || m.Peak.Entry < 0 {
		return ""
	}
	return fmt.Sprintf(", %s after the first entry of the history", unit.Duration(summary.Plus(*m.Peak.NS, -max(0, *h.StartNS))))
}

// kinds has the names of kinds in words.
func kinds(m summary.Snapshot) []summary.Held {
	list := slices.Clone(m.Kinds)
	for i := range list {
		list[i].Name = summary.KindWords(list[i].Name)
	}
	return list
}

func heldTable(title, head string, list []summary.Held, all int64) Table {
	var sizes []int64
	for _, h := range list {
		sizes = append(sizes, h.Bytes)
	}
	scale := sizeScaleOf(sizes...)
	t := Table{Title: title, Columns: []Column{{head, Name}, {scale.head("live"), Number}, {"share", Number}, {"allocations", Number}}}
	for _, h := range list {
		name := h.Name
		if name == "" {
			name = "(nothing)"
		}
		t.Rows = append(t.Rows, Row{Weight: h.Bytes, Cells: []string{name, scale.text(h.Bytes), unit.Share(h.Bytes, all), unit.Count(h.Count)}})
	}
	return t
}

// ownerTable has who allocated, the largest first.
func ownerTable(list []summary.Owner, all int64) Table {
	var sizes []int64
	for _, o := range list {
		sizes = append(sizes, o.Bytes)
	}
	scale := sizeScaleOf(sizes...)
	t := Table{Title: "owners", More: Rest{Total: all, Of: "what was live"}, Columns: []Column{
		{"share", Number}, {scale.head("live"), Number}, {"count", Number}, {"for", Text}, {"allocated by", LineName},
	}}
	for _, o := range list[:min(maxHolders, len(list))] {
		t.Rows = append(t.Rows, Row{Weight: o.Bytes, Cells: []string{
			unit.Share(o.Bytes, all), scale.text(o.Bytes), unit.Count(o.Count), clip(clean(summary.KindWords(o.Kind)), 40), ownerName(o.Frame),
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

// segments says how memory is cut up, by class of segment.
func segments(m summary.Snapshot) []Block {
	if len(m.Classes) == 0 {
		return nil
	}
	scale := sizeScaleOf(m.Reserved)
	t := Table{Title: "classes", Columns: []Column{
		{"segments", Text}, {"number", Number}, {scale.head("reserved"), Number}, {scale.head("allocated"), Number}, {scale.head("waiting"), Number},
		{scale.head("split"), Number}, {scale.head("cached"), Number}, {scale.head("largest free block"), Number}, {scale.head("rounding"), Number},
	}}
	row := func(name string, u summary.Usage) {
		waiting, rounding := "", ""
		if m.Waiting > 0 {
			waiting = scale.text(u.Waiting)
		}
		if m.Requested != nil {
			rounding = scale.text(u.Rounding)
		}
		t.Rows = append(t.Rows, Row{Cells: []string{
			name, unit.Count(u.Segments), scale.text(u.Reserved), scale.text(u.Allocated), waiting, scale.text(u.Split), scale.text(u.Cached),
			scale.text(u.LargestFree), rounding,
		}})
	}
	for _, c := range m.Classes {
		row(clip(clean(summary.ClassWords(c.Name)), 60), c.Usage)
	}
	if len(m.Classes) > 1 {
		row("all", m.Usage)
	}
	t.Note = "At the moment of the snapshot. Rounding is what blocks have beyond what was asked for; it is part of allocated."
	text := fmt.Sprintf("%s are free, of which the largest block has %s (%s).", unit.Bytes(m.Free()), unit.Bytes(m.LargestFree), unit.Share(m.LargestFree, m.Free()))
	if m.Free() == 0 {
		text = "No reserved memory is free."
	}
	if m.Private > 0 {
		text += fmt.Sprintf(" Private pools, as CUDA graphs have, hold %s, of which %s are free and for nobody else.", unit.Bytes(m.Private), unit.Bytes(m.PrivateFree))
	}
	return []Block{Paragraph{Text: text}, t.withoutEmpty()}
}

// allocator says what the allocator did in the recorded history.
func allocator(m summary.Snapshot) []Block {
	h := m.History
	if h == nil {
		return nil
	}
	list := List{{Text: historyText(h)}}
	list = append(list, Item{Text: driverCalls(h) + "; of expandable segments these are maps and unmaps."})
	for _, o := range m.OutOfMemory {
		list = append(list, Item{Mark: "out of memory", Text: failureText(o), Code: o.Frame})
	}
	if more := m.Failed - int64(len(m.OutOfMemory)); more > 0 {
		list = append(list, Item{Text: plural(more, "more failure") + "."})
	}
	if m.Configuration != "" {
		list = append(list, Item{Text: "PYTORCH_CUDA_ALLOC_CONF is", Code: clip(clean(m.Configuration), 200)})
	}
	blocks := []Block{list}
	if len(h.Steps) > 0 {
		blocks = append(blocks, stepTable(h.Steps))
	}
	return blocks
}

// driverCalls says what was asked of the driver.
func driverCalls(h *summary.MemoryHistory) string {
	calls := func(n, bytes int64, name string) string {
		if n == 0 {
			return "no " + name
		}
		return fmt.Sprintf("%s of %s", plural(n, name), unit.Bytes(bytes))
	}
	return calls(h.SegmentAllocs, h.SegmentAllocBytes, "cudaMalloc call") + ", " + calls(h.SegmentFrees, h.SegmentFreeBytes, "cudaFree call")
}

func historyText(h *summary.MemoryHistory) string {
	text := fmt.Sprintf("%s: %s of %s, %s", plural(h.Entries, "entry"), plural(h.Allocs, "allocation"), unit.Bytes(h.AllocBytes), plural(h.Frees, "free"))
	if span := h.SpanNS(); span > 0 {
		text += fmt.Sprintf(" in %s (%s a second)", unit.Duration(span), unit.Count(perSecond(h.Allocs, span)))
	}
	return text + "."
}

// perSecond returns how often something happens in a second, rounded.
func perSecond(n, ns int64) int64 { return int64(float64(n)/(float64(ns)/1e9) + 0.5) }

func failureText(o summary.OutOfMemory) string {
	text := unit.Bytes(o.Wanted) + " were wanted"
	if o.Free != nil {
		text += ", the driver had " + unit.Bytes(*o.Free)
	}
	if o.Reserved != nil && o.Live != nil {
		text += fmt.Sprintf(", %s were reserved and %s of it live", unit.Bytes(*o.Reserved), unit.Bytes(*o.Live))
	}
	return text + "; by"
}

func stepTable(steps []summary.MemoryStep) Table {
	var sizes []int64
	for _, s := range steps {
		sizes = append(sizes, s.Peak)
	}
	scale := sizeScaleOf(sizes...)
	t := Table{Title: "steps", Columns: []Column{
		{"step", Name}, {"length", Number}, {scale.head("live at its start"), Number}, {scale.head("peak live"), Number}, {"allocations", Number}, {"cudaMalloc", Number}, {"cudaFree", Number},
	}}
	for _, s := range steps {
		t.Rows = append(t.Rows, Row{Cells: []string{
			s.Name, fourDigits(s.NS), scale.text(s.Start), scale.text(s.Peak), unit.Count(s.Allocs), unit.Count(s.SegmentAllocs), unit.Count(s.SegmentFrees),
		}})
	}
	t.Note = "Steps are as the program marked them."
	return t.cut(maxShownSteps)
}
