package forms_test

import (
	"reflect"
	"strings"
	"testing"

	"assay/internal/test/loggen"
	"assay/logs"
	"assay/logs/forms"
)

// TestWithoutFirst checks that a log without its first steps has the values of a log in which they were
// never written.
func TestWithoutFirst(t *testing.T) {
	steps := func(from, to int) (out []loggen.Step) {
		for n := from; n <= to; n++ {
			slow := 1.0
			if n <= 3 {
				slow = 7
			}
			out = append(out, loggen.Step{Number: n, Phases: []loggen.Phase{{Name: "gen", Seconds: slow * float64(10+n)}, {Name: "update_actor", Seconds: 4}}})
		}
		return out
	}
	read := func(list []loggen.Step) *logs.Log {
		text := loggen.Trainer{Steps: list}.VeRL()
		l, err := forms.Read(strings.NewReader(text), "train.log", forms.Default(), logs.Limits{})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	whole, later := read(steps(1, 9)), read(steps(4, 9))
	got, ok := whole.WithoutFirst(3)
	if !ok || len(got.Series) != len(later.Series) || len(got.Issues) != len(whole.Issues)+1 {
		t.Fatalf("%v, %d series, want %d", ok, len(got.Series), len(later.Series))
	}
	for i, s := range got.Series {
		want := later.Series[i]
		if s.As != want.As || s.N != 6 || s.N != want.N || s.Min != want.Min || s.Max != want.Max || s.Sum != want.Sum ||
			!reflect.DeepEqual(s.Points.Value, want.Points.Value) || !reflect.DeepEqual(s.Points.Step, want.Points.Step) {
			t.Errorf("%s: %+v, want %+v", s.As, s, want)
		}
	}
	if whole.Series[0].N != 9 {
		t.Errorf("the whole log now has %d values", whole.Series[0].N)
	}
	if _, ok := whole.WithoutFirst(9); ok {
		t.Error("a log of 9 steps has steps left without 9")
	}
	// A program that is started again compiles again.
	twice := read(append(steps(1, 6), steps(1, 6)...))
	if got, ok := twice.WithoutFirst(2); !ok || got.Series[0].N != 8 || got.Series[0].Points.Step[0] != 3 {
		t.Errorf("two starts: %v, %+v", ok, got)
	}
	empty := &logs.Log{Series: []logs.Series{{N: 2, Points: logs.Points{Value: []float64{1, 2}}}}}
	if _, ok := empty.WithoutFirst(1); ok {
		t.Error("values without steps have first steps")
	}
}
