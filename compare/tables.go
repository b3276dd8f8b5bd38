package compare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"assay/summary"
	"assay/summary/view"
)

// A TableDelta is a table of totals that both sides have, by tool and name. Rows are matched by
// their names; rows of one table with the same name are added up.
type TableDelta struct {
	Tool  string `json:"tool"`
	Name  string `json:"name"`
	Of    string `json:"of"`
	Clock string `json:"clock,omitempty"` // clock of the times, as in [summary.Table]
	// Columns are those that both sides have, except means and other values of single runs. The
	// first is the one whose sum is the cost of all rows,
	// if there is one.
	Columns []ColumnDelta `json:"columns"`
	Rows    []CellsDelta  `json:"rows"` // the largest delta of the first column first
}

// A ColumnDelta is a column with the sum of its rows, including those left out by a limit. The sums
// are null if rows include the cost of others, as the total time of a function includes the
// functions that it calls.
type ColumnDelta struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	Base *int64 `json:"base"`
	New  *int64 `json:"new"`
}

// Title returns the name of the column, with its unit if the name alone is too short.
func (c ColumnDelta) Title() string {
	switch {
	case c.Unit == "ns" && (c.Name == "self" || c.Name == "total"):
		return c.Name + " time"
	case c.Unit == "bytes" && c.Name == "bytes":
		return "memory"
	}
	return c.Name
}

// Sums returns the sums of both sides, or false if they have no meaning.
func (c ColumnDelta) Sums() (base, new int64, ok bool) {
	if c.Base == nil || c.New == nil {
		return 0, 0, false
	}
	return *c.Base, *c.New, true
}

// A CellsDelta is one row: a value for each column, null if a side has none.
type CellsDelta struct {
	Name  string   `json:"name"`
	Match string   `json:"match"`
	Base  []*int64 `json:"base"`
	New   []*int64 `json:"new"`
}

// Rest is the name of the row for the rows that a limit left out of a table.
const Rest = "(rows that were left out)"

// Delta returns the change of a column of the row. A missing value counts as 0.
func (r CellsDelta) Delta(column int) int64 {
	return valueOf(r.New[column]) - valueOf(r.Base[column])
}

func valueOf(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}

// tables compares the tables that both sides have. Times must have the same clock, unless the
// comparison is forced. If several runs of a side have a table of one name, the first is compared.
func (d *differ) tables() []TableDelta {
	type key struct{ tool, name, clock string }
	keyOf := func(t *summary.Table) key {
		if d.force {
			return key{t.Tool, t.Name, ""}
		}
		return key{t.Tool, t.Name, t.Clock}
	}
	first := map[key]*summary.Table{}
	for i := range d.new.tables {
		t := &d.new.tables[i]
		if t.Of == summary.OfEdge || t.Doubted() { // an edge has the time of functions again, by caller
			continue
		}
		if k := keyOf(t); first[k] == nil {
			first[k] = t
		}
	}
	var out []TableDelta
	for i := range d.base.tables {
		b := &d.base.tables[i]
		k := keyOf(b)
		n := first[k]
		if n == nil || b.Doubted() {
			continue
		}
		delete(first, k)
		if t, ok := compareTables(b, n); ok {
			out = append(out, t)
		}
	}
	return out
}

func compareTables(b, n *summary.Table) (TableDelta, bool) {
	t := TableDelta{Tool: b.Tool, Name: b.Name, Of: b.Of, Clock: b.Clock}
	var from, to []int
	for _, i := range columnOrder(b) {
		c := b.Columns[i]
		j := n.Column(c.Name)
		if c.Adds == summary.AddsEach || j < 0 || n.Columns[j].Unit != c.Unit || slices.Contains(from, i) {
			continue
		}
		from, to = append(from, i), append(to, j)
		col := ColumnDelta{Name: c.Name, Unit: c.Unit}
		if c.Adds == summary.AddsSelf {
			base, _ := b.Sum(i)
			new, _ := n.Sum(j)
			col.Base, col.New = &base, &new
		}
		t.Columns = append(t.Columns, col)
	}
	if len(from) == 0 {
		return t, false
	}
	base, new := rowsByName(b, from), rowsByName(n, to)
	for name, values := range base {
		_, both := new[name]
		t.Rows = append(t.Rows, CellsDelta{name, matchOf(true, both), values, orNone(new[name], len(from))})
	}
	for name, values := range new {
		if _, both := base[name]; !both {
			t.Rows = append(t.Rows, CellsDelta{name, OnlyNew, orNone(nil, len(from)), values})
		}
	}
	slices.SortFunc(t.Rows, func(a, b CellsDelta) int {
		return cmp.Or(cmp.Compare(size(b.Delta(0)), size(a.Delta(0))), cmp.Compare(a.Name, b.Name))
	})
	return t, true
}

// columnOrder returns the order of the columns: first the one whose sum is the cost of all rows,
// then the sort column.
func columnOrder(t *summary.Table) (order []int) {
	for _, i := range []int{view.CostColumn(t), t.Rank()} {
		if i >= 0 && !slices.Contains(order, i) {
			order = append(order, i)
		}
	}
	for i := range t.Columns {
		if !slices.Contains(order, i) {
			order = append(order, i)
		}
	}
	return order
}

