// Package row describes the rows of a summary, from the tags of their fields: by which keys rows
// are known, what is measured of them, and how the values of several rows become one.
//
//	Op      string `json:"op,omitempty" row:"launched by,name"`
//	TotalNS int64  `json:"total_ns" row:"total,sum,main"`
//
// A tag has the name that people read, and words. A field without the word sum, max or min is a key.
// The unit of a measure follows from the name in JSON, which ends in "ns" or "bytes". The meaning of
// a field is in its tag, so that a new one is described where it is added, and tables,
// gates and filters know it without code of their own.
//
//	sum, max, min  how the values of several rows become one
//	main           the measure by which rows are sorted, and that shares are of
//	then           the measure that sorts rows of equal main ones
//	nested         the sum of rows with different names means nothing: they contain each other
//	with=NAME      tables print it in the unit of another column
//	name, symbol, place
//	               a key that comes from outside: any text, a symbol of C++, a place in a file
package row

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// An Adds says how the values of several rows become one.
type Adds uint8

// Keys are equal, or the rows are apart.
const (
	Key Adds = iota
	Sum
	Max
	Min
	Mean // the quotient of two sums
)

// A Form is what the texts of a key are.
type Form uint8

// The forms.
const (
	Word   Form = iota // of a list that this program knows
	Name               // from outside
	Symbol             // of C++, with namespaces and arguments
	Place              // "file.py:12 function"
)

// A Unit is what a measure is counted in.
type Unit uint8

// The units.
const (
	Count Unit = iota
	Time       // ns
	Bytes
)

// A Column is a field of a kind of row, a mean, or a key that is made of several fields.
type Column struct {
	Name   string // as people read it: "launched by"
	JSON   string // as programs do: "op"; "" if it is no field
	Adds   Adds
	Form   Form
	Unit   Unit
	Nested bool
	With   string // the name of the column whose unit it has

	field, over, under int
	text               func(reflect.Value) string
	order              []string // of the values, where it is not that of letters
}

// A Kind describes one kind of row. It does not change.
type Kind struct {
	Name, Noun string // "kernels", "kernel"
	Of         string // what shares are of: "total kernel time"
	Columns    []Column
	Row        reflect.Type

	sorts []int // the measures that sort rows, the main one first
}

// Describe returns the description of the rows of type R. It panics where a tag is wrong.
func Describe[R any](name, noun, of string, more ...func(*Kind)) *Kind {
	k := &Kind{Name: name, Noun: noun, Of: of, Row: reflect.TypeFor[R]()}
	for i := range k.Row.NumField() {
		f := k.Row.Field(i)
		if tag, ok := f.Tag.Lookup("row"); ok {
			k.add(f, i, strings.Split(tag, ","))
		}
	}
	for _, f := range more {
		f(k)
	}
	if len(k.sorts) == 0 || k.Columns[k.sorts[0]].Adds != Sum {
		panic("row: the main measure of " + name + " is not its first and no sum")
	}
	return k
}

// MeanOf adds the mean "name", which is one sum divided by another.
func MeanOf(name, over, under string) func(*Kind) {
	return func(k *Kind) {
		c := Column{Name: name, Adds: Mean, over: k.At(over), under: k.At(under)}
		c.Unit = k.Columns[c.over].Unit
		k.Columns = append(k.Columns, c)
	}
}

// Made adds a key that is made of several fields.
func Made[R any](name string, form Form, text func(*R) string) func(*Kind) {
	return func(k *Kind) {
		k.Columns = append(k.Columns, Column{Name: name, Form: form, text: func(v reflect.Value) string { return text(v.Addr().Interface().(*R)) }})
	}
}

// Ordered gives the values of a key an order.
func Ordered(name string, values []string) func(*Kind) {
	return func(k *Kind) { k.Columns[k.At(name)].order = values }
}

func (k *Kind) add(f reflect.StructField, at int, tag []string) {
	c := Column{Name: tag[0], field: at}
	c.JSON, _, _ = strings.Cut(f.Tag.Get("json"), ",")
	switch {
	case strings.HasSuffix(c.JSON, "ns"):
		c.Unit = Time
	case strings.HasSuffix(c.JSON, "bytes"):
		c.Unit = Bytes
	}
	for _, word := range tag[1:] {
		with, isWith := strings.CutPrefix(word, "with=")
		adds, form := slices.Index([]string{"sum", "max", "min"}, word), slices.Index([]string{"name", "symbol", "place"}, word)
		switch {
		case adds >= 0:
			c.Adds = Sum + Adds(adds)
		case form >= 0:
			c.Form = Name + Form(form)
		case isWith:
			c.With = with
		case word == "nested":
			c.Nested = true
		case word == "main":
			k.sorts = slices.Insert(k.sorts, 0, len(k.Columns))
		case word == "then":
			k.sorts = append(k.sorts, len(k.Columns))
		default:
			panic(fmt.Sprintf("row: %s.%s: unknown word %q", k.Name, f.Name, word))
		}
	}
	k.Columns = append(k.Columns, c)
}

// Field returns the name of the column as programs read it, with the unit of a time at its end.
func (c *Column) Field() string {
	if c.JSON != "" {
		return c.JSON
	}
	return c.Name + [...]string{Count: "", Time: "_ns", Bytes: "_bytes"}[c.Unit]
}

// Terms returns the numbers of the two sums of a mean.
func (c *Column) Terms() (over, under int) { return c.over, c.under }

// Find returns the number of the column that a user named as people or programs do. An underscore
// may stand for a space.
func (k *Kind) Find(name string) (int, bool) {
	for _, of := range []func(*Column) string{func(c *Column) string { return c.Name }, func(c *Column) string { return c.JSON },
		func(c *Column) string { return strings.ReplaceAll(c.Name, " ", "_") }} {
		for i := range k.Columns {
			if name != "" && of(&k.Columns[i]) == name {
				return i, true
			}
		}
	}
	return 0, false
}

// At is Find for names that are constants of this program.
func (k *Kind) At(name string) int {
	i, ok := k.Find(name)
	if !ok {
		panic(fmt.Sprintf("row: %s have no column %q", k.Name, name))
	}
	return i
}

// Column returns the column of a name.
func (k *Kind) Column(name string) *Column { return &k.Columns[k.At(name)] }

// Main returns the main measure.
func (k *Kind) Main() *Column { return &k.Columns[k.sorts[0]] }

// Text returns the value of a key of a row.
func (c *Column) Text(row reflect.Value) string {
	if c.text != nil {
		return c.text(row)
	}
	if f := row.Field(c.field); f.Kind() == reflect.String {
		return f.String()
	}
	return fmt.Sprint(c.Number(row))
}

// Number returns the value of a measure of a row, 0 if it is not known, or of a key that is a number.
func (c *Column) Number(row reflect.Value) int64 {
	f := row.Field(c.field)
	if f.Kind() == reflect.Pointer {
		if f.IsNil() {
			return 0
		}
		f = f.Elem()
	}
	return f.Int()
}

// numeric reports whether the values of the key are numbers.
func (k *Kind) numeric(c *Column) bool {
	return c.text == nil && k.Row.Field(c.field).Type.Kind() != reflect.String
}

// IsNumber reports whether the values of the column are numbers.
func (k *Kind) IsNumber(c *Column) bool { return c.Adds != Key || k.numeric(c) }
