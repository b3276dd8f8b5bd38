package redact

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Strings rewrites every text that the pointer v leads to: exported fields, elements, keys and
// values of maps, and what a method Texts of v returns pointers to. It uses reflection, so that a
// field added later cannot be forgotten.
func (r *Redactor) Strings(v any) {
	if r.users {
		walker{rewrite: func(s string) string { r.Learn(s); return s }, memory: newMemory()}.all(v)
		walker{rewrite: r.Text, memory: newMemory()}.all(v)
		return
	}
	known := withoutSecrets.Get().(*memory)
	walker{rewrite: r.Text, memory: known}.all(v)
	withoutSecrets.Put(known)
}

// all rewrites every text that the pointer v leads to.
func (w walker) all(v any) {
	w.walk(reflect.ValueOf(v))
	for at := reflect.ValueOf(v); at.Kind() == reflect.Pointer && !at.IsNil(); at = at.Elem() {
		if more, ok := at.Interface().(interface{ Texts() []any }); ok {
			for _, part := range more.Texts() {
				w.walk(reflect.ValueOf(part))
			}
		}
	}
}

// A walker rewrites texts.
type walker struct {
	rewrite func(string) string // must be deterministic
	changed int                 // number of texts that it changed
	*memory
}

// A memory knows texts that do not change. Rows of a summary repeat the same few names, and a summary
// has the names of its inputs.
type memory struct {
	seed     maphash.Seed
	same     [4096]string // by hash
	sameJSON [64]string   // by hash: JSON in which no text changes
	fields   map[reflect.Type][]int
}

func newMemory() *memory {
	return &memory{seed: maphash.MakeSeed(), fields: map[reflect.Type][]int{}}
}

// withoutSecrets has memories of texts without secrets. They outlive a walk, because a command masks
// its inputs, what it measured and what it writes, which have the same names.
var withoutSecrets = sync.Pool{New: func() any { return newMemory() }}

// long is the length of the longest text that is remembered, because they take memory.
const long = 4096

// text returns the rewritten text.
func (w *walker) text(s string) string {
	known := new(string)
	if 0 < len(s) && len(s) <= long {
		known = &w.same[maphash.String(w.seed, s)%uint64(len(w.same))]
		if *known == s {
			return s
		}
	}
	text := w.rewrite(s)
	if text == s {
		*known = strings.Clone(s) // s may be a part of a large text
	} else {
		w.changed++
	}
	return text
}

// walk rewrites every text that v leads to.
func (w *walker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() && w.hasText(v.Type().Elem()) {
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
		if w.hasText(v.Type().Elem()) {
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

// walkInterface rewrites the texts of a value in an interface. A value that is not a pointer cannot
// be changed in place, so it is replaced by a changed copy.
func (w *walker) walkInterface(v reflect.Value) {
	if v.IsNil() {
		return
	}
	inner := v.Elem()
	if inner.Kind() == reflect.Pointer || !v.CanSet() {
		w.walk(inner)
		return
	}
	if w.hasText(inner.Type()) {
		own := reflect.New(inner.Type()).Elem()
		own.Set(inner)
		before := w.changed
		if w.walk(own); w.changed > before { // a value without secrets may be shared, so it is not written
			v.Set(own)
		}
	}
}

// walkMap rewrites the texts among the keys and values of a map. A text value is searched together
// with its key, which may name it: {"HF_TOKEN": "..."}. If keys become equal, the first in
// alphabetical order remains.
func (w *walker) walkMap(v reflect.Value) {
	if !w.hasText(v.Type().Elem()) && v.Type().Key().Kind() != reflect.String {
		return
	}
	keys := v.MapKeys()
	named := v.Type().Key().Kind() == reflect.String
	if named {
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	}
	taken := map[string]bool{}
	for _, key := range keys {
		before := w.changed
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		w.walk(value)
		if !named {
			if w.changed > before { // a map without secrets may be shared, so it is not written
				v.SetMapIndex(key, value)
			}
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
		if first := !taken[text]; first && w.changed > before {
			v.SetMapIndex(reflect.ValueOf(text).Convert(v.Type().Key()), value)
		}
		taken[text] = true
	}
}

// rawJSON is the type of values that are stored as they were written.
var rawJSON = reflect.TypeFor[json.RawMessage]()

// walkJSON rewrites the texts within JSON. They are decoded first, because a search does not find
// secrets in escaped text. JSON in which no text changes stays as it was written.
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
		v.SetBytes([]byte("null")) // invalid JSON could not be written
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

// hasText reports whether values of a type may lead to texts. Lists of numbers, and of structs of
// numbers, do not, and they may be long.
func (w *walker) hasText(t reflect.Type) bool { return w.leadsToText(t, nil) }

// leadsToText is hasText for a type within others. A recursive type may lead to texts.
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

// textFields returns the indices of the exported fields of a struct that may lead to texts.
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
