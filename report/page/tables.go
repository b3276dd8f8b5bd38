package page

import (
	"slices"

	"assay/report/words"
	"assay/summary"
)

// A table has rows as columns. The script adds rows up that differ in their ranks alone.
type table struct {
	ID      string  `json:"id"`
	Title   string  `json:"title"`
	Of      string  `json:"of"`      // what shares are of
	Share   int     `json:"share"`   // the column that they are of
	Columns []cells `json:"columns"` // the first has the names of the rows
	Rank    []int   `json:"rank,omitempty"`
	Class   string  `json:"class,omitempty"` // a digit per row, as of a lane
}

// The kinds of columns. Rows with equal keys are added up: ns, count and bytes are summed,
// of the longest there is one, and the mean is the share's column by the count.
const (
	kindName  = "name" // a key that is set as code
	kindKey   = "key"
	kindNS    = "ns"
	kindCount = "count"
	kindBytes = "bytes"
	kindMax   = "max"
	kindMean  = "mean" // made by the script
	kindFLOPs = "flops"
	kindRate  = "rate" // made by the script: the quotient of two columns, times a factor ("rate:7:4:0.001")
)

// cells are one column: numbers of names for keys, numbers for all others.
type cells struct {
	Title  string  `json:"title"`
	Kind   string  `json:"kind"`
	Values []int64 `json:"values,omitempty"`
}

// A shown describes one table of rows of a kind: a title and a value for each column.
type shown[Row any] struct {
	id, title, of string
	share         int
	instead       shareColumn // of shares, if all values of share are 0
	columns       []shownColumn[Row]
	rank          func(*Row) int
	class         func(*Row) string // nil if rows have none
}

// A shareColumn names a column that shares may be of.
type shareColumn struct {
	share int
	of    string
}

type shownColumn[Row any] struct {
	title, kind string
	text        func(*Row) string // of a key
	number      func(*Row) int64
}

// mostRows is how many rows a table may have for each rank to have its own. Beyond it the
// rows of all ranks are added up.
const mostRows = 20_000

// rows returns the table of rows, or false if there are none.
func (t shown[Row]) rows(list []Row, n *names) (table, bool) {
	if len(list) == 0 {
		return table{}, false
	}
	out := table{ID: t.id, Title: t.title, Of: t.of, Share: t.share}
	index := map[[8]int64]int{}
	class := []byte{}
	for _, c := range t.columns {
		out.Columns = append(out.Columns, cells{Title: c.title, Kind: c.kind})
	}
	for i := range list {
		r := &list[i]
		key, k := [8]int64{}, 0
		values := make([]int64, len(t.columns))
		for j, c := range t.columns {
			switch {
			case c.text != nil && c.kind == kindName:
				values[j] = int64(n.kernel(c.text(r)))
			case c.text != nil:
				values[j] = int64(n.of(c.text(r)))
			case c.number != nil:
				values[j] = c.number(r)
				continue
			default:
				continue
			}
			key[k] = values[j]
			k++
		}
		rank := t.rank(r)
		if len(list) <= mostRows {
			key[7] = int64(rank) + 1
		}
		at, ok := index[key]
		if !ok {
			at = len(index)
			index[key] = at
			for j := range out.Columns {
				if c := t.columns[j]; c.text != nil || c.number != nil {
					out.Columns[j].Values = append(out.Columns[j].Values, values[j])
				}
			}
			out.Rank = append(out.Rank, rank)
			if t.class != nil {
				c, _ := summary.ClassOf(t.class(r))
				class = append(class, classDigit(c))
			}
			continue
		}
		for j, c := range t.columns {
			switch to := out.Columns[j].Values; c.kind {
			case kindNS, kindCount, kindBytes, kindFLOPs:
				to[at] = summary.Plus(to[at], values[j])
			case kindMax:
				to[at] = max(to[at], values[j])
			}
		}
	}
	out.Class = string(class)
	if t.instead.of != "" && !slices.ContainsFunc(out.Columns[t.share].Values, func(v int64) bool { return v != 0 }) {
		out.Share, out.Of = t.instead.share, t.instead.of
	}
	if len(list) > mostRows {
		out.Rank = nil
	}
	return out, true
}

