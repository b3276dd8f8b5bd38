package memory

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
	"assay/summary/view"
)

// useTable says what the reserved memory of one device is for. The rows sum to the reserved memory.
func useTable(ctx *section.Context, m *summary.Snapshot) []doc.Block {
	uses := view.MemoryUses(ctx.Summary, m)
	if len(uses) == 0 {
		return nil
	}
	scale := doc.SizeScaleOf(m.Moment.Reserved)
	t := doc.Table{Title: "owners", Columns: []doc.Column{doc.Col("owner", doc.Text), doc.Col(scale.Head("memory"), doc.Number),
		doc.Col("% of reserved", doc.Number), doc.Col("allocations", doc.Number), doc.Col("told by", doc.Text)}}
	for _, u := range uses {
		count := ""
		if u.Count > 0 {
			count = unit.Count(u.Count)
		}
		t.Rows = append(t.Rows, doc.Row{Weight: u.Bytes, Cells: []string{summary.UseWords(u.Owner), scale.Text(u.Bytes),
			unit.Share(u.Bytes, m.Moment.Reserved), count, toldBy(ctx, m, u.Owner)}})
	}
	t.Note = fmt.Sprintf("All of the %s reserved %s. Lifetime: freed in or after the backward pass. "+
		"Size: one block of a size for each gradient of it. Fragmentation: free parts of segments in use.",
		unit.Bytes(m.Moment.Reserved), momentWords(m.Moment))
	return []doc.Block{t}
}

// toldBy returns what told an owner, the most memory first.
func toldBy(ctx *section.Context, m *summary.Snapshot, owner string) string {
	var rows []summary.MemoryUse
	for _, u := range ctx.MemoryUses {
		if u.Input == m.Input && u.Rank == m.Rank && u.Device == m.Device && u.Owner == owner && u.By != "" {
			rows = append(rows, u)
		}
	}
	slices.SortFunc(rows, func(a, b summary.MemoryUse) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.By, b.By))
	})
	var parts []string
	for _, u := range rows {
		parts = append(parts, summary.ByWords(u.By))
	}
	return strings.Join(parts, ", ")
}

func momentWords(m *summary.MemoryMoment) string {
	switch m.At {
	case "failure":
		return "when the allocation failed"
	case "peak":
		return "at the peak of allocated memory"
	}
	return "when the snapshot was taken"
}

// useLine is the table of owners on one line, for the screen.
func useLine(ctx *section.Context, m *summary.Snapshot) string {
	var parts []string
	for _, u := range view.MemoryUses(ctx.Summary, m) {
		if unknown := u.Owner == summary.UseUnknown; (unknown || len(parts) < 5) && 100*u.Bytes >= m.Moment.Reserved {
			text := fmt.Sprintf("%s %s", summary.UseWords(u.Owner), unit.Share(u.Bytes, m.Moment.Reserved))
			if unknown {
				text += " (" + toldBy(ctx, m, u.Owner) + ")"
			}
			parts = append(parts, text)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return fmt.Sprintf("%s reserved %s: %s", unit.Bytes(m.Moment.Reserved), momentWords(m.Moment), strings.Join(parts, ", "))
}

// spreadTable compares the owners of memory over devices: the least, the median and the most. Rows of snapshots without
// a history are left out, because their moments are arbitrary.
func spreadTable(ctx *section.Context, rows []summary.Snapshot, labels []string) []doc.Block {
	type amount struct {
		bytes int64
		at    string
	}
	owners, total := map[string][]amount{}, int64(0)
	n, seen := 0, map[[2]int64]bool{}
	for i := range rows {
		key := [2]int64{int64(rows[i].Rank), rows[i].Device}
		if seen[key] {
			return nil // several runs, which are no peers
		}
		seen[key] = true
		if m := &rows[i]; m.Moment != nil && m.Moment.At != "end" {
			n++
			for _, u := range view.MemoryUses(ctx.Summary, m) {
				owners[u.Owner] = append(owners[u.Owner], amount{u.Bytes, labels[i]})
				total = max(total, m.Moment.Reserved)
			}
		}
	}
	if n < 2 {
		return nil
	}
	scale := doc.SizeScaleOf(total)
	t := doc.Table{Title: "spread", Columns: []doc.Column{doc.Col("owner", doc.Text), doc.Col(scale.Head("least"), doc.Number),
		doc.Col(scale.Head("median"), doc.Number), doc.Col(scale.Head("most"), doc.Number), doc.Col("most on", doc.Text)}}
	for owner, list := range owners {
		list = append(list, make([]amount, n-len(list))...)
		slices.SortStableFunc(list, func(a, b amount) int { return cmp.Or(cmp.Compare(a.bytes, b.bytes), cmp.Compare(b.at, a.at)) })
		last, at := list[n-1], ""
		if last.bytes > list[0].bytes {
			at = last.at
		}
		t.Rows = append(t.Rows, doc.Row{Weight: last.bytes, Cells: []string{summary.UseWords(owner), scale.Text(list[0].bytes),
			scale.Text(list[n/2].bytes), scale.Text(last.bytes), at}})
	}
	slices.SortFunc(t.Rows, func(a, b doc.Row) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(a.Cells[0], b.Cells[0]))
	})
	t.Note = fmt.Sprintf("Over %d GPUs, each when its allocation failed, else at its peak.", n)
	return []doc.Block{t}
}
