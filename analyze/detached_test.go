package analyze_test

import (
	"bytes"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"assay/analyze"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

// TestNoTextOfTrace checks that no text field of a summary shares memory with the
// trace.
func TestNoTextOfTrace(t *testing.T) {
	found := make(map[string]bool)
	for _, p := range tracegen.Presets() {
		var b bytes.Buffer
		if _, err := tracegen.Generate(&b, p.Make(), 0); err != nil {
			t.Fatal(err)
		}
		tr, err := trace.Read(&b, p.Name, analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		var spans [][2]uintptr
		for i := range tr.Names() {
			name := tr.Name(trace.Sym(i))
			from := uintptr(unsafe.Pointer(unsafe.StringData(name)))
			spans = append(spans, [2]uintptr{from, from + uintptr(len(name))})
		}
		slices.SortFunc(spans, func(a, b [2]uintptr) int { return int(int64(a[0]) - int64(b[0])) })
		s := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
		eachText("", reflect.ValueOf(s), func(field, text string) {
			at := uintptr(unsafe.Pointer(unsafe.StringData(text)))
			i, ok := slices.BinarySearchFunc(spans, at, func(s [2]uintptr, at uintptr) int { return int(int64(s[0]) - int64(at)) })
			if text != "" && (ok || i > 0 && at < spans[i-1][1]) {
				found[field] = true
			}
		})
	}
	for field := range found {
		t.Errorf("%s lies in the memory of the trace: one such name keeps all of them", field)
	}
}

// eachText calls f with every string in a value and the names of the fields that
// lead to it.
func eachText(field string, v reflect.Value, f func(field, text string)) {
	switch v.Kind() {
	case reflect.String:
		f(field, v.String())
	case reflect.Pointer:
		if !v.IsNil() {
			eachText(field, v.Elem(), f)
		}
	case reflect.Slice:
		for i := range v.Len() {
			eachText(field, v.Index(i), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			eachText(field+"."+v.Type().Field(i).Name, v.Field(i), f)
		}
	}
}
