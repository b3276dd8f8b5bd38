package redact

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Strings rewrites every text that v, a pointer, leads to: exported fields,
// elements, and keys and values of maps. A field that a later version adds is not
// forgotten.
func (r *Redactor) Strings(v any) {
	if r.users {
		walk(reflect.ValueOf(v), func(s string) string { r.Learn(s); return s })
	}
	walk(reflect.ValueOf(v), r.Text)
}

// walk calls f for every text that v leads to and stores what it returns.
func walk(v reflect.Value, f func(string) string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && holdsText(v.Type().Elem()) {
			walk(v.Elem(), f)
		}
	case reflect.Interface:
		walkInterface(v, f)
	case reflect.Struct:
		for _, i := range fieldsOf(v.Type()) {
			walk(v.Field(i), f)
		}
	case reflect.Slice, reflect.Array:
		if v.Type() == rawJSON {
			walkJSON(v, f)
			return
		}
		if holdsText(v.Type().Elem()) {
			for i := range v.Len() {
				walk(v.Index(i), f)
			}
		}
	case reflect.Map:
		walkMap(v, f)
	case reflect.String:
		if old := v.String(); v.CanSet() {
			if text := f(old); text != old {
				v.SetString(text)
			}
		}
	}
}

// fields has the numbers of the fields of each type that may lead to texts. To look at one
// takes longer than most walks from there on.
var fields sync.Map // reflect.Type to []int

func fieldsOf(t reflect.Type) []int {
	if known, ok := fields.Load(t); ok {
		return known.([]int)
	}
	list := []int{}
	for i := range t.NumField() {
		if field := t.Field(i); field.IsExported() && holdsText(field.Type) {
			list = append(list, i)
		}
	}
	fields.Store(t, list)
	return list
}

// walkInterface rewrites the texts of a value in an interface. Unless it is a
// pointer it cannot be changed in its place, so a copy takes it.
func walkInterface(v reflect.Value, f func(string) string) {
	if v.IsNil() {
		return
	}
	inner := v.Elem()
	if inner.Kind() == reflect.Pointer || !v.CanSet() {
		walk(inner, f)
		return
	}
	if holdsText(inner.Type()) {
		own := reflect.New(inner.Type()).Elem()
		own.Set(inner)
		walk(own, f)
		v.Set(own)
	}
}

// walkMap rewrites the texts among the keys and values of a map. A value of text is
// looked at behind its key, which may name it: {"HF_TOKEN": "..."}. Of keys that
// become equal the first in the order of the alphabet stays.
func walkMap(v reflect.Value, f func(string) string) {
	if !holdsText(v.Type().Elem()) && v.Type().Key().Kind() != reflect.String {
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
		walk(value, f)
		if !named {
			v.SetMapIndex(key, value)
			continue
		}
		old := key.String()
		if value.Kind() == reflect.String {
			const between = "="
			pair := old + between + value.String()
			if after, ok := strings.CutPrefix(f(pair), old+between); ok && after != value.String() {
				value.SetString(after)
			}
		}
		text := f(old)
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
func walkJSON(v reflect.Value, f func(string) string) {
	if !v.CanSet() || !bytes.ContainsRune(v.Bytes(), '"') {
		return
	}
	from := json.NewDecoder(bytes.NewReader(v.Bytes()))
	from.UseNumber()
	var value any
	if from.Decode(&value) != nil {
		v.SetBytes([]byte("null")) // it could not be written
		return
	}
	changed := false
	walk(reflect.ValueOf(&value), func(s string) string {
		text := f(s)
		changed = changed || text != s
		return text
	})
	var out bytes.Buffer
	to := json.NewEncoder(&out)
	to.SetEscapeHTML(false)
	if changed && to.Encode(value) == nil {
		v.SetBytes(bytes.TrimSpace(out.Bytes()))
	}
}

// holdsText reports whether values of a type may lead to texts: lists of numbers,
// which may be long, do not.
func holdsText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String, reflect.Struct, reflect.Interface, reflect.Map:
		return true
	case reflect.Slice, reflect.Array, reflect.Pointer:
		return t == rawJSON || holdsText(t.Elem())
	}
	return false
}
