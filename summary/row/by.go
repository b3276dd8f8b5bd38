package row

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"assay/internal/label"
	"assay/internal/unit"
)

// A Table has the sums of rows with equal keys, the largest main measure first.
type Table struct {
	*Kind
	Rows  []Row
	Whole int64 // sum of the main measure over all rows

	keys []int         // columns that separate the rows
	from reflect.Value // the slice of rows that is added up
}

// A Row is the sum of the rows with equal keys.
type Row struct {
	Of     []int // indices of these rows
	keys   []key // in the order of Table.keys
	number []int64
}

// A key is ordered by its number and then by its text.
type key struct {
	number int64
	text   string
}

// By adds up the rows of a slice that have equal keys. Without keys there is one sum over all rows.
func (k *Kind) By(rows any, keys ...string) *Table {
	t := &Table{Kind: k, from: reflect.ValueOf(rows)}
	if t.from.Type().Elem() != k.Row {
		panic(fmt.Sprintf("row: %s are not %v", k.Name, t.from.Type()))
	}
	for _, name := range keys {
		t.keys = append(t.keys, k.At(name))
	}
	index, id := map[string]int{}, []byte(nil)
	of := make([]key, len(keys))
	for i := range t.from.Len() {
		v := t.from.Index(i)
		id = id[:0]
		for j, at := range t.keys {
			of[j] = k.keyOf(&k.Columns[at], v)
			// The length makes the id unique, because a text may contain any byte.
			id = append(binary.AppendUvarint(id, uint64(len(of[j].text))), of[j].text...)
		}
		at, ok := index[string(id)]
		if !ok {
			at = len(t.Rows)
			index[string(id)] = at
			t.Rows = append(t.Rows, Row{keys: slices.Clone(of), number: make([]int64, len(k.Columns))})
		}
		r := &t.Rows[at]
		r.add(k.Columns, v)
		r.Of = append(r.Of, i)
	}
	for i := range t.Rows {
		t.Whole = unit.Plus(t.Whole, max(0, t.Main(&t.Rows[i]))) // a negative value of a damaged row does not reduce the sum
	}
	slices.SortFunc(t.Rows, func(a, b Row) int {
		for _, i := range t.sorts {
			if c := cmp.Compare(b.number[i], a.number[i]); c != 0 {
				return c
			}
		}
		return slices.CompareFunc(a.keys, b.keys, compareKeys)
	})
	return t
}

// ByKeys sorts the rows by their keys instead of the main measure, and returns the table.
func (t *Table) ByKeys() *Table {
	slices.SortFunc(t.Rows, func(a, b Row) int { return slices.CompareFunc(a.keys, b.keys, compareKeys) })
	return t
}

func compareKeys(a, b key) int {
	return cmp.Or(cmp.Compare(a.number, b.number), cmp.Compare(a.text, b.text))
}

// keyOf returns a key of a row. Values that are not in the explicit order of a column come after those that
// are.
func (k *Kind) keyOf(c *Column, v reflect.Value) (out key) {
	out.text = c.Text(v)
	switch {
	case c.order != nil:
		if out.number = int64(slices.Index(c.order, out.text)); out.number < 0 {
			out.number = int64(len(c.order))
		}
	case k.numeric(c):
		out.number = c.Number(v)
	}
	return out
}

// add adds the measures of one row.
func (r *Row) add(columns []Column, v reflect.Value) {
	for i := range columns {
		c := &columns[i]
		switch c.Adds {
		case Sum:
			r.number[i] = unit.Plus(r.number[i], c.Number(v))
		case Max:
			r.number[i] = max(r.number[i], c.Number(v))
		case Min:
			if n := c.Number(v); len(r.Of) == 0 || n < r.number[i] {
				r.number[i] = n
			}
		}
	}
}

// Number returns a measure of a row. Means are rounded half up; the mean over no rows is 0.
func (t *Table) Number(r *Row, name string) int64 {
	i := t.At(name)
	if c := &t.Columns[i]; c.Adds == Mean {
		return unit.Mean(r.number[c.over], r.number[c.under])
	}
	return r.number[i]
}

