package summary

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

func value(n int64) *int64 { return &n }

// randomTable returns a table whose rows have unique keys, some with equal
// names, with values that are often equal and sometimes missing.
func randomTable(rnd *rand.Rand, in, number int) Table {
	t := Table{Input: in, Number: number, Tool: "nsys", Name: "cuda_gpu_kern_sum", Of: OfKernel,
		Columns: []TableColumn{{"mean", "ns", AddsEach}, {"total", "ns", AddsSelf}}}
	for i := range rnd.Int64N(5) {
		r := TableRow{Name: fmt.Sprint("k", rnd.IntN(2)), Values: []*int64{value(i), value(rnd.Int64N(3))}}
		if rnd.IntN(3) == 0 {
			r.Values[1] = nil
		}
		if rnd.IntN(2) == 0 {
			r.Labels = map[string]string{"grid": fmt.Sprint(rnd.IntN(2))}
		}
		t.Rows = append(t.Rows, r)
	}
	if rnd.IntN(3) == 0 {
		t.Left, t.Rest = 2, []*int64{nil, value(rnd.Int64N(9))}
	}
	return t
}

func scribbleValues(values []*int64) {
	for _, p := range values {
		if p != nil {
			*p = -1
		}
	}
}

// TestTableOrder: the largest first, unknown values last, then by name.
func TestTableOrder(t *testing.T) {
	s := &Summary{Tables: []Table{{
		Columns: []TableColumn{{"count", "count", AddsSelf}, {"total", "ns", AddsSelf}},
		Rows: []TableRow{
			{Name: "unknown", Values: []*int64{value(9), nil}},
			{Name: "b", Values: []*int64{value(1), value(5)}},
			{Name: "a", Values: []*int64{value(1), value(5)}},
			{Name: "zero", Values: []*int64{value(1), value(0)}},
			{Name: "most", Values: []*int64{nil, value(7)}},
		},
		Left: 1, Rest: []*int64{value(2), value(3)},
	}}}
	s.Sort()
	var names []string
	for _, r := range s.Tables[0].Rows {
		names = append(names, r.Name)
	}
	if got, want := strings.Join(names, " "), "most a b zero unknown"; got != want {
		t.Errorf("rows are %s, want %s", got, want)
	}
	for column, want := range []int64{9 + 1 + 1 + 1 + 2, 5 + 5 + 0 + 7 + 3} {
		if got, ok := s.Tables[0].Sum(column); got != want || !ok {
			t.Errorf("column %d sums to %d, %v, want %d", column, got, ok, want)
		}
	}
	if n, ok := s.Tables[0].Sum(2); ok {
		t.Errorf("a column that is not there sums to %d", n)
	}
}

func TestTableRank(t *testing.T) {
	for _, tc := range []struct {
		columns []TableColumn
		want    int
	}{
		{nil, -1},
		{[]TableColumn{{"mean", "ns", AddsEach}}, -1},
		{[]TableColumn{{"mean", "ns", AddsEach}, {"count", "count", AddsSelf}}, 1},
		{[]TableColumn{{"count", "count", AddsSelf}, {"total", "ns", AddsTotal}}, 1},
	} {
		if got := (&Table{Columns: tc.columns}).Rank(); got != tc.want {
			t.Errorf("%v: rank is column %d, want %d", tc.columns, got, tc.want)
		}
	}
}

func TestReadTableErrors(t *testing.T) {
	for in, want := range map[string]string{
		`"tables":[{"input":1}]`: "tables[0].input: got 1",
		`"tables":[{"columns":[{"name":"total"}],"rows":[{"name":"k","values":[]}]}]`: "tables[0].rows[0].values: got 0, want 1",
		`"tables":[{"columns":[],"rest":[null]}]`:                                     "tables[0].rest: got 1, want 0",
		`"tables":[{"columns":[{"name":"total"}],"rows":[{"values":[1.5]}]}]`:         "want whole number",
	} {
		_, err := Read(strings.NewReader(`{"schema":"`+Schema+`","inputs":[{}],`+in+`}`), "s.json")
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", in, err, want)
		}
	}
}
