package profile

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// What authors of kernels, and compilers, state of their work.
const (
	StatedFLOPs = 0
	StatedBytes = 1
)

// A Stated is a row of work with the FLOPs and bytes that are stated of it.
type Stated struct {
	Name    string
	Labels  []Label
	Count   int64
	NS      int64
	Amount  [2]float64
	Covered [2]int64 // the part of NS of which an amount is stated
}

// Add adds a number of runs.
func (s *Stated) Add(count, ns int64, amount [2]float64, stated [2]bool) {
	s.Count, s.NS = Plus(s.Count, count), Plus(s.NS, ns)
	for i, own := range amount {
		if s.Amount[i] += own; stated[i] && own > 0 {
			s.Covered[i] = Plus(s.Covered[i], ns)
		}
	}
}

// rate returns an amount in 10^9 per second, if what is stated covers all the time.
func (s *Stated) rate(of int) (perSecond float64, ok bool) {
	return s.Amount[of] / float64(max(1, s.NS)), s.NS > 0 && s.Amount[of] > 0 && s.Covered[of] == s.NS
}

// StatedTable makes a table of rows, the one with the most time first. The bandwidth is that of the memory in 10^9 bytes/s, 0
// if it is not known.
func StatedTable(name, of string, adds Adds, rows []*Stated, bandwidth float64) *Table {
	slices.SortFunc(rows, func(a, b *Stated) int {
		return cmp.Or(cmp.Compare(b.NS, a.NS), cmp.Compare(a.Name, b.Name), cmp.Compare(fmt.Sprint(a.Labels), fmt.Sprint(b.Labels)))
	})
	t := &Table{Name: name, Of: of, Columns: []Heading{{Name: "total", Unit: "nanoseconds", Adds: adds},
		{Name: "count", Unit: "count", Adds: adds}, {Name: "mean", Unit: "nanoseconds"}}}
	has := func(i int) bool { return slices.ContainsFunc(rows, func(s *Stated) bool { return s.Amount[i] > 0 }) }
	amounts := [2]bool{has(StatedFLOPs), has(StatedBytes)}
	rates := [2]Heading{{Name: "FLOP rate", Unit: "GFLOP/s"}, {Name: "byte rate", Unit: "GB/s"}}
	for i, h := range []Heading{{Name: "stated FLOPs", Unit: "count", Adds: adds}, {Name: "stated bytes", Unit: "bytes", Adds: adds}} {
		if amounts[i] {
			t.Columns = append(t.Columns, h, rates[i])
		}
	}
	share := amounts[StatedBytes] && bandwidth > 0
	if share {
		t.Columns = append(t.Columns, Heading{Name: "of memory peak", Unit: "%"})
	}
	for _, s := range rows {
		row := Row{Name: s.Name, Labels: s.Labels, Cells: []Cell{Known(s.NS), Known(s.Count), {}}}
		if s.Count > 0 {
			row.Cells[2] = Known(s.NS / s.Count)
		}
		for i := range amounts {
			if amounts[i] {
				rate, ok := s.rate(i)
				row.Cells = append(row.Cells, rounded(s.Amount[i], s.Amount[i] > 0), rounded(rate, ok))
			}
		}
		if share {
			rate, ok := s.rate(StatedBytes)
			row.Cells = append(row.Cells, rounded(100*rate/bandwidth, ok))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// rounded returns a cell with a rounded value.
func rounded(v float64, ok bool) Cell {
	if !ok || math.IsNaN(v) || v >= math.MaxInt64 {
		return Cell{}
	}
	return Known(int64(math.Round(v)))
}
