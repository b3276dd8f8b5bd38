package pyprof

import (
	"cmp"
	"slices"

	"assay/internal/diag"
	"assay/internal/profile"
)

// defaultMemory is the default of Limits.Memory.
const defaultMemory = 1 << 30

// Estimated bytes of functions and calls in addition to their names, and of each value:
// in the graph, while totals are computed, in a row, and in the analysis. A function of a
// few bytes in the file may have 128 values.
const (
	nodeBytes = 256
	edgeBytes = 160
	costBytes = 56
)

// A graph is a call graph: functions and calls, with a value for each event.
type graph struct {
	events    []event
	functions []node
	index     map[id]int32
	edges     []edge
	edgeOf    map[[2]int32]int32 // by caller and callee
	budget    int64
	others    int32 // the function with the costs of functions over the limit; -1 if there is none
	pooled    int64 // functions and calls that were added to others
	primitive bool  // the numbers of calls with and without recursive ones are known
}

// An event is a quantity that a profiler counts: time, instructions, bytes.
type event struct {
	name string // "" of the only one, or of the first
	unit string
	size int64 // base units per unit of the file
}

// An id identifies a function.
type id struct{ name, file, object string }

// A node is one function.
type node struct {
	id
	self, total      []int64 // for each event
	unnamed          []int64 // of calls of functions that the file does not name; nil if none
	selfKnown        bool    // the file has costs of it, and not only of its calls
	totalKnown       bool
	count, primitive profile.Cell
}

// An edge is all calls of one function by another.
type edge struct {
	caller, callee int32
	count          profile.Cell
	self           profile.Cell // of the callee, where known
	total          []int64
	totalKnown     bool
}

func newGraph(memory int64) *graph {
	return &graph{index: make(map[id]int32), edgeOf: make(map[[2]int32]int32), budget: memory, others: -1}
}

// function returns the index of a function, which it adds if it is new. Over the limit,
// it returns the index of others.
func (g *graph) function(f id) int32 {
	at, ok := g.index[f]
	if !ok && g.full() {
		g.pooled++
		if g.others < 0 {
			g.others = g.add(id{name: "(other functions)"})
		}
		return g.others
	}
	if !ok {
		at = g.add(f)
		g.index[f] = at
	}
	return at
}

func (g *graph) add(f id) int32 {
	g.functions = append(g.functions, node{id: f, self: make([]int64, len(g.events)), total: make([]int64, len(g.events))})
	g.budget -= int64(nodeBytes + len(f.name) + len(f.file) + 2*costBytes*len(g.events))
	return int32(len(g.functions) - 1)
}

// edge returns the calls from one function to another, which it adds if they are new.
// Over the limit, it returns an edge that is not kept. The calls of the callee are then
// incomplete, which sumTotals handles, because files may omit calls, too.
func (g *graph) edge(caller, callee int32) *edge {
	key := [2]int32{caller, callee}
	at, ok := g.edgeOf[key]
	if !ok && (caller == g.others || g.full() && callee != g.others) {
		g.pooled++
		if caller == g.others {
			return &edge{caller: caller, callee: callee, total: make([]int64, len(g.events))}
		}
		if g.others < 0 {
			g.others = g.add(id{name: "(other functions)"})
		}
		return g.edge(caller, g.others)
	}
	if !ok {
		at = int32(len(g.edges))
		g.edgeOf[key] = at
		g.edges = append(g.edges, edge{caller: caller, callee: callee, total: make([]int64, len(g.events))})
		g.budget -= int64(edgeBytes + costBytes*len(g.events))
	}
	return &g.edges[at]
}

// full reports whether the memory limit is reached.
func (g *graph) full() bool { return g.budget < 0 }

