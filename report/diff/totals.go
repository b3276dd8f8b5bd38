package diff

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"assay/compare"
	"assay/internal/label"
	"assay/internal/unit"
	"assay/report/doc"
	"assay/report/words"
	"assay/summary"
)

// sums compares tables of other tools and counters of kernels.
func (b *differ) sums(rows, columns int) (out []doc.Section) {
	for _, t := range b.Tables {
		if len(t.Columns) > 0 {
			t.Columns = t.Columns[:min(columns, len(t.Columns))]
			out = append(out, tableDelta(t, rows))
		}
	}
	return append(out, b.counted(rows))
}

// tableDelta lists the rows of a table with the largest changes of its first column.
func tableDelta(d compare.TableDelta, rows int) doc.Section {
	first := d.Columns[0]
	s := doc.Section{Title: label.Clip(label.Clean(d.Tool+" "+d.Name), 60)}
	if clock := map[string]string{summary.ClockWall: "wall time", summary.ClockCPU: "CPU time"}[d.Clock]; clock != "" {
		s.Title += ", " + clock
	}
	if base, new, ok := first.Sums(); ok {
		s.Lead = fmt.Sprintf("%s %s, was %s (%s)", label.Clip(label.Clean(first.Title()), 30), first.Text(new),
			first.Text(base), compare.SignedShare(new-base, base))
	}
	t := doc.Table{Title: "rows"}
	for _, c := range d.Columns {
		t.Columns = append(t.Columns, doc.Col(label.Clip(label.Clean(c.Name), 20)+" delta", doc.Number))
	}
	t.Columns = append(t.Columns, doc.Col("delta %", doc.Number), doc.Col("", doc.Text), doc.Col("name", rowKind(d)))
	for _, r := range d.Rows {
		var cells []string
		still := true
		for i, c := range d.Columns {
			delta := r.Delta(i)
			still = still && delta == 0
			text := c.Text(delta)
			if delta > 0 {
				text = "+" + text
			}
			cells = append(cells, text)
		}
		if still {
			continue
		}
		base := int64(0)
		if r.Base[0] != nil {
			base = *r.Base[0]
		}
		t.Rows = append(t.Rows, doc.Row{Cells: append(cells, compare.SignedShare(r.Delta(0), base), words.Match(r.Match),
			r.Name)})
	}
	if len(t.Rows) == 0 {
		return s
	}
	s.Blocks = []doc.Block{t.WithoutEmpty().Cut(rows)}
	return s
}

func rowKind(d compare.TableDelta) doc.Kind {
	if d.Of == "kernel" {
		return doc.KernelName
	}
	return doc.Name
}

// counted compares kernels by their hardware counters: those that changed.
func (b *differ) counted(rows int) doc.Section {
	t := doc.Table{Title: "kernels", Columns: []doc.Column{
		doc.Col("mean", doc.Number), doc.Col("delta %", doc.Number), doc.Col("compute", doc.Number),
		doc.Col("memory", doc.Number), doc.Col("occupancy", doc.Number), doc.Col("", doc.Text),
		doc.Col("kernel", doc.KernelName),
	}}
	for _, c := range b.Counters {
		cells := []string{changeText(c.BaseNS, c.NewNS), ""}
		if c.BaseNS != nil && c.NewNS != nil {
			cells[1] = compare.SignedShare(c.Delta(), *c.BaseNS)
		}
		cells = append(cells, pctChange(c.BaseCompute, c.NewCompute), pctChange(c.BaseMemory, c.NewMemory),
			pctChange(c.BaseOccupancy, c.NewOccupancy))
		t.Rows = append(t.Rows, doc.Row{Cells: append(cells, words.Match(c.Match), c.Kernel)})
	}
	if len(t.Rows) == 0 {
		return doc.Section{}
	}
	t.Note = "Mean duration of a launch; compute and memory throughput and occupancy in % of peak. The profiler runs each launch alone, " +
		"so times do not add up to a step."
	return doc.Section{Title: "Kernel counters", Lead: "per launch, baseline → new",
		Blocks: []doc.Block{t.WithoutEmpty().Cut(rows)}}
}

func changeText(base, new *int64) string {
	text := func(n *int64) string {
		if n == nil {
			return unit.None
		}
		return unit.FineDuration(*n)
	}
	if base == nil && new == nil {
		return ""
	}
	return text(base) + " → " + text(new)
}

func pctChange(base, new *float64) string {
	text := func(f *float64) string {
		if f == nil || math.IsInf(*f, 0) || math.IsNaN(*f) {
			return unit.None
		}
		return strconv.FormatFloat(*f, 'f', 1, 64) + "%"
	}
	if base == nil && new == nil || slices.Equal([]string{text(base)}, []string{text(new)}) {
		return text(base)
	}
	return text(base) + " → " + text(new)
}
