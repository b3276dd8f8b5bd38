package logs

import (
	"fmt"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/report/doc"
	"assay/report/section"
)

// machineColumns are the properties of GPUs that the table shows.
var machineColumns = []struct{ property, head string }{
	{"gpu.index", "number"}, {"gpu.model", "model"}, {"gpu.clock", "SM clock"}, {"gpu.clock_max", "max SM clock"},
	{"gpu.power_limit", "power limit"}, {"gpu.temperature", "temperature"}, {"gpu.pcie_width", "PCIe lanes"},
	{"gpu.util", "in use"}, {"gpu.vbios", "VBIOS"},
}

// Machines shows the GPUs that dumps of machines describe, and how many values they have of other parts.
func Machines(ctx *section.Context) doc.Section {
	if len(ctx.Health) == 0 {
		return doc.Section{}
	}
	t := doc.Table{Title: "GPUs", Columns: []doc.Column{doc.Col("input", doc.Number), doc.Col("GPU", doc.Text)}}
	for _, c := range machineColumns {
		t.Columns = append(t.Columns, doc.Col(c.head, doc.Text))
	}
	rows := map[string][]string{}
	var order []string
	parts, others := map[string]bool{}, int64(0)
	for _, h := range ctx.Health {
		column := slices.IndexFunc(machineColumns, func(c struct{ property, head string }) bool { return c.property == h.Property })
		gpu, isGPU := strings.CutPrefix(h.Part, "GPU ")
		if !isGPU || column < 0 {
			others++
			parts[h.Node+h.Part] = true
			continue
		}
		key := fmt.Sprint(h.Input, " ", h.Part)
		if rows[key] == nil {
			rows[key] = append([]string{fmt.Sprint(h.Input + 1), label.Clip(label.Clean(gpu), 20)}, make([]string, len(machineColumns))...)
			order = append(order, key)
		}
		rows[key][2+column] = label.Clip(label.Clean(h.Value), 30)
	}
	for _, key := range order {
		if known := slices.DeleteFunc(slices.Clone(rows[key][2:]), func(c string) bool { return c == "" }); len(known) < 2 {
			continue // the heading of another table
		}
		t.Rows = append(t.Rows, doc.Row{Cells: rows[key]})
	}
	t.Note = fmt.Sprintf("%d other values of %d parts are in summary.json, under health. Faults are findings.", others, len(parts))
	if len(t.Rows) == 0 {
		return doc.Section{Title: "Machines", Blocks: []doc.Block{doc.Paragraph{Text: t.Note}}}
	}
	return doc.Section{Title: "Machines", Blocks: []doc.Block{t.Cut(section.MaxDevices).WithoutEmpty()}}
}