// sumTotals computes the total of each function (its cost with all callees) if the file
// has only the costs of calls. There are two ways: the sum over the calls to the
// function, and its self cost plus the sum over the calls from it. If calls are missing,
// either sum can be too small, but not too large, so the larger one is used. Calls of a
// function to itself are part of its other calls and are not added. Totals of functions
// that call each other in a cycle cannot be computed.
//
// The number of calls of a function is known only if the calls to it account for all of
// the total.
//
// It returns the number of functions whose sums differ because calls are missing, and the
// number of functions in cycles.
func (g *graph) sumTotals() (missing, circular int64) {
	in, out := make([][]int64, len(g.functions)), make([][]int64, len(g.functions))
	calls := make([]int64, len(g.functions)) // number of edges from and to each function
	for i := range g.functions {
		out[i] = slices.Clone(g.functions[i].self)
		for j, n := range g.functions[i].unnamed {
			out[i][j] = profile.Plus(out[i][j], n)
		}
	}
	for i := range g.edges {
		e := &g.edges[i]
		to := &g.functions[e.callee]
		to.count = to.count.Plus(e.count)
		if e.caller == e.callee {
			continue
		}
		calls[e.caller]++
		calls[e.callee]++
		if in[e.callee] == nil {
			in[e.callee] = make([]int64, len(g.events))
		}
		for j, n := range e.total {
			in[e.callee][j] = profile.Plus(in[e.callee][j], n)
			out[e.caller][j] = profile.Plus(out[e.caller][j], n)
		}
	}
	circles := g.circles()
	for i := range g.functions {
		f := &g.functions[i]
		if circles[i] {
			circular++
			continue
		}
		f.totalKnown = int32(i) != g.others // its callers are not kept
		more, less := false, false
		for j, e := range g.events {
			f.total[j] = out[i][j]
			if in[i] == nil {
				continue
			}
			f.total[j] = max(in[i][j], out[i][j])
			cut := (calls[i] + 2) * e.size // the file has every value truncated to whole units
			more = more || f.selfKnown && in[i][j]-out[i][j] > cut
			less = less || out[i][j]-in[i][j] > cut
		}
		if more {
			missing++
		}
		if less {
			f.count = profile.Cell{}
		}
	}
	return missing, circular
}

// tables returns the functions, those with the largest totals first, and the
// calls.
func (g *graph) tables(tool string, limits Limits, issues *diag.Ledger) []*profile.Table {
	title := "Functions (" + tool + ")"
	if first := g.events[0]; first.unit == "count" {
		title += ", in " + first.name
	}
	functions := newOpenTable(&profile.Table{Name: "functions", Title: title, Of: profile.OfFunction}, limits)
	calls := newOpenTable(&profile.Table{Name: "calls", Title: "Calls (" + tool + ")", Of: profile.OfEdge}, limits)
	functions.Columns, calls.Columns = g.columns()
	order := make([]int, len(g.functions))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		x, y := &g.functions[a], &g.functions[b]
		return cmp.Or(-slices.Compare(x.total, y.total), -slices.Compare(x.self, y.self), compareIDs(x.id, y.id))
	})
	for _, i := range order {
		f := &g.functions[i]
		if int32(i) == g.others {
			continue
		}
		row := profile.Row{Name: f.name, Labels: f.labels(), Cells: []profile.Cell{f.count}}
		if g.primitive {
			row.Cells = append(row.Cells, f.primitive)
		}
		for j := range g.events {
			row.Cells = append(row.Cells, profile.Cell{Value: f.self[j], Known: f.selfKnown}, profile.Cell{Value: f.total[j], Known: f.totalKnown})
		}
		functions.add(row, diag.Pos{}, issues)
	}
	if g.others >= 0 {
		g.addOthers(functions, issues)
	}
	edges := slices.Clone(g.edges)
	slices.SortFunc(edges, func(x, y edge) int {
		return cmp.Or(-slices.Compare(x.total, y.total), compareIDs(g.functions[x.caller].id, g.functions[y.caller].id),
			compareIDs(g.functions[x.callee].id, g.functions[y.callee].id))
	})
	for _, e := range edges {
		to := &g.functions[e.callee]
		row := profile.Row{Name: to.name, Cells: []profile.Cell{e.count}, Labels: to.labels()}
		row.Labels = append([]profile.Label{{Key: "caller", Text: g.functions[e.caller].name}}, row.Labels...)
		if g.primitive {
			row.Cells = append(row.Cells, e.self)
		}
		for _, n := range e.total {
			row.Cells = append(row.Cells, profile.Cell{Value: n, Known: e.totalKnown})
		}
		calls.add(row, diag.Pos{}, issues)
	}
	if len(edges) == 0 {
		return []*profile.Table{functions.Table}
	}
	return []*profile.Table{functions.Table, calls.Table}
}