// Value returns a measure of a row as it is, not rounded: a whole number, the quotient of a mean, or
// nil if it is not known of any of the rows that were added up.
func (t *Table) Value(r *Row, name string) any {
	c := t.Column(name)
	switch {
	case c.Adds == Mean && r.number[c.under] == 0, !t.known(r, c):
		return nil
	case c.Adds == Mean:
		return float64(r.number[c.over]) / float64(r.number[c.under])
	}
	return t.Number(r, name)
}

// known reports whether a row of the sum has a value of the column.
func (t *Table) known(r *Row, c *Column) bool {
	return c.Adds == Mean || slices.ContainsFunc(r.Of, func(i int) bool { return t.Kind.Known(c, t.from.Index(i)) })
}

// Known reports whether a row has a value of a column that is no mean.
func (k *Kind) Known(c *Column, v reflect.Value) bool {
	return c.text != nil || k.Row.Field(c.field).Type.Kind() != reflect.Pointer || !v.Field(c.field).IsNil()
}

// Main returns the main measure of a row.
func (t *Table) Main(r *Row) int64 { return r.number[t.sorts[0]] }

// Sum returns a measure summed over all rows of the table.
func (t *Table) Sum(name string) (sum int64) {
	for i := range t.Rows {
		sum = unit.Plus(sum, t.Number(&t.Rows[i], name))
	}
	return sum
}

// Text returns the value of a key by which the table is grouped.
func (t *Table) Text(r *Row, name string) string {
	return r.keys[slices.Index(t.keys, t.At(name))].text
}

// Key returns the value of a key of a row: a text or a number.
func (t *Table) Key(r *Row, name string) any {
	if k := r.keys[slices.Index(t.keys, t.At(name))]; t.numeric(t.Column(name)) {
		return k.number
	} else {
		return k.text
	}
}

// Apart reports whether the table is grouped by a key.
func (t *Table) Apart(name string) bool { return slices.Contains(t.keys, t.At(name)) }

// A Value is a value of a key with the main measure, summed over the rows that have it.
type Value struct {
	Text string
	Main int64
}

// Values returns the values that a key has among the rows of a sum: texts by descending main measure,
// numbers in ascending order.
func (t *Table) Values(r *Row, name string) []Value {
	c, sums, at := t.Column(name), []Value(nil), map[string]int{}
	var keys []key
	for _, n := range r.Of {
		v := t.from.Index(n)
		k := t.keyOf(c, v)
		i, ok := at[k.text]
		if !ok {
			i = len(sums)
			at[k.text] = i
			sums, keys = append(sums, Value{Text: k.text}), append(keys, k)
		}
		sums[i].Main = unit.Plus(sums[i].Main, t.Kind.Main().Number(v))
	}
	numeric := t.numeric(c)
	slices.SortFunc(sums, func(a, b Value) int {
		if !numeric {
			return cmp.Or(cmp.Compare(b.Main, a.Main), cmp.Compare(a.Text, b.Text))
		}
		return compareKeys(keys[at[a.Text]], keys[at[b.Text]])
	})
	return sums
}

// Where returns the rows whose keys match the given values, see [Kind.Matches].
func (k *Kind) Where(rows any, values map[string]string) any {
	return Filtered(rows, func(v reflect.Value) bool { return k.Matches(v, values) })
}

// Filtered returns the rows of a slice that match.
func Filtered(rows any, match func(reflect.Value) bool) any {
	from := reflect.ValueOf(rows)
	out := reflect.MakeSlice(from.Type(), 0, 0)
	for i := range from.Len() {
		if match(from.Index(i)) {
			out = reflect.Append(out, from.Index(i))
		}
	}
	return out.Interface()
}

// Matches reports whether the keys of a row match the given values, in which "*" matches any text.
func (k *Kind) Matches(row reflect.Value, values map[string]string) bool {
	for name, value := range values {
		if !label.Like(value, k.Column(name).Text(row)) {
			return false
		}
	}
	return true
}

// Written returns the name of a column as users write it, with underscores.
func (c *Column) Written() string { return strings.ReplaceAll(c.Name, " ", "_") }

// Keys returns the names of the keys as users write them, with underscores.
func (k *Kind) Keys() (names []string) {
	for i := range k.Columns {
		if c := &k.Columns[i]; c.Adds == Key {
			names = append(names, c.Written())
		}
	}
	return names
}
