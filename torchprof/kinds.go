package torchprof

import (
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/profile"
)

// A kind is the kind of a row of a printed table. Rows come from the host and
// from the device, and their times must not be added to each other.
type kind uint8

const (
	ofCPU    kind = iota // recorded on the CPU: an operator, a call, a range
	ofDevice             // work of the device: a kernel, copy or memset
	ofRange              // a range as recorded on the device
)

// onDevice reports whether a row describes work on the device: it has self time
// there and none on the CPU. If the CPU's columns were left out, a row with the
// name of an operator is not on the device. A call of the runtime never is: where it has device time,
// that is the time of the kernels that it launched.
func (o *openTable) onDevice(r *row) bool {
	self, all, host, hosts := int64(0), int64(0), false, 0
	for i, c := range o.columns {
		if c.role != aTime || c.mean {
			continue
		}
		switch v := r.cells[i].Value; {
		case c.place == cpu:
			hosts++
			host = host || v != 0
		case c.place == o.device && c.self:
			self = v
		case c.place == o.device:
			all = v
		}
	}
	switch {
	case o.device == "" || host || label.IsCall(r.name):
		return false
	case hosts > 0:
		return self != 0 || all != 0
	}
	return self != 0 && !isOperator(r.name)
}

// isOperator reports whether a name is an operator's, such as "aten::mm": a
// namespace and a word.
func isOperator(name string) bool {
	space, op, ok := strings.Cut(name, "::")
	return ok && space != "" && op != "" && !strings.ContainsAny(name, " <>(),&*")
}

// isKernel reports whether a name can only be the name of a kernel or copy. A CPU
// range of that name was made by the launcher: Inductor wraps each launch of its
// kernels in a range with the name of the kernel.
func isKernel(name string) bool {
	return strings.HasPrefix(name, "triton_") || strings.Contains(name, "_kernel") || strings.ContainsAny(name, "<(") ||
		strings.HasPrefix(name, "Memcpy ") || strings.HasPrefix(name, "Memset ")
}

// kinds returns the kind of each row.
func (o *openTable) kinds() []kind {
	out := make([]kind, len(o.rows))
	host := make(map[string]bool)
	for i := range o.rows {
		if r := &o.rows[i]; o.onDevice(r) {
			out[i] = ofDevice
		} else {
			host[r.name] = true
		}
	}
	worked, known := o.totalOf(o.device)
	self := o.deviceTime(true)
	for i := range o.rows {
		r := &o.rows[i]
		if out[i] != ofDevice || self < 0 {
			continue
		}
		over := known && r.cells[self].Value > worked.cell.Value+worked.res
		if strings.HasPrefix(r.name, "ProfilerStep") || over || r.cells[self].Value == 0 || host[r.name] && !isKernel(r.name) {
			out[i] = ofRange
		}
	}
	if self >= 0 {
		o.findRanges(out, self)
	}
	return out
}

// deviceTime returns the column with the self or total time of the device, or
// the other one if that column was left out.
func (o *openTable) deviceTime(self bool) int {
	if i := slices.IndexFunc(o.columns, func(c column) bool { return c.role == aTime && c.place == o.device && c.self == self && !c.mean }); i >= 0 {
		return i
	}
	return o.column(aTime, o.device)
}

// tables returns the rows of the table, by kind.
func (o *openTable) tables() []*profile.Table {
	kinds := o.kinds()
	o.twice = o.countedTwice(kinds, o.dropCallTimes(kinds))
	name := "key_averages"
	device := name + "." + strings.ToLower(o.device)
	title := o.title()
	var out []*profile.Table
	for _, t := range []struct {
		kind
		name, of string
		columns  []pick
		role     string
	}{
		{ofCPU, name, profile.OfOp, o.hostColumns(kinds), "operators"},
		{ofDevice, device, profile.OfDeviceOp, o.deviceColumns(profile.Self), "kernels and copies on " + o.device},
		{ofRange, device + ".ranges", profile.OfRange, o.deviceColumns(profile.Total), "ranges on " + o.device},
	} {
		table := &profile.Table{Name: t.name, Of: t.of, Line: o.at}
		if title != "" {
			table.Title = title + ": " + t.role
		}
		for _, p := range t.columns {
			table.Columns = append(table.Columns, p.heading)
		}
		for i := range o.rows {
			if kinds[i] == t.kind {
				table.Rows = append(table.Rows, o.rows[i].picked(t.columns))
			}
		}
		if table.Left = o.left[t.kind]; table.Left > 0 {
			table.Rest = pickCells(o.rest[t.kind], t.columns)
		}
		if len(table.Rows) > 0 || table.Left > 0 {
			out = append(out, table)
		}
	}
	o.assignTotals(out)
	return out
}

