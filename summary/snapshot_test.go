package summary

import (
	"reflect"
	"strings"
	"testing"
)

// fill puts something into every field, pointer and list below v.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(v.Index(i))
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(7)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic("what is a " + v.Kind().String())
	}
}

// spoil changes everything that v points at.
func spoil(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			spoil(v.Field(i))
		}
	case reflect.Pointer:
		spoil(v.Elem())
	case reflect.Slice:
		for i := range v.Len() {
			spoil(v.Index(i))
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(-1)
	case reflect.String:
		v.SetString("spoilt")
	}
}

// TestMergeSnapshots: rows keep all they have, follow their inputs, and share no
// memory with those they were copied from.
func TestMergeSnapshots(t *testing.T) {
	full := func() *Summary {
		s := &Summary{Schema: Schema, Inputs: []Input{{Path: "a"}}, Snapshots: make([]Snapshot, 1), MemoryTimelines: make([]MemoryTimeline, 1)}
		fill(reflect.ValueOf(&s.Snapshots[0]).Elem())
		fill(reflect.ValueOf(&s.MemoryTimelines[0]).Elem())
		s.Snapshots[0].Input, s.MemoryTimelines[0].Input = 0, 0
		return s
	}
	a, b := full(), full()
	m := Merge(a, b)
	if len(m.Snapshots) != 2 || m.Snapshots[1].Input != 1 || len(m.MemoryTimelines) != 2 || m.MemoryTimelines[1].Input != 1 {
		t.Fatalf("%+v", m)
	}
	m.Snapshots[1].Input, m.MemoryTimelines[1].Input = 0, 0
	if !reflect.DeepEqual(m.Snapshots[1], b.Snapshots[0]) || !reflect.DeepEqual(m.MemoryTimelines[1], b.MemoryTimelines[0]) {
		t.Error("a row changed on its way")
	}
	spoil(reflect.ValueOf(&m.Snapshots).Elem())
	spoil(reflect.ValueOf(&m.MemoryTimelines).Elem())
	if !reflect.DeepEqual(a, full()) || !reflect.DeepEqual(b, full()) {
		t.Error("changing the result changed an argument")
	}
}

// TestReadSnapshots: what breaks a promise is refused with its place.
func TestReadSnapshots(t *testing.T) {
	const head = `{"schema":"assay/summary/1","inputs":[{"path":"a"}],"devices":[],"kernels":[],"issues":[],`
	for in, want := range map[string]string{
		`"snapshots":[{"reserved":10,"allocated":4,"waiting":1,"split":2,"cached":3}]}`: "",
		`"snapshots":[{"reserved":10,"allocated":4}]}`:                                  "x: snapshots[0].reserved: got 10, want 4, the sum of allocated, waiting, split and cached",
		`"snapshots":[{"reserved":0,"allocated":4,"split":-4}]}`:                        "x: snapshots[0].split: got -4, want 0 or more",
		`"snapshots":[{"input":1}]}`:                                                    "x: snapshots[0].input: got 1, want 0 or more and under 1, the number of inputs",
		`"snapshots":[{"strip":{"live":[1],"owners":[{"bytes":[]}]}}]}`:                 "x: snapshots[0].strip: owners[0].bytes: got 0, want 1, one for each bin",
		`"snapshots":[{"strip":{"live":[1],"reserved":[1,2]}}]}`:                        "x: snapshots[0].strip: reserved: got 2, want 1, one for each bin",
		`"memory_timelines":[{"strip":{"live":[1],"owners":[{"bytes":[]}]}}]}`:          "x: memory_timelines[0].strip: owners[0].bytes: got 0, want 1, one for each bin",
		`"memory_timelines":[{"input":-1}]}`:                                            "x: memory_timelines[0].input: got -1, want 0 or more and under 1, the number of inputs",
	} {
		_, err := Read(strings.NewReader(head+in), "x")
		if got := errorText(err); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", in, got, want)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// TestWords: every kind and class has words of its own.
func TestWords(t *testing.T) {
	seen := map[string]bool{}
	for _, kind := range []string{KindParameters, KindOptimizer, KindActivations, KindRecomputed, KindBackward, KindKVCache, KindComm, KindData, KindOther, KindUnknown} {
		seen[KindWords(kind)] = true
	}
	for _, class := range []string{ClassSmall, ClassLarge, ClassOwn, ClassExpandable} {
		seen[ClassWords(class)] = true
	}
	if len(seen) != 14 || KindWords("new") != "new" || ClassWords("new") != "new" {
		t.Errorf("%v", seen)
	}
}
