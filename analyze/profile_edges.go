package analyze

import (
	"cmp"
	"slices"

	"assay/profile"
	"assay/summary"
)

// A callKey is one function called by another.
type callKey struct{ caller, callee functionKey }

// callParts is how small a call may be to be kept: one of so many parts of all.
const callParts = 1000

// edgesOf returns who called whom, of calls that matter, at most so many: the
// largest. A call that is in a stack several times counts once for each sample.
func edgesOf(p *profile.Profile, rows int) summary.Table {
	column := p.Columns[p.Default]
	t := summary.Table{Name: "calls", Of: summary.OfEdge, Rows: []summary.TableRow{},
		Columns: []summary.TableColumn{{Name: "total", Unit: unitName(column.Unit), Adds: summary.AddsTotal}}}
	type call struct {
		callKey
		total int64
		last  int
	}
	var calls []*call
	index := make(map[callKey]*call)
	var all int64
	for i := range p.Samples {
		value := p.Samples[i].Values[p.Default]
		all = summary.Plus(all, max(0, value))
		stack := p.Samples[i].Stack
		for j := 1; j < len(stack); j++ {
			key := callKey{keyOf(stack[j-1]), keyOf(stack[j])}
			if key.caller == key.callee {
				continue
			}
			c := index[key]
			if c == nil {
				c = &call{callKey: key}
				index[key] = c
				calls = append(calls, c)
			}
			if c.last != i+1 {
				c.total, c.last = summary.Plus(c.total, value), i+1
			}
		}
	}
	calls = slices.DeleteFunc(calls, func(c *call) bool { return c.total < max(1, all/callParts) })
	slices.SortFunc(calls, func(a, b *call) int {
		return cmp.Or(cmp.Compare(b.total, a.total), a.callee.compare(b.callee), a.caller.compare(b.caller))
	})
	text := rows * rowText
	for _, c := range calls[:min(rows, len(calls))] {
		if text -= len(c.caller.name) + len(c.caller.file) + len(c.callee.name) + len(c.callee.file); text < 0 {
			break
		}
		row := summary.TableRow{Name: c.callee.name, Labels: map[string]string{"caller": c.caller.name}, Values: []*int64{&c.total}}
		if c.callee.file != "" {
			row.Labels["file"] = c.callee.file
		}
		if c.caller.file != "" {
			row.Labels["caller_file"] = c.caller.file
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
