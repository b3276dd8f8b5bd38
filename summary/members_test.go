package summary

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// TestMembers compares the table of members with the fields of Summary: a type of row
// without an entry would be lost in every merge.
func TestMembers(t *testing.T) {
	var fields []string
	eachList(reflect.ValueOf(new(Summary)).Elem(), "", func(name string, _ reflect.Value) { fields = append(fields, name) })
	var names []string
	for _, k := range Members() {
		names = append(names, k.Name())
	}
	for _, name := range fields {
		if !slices.Contains(names, name) {
			t.Errorf("Summary has the rows %s, and members has no entry for them", name)
		}
	}
	for i, name := range names {
		if !slices.Contains(fields, name) || slices.Contains(names[:i], name) {
			t.Errorf("members has an entry %s twice, or Summary has no rows of that name", name)
		}
	}
}

// eachList calls f for every list of rows of a summary, with the member that it is; one of
// a struct is named after both, as "efficiency.rows".
func eachList(v reflect.Value, outer string, f func(member string, list reflect.Value)) {
	for i := range v.NumField() {
		field := v.Type().Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case field.Type.Kind() == reflect.Slice && field.Name != "Inputs" && field.Name != "Issues":
			f(outer+name, v.Field(i))
		case field.Type.Kind() == reflect.Struct:
			eachList(v.Field(i), outer+name+".", f)
		}
	}
}

// TestEveryKind fills every type of row by reflection, so that a new type is
// tested without a change here: rows are merged with the right input, share no
// memory with their source, can be separated again, and are refused if their
// input does not exist.
func TestEveryKind(t *testing.T) {
	a, b := filled(1), filled(2)
	before := text(t, a) + text(t, b)
	both := Merge(a, b)
	for _, k := range members {
		if n := k.Len(both); n != 2 {
			t.Errorf("%s: %d rows of 2 inputs, want 2", k.Name(), n)
		}
	}
	for i, want := range []*Summary{a, b} {
		if got := text(t, both.Only(i)); got != text(t, want) {
			t.Errorf("input %d taken out of both is not what it was alone", i)
		}
	}
	out := both.Only(1)
	scribbleAll(reflect.ValueOf(both).Elem())
	if text(t, a)+text(t, b) != before {
		t.Error("changing the result of Merge changed an argument")
	}
	if text(t, out) != text(t, b) {
		t.Error("changing a summary changed what Only took out of it")
	}
	for i, k := range members {
		s := filled(1)
		for j, other := range members {
			if j != i {
				empty(s, other.Name())
			}
		}
		s.Inputs = nil
		want := k.Name() + "[0].input: got 0, want 0 or more and under 0, the number of inputs"
		if err := k.check(s); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", k.Name(), err, want)
		}
	}
}

// TestDetach: the texts of a detached summary are equal copies.
func TestDetach(t *testing.T) {
	s := filled(3)
	block := strings.Repeat("x", 1000)
	s.Kernels[0].Name, s.Devices[0].LargestGaps[0].Before = block[:10], block[:10]
	before := text(t, s)
	s.Detach()
	if after := text(t, s); after != before {
		t.Error("detaching texts changed one")
	}
	name := s.Kernels[0].Name
	if unsafe.StringData(name) == unsafe.StringData(block) {
		t.Error("the name still lies in the block")
	}
}

// filled returns a summary of one input with one row of each kind, in which
// every field has a value drawn from seed. Only the constraint on inputs holds
// for its rows.
func filled(seed uint64) *Summary {
	s := &Summary{Schema: Schema, Inputs: []Input{{Path: "x"}}, Issues: []Issue{}}
	rnd := rand.New(rand.NewPCG(seed, 0))
	eachList(reflect.ValueOf(s).Elem(), "", func(_ string, f reflect.Value) {
		f.Set(reflect.MakeSlice(f.Type(), 1, 1))
		fill(f.Index(0), rnd)
		f.Index(0).FieldByName("Input").SetInt(0)
		for _, second := range []string{"Job", "Beside"} { // rows may refer to two inputs
			if job := f.Index(0).FieldByName(second); job.IsValid() && job.CanInt() {
				job.SetInt(0)
			}
		}
	})
	return s
}

