package query

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"assay/internal/tabular"
	"assay/internal/unit"
)

// Find returns the function that finds the columns of a table by their names and aliases.
func Find(t *tabular.Table) func(name string) (int, tabular.Column, error) {
	return func(name string) (int, tabular.Column, error) {
		spellings := []func(*tabular.Column) string{
			func(c *tabular.Column) string { return c.Name },
			func(c *tabular.Column) string { return c.Alias },
			func(c *tabular.Column) string { return strings.ReplaceAll(c.Alias, " ", "_") },
		}
		for _, spelling := range spellings {
			for i := range t.Columns {
				if spelling(&t.Columns[i]) == name {
					return i, t.Columns[i], nil
				}
			}
		}
		var names []string
		for i := range t.Columns {
			names = append(names, t.Columns[i].Name)
		}
		text := fmt.Sprintf("%s have no column %q", t.Name, Shown(name))
		if near := Near(name, names); near != nil {
			return 0, tabular.Column{}, errors.New(text + "; near are " + strings.Join(near, ", "))
		}
		return 0, tabular.Column{}, errors.New(text + "; the columns are " + strings.Join(names, ", "))
	}
}

// Where returns the rows that meet a condition.
func Where(t tabular.Table, e *Expr) (tabular.Table, error) {
	f, err := e.Bind(Find(&t))
	if err != nil {
		return t, err
	}
	each := t.Each
	t.Each = func(yield func([]tabular.Cell) bool) error {
		return each(func(row []tabular.Cell) bool {
			return !f.Match(func(i int) *tabular.Cell { return &row[i] }) || yield(row)
		})
	}
	return t, nil
}

// Group adds up rows with equal keys. Other columns than measures are left out, and so are sums over rows that contain
// each other, unless a name is among the keys. The column rows counts the rows of each key.
func Group(t tabular.Table, by []string) (tabular.Table, error) {
	g := &groups{t: t}
	out := tabular.Table{Name: t.Name, Says: t.Says + ", added up by " + strings.Join(by, ", ")}
	named := false
	for _, name := range by {
		at, c, err := Find(&t)(name)
		switch {
		case err != nil:
			return t, err
		case slices.Contains(g.keys, at):
			return t, fmt.Errorf("the column %s is given twice", name)
		case t.Plain != "":
			return t, fmt.Errorf("%s cannot be added up: %s", t.Name, t.Plain)
		case c.Role != "key":
			return t, fmt.Errorf("%s is not a key of %s; the keys are %s", name, t.Name, strings.Join(keys(&t), ", "))
		}
		c.Name = strings.ReplaceAll(name, " ", "_")
		g.keys, out.Columns, named = append(g.keys, at), append(out.Columns, c), named || c.Named
	}
	out.Columns = append(out.Columns, tabular.Column{Name: "rows", Type: tabular.Int, Role: "sum", Says: "number of rows that were added up"})
	for i, c := range t.Columns {
		if c.Role != "" && c.Role != "key" && (named || !c.Nested) {
			g.measures, out.Columns = append(g.measures, i), append(out.Columns, c)
			out.Columns[len(out.Columns)-1].Optional = true
		}
	}
	for _, m := range t.Means {
		over, under := out.Find(m.Over), out.Find(m.Under)
		if over >= 0 && under >= 0 {
			g.means = append(g.means, [2]int{over, under})
			out.Columns = append(out.Columns, tabular.Column{Name: m.Name, Type: tabular.Float, Optional: true, Unit: out.Columns[over].Unit, Says: m.Over + " divided by " + m.Under})
		}
	}
	out.Each = g.each
	return out, nil
}

func keys(t *tabular.Table) (names []string) {
	for _, c := range t.Columns {
		if c.Role == "key" {
			names = append(names, c.Name)
		}
	}
	return names
}

// groups adds up the rows of a table.
type groups struct {
	t              tabular.Table
	keys, measures []int
	means          [][2]int // columns of the result that are divided
}

// maxGroups limits the memory of sums by keys that are different in every row.
const maxGroups = 1 << 20

