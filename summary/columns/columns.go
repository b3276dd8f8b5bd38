// Package columns shows the rows of a summary as flat tables, for other programs. The columns of a table follow from
// the struct of its rows, and from its description in package row: there is no second list of them.
//
// Members of nested structs have the names of both, joined by an underscore: "budget_idle_ns". A list of structs
// becomes one column with a list for each member. What a flat table cannot hold, maps and lists within lists, is
// text in JSON. A cell is null where the JSON of a summary has no value.
package columns

import (
	"cmp"
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"assay/internal/tabular"
	"assay/summary"
	"assay/summary/row"
)

// A Source is one kind of rows of a summary as a table.
type Source struct {
	Name, Says string
	Kind       *row.Kind // the description of rows that can be added up; nil for others
	Plain      string    // why rows cannot be added up
	numbered   bool      // the first column is the index of the row, to which other rows refer
	row        reflect.Type
	rows       func(*summary.Summary) any
}

// Sources returns the tables of a summary: its inputs and issues, and every member.
func Sources() []Source {
	out := []Source{
		{Name: "inputs", Says: "the files that were read; the rows of other tables have their index in the column input", Plain: "one row is one file",
			numbered: true, row: reflect.TypeFor[summary.Input](), rows: func(s *summary.Summary) any { return s.Inputs }},
		{Name: "issues", Says: "what was wrong with the inputs", Plain: "one row is one kind of trouble",
			row: reflect.TypeFor[summary.Issue](), rows: func(s *summary.Summary) any { return s.Issues }},
	}
	for _, m := range summary.Members() {
		says, plain := m.About()
		out = append(out, Source{Name: strings.ReplaceAll(m.Name(), ".", "_"), Says: says, Kind: m.Kind(), Plain: plain, row: m.Row(), rows: m.Rows})
	}
	return out
}

// Rows returns the slice of rows.
func (s Source) Rows(of *summary.Summary) any { return s.rows(of) }

// Len returns the number of rows.
func (s Source) Len(of *summary.Summary) int { return reflect.ValueOf(s.rows(of)).Len() }

// Columns returns the columns of the table.
func (s Source) Columns() (out []tabular.Column) {
	for _, l := range s.leaves() {
		out = append(out, l.Column)
	}
	return out
}

// Table returns the rows of a summary.
func (s Source) Table(of *summary.Summary) tabular.Table { return s.TableOf(s.rows(of)) }

// TableOf returns some of the rows, a slice of the same type.
func (s Source) TableOf(slice any) tabular.Table {
	leaves := s.leaves()
	t := tabular.Table{Name: s.Name, Says: s.Says, Plain: s.Plain, Means: s.means()}
	for _, l := range leaves {
		t.Columns = append(t.Columns, l.Column)
	}
	rows := reflect.ValueOf(slice)
	t.Each = func(yield func([]tabular.Cell) bool) error {
		cells := make([]tabular.Cell, len(leaves))
		for i := range rows.Len() {
			for j, l := range leaves {
				cells[j] = l.get(rows.Index(i))
			}
			if s.numbered {
				cells[0] = tabular.Number(int64(i))
			}
			if !yield(cells) {
				return nil
			}
		}
		return nil
	}
	return t
}

// means returns the means of sums.
func (s Source) means() (out []tabular.Mean) {
	if s.Kind == nil {
		return nil
	}
	for i := range s.Kind.Columns {
		if c := &s.Kind.Columns[i]; c.Adds == row.Mean {
			over, under := c.Terms()
			out = append(out, tabular.Mean{Name: c.Field(), Over: s.Kind.Columns[over].JSON, Under: s.Kind.Columns[under].JSON})
		}
	}
	return out
}

// leaves returns the columns with what makes their cells. Those of rows that can be added up have their roles.
func (s Source) leaves() []leaf {
	leaves := named(structLeaves(s.row, false))
	if s.numbered {
		leaves = slices.Insert(leaves, 0, leaf{Column: tabular.Column{Name: "input", Type: tabular.Int, Says: "number of the file, which other tables have"},
			get: func(reflect.Value) tabular.Cell { return tabular.Cell{} }})
	}
	if s.Kind == nil {
		return leaves
	}
	for i := range s.Kind.Columns {
		c := &s.Kind.Columns[i]
		if at := slices.IndexFunc(leaves, func(l leaf) bool { return l.Name == c.JSON }); at >= 0 {
			l := &leaves[at]
			l.Role, l.Alias, l.Nested, l.Named = c.Adds.String(), c.Name, c.Nested, c.Adds == row.Key && c.Form != row.Word
			if meaning, _, own := s.Kind.Explained(c); own && l.Says == "" {
				l.Says = meaning
			}
			if l.Says == "" && c.Name != l.Name {
				l.Says = c.Name // what tables for people call it
			}
			continue
		}
		name := c.Written()
		if c.Adds != row.Key || slices.ContainsFunc(leaves, func(l leaf) bool { return l.Name == name }) {
			continue // a mean follows from two columns, and a made key must not hide a field
		}
		meaning, _, _ := s.Kind.Explained(c)
		leaves = append(leaves, leaf{Column: tabular.Column{Name: name, Alias: c.Name, Role: c.Adds.String(), Named: c.Form != row.Word, Says: meaning},
			get: func(v reflect.Value) tabular.Cell { return tabular.Of(c.Text(v)) }})
	}
	if main := s.Kind.Main(); main.JSON != "" {
		at := slices.IndexFunc(leaves, func(l leaf) bool { return l.Name == main.JSON })
		leaves[at].Of = s.Kind.Of
	}
	return leaves
}

