package profile

import (
	"cmp"
	"fmt"
	"slices"

	"assay/analyze/limits"
	"assay/internal/diag"
	"assay/internal/profile"
	"assay/summary"
)

// Measure measures the stacks of one input: a table of functions, with the cost of each function itself
// (self) and including its callees (total), and the tree of the stacks for pictures. Both use the profile's
// default column; for the other columns the table has self costs only.
//
// A function is a name in a file. A recursive function counts once per sample. Self costs add up to the sum
// of all samples; totals do not.
func Measure(p *profile.Profile, in summary.Input, most int, issues *diag.Ledger) *summary.Summary {
	in.Events, in.Complete = int64(len(p.Samples)), !p.Cut
	in.SpanNS = max(0, p.Duration)
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{in}, Devices: []summary.Device{},
		Kernels: []summary.Kernel{}}
	if len(p.Columns) > 0 {
		stacks := stacksOf(p)
		t := functionsOf(stacks, most, issues)
		t.Tool = in.Format
		s.Tables = []summary.Table{t}
		checkTableSums(&t, issues)
		if calls := edgesOf(stacks, most); len(calls.Rows) > 0 {
			calls.Tool, calls.Number = in.Format, 1
			s.Tables = append(s.Tables, calls)
		}
		if f := flameOf(p, issues); f.Total > 0 {
			s.Flames = []summary.Flame{f}
		}
	}
	for _, from := range p.Beside {
		t := tableOf(from, nil)
		t.Tool, t.Number = in.Format, len(s.Tables)
		s.Tables = append(s.Tables, t)
	}
	return s
}

// A functionKey identifies a function. The line is not part of it, because calls
// within one function have different lines.
type functionKey struct{ name, file string }

func keyOf(f profile.Frame) functionKey { return functionKey{f.Name, f.File} }

func (k functionKey) compare(other functionKey) int {
	return cmp.Or(cmp.Compare(k.name, other.name), cmp.Compare(k.file, other.file))
}

// functionSum has the cost of one function.
type functionSum struct {
	functionKey
	self  []int64 // for each column
	total int64   // total cost, in the default column
	last  int     // the sample that was added last, from 1; prevents counting a recursion twice
}

// callStacks has the stacks of a profile with an index for each function, so that names are looked up only
// once. Apart from the names it has no pointers, because profiles with millions of stacks make a large heap
// to scan.
type callStacks struct {
	p         *profile.Profile
	functions []functionKey
	ids       []uint32 // function of each frame, sample by sample
}

// stacksOf assigns indices to the functions of a profile. A sample without a stack has one frame, noStack.
func stacksOf(p *profile.Profile) *callStacks {
	frames := 0
	for i := range p.Samples {
		frames += max(1, len(p.Samples[i].Stack))
	}
	c := &callStacks{p: p, ids: make([]uint32, 0, frames)}
	index := make(map[functionKey]uint32)
	number := func(key functionKey) {
		id, ok := index[key]
		if !ok {
			id = uint32(len(c.functions))
			index[key] = id
			c.functions = append(c.functions, key)
		}
		c.ids = append(c.ids, id)
	}
	for i := range p.Samples {
		for _, f := range p.Samples[i].Stack {
			number(keyOf(f))
		}
		if len(p.Samples[i].Stack) == 0 {
			number(functionKey{name: noStack})
		}
	}
	return c
}

// each calls f for every sample with the functions of its stack, outermost first.
func (c *callStacks) each(f func(sample int, stack []uint32)) {
	at := 0
	for i := range c.p.Samples {
		n := max(1, len(c.p.Samples[i].Stack))
		f(i, c.ids[at:at+n])
		at += n
	}
}

// functionsOf returns the table of functions.
func functionsOf(c *callStacks, rows int, issues *diag.Ledger) summary.Table {
	p := c.p
	width := len(p.Columns)
	sums, selves := make([]functionSum, len(c.functions)), make([]int64, width*len(c.functions))
	for i, key := range c.functions {
		sums[i] = functionSum{functionKey: key, self: selves[width*i : width*(i+1) : width*(i+1)]}
	}
	c.each(func(i int, stack []uint32) {
		values := p.Samples[i].Values
		for _, id := range stack {
			if sum := &sums[id]; sum.last != i+1 {
				sum.last = i + 1
				sum.total = summary.Plus(sum.total, values[p.Default])
			}
		}
		leaf := &sums[stack[len(stack)-1]]
		for j, v := range values {
			leaf.self[j] = summary.Plus(leaf.self[j], v)
		}
	})
	slices.SortFunc(sums, func(a, b functionSum) int {
		return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(b.self[p.Default], a.self[p.Default]),
			a.compare(b.functionKey))
	})
	return functionTable(p, sums, rows, issues)
}

// noStack is the function of samples that have no stack.
const noStack = "(no stack)"

// functionTable makes the table of the costs of functions, up to the limit of rows.
func functionTable(p *profile.Profile, sums []functionSum, rows int, issues *diag.Ledger) summary.Table {
	column := p.Columns[p.Default]
	t := summary.Table{Name: column.Name, Of: summary.OfFunction, Rows: []summary.TableRow{}, Idle: p.Idle,
		Columns: []summary.TableColumn{
			{Name: "self", Unit: unitName(column.Unit), Adds: summary.AddsSelf},
			{Name: "total", Unit: unitName(column.Unit), Adds: summary.AddsTotal},
		}}
	if column.Name == profile.ClockCPU || column.Name == profile.ClockWall {
		t.Clock = column.Name
	}
	var others []int
	for i, c := range p.Columns {
		if i != p.Default {
			others = append(others, i)
			t.Columns = append(t.Columns, summary.TableColumn{Name: c.Name, Unit: unitName(c.Unit), Adds: summary.AddsSelf})
		}
	}
	text := rows * limits.RowText
	values := make([]int64, 2+len(others))
	for i := range sums {
		sum := &sums[i]
		values[0], values[1] = sum.self[p.Default], sum.total
		for j, column := range others {
			values[2+j] = sum.self[column]
		}
		if text -= len(sum.name) + len(sum.file); len(t.Rows) >= rows || text < 0 {
			poolRow(&t, values)
			continue
		}
		row := summary.TableRow{Name: sum.name, Values: pointersTo(values)}
		if sum.file != "" {
			row.Labels = map[string]string{"file": sum.file}
		}
		t.Rows = append(t.Rows, row)
	}
	issues.AddN(diag.Issue{Code: "table-rows-pooled", Severity: diag.DataLoss,
		Help: fmt.Sprintf("A table has %d rows per input at most. The rows with the smallest values are added up in one: sums are correct, but names are missing. Raise --max-memory.", rows)}, t.Left)
	return t
}

// poolRow adds the columns of a row that add up to the rest of its table.
func poolRow(t *summary.Table, values []int64) {
	if t.Rest == nil {
		t.Rest = make([]*int64, len(t.Columns))
	}
	t.Left++
	for i, c := range t.Columns {
		if c.Adds != summary.AddsSelf {
			continue
		}
		if t.Rest[i] == nil {
			t.Rest[i] = new(int64)
		}
		*t.Rest[i] = summary.Plus(*t.Rest[i], values[i])
	}
}

// pointersTo returns pointers to copies of values.
func pointersTo(values []int64) []*int64 {
	copies, out := slices.Clone(values), make([]*int64, len(values))
	for i := range copies {
		out[i] = &copies[i]
	}
	return out
}
