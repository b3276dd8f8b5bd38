package analyze

import (
	"cmp"
	"maps"
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
		total int64
		last  int
	}
	calls := make(map[callKey]*call)
	var all int64
	for i := range p.Samples {
		value := p.Samples[i].Values[p.Default]
		all = summary.Plus(all, max(0, value))
		stack := p.Samples[i].Stack
		for j := 1; j < len(stack); j++ {
			key := callKey{keyOf(stack[j-1]), keyOf(stack[j])}
			c := calls[key]
			if c == nil {
				c = new(call)
				calls[key] = c
			}
			if c.last != i+1 {
				c.total, c.last = summary.Plus(c.total, value), i+1
			}
		}
	}
	keys := slices.Collect(maps.Keys(calls))
	keys = slices.DeleteFunc(keys, func(key callKey) bool {
		return key.caller == key.callee || calls[key].total < max(1, all/callParts)
	})
	slices.SortFunc(keys, func(a, b callKey) int {
		return cmp.Or(cmp.Compare(calls[b].total, calls[a].total), a.callee.compare(b.callee), a.caller.compare(b.caller))
	})
	text := rows * rowText
	for _, key := range keys[:min(rows, len(keys))] {
		if text -= len(key.caller.name) + len(key.caller.file) + len(key.callee.name) + len(key.callee.file); text < 0 {
			break
		}
		c := calls[key]
		row := summary.TableRow{Name: key.callee.name, Labels: map[string]string{"caller": key.caller.name}, Values: []*int64{&c.total}}
		if key.callee.file != "" {
			row.Labels["file"] = key.callee.file
		}
		if key.caller.file != "" {
			row.Labels["caller_file"] = key.caller.file
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}