// named gives columns their names: the members of their path with an underscore between them, or with two if another
// column has that name.
func named(leaves []leaf) []leaf {
	count := map[string]int{}
	for _, l := range leaves {
		count[strings.Join(l.path, "_")]++
	}
	for i := range leaves {
		l := &leaves[i]
		if l.Name = strings.Join(l.path, "_"); count[l.Name] > 1 {
			l.Name = strings.Join(l.path, "__")
		}
	}
	return leaves
}

// A leaf is a column with what makes the cell of a row.
type leaf struct {
	tabular.Column
	path []string // the members that form the name
	get  func(reflect.Value) tabular.Cell
}

// budgeted are rows whose JSON has a breakdown of their window that is no field.
type budgeted interface {
	Budget() (b summary.Budget, known bool)
}

// structLeaves returns the columns of a struct, which is an element of a list if listed is true.
func structLeaves(t reflect.Type, listed bool) (out []leaf) {
	hasBudget := reflect.PointerTo(t).Implements(reflect.TypeFor[budgeted]())
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "-" || !f.IsExported() && !f.Anonymous {
			continue
		}
		var sub []leaf
		switch {
		case f.Anonymous && name == "":
			sub = structLeaves(f.Type, listed)
		default:
			sub = leavesOf(f.Type, listed)
			says, unit := comment(t.Name(), f.Name), cmp.Or(f.Tag.Get("unit"), unitOf(name))
			for j := range sub {
				l := &sub[j]
				if l.Says == "" {
					l.Says = says
				}
				if l.Unit == "" && l.Type != tabular.Text && l.Type != tabular.Structured {
					l.Unit = unit
				}
				if of := f.Tag.Get("of"); of != "" {
					l.Of = of
				}
				l.path = append([]string{name}, l.path...)
			}
		}
		omits := strings.Contains(options, "omitempty") && f.Type.Kind() != reflect.Struct || strings.Contains(options, "omitzero")
		logged := hasBudget && f.Type == reflect.TypeFor[summary.Activity]() // those of a log have no activity
		for _, l := range sub {
			get := l.get
			l.Optional = l.Optional || omits || logged
			l.get = func(v reflect.Value) tabular.Cell {
				at := v.Field(i)
				if omits && empty(at) {
					return tabular.Cell{}
				}
				if logged {
					if _, known := budgetOf(v); !known {
						return tabular.Cell{}
					}
				}
				return get(at)
			}
			out = append(out, l)
		}
	}
	if hasBudget {
		out = append(out, budgetLeaves(listed)...)
	}
	return out
}

func budgetOf(v reflect.Value) (summary.Budget, bool) {
	return v.Addr().Interface().(budgeted).Budget()
}

// budgetLeaves returns the columns of the breakdown of rows that have one.
func budgetLeaves(listed bool) (out []leaf) {
	for _, l := range structLeaves(reflect.TypeFor[summary.Budget](), listed) {
		get := l.get
		l.path, l.Optional = append([]string{"budget"}, l.path...), true
		l.get = func(v reflect.Value) tabular.Cell {
			b, known := budgetOf(v)
			if !known {
				return tabular.Cell{}
			}
			return get(reflect.ValueOf(b))
		}
		out = append(out, l)
	}
	return out
}

// empty reports whether the JSON leaves a value out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len() == 0
	}
	return v.IsZero()
}