// tables returns the tables of a summary, in the order of their tabs.
func tables(s *summary.Summary, n *names) (out []table) {
	add := func(t table, ok bool) {
		if ok {
			out = append(out, t)
		}
	}
	add(kernelTable.rows(s.Kernels, n))
	add(operatorTable.rows(s.Ops, n))
	add(efficiencyTable.rows(s.Efficiency.Rows, n))
	add(moduleTable.rows(s.Modules, n))
	add(idleTable.rows(s.Idle, n))
	add(callTable.rows(s.Calls, n))
	add(lineTable.rows(s.Lines, n))
	add(copyTable.rows(s.Copies, n))
	add(annotationTable.rows(s.Annotations, n))
	add(spanTable.rows(s.Spans, n))
	return out
}

var kernelTable = shown[summary.Kernel]{
	id: "kernels", title: "Kernels", of: "total kernel time", share: 4,
	rank:  func(k *summary.Kernel) int { return k.Rank },
	class: func(k *summary.Kernel) string { return k.Class },
	columns: []shownColumn[summary.Kernel]{
		{"kernel", kindName, func(k *summary.Kernel) string { return k.Name }, nil},
		{"category", kindKey, func(k *summary.Kernel) string { return k.Category }, nil},
		{"launched by", kindKey, func(k *summary.Kernel) string { return k.Op }, nil},
		{"launches", kindCount, nil, func(k *summary.Kernel) int64 { return k.Count }},
		{"total", kindNS, nil, func(k *summary.Kernel) int64 { return k.TotalNS }},
		{"mean", kindMean, nil, nil},
		{"max", kindMax, nil, func(k *summary.Kernel) int64 { return k.MaxNS }},
	},
}

var operatorTable = shown[summary.Op]{
	id: "operators", title: "Operators", of: "self GPU time of operators", share: 2,
	instead: shareColumn{4, "self CPU time of operators"},
	rank:    func(o *summary.Op) int { return o.Rank },
	columns: []shownColumn[summary.Op]{
		{"operator", kindName, func(o *summary.Op) string { return o.Name }, nil},
		{"calls", kindCount, nil, func(o *summary.Op) int64 { return o.Count }},
		{"self GPU", kindNS, nil, func(o *summary.Op) int64 { return o.GPUSelfNS }},
		{"total GPU", kindNS, nil, func(o *summary.Op) int64 { return o.GPUTotalNS }},
		{"self CPU", kindNS, nil, func(o *summary.Op) int64 { return o.CPUSelfNS }},
	},
}

var moduleTable = shown[summary.Module]{
	id: "modules", title: "Modules", of: "self GPU time of modules", share: 2,
	rank: func(m *summary.Module) int { return m.Rank },
	columns: []shownColumn[summary.Module]{
		{"module", kindName, func(m *summary.Module) string { return m.Path }, nil},
		{"calls", kindCount, nil, func(m *summary.Module) int64 { return m.Count }},
		{"self GPU", kindNS, nil, func(m *summary.Module) int64 { return m.GPUSelfNS }},
		{"total GPU", kindNS, nil, func(m *summary.Module) int64 { return m.GPUTotalNS }},
		{"backward", kindNS, nil, func(m *summary.Module) int64 { return m.BackwardNS }},
	},
}

var idleTable = shown[summary.Idle]{
	id: "idle", title: "Idle time", of: "idle time", share: 3,
	rank: func(i *summary.Idle) int { return i.Rank },
	columns: []shownColumn[summary.Idle]{
		{"in", kindName, func(i *summary.Idle) string { return i.Name }, nil},
		{"cause", kindKey, func(i *summary.Idle) string { return words.Cause(i.Owner, i.State, "") }, nil},
		{"intervals", kindCount, nil, func(i *summary.Idle) int64 { return i.Count }},
		{"idle", kindNS, nil, func(i *summary.Idle) int64 { return i.NS }},
		{"max", kindMax, nil, func(i *summary.Idle) int64 { return i.MaxNS }},
	},
}

