package torchprof

import (
	"strings"

	"assay/internal/lazyregexp"
	"assay/internal/profile"
)

// An openTable is a table that is being read.
type openTable struct {
	ruler
	columns []column
	device  string // the place of the first column that is not the CPU's; "" if there is none
	seen    int    // number of its last line
	rules   int    // rules read after the header
	footer  bool   // all rows were read

	rows   []row
	rest   map[kind][]profile.Cell // sums of the rows over the limit
	left   map[kind]int64
	shares []printedShare
	totals []total
	twice  []int64 // sums of rows that the total of the device may contain although kernels have their time

	swapped bool // the columns of stacks and operations are swapped
	kept    bool // the last row was kept
	counts  oddities
}

// The oddities of a table, each with its count and first line.
type oddities struct{ malformed, unreadable, between, cut, omitted oddity }

type oddity struct {
	n  int64
	at int
}

func (o *oddity) add(line int) {
	if o.n++; o.n == 1 {
		o.at = line
	}
}

// A row is one row as it was printed.
type row struct {
	name   string
	line   int
	cells  []profile.Cell // of all columns
	labels []profile.Label
	stack  []string
}

// A total is a line below the table.
type total struct {
	place string
	cell  profile.Cell
	res   int64 // the unit of the last printed digit, in ns
	line  int
}

// A printedShare is a share as it was printed.
type printedShare struct {
	place   string
	percent float64
	time    int64
	res     int64
	line    int
}

func newOpenTable(w ruler, columns []column, line int) *openTable {
	o := &openTable{ruler: w, columns: columns, seen: line, rest: make(map[kind][]profile.Cell), left: make(map[kind]int64)}
	for _, c := range columns {
		if c.place != "" && c.place != cpu && c.role != ignored {
			o.device = c.place
			break
		}
	}
	return o
}

// totalLine matches a line below a table such as "Self CUDA time total:
// 1.763ms".
var totalLine = lazyregexp.New(`^[ \t#]*Self ([A-Z][A-Z0-9_]{1,31}) time total: *(\S.*)$`)

// total handles a line below the table, and reports whether it is a total.
func (o *openTable) total(line string) bool {
	if !strings.Contains(line, " time total:") {
		return false
	}
	m := totalLine().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	cell, _ := parseTime(strings.TrimSpace(m[2]))
	if len(o.totals) < maxColumns {
		o.totals = append(o.totals, total{m[1], cell, resolution(m[2]), o.seen + 1})
	}
	return true
}

// totalsDone reports whether all totals were read.
func (o *openTable) totalsDone() bool {
	want := 1
	if o.device != "" && o.column(aTime, o.device) >= 0 {
		want++
	}
	return len(o.totals) >= want
}

// totalOf returns the total of a place.
func (o *openTable) totalOf(place string) (total, bool) {
	for _, t := range o.totals {
		if t.place == place && t.cell.Known {
			return t, true
		}
	}
	return total{}, false
}

// resolution returns the unit of the last digit of a time, in nanoseconds.
func resolution(text string) int64 {
	text = strings.TrimSpace(text)
	for _, u := range timeUnits {
		if n, ok := strings.CutSuffix(text, u.text); ok {
			_, fraction, _ := strings.Cut(n, ".")
			size := u.size
			for range min(len(fraction), 9) {
				size /= 10
			}
			return max(1, size)
		}
	}
	return 1
}

// column returns the index of the first column of a place with the given kind,
// or -1 if there is none.
func (o *openTable) column(w role, place string) int {
	for i, c := range o.columns {
		if c.role == w && c.place == place && !c.mean {
			return i
		}
	}
	return -1
}

// timeOf returns the index of the time column that a column of shares refers to, or -1.
func (o *openTable) timeOf(share column) int {
	for i, c := range o.columns {
		if c.role == aTime && c.place == share.place && c.self == share.self && !c.mean {
			return i
		}
	}
	return -1
}
