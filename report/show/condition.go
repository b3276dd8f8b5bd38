package show

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"assay/internal/query"
	"assay/internal/tabular"
	"assay/summary/row"
)

// A condition says which rows a question is about. The zero condition is met by all rows.
type condition struct {
	expr   *query.Expr
	values map[string]string // the patterns of keys, if the condition consists of nothing else
}

// conditionOf reads conditions that must all hold.
func conditionOf(where []string) (c condition, err error) {
	if len(where) == 0 {
		return c, nil
	}
	if c.expr, err = query.All(where); err != nil {
		return c, err
	}
	terms, all := c.expr.Terms()
	c.values = map[string]string{}
	for _, t := range terms {
		_, name := split(t.Name)
		if !all || t.Op != "=" {
			c.values = nil
			return c, nil
		}
		if _, twice := c.values[name]; twice {
			return c, fmt.Errorf("there are two conditions for %s", name)
		}
		c.values[name] = t.Value
	}
	return c, nil
}

// split separates the kind of rows that a name begins with: "streams:stream".
func split(name string) (kind, rest string) {
	if kind, rest, ok := strings.Cut(name, ":"); ok {
		return kind, rest
	}
	return "", name
}

// names returns the names of columns in the condition.
func (c condition) names() (names []string) {
	if c.expr == nil {
		return nil
	}
	terms, _ := c.expr.Terms()
	for _, t := range terms {
		names = append(names, t.Name)
	}
	return names
}

// about returns the condition for programs: the patterns of keys, or its text.
func (c condition) about() (value any, given bool) {
	switch {
	case c.expr == nil:
		return nil, false
	case c.values != nil:
		return c.values, true
	}
	return c.expr.String(), true
}

// filter returns the function that tells which rows of a kind meet the condition.
func (c condition) filter(k *row.Kind) (func(reflect.Value) bool, error) {
	if c.expr == nil {
		return func(reflect.Value) bool { return true }, nil
	}
	f, err := c.expr.Bind(func(name string) (int, tabular.Column, error) {
		_, name = split(name)
		i, ok := k.Find(name)
		if !ok || k.Columns[i].Adds == row.Mean {
			return 0, tabular.Column{}, errors.New(noColumn(k, name))
		}
		col := tabular.Column{Name: name, Unit: [...]string{row.Count: "", row.Time: "ns", row.Bytes: "bytes"}[k.Columns[i].Unit]}
		if k.IsNumber(&k.Columns[i]) {
			col.Type = tabular.Int
		}
		return i, col, nil
	})
	if err != nil {
		return nil, err
	}
	return func(v reflect.Value) bool {
		return f.Match(func(i int) *tabular.Cell {
			col := &k.Columns[i]
			if !k.IsNumber(col) {
				return &tabular.Cell{Known: true, Text: col.Text(v)}
			}
			return &tabular.Cell{Known: k.Known(col, v), Int: col.Number(v)}
		})
	}, nil
}

// noColumn says that rows have no such column, and which are like it.
func noColumn(k *row.Kind, name string) string {
	var names []string
	for i := range k.Columns {
		if c := &k.Columns[i]; c.Adds == row.Mean && (c.Name == name || c.Field() == name) {
			return fmt.Sprintf("%s is a mean of added rows; conditions are on single rows", name)
		} else if names = append(names, c.Written()); c.JSON != "" && c.JSON != c.Name {
			names = append(names, c.JSON)
		}
	}
	text := fmt.Sprintf("%s have no column %q", k.Name, query.Shown(name))
	if near := query.Near(name, names); near != nil {
		return text + "; near are " + strings.Join(near, ", ")
	}
	return text
}