// rowsByName adds up the rows of each name.
func rowsByName(t *summary.Table, columns []int) map[string][]*int64 {
	out := map[string][]*int64{}
	put := func(name string, values []*int64) {
		sums := out[name]
		if sums == nil {
			sums = make([]*int64, len(columns))
			out[name] = sums
		}
		for i, c := range columns {
			if c < len(values) && values[c] != nil {
				n := valueOf(sums[i]) + max(0, *values[c])
				sums[i] = &n
			}
		}
	}
	for _, r := range t.Rows {
		put(strings.TrimSpace(r.Name), r.Values)
	}
	if t.Rest != nil {
		put(Rest, t.Rest)
	}
	return out
}

func orNone(values []*int64, n int) []*int64 {
	if values == nil {
		return make([]*int64, n)
	}
	return values
}

// ownersTable returns a table of the memory of a device by allocation site, so that snapshots are
// compared like other totals.
func ownersTable(s *summary.Snapshot) summary.Table {
	t := summary.Table{
		Tool: "memory", Name: fmt.Sprintf("device %d at the %s", s.Device, cmp.Or(s.OwnersAt, "end")), Of: summary.OfRow,
		Columns: []summary.TableColumn{{Name: "bytes", Unit: "bytes", Adds: summary.AddsSelf}},
	}
	rest := s.OwnersBytes
	for _, o := range s.Owners {
		name := o.Kind
		if o.Frame != "" {
			name += ": " + o.Frame
		}
		t.Rows = append(t.Rows, summary.TableRow{Name: name, Values: []*int64{&o.Bytes}})
		rest -= max(0, o.Bytes)
	}
	if rest > 0 {
		t.Rest = []*int64{&rest}
	}
	return t
}

// usesTable returns a table of what the reserved memory of a device is for: at a failed allocation or at the peak, which
// are compared with each other on purpose.
func usesTable(s *summary.Snapshot, uses []summary.MemoryUse) summary.Table {
	t := summary.Table{
		Tool: "memory", Name: fmt.Sprintf("device %d by use", s.Device), Of: summary.OfRow,
		Columns: []summary.TableColumn{{Name: "bytes", Unit: "bytes", Adds: summary.AddsSelf}},
	}
	for i := range uses {
		t.Rows = append(t.Rows, summary.TableRow{Name: summary.UseWords(uses[i].Owner), Values: []*int64{&uses[i].Bytes}})
	}
	return t
}

// A CounterDelta is a kernel with hardware counters on both sides, or on one. Times are means per
// launch, because the user chooses how often a kernel is profiled; shares are percentages of the
// device's peak.
type CounterDelta struct {
	Kernel string `json:"kernel"`
	Match  string `json:"match"`

	BaseLaunches int64  `json:"base_launches"`
	NewLaunches  int64  `json:"new_launches"`
	BaseNS       *int64 `json:"base_ns"` // ns per launch; null if it was not measured
	NewNS        *int64 `json:"new_ns"`

	BaseCompute   *float64 `json:"base_compute_pct"`
	NewCompute    *float64 `json:"new_compute_pct"`
	BaseMemory    *float64 `json:"base_memory_pct"`
	NewMemory     *float64 `json:"new_memory_pct"`
	BaseOccupancy *float64 `json:"base_occupancy_pct"`
	NewOccupancy  *float64 `json:"new_occupancy_pct"`
}

// counters compares kernels by name. If there are several rows of one name, for example for several
// devices, the one with the most time is used.
func (d *differ) counters() []CounterDelta {
	base, new := counted(d.base.counted), counted(d.new.counted)
	var out []CounterDelta
	for name, b := range base {
		c := CounterDelta{Kernel: name, BaseLaunches: b.Launches, BaseNS: launchNS(b), BaseCompute: b.ComputePct,
			BaseMemory: b.MemoryPct, BaseOccupancy: b.OccupancyPct}
		n, both := new[name]
		if c.Match = matchOf(true, both); both {
			c.fill(n)
		}
		out = append(out, c)
	}
	for name, n := range new {
		if _, both := base[name]; !both {
			c := CounterDelta{Kernel: name, Match: OnlyNew}
			c.fill(n)
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b CounterDelta) int {
		return cmp.Or(cmp.Compare(size(b.Delta()), size(a.Delta())), cmp.Compare(a.Kernel, b.Kernel))
	})
	if len(base) == 0 || len(new) == 0 {
		return nil
	}
	return out
}

func (c *CounterDelta) fill(n summary.Counter) {
	c.NewLaunches, c.NewNS = n.Launches, launchNS(n)
	c.NewCompute, c.NewMemory, c.NewOccupancy = n.ComputePct, n.MemoryPct, n.OccupancyPct
}

// Delta returns the change of the time per launch in ns, or 0 if it is unknown.
func (c CounterDelta) Delta() int64 {
	if c.BaseNS == nil || c.NewNS == nil {
		return 0
	}
	return *c.NewNS - *c.BaseNS
}

func counted(list []summary.Counter) map[string]summary.Counter {
	out := map[string]summary.Counter{}
	for _, c := range list {
		if have, ok := out[c.Kernel]; !ok || c.TotalNS > have.TotalNS {
			out[c.Kernel] = c
		}
	}
	return out
}

func launchNS(c summary.Counter) *int64 {
	if c.Timed <= 0 {
		return nil
	}
	ns := c.TotalNS / c.Timed
	return &ns
}
