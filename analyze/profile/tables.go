package profile

import (
	"cmp"
	"math"
	"strings"

	"assay/analyze/classify"
	"assay/analyze/limits"
	"assay/internal/diag"
	"assay/internal/label"
	"assay/internal/profile"
	"assay/summary"
)

// MeasureTables copies the tables of one input, and assigns classes and categories to kernels. Rows are not
// added up over tables, because a kernel of one run may be in several of them.
func MeasureTables(t *profile.Tables, in summary.Input, rules *classify.Rules, issues *diag.Ledger) *summary.Summary {
	in.Events, in.Complete = t.Records, t.Complete
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{in}, Devices: []summary.Device{},
		Kernels: []summary.Kernel{}}
	for number, from := range t.List {
		table := tableOf(from, rules)
		table.Number, table.Line, table.Tool = number, from.Line, cmp.Or(from.Tool, t.Tool)
		s.Tables = append(s.Tables, table)
		checkTableSums(&table, issues)
	}
	return s
}

// tableOf converts a table.
func tableOf(from *profile.Table, rules *classify.Rules) summary.Table {
	t := summary.Table{Name: from.Name, Title: from.Title, Of: from.Of, Run: from.Run, Clock: from.Clock,
		Left: from.Left, Missing: from.Missing,
		Columns: []summary.TableColumn{}, Rows: []summary.TableRow{}}
	for _, h := range from.Columns {
		t.Columns = append(t.Columns, summary.TableColumn{Name: h.Name, Unit: unitName(h.Unit), Adds: addsName(h.Adds)})
	}
	for _, r := range from.Rows {
		row := summary.TableRow{Name: r.Name, Values: values(r.Cells)}
		for _, l := range r.Labels {
			if row.Labels == nil {
				row.Labels = make(map[string]string)
			}
			row.Labels[l.Key] = l.Text
		}
		classifyRow(&row, from.Of, rules)
		t.Rows = append(t.Rows, row)
	}
	if from.Rest != nil {
		t.Rest = values(from.Rest)
	}
	if from.Totals != nil {
		t.Totals = values(from.Totals)
	}
	return t
}

// unitName returns the summary's name of a unit.
func unitName(unit string) string {
	if unit == "nanoseconds" {
		return "ns"
	}
	return unit
}

func addsName(a profile.Adds) string {
	switch a {
	case profile.Self:
		return summary.AddsSelf
	case profile.Total:
		return summary.AddsTotal
	}
	return summary.AddsEach
}

func values(cells []profile.Cell) []*int64 {
	out := make([]*int64, len(cells))
	for i, c := range cells {
		if c.Known {
			out[i] = &c.Value
		}
	}
	return out
}

// classifyRow sets the class, category and rule of a kernel, copy or memset, and the kind of a call.
func classifyRow(r *summary.TableRow, of string, rules *classify.Rules) {
	switch of {
	case profile.OfDeviceOp:
		if of = profile.OfKernel; isCopy(r.Name) {
			of = profile.OfCopy
		}
	case profile.OfRow:
		// The table of nsys that combines calls and device work.
		switch r.Labels["category"] {
		case "CUDA_KERNEL":
			of = profile.OfKernel
		case "MEMORY_OPER":
			of = profile.OfCopy
		case "CUDA_API":
			of = profile.OfCall
		}
	}
	switch of {
	case profile.OfKernel:
		m := rules.Kernel(r.Name)
		r.Class, r.Category, r.Rule = string(m.Class), m.Category, m.Rule
	case profile.OfCopy:
		if r.Class = string(classify.Copy); strings.Contains(strings.ToLower(r.Name), "memset") {
			r.Class = string(classify.Memset)
		}
	case profile.OfCall:
		r.Kind = classify.CallKind(r.Name)
	case profile.OfOp:
		if label.IsCall(r.Name) {
			r.Kind = classify.CallKind(r.Name)
		}
	}
}

// isCopy reports whether a row of device work is a copy or memset. nsys writes these names in brackets, and
// torch uses the names of traces.
func isCopy(name string) bool {
	return strings.HasPrefix(name, "[") && strings.Contains(name, " mem") ||
		strings.HasPrefix(name, "Memcpy") || strings.HasPrefix(name, "Memset") || strings.HasPrefix(name, "CopyDevice") ||
		strings.HasPrefix(name, "CopyHost")
}

// checkTableSums adds an issue for sums that reached the limit of [summary.Plus].
func checkTableSums(t *summary.Table, issues *diag.Ledger) {
	for i, c := range t.Columns {
		if sum, ok := t.Sum(i); ok && sum == math.MaxInt64 && c.Adds != summary.AddsEach {
			issues.Add(diag.Issue{Code: "sum-overflow", Severity: diag.Suspect, Help: limits.SumOverflow})
		}
	}
}
