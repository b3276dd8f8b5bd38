package summary

import (
	"reflect"
	"strings"
)

// own copies all memory that *row refers to, so that the row shares none with another. Strings are
// immutable and are not copied.
func own[Row any](row *Row) {
	if t := reflect.TypeFor[Row](); refers(t) {
		ownValue(reflect.ValueOf(row).Elem())
	}
}

// ownValue replaces every slice, map and pointer in v, which must be settable,
// by a copy.
func ownValue(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			p := reflect.New(v.Type().Elem())
			p.Elem().Set(v.Elem())
			ownValue(p.Elem())
			v.Set(p)
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(list, v)
		ownElements(list)
		v.Set(list)
	case reflect.Array:
		ownElements(v)
	case reflect.Map:
		if v.IsNil() {
			return
		}
		m := reflect.MakeMapWithSize(v.Type(), v.Len())
		for it := v.MapRange(); it.Next(); {
			value := reflect.New(v.Type().Elem()).Elem()
			value.Set(it.Value())
			ownValue(value)
			m.SetMapIndex(it.Key(), value)
		}
		v.Set(m)
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() && refers(f.Type()) {
				ownValue(f)
			}
		}
	}
}

func ownElements(list reflect.Value) {
	if !refers(list.Type().Elem()) {
		return
	}
	for i := range list.Len() {
		ownValue(list.Index(i))
	}
}

// refers reports whether values of a type may refer to mutable memory. No row
// type contains itself.
func refers(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		return true
	case reflect.Array:
		return refers(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if refers(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}

// Detach replaces every text in the rows of s by a copy; equal texts share one copy. A reader's texts are
// parts of large blocks, which one short text would otherwise keep in memory.
func (s *Summary) Detach() {
	have := make(map[string]string)
	detach := func(text *string) {
		own, ok := have[*text]
		if !ok {
			own = strings.Clone(*text)
			have[own] = own
		}
		*text = own
	}
	for _, k := range members {
		k.texts(s, detach)
	}
}

// textsIn calls f for each text in v that can be changed in place. Texts in maps cannot.
func textsIn(v reflect.Value, f func(*string)) {
	switch v.Kind() {
	case reflect.String:
		if text, ok := v.Addr().Interface().(*string); ok {
			f(text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			textsIn(v.Elem(), f)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			textsIn(v.Index(i), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if field := v.Field(i); field.CanSet() && holdsText(field.Type()) {
				textsIn(field, f)
			}
		}
	}
}

// holdsText reports whether values of a type may contain texts outside of maps.
func holdsText(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.String:
		return true
	case reflect.Pointer, reflect.Slice, reflect.Array:
		return holdsText(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if holdsText(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}