func (g *groups) each(yield func([]tabular.Cell) bool) error {
	index, rows := map[string]int{}, [][]tabular.Cell(nil)
	var id []byte
	tooMany := false
	err := g.t.Each(func(row []tabular.Cell) bool {
		id = id[:0]
		for _, at := range g.keys {
			c := &row[at]
			id = binary.AppendUvarint(binary.AppendVarint(id, c.Int), uint64(len(c.Text)))
			id = append(append(binary.AppendUvarint(id, math.Float64bits(c.Float)), c.Text...), boolByte(c.Known))
		}
		at, ok := index[string(id)]
		if !ok {
			at = len(rows)
			if at == maxGroups {
				tooMany = true
				return false
			}
			index[string(id)] = at
			sum := make([]tabular.Cell, len(g.keys)+1+len(g.measures)+len(g.means))
			for i, from := range g.keys {
				sum[i] = row[from]
			}
			sum[len(g.keys)].Known = true
			rows = append(rows, sum)
		}
		g.add(rows[at], row)
		return true
	})
	if tooMany {
		return fmt.Errorf("there are more than %d groups; group by fewer columns", maxGroups)
	}
	for _, row := range rows {
		for i, from := range g.measures { // a sum that has no room in 64 bits is not known
			if role := g.t.Columns[from].Role; role != "min" && role != "max" && row[len(g.keys)+1+i].Int == math.MaxInt64 {
				row[len(g.keys)+1+i] = tabular.Cell{}
			}
		}
		for i, m := range g.means {
			if over, under := &row[m[0]], &row[m[1]]; over.Known && under.Known && under.Int != 0 {
				row[len(row)-len(g.means)+i] = tabular.Cell{Known: true, Float: float64(over.Int) / float64(under.Int)}
			}
		}
		if !yield(row) {
			break
		}
	}
	return err
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// add adds a row to a sum.
func (g *groups) add(sum, row []tabular.Cell) {
	sum[len(g.keys)].Int++
	for i, from := range g.measures {
		to, c := &sum[len(g.keys)+1+i], &row[from]
		role := g.t.Columns[from].Role
		switch {
		case !c.Known:
		case !to.Known:
			*to = *c
		case role == "min":
			to.Int, to.Float = min(to.Int, c.Int), min(to.Float, c.Float)
		case role == "max":
			to.Int, to.Float = max(to.Int, c.Int), max(to.Float, c.Float)
		case to.Int == math.MaxInt64: // stays over the limit
		default:
			to.Int, to.Float = unit.Plus(to.Int, c.Int), to.Float+c.Float
		}
	}
}

// Sort sorts rows by a column, "-NAME" from the largest value on, and keeps the first top of them; all for 0. Rows with
// equal values stay in their order, and unknown values come last.
func Sort(t tabular.Table, by string, top int) (tabular.Table, error) {
	name, down := strings.CutPrefix(by, "-")
	at, c, err := Find(&t)(name)
	if err != nil {
		return t, err
	}
	if c.List {
		return t, fmt.Errorf("%s has a list in each row; rows are sorted by single values", c.Name)
	}
	compare := func(a, b []tabular.Cell) int {
		x, y := &a[at], &b[at]
		if x.Known != y.Known {
			return cmp.Compare(boolByte(y.Known), boolByte(x.Known))
		}
		order := cmp.Or(cmp.Compare(x.Int, y.Int), cmp.Compare(x.Float, y.Float), cmp.Compare(x.Text, y.Text))
		if down {
			return -order
		}
		return order
	}
	each := t.Each
	t.Each = func(yield func([]tabular.Cell) bool) error {
		var rows [][]tabular.Cell
		cut := func() {
			slices.SortStableFunc(rows, compare)
			if top > 0 && len(rows) > top {
				rows = rows[:top]
			}
		}
		err := each(func(row []tabular.Cell) bool {
			rows = append(rows, slices.Clone(row))
			if top > 0 && len(rows) >= 2*top+1024 {
				cut()
			}
			return true
		})
		cut()
		for _, row := range rows {
			if !yield(row) {
				break
			}
		}
		return err
	}
	return t, nil
}

// Top keeps the first rows.
func Top(t tabular.Table, n int) tabular.Table {
	each := t.Each
	t.Each = func(yield func([]tabular.Cell) bool) error {
		i := 0
		return each(func(row []tabular.Cell) bool {
			i++
			return i <= n && yield(row) && i < n
		})
	}
	return t
}
