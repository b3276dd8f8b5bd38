package view_test

import (
	"slices"
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/summary"
	"assay/summary/view"
)

// TestGroup: sums are in the order of the first rows of their keys, and each row
// is added once.
func TestGroup(t *testing.T) {
	type sum struct {
		key  string
		n    int64
		rows []int64
	}
	rows := []summary.Idle{{Name: "b", NS: 1}, {Name: "a", NS: 2}, {Name: "b", NS: 4}, {Name: "c"}, {Name: "a", NS: 8}}
	got := view.Group(rows, func(r *summary.Idle) string { return r.Name }, func(r *summary.Idle) sum { return sum{key: r.Name} }, func(s *sum, r *summary.Idle) {
		s.n += r.NS
		s.rows = append(s.rows, r.NS)
	})
	want := []sum{{"b", 5, []int64{1, 4}}, {"a", 10, []int64{2, 8}}, {"c", 0, []int64{0}}}
	if !slices.EqualFunc(got, want, func(a, b sum) bool { return a.key == b.key && a.n == b.n && slices.Equal(a.rows, b.rows) }) {
		t.Errorf("got %v, want %v", got, want)
	}
	if none := view.Group(nil, func(r *summary.Idle) string { return r.Name }, func(*summary.Idle) sum { return sum{} }, func(*sum, *summary.Idle) {}); none != nil {
		t.Errorf("no rows have the sums %v", none)
	}
}

// TestSums compares what the views of every sample run add up to with the rows of
// its summary, and checks that each is sorted.
func TestSums(t *testing.T) {
	for name, s := range samplerun.All() {
		for _, k := range summary.Described() {
			if strings.HasPrefix(name, "hostile") {
				break
			}
			if table := k.By(s.RowsOf(k), k.Keys()[0]); table.Sum(table.Kind.Main().Name) != table.Whole {
				t.Errorf("%s: the %s sum to %d, their rows to %d", name, k.Name, table.Sum(table.Kind.Main().Name), table.Whole)
			}
		}
		windows := int64(0)
		for _, st := range view.Steps(s) {
			windows += st.Windows
			if int64(len(st.Rows)) != st.Windows || st.Min > st.Max {
				t.Errorf("%s: step %+v", name, st)
			}
		}
		if windows != int64(len(s.Steps)) {
			t.Errorf("%s: %d windows of steps, %d rows", name, windows, len(s.Steps))
		}
	}
}

// TestWorst: of more devices than asked for, those with the largest share of idle
// time are chosen, and they are returned in their order.
func TestWorst(t *testing.T) {
	s := samplerun.Train() // idle time falls with the rank
	slices.Reverse(s.Devices)
	all := make([]int, len(s.Devices))
	for i := range all {
		all[i] = i
	}
	if got := view.WorstOf(s, all, 3); !slices.Equal(got, []int{5, 6, 7}) {
		t.Errorf("got %v, want the last three", got)
	}
	if got := view.WorstOf(s, all, 100); len(got) != len(s.Devices) || !slices.IsSorted(got) {
		t.Errorf("got %v", got)
	}
}
