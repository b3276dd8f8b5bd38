package row

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// An Adds is how the values of several rows become one.
type Adds uint8

// The values of Adds. A Key is not added up: rows with different keys stay separate.
const (
	Key Adds = iota
	Sum
	Max
	Min
	Mean // the quotient of two sums
)

// String returns the word of a tag, "key" for a key.
func (a Adds) String() string { return [...]string{"key", "sum", "max", "min", "mean"}[a] }

// A Form is the form of a key's texts.
type Form uint8

// The values of Form.
const (
	Word   Form = iota // one of a fixed list
	Name               // any text from the input
	Symbol             // a C++ symbol with namespaces and arguments
	Place              // "file.py:12 function"
)

// A Unit is the unit of a measure.
type Unit uint8

// The units.
const (
	Count Unit = iota
	Time       // ns
	Bytes
)

// A Column is a field of a kind of row, a mean, or a key that is computed from several fields.
type Column struct {
	Name   string // display name: "launched by"
	JSON   string // name in JSON: "op"; "" if it is not a field
	Adds   Adds
	Form   Form
	Unit   Unit
	Nested bool
	With   string // name of the column in whose unit it is printed

	meaning, example   string // of a key, for those who select by it; "" if they follow from its form
	field, over, under int
	text               func(reflect.Value) string
	order              []string // order of the values; nil if they are sorted as texts
}

// A Kind describes one kind of row. It is immutable.
type Kind struct {
	Name, Noun string // "kernels", "kernel"; Noun is also a key, by which rows are added up that nobody gave keys for
	Of         string // denominator of shares: "total kernel time"
	Host       bool   // all times and counts are of the CPU
	Within     string // key whose rows with one value are the denominator of shares; "" if it is all rows
	Columns    []Column
	Row        reflect.Type

	sorts []int // columns that sort rows, the main measure first
}

// Describe returns the description of the rows of type R: their name, the noun for one of them, and the
// denominator of shares. The noun must be the display name of a key, because it names a row: sums without keys
// are by the noun, and texts say "the paused time of all pauses" if it is "pause". Describe panics if a tag or
// the noun is wrong, because they are constants of the program.
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
	if i, ok := k.Find(noun); !ok || k.Columns[i].Adds != Key || k.Columns[i].Name != noun {
		panic(fmt.Sprintf("row: the noun %q of %s is not the name of a key; the keys are %s", noun, name, strings.Join(k.Keys(), ", ")))
	}
	return k
}

// MeanOf adds a mean with the given name: the sum over divided by the sum under.
func MeanOf(name, over, under string) func(*Kind) {
	return func(k *Kind) {
		c := Column{Name: name, Adds: Mean, over: k.At(over), under: k.At(under)}
		c.Unit = k.Columns[c.over].Unit
		k.Columns = append(k.Columns, c)
	}
}

// Made adds a key that is computed from several fields.
func Made[R any](name string, form Form, text func(*R) string) func(*Kind) {
	return func(k *Kind) {
		k.Columns = append(k.Columns, Column{Name: name, Form: form, text: func(v reflect.Value) string { return text(v.Addr().Interface().(*R)) }})
	}
}

// OnHost says that all times and counts are of the CPU: they need no GPU events.
func OnHost() func(*Kind) { return func(k *Kind) { k.Host = true } }

// Within says that rows with the same value of a key are one whole: shares are of these rows.
func Within(key string) func(*Kind) { return func(k *Kind) { k.Within = key } }

// Ordered gives the values of a key an explicit order.
func Ordered(name string, values []string) func(*Kind) {
	return func(k *Kind) { k.Columns[k.At(name)].order = values }
}

// Meant says what a key is, and gives a value or pattern of it as an example.
func Meant(name, meaning, example string) func(*Kind) {
	return func(k *Kind) { c := k.Column(name); c.meaning, c.example = meaning, example }
}

// Explained returns the meaning of a key and an example of a value or pattern. They are the description's own, or
// follow from the form of the key.
func (k *Kind) Explained(c *Column) (meaning, example string, own bool) {
	what := strings.ReplaceAll(c.Written(), "_", " ") + " of " + k.Name
	switch {
	case c.meaning != "":
		return c.meaning, c.example, true
	case k.numeric(c):
		return "number: " + what, "0", false
	case c.Form == Word:
		return what, "*", false
	}
	return what + "; * matches any text", "*", false
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

// Field returns the JSON name of the column, which ends in the unit of a time or size.
func (c *Column) Field() string {
	if c.JSON != "" {
		return c.JSON
	}
	return c.Name + [...]string{Count: "", Time: "_ns", Bytes: "_bytes"}[c.Unit]
}

// Terms returns the column indices of the numerator and denominator of a mean.
func (c *Column) Terms() (over, under int) { return c.over, c.under }

// Find returns the index of the column with a display name or a name in JSON. An underscore may replace a
// space.
func (k *Kind) Find(name string) (int, bool) {
	spellings := []func(*Column) string{
		func(c *Column) string { return c.Name },
		func(c *Column) string { return c.JSON },
		func(c *Column) string { return strings.ReplaceAll(c.Name, " ", "_") },
	}
	for _, spelling := range spellings {
		for i := range k.Columns {
			if name != "" && spelling(&k.Columns[i]) == name {
				return i, true
			}
		}
	}
	return 0, false
}

// Key returns the column that is the key with a name, which is any that Find knows.
func (k *Kind) Key(name string) (*Column, bool) {
	i, ok := k.Find(name)
	if !ok || k.Columns[i].Adds != Key {
		return nil, false
	}
	return &k.Columns[i], true
}

// At is like Find for names that are constants of the program: it panics if there is no such column.
func (k *Kind) At(name string) int {
	i, ok := k.Find(name)
	if !ok {
		panic(fmt.Sprintf("row: %s have no column %q", k.Name, name))
	}
	return i
}

// Column returns the column with a name, and panics if there is none.
func (k *Kind) Column(name string) *Column { return &k.Columns[k.At(name)] }

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

// Number returns the value of a measure, or of a key that is a number; 0 if it is not known.
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
