package page

import (
	"reflect"
	"slices"
	"strings"

	"assay/report/words"
	"assay/summary"
	"assay/summary/row"
)

// table has rows stored by column. The script adds up rows that differ only in their ranks.
type table struct {
	ID      string  `json:"id"`
	Title   string  `json:"title"`
	Of      string  `json:"of"`      // name of the denominator of shares
	Share   int     `json:"share"`   // column that has the numerators of shares
	Columns []cells `json:"columns"` // the first has the names of the rows
	Rank    []int   `json:"rank,omitempty"`
	Class   string  `json:"class,omitempty"` // a digit per row, as of a lane
}

// The kinds of columns. The script adds up rows with equal keys: ns, count and bytes are summed,
// the longest value is the maximum, and the mean is the share's column divided by the count.
const (
	kindName  = "name" // a key that is set as code
	kindKey   = "key"
	kindNS    = "ns"
	kindCount = "count"
	kindBytes = "bytes"
	kindMax   = "max"
	kindMean  = "mean" // computed by the script
	kindFLOPs = "flops"
	kindRate  = "rate" // computed by the script: the quotient of two columns, times a factor ("rate:7:4:0.001")
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
	instead       shareColumn // used for shares if all values of share are 0
	columns       []shownColumn[Row]
	rank          func(*Row) int
	class         func(*Row) string // nil if rows have none
}

// shareColumn names a column that can have the numerators of shares.
type shareColumn struct {
	share int
	of    string
}

type shownColumn[Row any] struct {
	title, kind string
	text        func(*Row) string // for a key
	number      func(*Row) int64
}

// mostRows is the number of rows of a table up to which each rank has rows of its own. In larger tables the
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
				values[j] = int64(n.number(c.text(r)))
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
				to[at] += values[j]
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
	add(described[summary.Kernel](summary.Kernels(), "kernels", "Kernels", "total kernel time", "kernel;category;launched by;launches;total;mean;max", nil).rows(s.Kernels, n))
	ops := described[summary.Op](summary.Ops(), "operators", "Operators", "self GPU time of operators", "operator;calls;self;total;self CPU", nil)
	ops.instead = shareColumn{4, "self CPU time of operators"}
	add(ops.rows(s.Ops, n))
	add(efficiencyTable.rows(s.Efficiency.Rows, n))
	add(described[summary.Module](summary.Modules(), "modules", "Modules", "self GPU time of modules", "module;calls;self;total;backward", nil).rows(s.Modules, n))
	add(described(summary.Idles(), "idle", "Idle time", "idle time", "in;cause;intervals;idle;longest", texts[summary.Idle]{
		"cause": func(i *summary.Idle) string { return words.Cause(i.Owner, i.State, "") },
	}).rows(s.Idle, n))
	add(described[summary.Call](summary.Calls(), "calls", "CUDA API calls", "CPU time in calls", "call;kind;calls;total;waiting;max", nil).rows(s.Calls, n))
	add(described(summary.Lines(), "lines", "Source lines", "self GPU time of source lines", "line;function;calls;self;total", texts[summary.Line]{
		"line": func(l *summary.Line) string { return lineName(l.File, l.Line) },
	}).rows(s.Lines, n))
	add(described[summary.Copy](summary.Copies(), "copies", "Copies", "total time of copies and memsets", "copy;count;total;bytes;max", nil).rows(s.Copies, n))
	ranges := described[summary.Annotation](summary.Annotations(), "ranges", "Annotated ranges", "self GPU time of annotated ranges", "annotation;calls;self;total;CPU time", nil)
	ranges.instead = shareColumn{4, "CPU time of annotated ranges"}
	add(ranges.rows(s.Annotations, n))
	add(described[summary.Span](summary.Spans(), "slices", "CPU slices", "self time of CPU slices", "slice;thread;count;self;total;max", nil).rows(s.Spans, n))
	return out
}

// texts are keys of a table that the description of the kind lacks, or that differ from it.
type texts[Row any] map[string]func(*Row) string

// described returns a table of rows of a described kind. Columns are names as those of a [show.View]; the first
// has the names of the rows.
func described[Row any](k *row.Kind, id, title, of, columns string, own texts[Row]) shown[Row] {
	value := func(r *Row) reflect.Value { return reflect.ValueOf(r).Elem() }
	rank := k.Column("rank")
	t := shown[Row]{id: id, title: title, of: of, rank: func(r *Row) int { return int(rank.Number(value(r))) }}
	if i, ok := k.Find("class"); ok {
		t.class = func(r *Row) string { return k.Columns[i].Text(value(r)) }
	}
	for i, item := range strings.Split(columns, ";") {
		title, name, ok := strings.Cut(item, "=")
		if !ok {
			name = title
		}
		c := shownColumn[Row]{title: title, kind: kindKey, text: own[name]}
		if c.text == nil {
			c = columnOf[Row](title, k.Column(name))
		}
		if i == 0 {
			c.kind = kindName
		}
		if name == k.Main().Name {
			t.share = i
		}
		t.columns = append(t.columns, c)
	}
	return t
}

// columnOf converts a described column.
func columnOf[Row any](title string, c *row.Column) shownColumn[Row] {
	out := shownColumn[Row]{title: title, number: func(r *Row) int64 { return c.Number(reflect.ValueOf(r).Elem()) }}
	switch c.Adds {
	case row.Key:
		return shownColumn[Row]{title, kindKey, func(r *Row) string { return c.Text(reflect.ValueOf(r).Elem()) }, nil}
	case row.Mean:
		return shownColumn[Row]{title: title, kind: kindMean}
	case row.Max:
		out.kind = kindMax
	default:
		out.kind = [...]string{row.Count: kindCount, row.Time: kindNS, row.Bytes: kindBytes}[c.Unit]
	}
	return out
}

func known(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}