// addOthers adds the self costs of the functions over the limit to a table.
func (g *graph) addOthers(t *openTable, issues *diag.Ledger) {
	f := &g.functions[g.others]
	if t.Rest == nil {
		t.Rest = make([]profile.Cell, len(t.Columns))
	}
	width := len(t.Columns) - 2*len(g.events)
	for j := range g.events {
		t.Rest[width+2*j] = t.Rest[width+2*j].Plus(profile.Cell{Value: f.self[j], Known: f.selfKnown})
	}
	t.Left += g.pooled
	issues.AddN(diag.Issue{Code: "table-rows-pooled", Severity: diag.DataLoss,
		Help: "The functions and calls reached the memory limit. Those counted here are added up in one row: self times are correct, totals of their callees may be too small. Raise --max-memory."}, g.pooled)
}

// columns returns the columns of functions and of calls. Events other than the
// first have their names.
func (g *graph) columns() (functions, calls []profile.Heading) {
	functions, calls = []profile.Heading{countColumn}, []profile.Heading{countColumn}
	if g.primitive {
		functions, calls = append(functions, primitiveColumn), append(calls, selfColumn)
	}
	for i, e := range g.events {
		self, total := profile.Heading{Name: "self", Unit: e.unit, Adds: profile.Self}, profile.Heading{Name: "total", Unit: e.unit, Adds: profile.Total}
		if i > 0 {
			self.Name, total.Name = e.name, e.name+" total"
		}
		functions, calls = append(functions, self, total), append(calls, total)
	}
	return functions, calls
}

func (f id) labels() (out []profile.Label) {
	if f.file != "" {
		out = append(out, profile.Label{Key: "file", Text: f.file})
	}
	if f.object != "" {
		out = append(out, profile.Label{Key: "object", Text: f.object})
	}
	return out
}

func compareIDs(x, y id) int {
	return cmp.Or(cmp.Compare(x.name, y.name), cmp.Compare(x.file, y.file), cmp.Compare(x.object, y.object))
}

// circles reports for each function whether it calls itself through others: whether its
// strongly connected component has more than one function. It uses Tarjan's algorithm
// without recursion, because a file can have a chain of calls of any length.
func (g *graph) circles() []bool {
	n := len(g.functions)
	next := make([][]int32, n)
	for i := range g.edges {
		if e := &g.edges[i]; e.caller != e.callee {
			next[e.caller] = append(next[e.caller], e.callee)
		}
	}
	circular := make([]bool, n)
	seen, low := make([]int32, n), make([]int32, n) // numbered in the order of visits, from 1
	open := make([]bool, n)
	at := make([]int32, n) // number of edges of each function that were followed
	var stack, path []int32
	visits := int32(0)
	for start := range n {
		if seen[start] != 0 {
			continue
		}
		path = append(path, int32(start))
		for len(path) > 0 {
			v := path[len(path)-1]
			if seen[v] == 0 {
				visits++
				seen[v], low[v], open[v] = visits, visits, true
				stack = append(stack, v)
			}
			if int(at[v]) < len(next[v]) {
				w := next[v][at[v]]
				at[v]++
				if seen[w] == 0 {
					path = append(path, w)
				} else if open[w] {
					low[v] = min(low[v], seen[w])
				}
				continue
			}
			path = path[:len(path)-1]
			if len(path) > 0 {
				up := path[len(path)-1]
				low[up] = min(low[up], low[v])
			}
			if low[v] != seen[v] {
				continue
			}
			first := len(stack) - 1
			for stack[first] != v { // search from the end, because the stack may be long
				first--
			}
			for _, w := range stack[first:] {
				open[w], circular[w] = false, len(stack)-first > 1
			}
			stack = stack[:first]
		}
	}
	return circular
}
