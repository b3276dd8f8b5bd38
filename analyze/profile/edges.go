package profile

import (
	"cmp"
	"slices"

	"assay/analyze/limits"
	"assay/summary"
)

// callParts limits the calls that are kept: a call must have at least 1/callParts of the total.
const callParts = 1000

// callSum has the calls of one function by another. Both are indices of functions.
type callSum struct {
	caller, callee uint32
	total          int64
	last           int // the sample that was added last, from 1; prevents counting a recursion twice
}

// edgesOf returns the calls between functions that are large enough, at most rows of them, the largest
// first. A call that is in a stack several times is counted once per sample.
func edgesOf(c *callStacks, rows int) summary.Table {
	p := c.p
	column := p.Columns[p.Default]
	t := summary.Table{Name: "calls", Of: summary.OfEdge, Rows: []summary.TableRow{},
		Columns: []summary.TableColumn{{Name: "total", Unit: unitName(column.Unit), Adds: summary.AddsTotal}}}
	calls, all := sumCalls(c)
	calls = slices.DeleteFunc(calls, func(e callSum) bool { return e.total < max(1, all/callParts) })
	slices.SortFunc(calls, func(a, b callSum) int {
		return cmp.Or(cmp.Compare(b.total, a.total), c.functions[a.callee].compare(c.functions[b.callee]),
			c.functions[a.caller].compare(c.functions[b.caller]))
	})
	text := rows * limits.RowText
	for _, e := range calls[:min(rows, len(calls))] {
		caller, callee := c.functions[e.caller], c.functions[e.callee]
		if text -= len(caller.name) + len(caller.file) + len(callee.name) + len(callee.file); text < 0 {
			break
		}
		row := summary.TableRow{Name: callee.name, Labels: map[string]string{"caller": caller.name},
			Values: pointersTo([]int64{e.total})}
		if callee.file != "" {
			row.Labels["file"] = callee.file
		}
		if caller.file != "" {
			row.Labels["caller_file"] = caller.file
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// sumCalls returns the calls in all stacks, and the sum of all samples that are not negative.
func sumCalls(c *callStacks) (calls []callSum, all int64) {
	index := make(map[uint64]uint32)
	c.each(func(i int, stack []uint32) {
		value := c.p.Samples[i].Values[c.p.Default]
		all = summary.Plus(all, max(0, value))
		for j := 1; j < len(stack); j++ {
			caller, callee := stack[j-1], stack[j]
			if caller == callee {
				continue
			}
			key := uint64(caller)<<32 | uint64(callee)
			at, ok := index[key]
			if !ok {
				at = uint32(len(calls))
				index[key] = at
				calls = append(calls, callSum{caller: caller, callee: callee})
			}
			if e := &calls[at]; e.last != i+1 {
				e.total, e.last = summary.Plus(e.total, value), i+1
			}
		}
	})
	return calls, all
}
