package redact

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
)

// Strings rewrites every text that v, a pointer, leads to: exported fields,
// elements, and keys and values of maps. A field that a later version adds is not
// forgotten.
func (r *Redactor) Strings(v any) {
	if r.users {
		newWalker(func(s string) string { r.Learn(s); return s }).walk(reflect.ValueOf(v))
	}
	newWalker(r.Text).walk(reflect.ValueOf(v))
}

// A walker rewrites texts. Rows of a summary have the same few names, so it remembers texts
// that stay as they are.
type walker struct {
	rewrite func(string) string // its result for a text is always the same
	changed int                 // how many texts it changed

	seed     maphash.Seed
	same     [1024]string // by hash: texts that stay as they are
	sameJSON [64]string   // by hash: JSON whose decoded texts do
	fields   map[reflect.Type][]int
}

// What is shorter than short is searched as fast as it is looked up. What is longer than long
// is not remembered, because it takes memory.
const (
	short = 16
	long  = 4096
)

func newWalker(rewrite func(string) string) *walker {
	return &walker{rewrite: rewrite, seed: maphash.MakeSeed(), fields: map[reflect.Type][]int{}}
}

// text returns what a text is rewritten to.
func (w *walker) text(s string) string {
	known := new(string)
	if short <= len(s) && len(s) <= long {
		known = &w.same[maphash.String(w.seed, s)%uint64(len(w.same))]
		if *known == s {
			return s
		}
	}
	text := w.rewrite(s)
	if text == s {
		*known = s
	} else {
		w.changed++
	}
	return text
}

// walk rewrites every text that v leads to.
func (w *walker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && w.holdsText(v.Type().Elem()) {
			w.walk(v.Elem())
		}
	case reflect.Interface:
		w.walkInterface(v)
	case reflect.Struct:
		for _, i := range w.textFields(v.Type(), nil) {
			w.walk(v.Field(i))
		}
	case reflect.Slice, reflect.Array:
		if v.Type() == rawJSON {
			w.walkJSON(v)
			return
		}
		if w.holdsText(v.Type().Elem()) {
			for i := range v.Len() {
				w.walk(v.Index(i))
			}
		}
	case reflect.Map:
		w.walkMap(v)
	case reflect.String:
		if old := v.String(); v.CanSet() {
			if text := w.text(old); text != old {
				v.SetString(text)
			}
		}
	}
}

// walkInterface rewrites the texts of a value in an interface. Unless it is a
// pointer it cannot be changed in its place, so a copy takes it.
func (w *walker) walkInterface(v reflect.Value) {
	if v.IsNil() {
		return
	}
	inner := v.Elem()
	if inner.Kind() == reflect.Pointer || !v.CanSet() {
		w.walk(inner)
		return
	}
	if w.holdsText(inner.Type()) {
		own := reflect.New(inner.Type()).Elem()
		own.Set(inner)
		w.walk(own)
		v.Set(own)
	}
}

// walkMap rewrites the texts among the keys and values of a map. A value of text is
// looked at behind its key, which may name it: {"HF_TOKEN": "..."}. Of keys that
// become equal the first in the order of the alphabet stays.
func (w *walker) walkMap(v reflect.Value) {
	if !w.holdsText(v.Type().Elem()) && v.Type().Key().Kind() != reflect.String {
		return
	}
	keys := v.MapKeys()
	named := v.Type().Key().Kind() == reflect.String
	if named {
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	}
	taken := map[string]bool{}
	for _, key := range keys {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		w.walk(value)
		if !named {
			v.SetMapIndex(key, value)
			continue
		}
		old := key.String()
		if value.Kind() == reflect.String {
			const between = "="
			pair := old + between + value.String()
			if after, ok := strings.CutPrefix(w.text(pair), old+between); ok && after != value.String() {
				value.SetString(after)
			}
		}
		text := w.text(old)
		if text != old {
			v.SetMapIndex(key, reflect.Value{})
		}
		if !taken[text] {
			taken[text] = true
			v.SetMapIndex(reflect.ValueOf(text).Convert(v.Type().Key()), value)
		}
	}
}

// rawJSON is the type of values that are kept as they were written.
var rawJSON = reflect.TypeFor[json.RawMessage]()

// walkJSON rewrites the texts within JSON. They are decoded first, because a search does not
// find secrets in escaped text. JSON in which no text changes stays as it was written.
func (w *walker) walkJSON(v reflect.Value) {
	if !v.CanSet() || !bytes.ContainsRune(v.Bytes(), '"') {
		return
	}
	known := &w.sameJSON[maphash.Bytes(w.seed, v.Bytes())%uint64(len(w.sameJSON))]
	if *known == string(v.Bytes()) {
		return
	}
	from := json.NewDecoder(bytes.NewReader(v.Bytes()))
	from.UseNumber()
	var value any
	if from.Decode(&value) != nil {
		v.SetBytes([]byte("null")) // it could not be written
		return
	}
	before := w.changed
	w.walk(reflect.ValueOf(&value))
	if w.changed == before {
		if v.Len() <= long {
			*known = string(v.Bytes())
		}
		return
	}
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	if to.Encode(value) == nil {
		v.SetBytes(bytes.TrimSpace(out.Bytes()))
	}
}

// holdsText reports whether values of a type may lead to texts: lists of numbers, and of
// structs of numbers, which may be long, do not.
func (w *walker) holdsText(t reflect.Type) bool { return w.leadsToText(t, nil) }

// leadsToText is holdsText for a type within others. One that is within itself may.
func (w *walker) leadsToText(t reflect.Type, within []reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Interface, reflect.Map:
		return true
	case reflect.Struct:
		return slices.Contains(within, t) || len(w.textFields(t, within)) > 0
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return t == rawJSON || w.leadsToText(t.Elem(), within)
	}
	return false
}

// textFields returns the indexes of the exported fields of a struct that may lead to texts.
func (w *walker) textFields(t reflect.Type, within []reflect.Type) []int {
	if known, ok := w.fields[t]; ok {
		return known
	}
	fields := []int{}
	within = append(slices.Clip(within), t)
	for i := range t.NumField() {
		if field := t.Field(i); field.IsExported() && w.leadsToText(field.Type, within) {
			fields = append(fields, i)
		}
	}
	w.fields[t] = fields
	return fields
}