// leavesOf returns the columns of a value of any type. Their names are those of parts of the value.
func leavesOf(t reflect.Type, listed bool) []leaf {
	switch t {
	case reflect.TypeFor[summary.Activity]():
		return activityLeaves()
	case reflect.TypeFor[summary.Sum]():
		return []leaf{{Column: tabular.Column{Type: tabular.Int, Optional: true}, get: func(v reflect.Value) tabular.Cell {
			return tabular.Cell{Known: summary.Sum(v.Int()).Fits(), Int: v.Int()}
		}}}
	case reflect.TypeFor[json.RawMessage]():
		return []leaf{{Column: tabular.Column{Type: tabular.Structured, Optional: true}, get: func(v reflect.Value) tabular.Cell {
			return tabular.Cell{Known: v.Len() > 0, Text: string(v.Bytes())}
		}}}
	}
	switch t.Kind() {
	case reflect.Pointer:
		return mapped(leavesOf(t.Elem(), listed), func(get func(reflect.Value) tabular.Cell, l *leaf) func(reflect.Value) tabular.Cell {
			l.Optional = true
			return func(v reflect.Value) tabular.Cell {
				if v.IsNil() {
					return tabular.Cell{}
				}
				return get(v.Elem())
			}
		})
	case reflect.Struct:
		return structLeaves(t, listed)
	case reflect.Slice, reflect.Array:
		if sub := leavesOf(t.Elem(), true); !listed && !slices.ContainsFunc(sub, func(l leaf) bool { return l.List }) {
			return mapped(sub, listOf)
		}
		return []leaf{structured}
	case reflect.Map:
		return []leaf{structured}
	}
	return []leaf{scalar(t)}
}

// listOf makes a column with lists of the values that get returns for single elements.
func listOf(get func(reflect.Value) tabular.Cell, l *leaf) func(reflect.Value) tabular.Cell {
	l.List, l.Optional = true, true
	return func(v reflect.Value) tabular.Cell {
		if v.Kind() == reflect.Slice && v.IsNil() {
			return tabular.Cell{}
		}
		c := tabular.Cell{Known: true, List: make([]tabular.Cell, v.Len())}
		for i := range c.List {
			c.List[i] = get(v.Index(i))
		}
		return c
	}
}

func mapped(list []leaf, f func(get func(reflect.Value) tabular.Cell, l *leaf) func(reflect.Value) tabular.Cell) []leaf {
	for i := range list {
		list[i].get = f(list[i].get, &list[i])
	}
	return list
}

// structured is the column of what a flat table cannot hold.
var structured = leaf{Column: tabular.Column{Type: tabular.Structured, Optional: true}, get: func(v reflect.Value) tabular.Cell {
	if k := v.Kind(); (k == reflect.Map || k == reflect.Slice) && v.IsNil() {
		return tabular.Cell{}
	}
	text, err := json.Marshal(v.Interface())
	if err != nil {
		return tabular.Cell{}
	}
	return tabular.Of(string(text))
}}

func scalar(t reflect.Type) leaf {
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return leaf{get: func(v reflect.Value) tabular.Cell {
			text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
			return tabular.Cell{Known: err == nil, Text: string(text)}
		}}
	}
	switch t.Kind() {
	case reflect.String:
		return leaf{Column: tabular.Column{}, get: func(v reflect.Value) tabular.Cell { return tabular.Of(v.String()) }}
	case reflect.Bool:
		return leaf{Column: tabular.Column{Type: tabular.Bool}, get: func(v reflect.Value) tabular.Cell {
			c := tabular.Cell{Known: true}
			if v.Bool() {
				c.Int = 1
			}
			return c
		}}
	case reflect.Float64, reflect.Float32:
		return leaf{Column: tabular.Column{Type: tabular.Float}, get: func(v reflect.Value) tabular.Cell { return tabular.Cell{Known: true, Float: v.Float()} }}
	case reflect.Int, reflect.Int64, reflect.Int32, reflect.Int16, reflect.Int8:
		return leaf{Column: tabular.Column{Type: tabular.Int}, get: func(v reflect.Value) tabular.Cell { return tabular.Number(v.Int()) }}
	}
	panic("columns: rows have no columns of type " + t.String())
}

// activityLeaves returns the cells of a window: the time during which exactly these classes ran.
func activityLeaves() (out []leaf) {
	for set := range len(summary.Activity{}) {
		name, says := strings.Join(summary.Class(set).Names(), "_"), "time during which nothing else ran than "+strings.Join(summary.Class(set).Names(), " with ")
		if set == 0 {
			name, says = "idle", "time during which nothing ran"
		}
		out = append(out, leaf{Column: tabular.Column{Type: tabular.Int, Unit: "ns", Says: says}, path: []string{name + "_ns"},
			get: func(v reflect.Value) tabular.Cell { return tabular.Number(v.Index(set).Int()) }})
	}
	return out
}

// unitOf returns the unit that the name of a field ends in.
func unitOf(name string) string {
	for _, u := range []struct{ suffix, unit string }{
		{"ns", "ns"}, {"bytes", "bytes"}, {"share", "share"}, {"mfu", "share"}, {"hfu", "share"}, {"pct", "percent"}, {"gbps", "GB/s"},
		{"tflops", "TFLOP/s"}, {"flops", "FLOP"}, {"mhz", "MHz"}, {"per_s", "1/s"},
	} {
		if name == u.suffix || strings.HasSuffix(name, "_"+u.suffix) || u.unit == "share" && strings.HasPrefix(name, u.suffix+"_") {
			return u.unit
		}
	}
	return ""
}