func fill(v reflect.Value, rnd *rand.Rand) {
	if raw, ok := v.Addr().Interface().(*json.RawMessage); ok {
		*raw = fmt.Appendf(nil, "[%d]", rnd.IntN(1000))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(string(rune('a' + rnd.IntN(26))))
	case reflect.Bool:
		v.SetBool(rnd.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(rnd.Int64N(1000))
	case reflect.Float64:
		v.SetFloat(rnd.Float64())
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), rnd)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), rnd)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), rnd)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, rnd)
		fill(value, rnd)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), rnd)
		}
	}
}

// scribbleAll changes all memory reachable from v.
func scribbleAll(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			scribbleAll(v.Elem())
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			scribbleAll(v.Index(i))
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			scribbleAll(it.Value())
		}
		v.Clear()
	case reflect.Struct:
		for i := range v.NumField() {
			scribbleAll(v.Field(i))
		}
	default:
		if v.CanSet() { // values of maps cannot
			v.SetZero()
		}
	}
}

func empty(s *Summary, member string) {
	eachList(reflect.ValueOf(s).Elem(), "", func(name string, list reflect.Value) {
		if name == member {
			list.SetZero()
		}
	})
}

// TestPickJobs: rows that compare ranks stay with the inputs of their job, are renumbered
// with them, and go if one of them is not taken.
func TestPickJobs(t *testing.T) {
	job := func(inputs int, wait int64) *Summary {
		s := &Summary{Schema: Schema}
		for i := range inputs {
			s.Inputs = append(s.Inputs, Input{Rank: i})
			s.Ranks = append(s.Ranks, RankWait{Input: i, Rank: i, WaitNS: wait})
		}
		s.Collectives = []Collective{{Input: 0, Op: "all-reduce", Ranks: inputs, WaitNS: &wait}, {Input: 1, Op: "all-gather", Ranks: 1, WaitNS: &wait}}
		return s
	}
	for _, both := range []*Summary{Merge(job(3, 7), job(2, 9)), Join(job(3, 7), job(2, 9))} {
		for _, tc := range []struct {
			inputs             []int
			ranks, collectives int
			job                int
			wait               int64
		}{
			{[]int{0, 1, 2}, 3, 2, 0, 7},
			{[]int{3, 4}, 2, 2, 0, 9},
			{[]int{2, 1, 0}, 3, 2, 2, 7},
			{[]int{0, 1}, 0, 0, 0, 0},
			{[]int{1}, 0, 0, 0, 0},
			{[]int{1, 3, 4}, 2, 2, 1, 9},
			{[]int{4, 0}, 0, 0, 0, 0},
		} {
			out := both.Pick(tc.inputs)
			if len(out.Ranks) != tc.ranks || len(out.Collectives) != tc.collectives || len(out.Inputs) != len(tc.inputs) {
				t.Errorf("%v: %d ranks and %d collectives of %d inputs, want %d and %d", tc.inputs, len(out.Ranks), len(out.Collectives), len(out.Inputs), tc.ranks, tc.collectives)
			}
			for _, r := range out.Ranks {
				if r.Job != tc.job || r.WaitNS != tc.wait || out.Inputs[r.Input].Rank != r.Rank {
					t.Errorf("%v: %+v, want job %d", tc.inputs, r, tc.job)
				}
			}
			for _, c := range out.Collectives {
				if c.Job != tc.job || *c.WaitNS != tc.wait {
					t.Errorf("%v: %+v, want job %d", tc.inputs, c, tc.job)
				}
			}
		}
	}
	s := job(2, 1)
	s.Ranks[1].Job = 5
	for _, k := range members {
		if err := k.check(s); (err != nil) != (k.Name() == "ranks") {
			t.Errorf("%s: %v", k.Name(), err)
		}
	}
}
