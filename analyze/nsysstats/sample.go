package nsysstats

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"
	"strings"

	"assay/internal/stat"
	"assay/summary"
)

// A sample has the values of many groups. A median needs all of them, so each
// takes only eight bytes: there may be millions of kernels.
type sample struct {
	values []int64
	ends   []int   // by group: the end of its values
	totals []int64 // by group
	total  int64
}

// sampleOf collects values by the number of their group. It iterates over all
// twice, first to count them.
func sampleOf(all iter.Seq2[int, int64]) *sample {
	s := &sample{}
	n := 0
	for g := range all {
		for g >= len(s.ends) {
			s.ends = append(s.ends, 0)
		}
		s.ends[g]++
		n++
	}
	s.values, s.totals = make([]int64, n), make([]int64, len(s.ends))
	at := 0
	for g, n := range s.ends {
		s.ends[g] = at
		at += n
	}
	for g, v := range all {
		s.values[s.ends[g]] = v
		s.ends[g]++
		s.totals[g] = summary.Plus(s.totals[g], v)
	}
	for _, n := range s.totals {
		s.total = summary.Plus(s.total, n)
	}
	return s
}

// A spread has the statistics of the values of one group.
type spread struct {
	count, total         int64
	min, max             int64
	mean, median, stddev float64 // stddev is that of a sample, with n - 1; 0 for one value
}

// spread returns the spread of a group, or the zero spread if it has no values.
// It sorts the values.
func (s *sample) spread(group int) spread {
	from := 0
	if group >= len(s.ends) {
		return spread{}
	}
	if group > 0 {
		from = s.ends[group-1]
	}
	values := s.values[from:s.ends[group]]
	n := len(values)
	if n == 0 {
		return spread{}
	}
	slices.Sort(values)
	out := spread{count: int64(n), total: s.totals[group], min: values[0], max: values[n-1]}
	out.mean = float64(out.total) / float64(n)
	low, high := stat.Middle(values)
	out.median = (float64(low) + float64(high)) / 2
	squares := 0.0
	for _, v := range values {
		d := float64(v) - out.mean
		squares += float64(d * d)
	}
	if n > 1 {
		out.stddev = math.Sqrt(squares / float64(n-1))
	}
	return out
}

// order returns the groups by descending total, and by name if totals are
// equal, up to the row limit. Groups without values are left out.
func (m *maker) order(s *sample, table *Table, name func(group int) string) []int {
	groups := make([]int, 0, len(s.ends))
	for g, end := range s.ends {
		if g == 0 && end > 0 || g > 0 && end > s.ends[g-1] {
			groups = append(groups, g)
		}
	}
	slices.SortFunc(groups, func(a, b int) int {
		if c := cmp.Compare(s.totals[b], s.totals[a]); c != 0 {
			return c
		}
		return cmp.Or(strings.Compare(name(a), name(b)), cmp.Compare(a, b))
	})
	if over := len(groups) - m.most; over > 0 {
		table.Notes = append(table.Notes, fmt.Sprintf("%s left out, those with the smallest totals: the limit is %d rows; raise --max-memory to keep more", plural(over, "row was", "rows were"), m.most))
		groups = groups[:m.most]
	}
	return groups
}

// timed fills in a report on durations. The names of a group may take several
// columns.
func (m *maker) timed(table *Table, all iter.Seq2[int, int64], names func(group int) []string) {
	s := sampleOf(all)
	for _, g := range m.order(s, table, func(g int) string { return strings.Join(names(g), " ") }) {
		v := s.spread(g)
		row := []string{tenths(share(v.total, s.total)), whole(v.total), whole(v.count)}
		row = append(row, v.cells()...)
		table.Rows = append(table.Rows, own(append(row, names(g)...)))
	}
}

// cells returns mean, median, minimum, maximum and standard deviation.
func (v *spread) cells() []string {
	return []string{tenths(v.mean), tenths(v.median), whole(v.min), whole(v.max), tenths(v.stddev)}
}

// own copies the texts of a row. Otherwise they would keep the large blocks
// with all names of the trace in memory.
func own(row []string) []string {
	for i := range row {
		row[i] = strings.Clone(row[i])
	}
	return row
}

// An index numbers keys in the order of their first use.
type index[K comparable] struct {
	numbers map[K]int
	keys    []K
}

func newIndex[K comparable]() *index[K] { return &index[K]{numbers: make(map[K]int)} }

// numberOf returns the number of a key, and assigns the next number to a new key.
func (x *index[K]) numberOf(key K) int {
	n, ok := x.numbers[key]
	if !ok {
		n = len(x.keys)
		x.numbers[key], x.keys = n, append(x.keys, key)
	}
	return n
}