var callTable = shown[summary.Call]{
	id: "calls", title: "CUDA API calls", of: "CPU time in calls", share: 3,
	rank: func(c *summary.Call) int { return c.Rank },
	columns: []shownColumn[summary.Call]{
		{"call", kindName, func(c *summary.Call) string { return c.Name }, nil},
		{"kind", kindKey, func(c *summary.Call) string { return c.Kind }, nil},
		{"calls", kindCount, nil, func(c *summary.Call) int64 { return c.Count }},
		{"total", kindNS, nil, func(c *summary.Call) int64 { return c.TotalNS }},
		{"waiting", kindNS, nil, func(c *summary.Call) int64 { return c.WaitNS }},
		{"max", kindMax, nil, func(c *summary.Call) int64 { return c.MaxNS }},
	},
}

var lineTable = shown[summary.Line]{
	id: "lines", title: "Source lines", of: "self GPU time of source lines", share: 3,
	rank: func(l *summary.Line) int { return l.Rank },
	columns: []shownColumn[summary.Line]{
		{"line", kindName, func(l *summary.Line) string { return lineName(l.File, l.Line) }, nil},
		{"function", kindKey, func(l *summary.Line) string { return l.Function }, nil},
		{"calls", kindCount, nil, func(l *summary.Line) int64 { return l.Count }},
		{"self GPU", kindNS, nil, func(l *summary.Line) int64 { return l.GPUSelfNS }},
		{"total GPU", kindNS, nil, func(l *summary.Line) int64 { return l.GPUTotalNS }},
	},
}

var copyTable = shown[summary.Copy]{
	id: "copies", title: "Copies", of: "total time of copies and memsets", share: 2,
	rank:  func(c *summary.Copy) int { return c.Rank },
	class: func(c *summary.Copy) string { return c.Class },
	columns: []shownColumn[summary.Copy]{
		{"copy", kindName, func(c *summary.Copy) string { return c.Name }, nil},
		{"copies", kindCount, nil, func(c *summary.Copy) int64 { return c.Count }},
		{"total", kindNS, nil, func(c *summary.Copy) int64 { return c.TotalNS }},
		{"bytes", kindBytes, nil, func(c *summary.Copy) int64 { return known(c.Bytes) }},
		{"max", kindMax, nil, func(c *summary.Copy) int64 { return c.MaxNS }},
	},
}

var annotationTable = shown[summary.Annotation]{
	id: "ranges", title: "Annotated ranges", of: "self GPU time of annotated ranges", share: 2,
	instead: shareColumn{4, "CPU time of annotated ranges"},
	rank:    func(a *summary.Annotation) int { return a.Rank },
	columns: []shownColumn[summary.Annotation]{
		{"range", kindName, func(a *summary.Annotation) string { return a.Name }, nil},
		{"calls", kindCount, nil, func(a *summary.Annotation) int64 { return a.Count }},
		{"self GPU", kindNS, nil, func(a *summary.Annotation) int64 { return a.GPUSelfNS }},
		{"total GPU", kindNS, nil, func(a *summary.Annotation) int64 { return a.GPUTotalNS }},
		{"CPU", kindNS, nil, func(a *summary.Annotation) int64 { return a.CPUTotalNS }},
	},
}

var spanTable = shown[summary.Span]{
	id: "slices", title: "CPU slices", of: "self time of CPU slices", share: 3,
	rank: func(s *summary.Span) int { return s.Rank },
	columns: []shownColumn[summary.Span]{
		{"slice", kindName, func(s *summary.Span) string { return s.Name }, nil},
		{"thread", kindKey, func(s *summary.Span) string { return s.Thread }, nil},
		{"calls", kindCount, nil, func(s *summary.Span) int64 { return s.Count }},
		{"self", kindNS, nil, func(s *summary.Span) int64 { return s.SelfNS }},
		{"total", kindNS, nil, func(s *summary.Span) int64 { return s.TotalNS }},
		{"max", kindMax, nil, func(s *summary.Span) int64 { return s.MaxNS }},
	},
}

func known(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