// A pick is a column of the result, with the index of the printed column for it.
type pick struct {
	from    int
	heading profile.Heading
}

// hostColumns returns all columns, with the times of the device first if rows
// of the host have such times.
func (o *openTable) hostColumns(kinds []kind) (out []pick) {
	var device []pick
	seen := make(map[string]bool)
	for i, c := range o.columns {
		h, ok := c.heading(o.device)
		if !ok || seen[h.Name] {
			continue
		}
		seen[h.Name] = true
		if c.place == o.device && c.role == aTime && o.device != "" {
			device = append(device, pick{i, h})
			continue
		}
		out = append(out, pick{i, h})
	}
	for i := range o.rows {
		for _, p := range device {
			if kinds[i] == ofCPU && p.heading.Adds == profile.Self && o.rows[i].cells[p.from].Value != 0 {
				return append(device, out...)
			}
		}
	}
	return append(out, device...)
}

// deviceColumns returns the columns that apply to a row of the device.
func (o *openTable) deviceColumns(adds profile.Adds) (out []pick) {
	if i := o.deviceTime(adds == profile.Self); i >= 0 {
		out = append(out, pick{i, profile.Heading{Name: "total", Unit: "nanoseconds", Adds: adds}})
	}
	for i, c := range o.columns {
		switch {
		case c.role == aCount:
			out = append(out, pick{i, profile.Heading{Name: "count", Unit: "count", Adds: profile.Self}})
		case c.role == aTime && c.mean && c.place == o.device:
			out = append(out, pick{i, profile.Heading{Name: "mean", Unit: "nanoseconds"}})
		}
	}
	return out
}

func pickCells(cells []profile.Cell, columns []pick) []profile.Cell {
	out := make([]profile.Cell, len(columns))
	for i, p := range columns {
		if p.heading.Adds != profile.Each || cells[p.from].Known {
			out[i] = cells[p.from]
		}
	}
	return out
}

// picked returns the row with the columns of a result.
func (r *row) picked(columns []pick) profile.Row {
	out := profile.Row{Name: r.name, Line: r.line, Labels: slices.Clone(r.labels), Cells: pickCells(r.cells, columns)}
	if len(r.stack) > 0 {
		out.Labels = append(out.Labels, profile.Label{Key: "stack", Text: strings.Join(r.stack, "; ")})
	}
	slices.SortFunc(out.Labels, func(a, b profile.Label) int { return strings.Compare(a.Key, b.Key) })
	return out
}

// assignTotals assigns the printed totals to their columns. The total of the
// device belongs to the table of kernels. Versions before Kineto print no kernels;
// then it belongs to the table of operators.
func (o *openTable) assignTotals(tables []*profile.Table) {
	set := func(t *profile.Table, column, place string) {
		i, ok := t.Column(column)
		said, known := o.totalOf(place)
		if !ok || !known {
			return
		}
		if t.Totals == nil {
			t.Totals = make([]profile.Cell, len(t.Columns))
		}
		t.Totals[i] = said.cell
	}
	kernels := slices.ContainsFunc(tables, func(t *profile.Table) bool { return t.Of == profile.OfDeviceOp })
	for _, t := range tables {
		switch t.Of {
		case profile.OfOp:
			set(t, "self_cpu", cpu)
			if said, ok := o.totalOf(o.device); ok && !kernels && said.cell.Value > 0 {
				set(t, "self_device", o.device)
			}
		case profile.OfDeviceOp:
			set(t, "total", o.device)
		}
	}
}

// title returns the text above the table, and the writer of the table if the
// prefix of its lines names one.
func (o *openTable) title() string {
	text := strings.TrimSpace(strings.TrimPrefix(o.banner, o.prefix.lead))
	who := strings.Trim(stamp().ReplaceAllString(o.prefix.lead, ""), ": ")
	lower := strings.ToLower(who)
	for _, word := range []string{"rank", "pid", "worker", "actor", "default"} {
		if strings.Contains(lower, word) {
			return clip(strings.TrimSpace(who + " " + text))
		}
	}
	return clip(text)
}
