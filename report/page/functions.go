package page

import (
	"cmp"
	"fmt"

	"assay/internal/label"
	"assay/summary"
	"assay/summary/view"
)

// graph has the calls between functions, from a profile of functions without stacks.
type graph struct {
	Title string `json:"title"`
	Unit  string `json:"unit"`  // unit of Total: "ns", "bytes" or "count"
	Table string `json:"table"` // id of the table of the functions

	Caller []int   `json:"caller"` // names
	Callee []int   `json:"callee"`
	Total  []int64 `json:"total"`           // cost of the callee, including its callees, in calls by this caller
	Count  []int64 `json:"count,omitempty"` // number of calls; negative if unknown
}

// functions returns the functions of profiles as tables, and the calls between them. Profiles with stacks
// are left out, because the flame graph shows both.
func functions(s *summary.Summary, n *names) (out []table, graphs []graph) {
	stacks := map[int]bool{}
	for i := range s.Flames {
		stacks[s.Flames[i].Input] = true
	}
	for _, t := range view.Tables(s) {
		if t.Of != summary.OfFunction || t.ShareColumn < 0 || len(t.Rows) == 0 {
			continue
		}
		id := fmt.Sprintf("functions-%d-%d", t.Input, t.Number)
		title := "Functions (" + visible(t.Tool) + ")"
		if len(s.Inputs) > 1 {
			title = "Functions of " + visible(label.Base(s.Inputs[t.Input].Path))
		}
		out = append(out, functionTable(&t, id, title, n))
		if edges := edgesOf(s, &t.Table); edges != nil && !stacks[t.Input] {
			graphs = append(graphs, graphOf(edges, id, title, n))
		}
	}
	return out, graphs
}

// edgesOf returns the calls between the functions of a table, or nil.
func edgesOf(s *summary.Summary, functions *summary.Table) *summary.Table {
	for i := range s.Tables {
		if e := &s.Tables[i]; e.Of == summary.OfEdge && e.Input == functions.Input && e.Number > functions.Number && e.Column("total") >= 0 && len(e.Rows) > 0 {
			return e
		}
	}
	return nil
}

// functionTable converts a table of functions. Unknown values are negative.
func functionTable(t *view.ToolTable, id, title string, n *names) table {
	out := table{ID: id, Title: title, Of: t.Columns[t.ShareColumn].Name + " " + cmp.Or(map[string]string{"ns": "time", "bytes": "size"}[t.Columns[t.ShareColumn].Unit], "count") + " of functions"}
	name := cells{Title: "function", Kind: kindName}
	for i := range t.Rows {
		name.Values = append(name.Values, int64(n.number(functionName(t.Rows[i].Name, t.Rows[i].Labels["file"]))))
	}
	if t.Left > 0 {
		name.Values = append(name.Values, int64(n.number("("+label.Plural(t.Left, "more function")+")")))
	}
	out.Columns = []cells{name}
	for k, c := range t.Columns {
		if c.Adds == summary.AddsEach {
			continue // values that do not add up cannot be summed by the script
		}
		if k == t.ShareColumn {
			out.Share = len(out.Columns)
		}
		to := cells{Title: c.Name, Kind: kindOf(c.Unit)}
		for i := range t.Rows {
			to.Values = append(to.Values, orUnknown(t.Rows[i].Value(k)))
		}
		if t.Left > 0 {
			rest := summary.TableRow{Values: t.Rest}
			to.Values = append(to.Values, orUnknown(rest.Value(k)))
		}
		out.Columns = append(out.Columns, to)
	}
	return out
}

func graphOf(t *summary.Table, table, title string, n *names) graph {
	total, count := t.Column("total"), t.Column("count")
	g := graph{Title: title, Unit: t.Columns[total].Unit, Table: table}
	for i := range t.Rows {
		r := &t.Rows[i]
		ns, ok := r.Value(total)
		if !ok || r.Labels["caller"] == "" {
			continue
		}
		g.Callee = append(g.Callee, n.number(functionName(r.Name, r.Labels["file"])))
		g.Caller = append(g.Caller, n.number(functionName(r.Labels["caller"], r.Labels["caller_file"])))
		g.Total = append(g.Total, ns)
		if count >= 0 {
			g.Count = append(g.Count, orUnknown(r.Value(count)))
		}
	}
	return g
}

// functionName returns the name of a function, with its file if that is recorded separately.
func functionName(name, file string) string {
	if file == "" {
		return name
	}
	return name + " (" + file + ")"
}

func kindOf(unit string) string {
	switch unit {
	case "ns":
		return kindNS
	case "bytes":
		return kindBytes
	}
	return kindCount
}

func orUnknown(v int64, ok bool) int64 {
	if !ok {
		return -1
	}
	return max(0, v)
}
