package nsys

import (
	"math"
	"strconv"
	"strings"
)

// memory is an export whose rows come one at a time, in any order of the
// tables, and are kept until they are read by tables. Only the columns that
// are read are kept.
type memory struct {
	tables map[string]*kept
	bytes  int64 // about what is kept
	wanted map[string]map[string]bool
}

// A kept is one table. All rows have a cell for each column.
type kept struct {
	index  map[string]int // of columns, in lower case
	names  []string
	blocks [][]cell // of whole rows each
	texts  []byte
	ends   []int64 // of each text
}

// A cell is a number, null, or the number of a text above null.
type cell int64

const (
	null        cell = math.MinInt64
	firstNumber      = null + 1<<48 // no time, size or id is below it
	cellBytes        = 8
	blockRows        = 1024
)

func newMemory() *memory {
	m := &memory{tables: make(map[string]*kept), wanted: make(map[string]map[string]bool)}
	want := func(table string, columns []string) {
		if m.wanted[table] == nil {
			m.wanted[table] = make(map[string]bool)
		}
		for _, names := range columns {
			for name := range strings.SplitSeq(names, "|") {
				m.wanted[table][strings.ToLower(name)] = true
			}
		}
	}
	for _, t := range tables {
		want(t.name, t.columns)
	}
	for _, s := range settings {
		want(s.name, s.columns)
	}
	want("NVTX_EVENTS", domainColumns)
	return m
}

// withoutNodes leaves out where the nodes of graphs were made.
func (m *memory) withoutNodes() {
	for _, table := range nodeTables {
		delete(m.wanted[table], strings.ToLower(graphNode))
		delete(m.wanted[table], strings.ToLower(originalNode))
	}
}

// table returns a table that is read, or nil.
func (m *memory) table(name string) *kept {
	t := m.tables[name]
	if t == nil && m.wanted[name] != nil {
		t = &kept{index: make(map[string]int)}
		for column := range m.wanted[name] {
			t.index[column] = len(t.names)
			t.names = append(t.names, column)
		}
		m.tables[name] = t
	}
	return t
}

// row adds a row of nulls, whose cells the caller fills.
func (m *memory) row(t *kept) []cell {
	width := len(t.names)
	last := len(t.blocks) - 1
	if last < 0 || len(t.blocks[last]) == cap(t.blocks[last]) {
		t.blocks = append(t.blocks, make([]cell, 0, width*blockRows))
		m.bytes += int64(width) * blockRows * cellBytes
		last++
	}
	block := t.blocks[last]
	from := len(block)
	block = block[:from+width]
	t.blocks[last] = block
	for i := range block[from:] {
		block[from+i] = null
	}
	return block[from:]
}

// number returns a cell of a number.
func number(n int64) cell { return max(cell(n), firstNumber) }

// text returns a cell of a text.
func (m *memory) text(t *kept, s string) cell {
	t.texts = append(t.texts, s...)
	t.ends = append(t.ends, int64(len(t.texts)))
	m.bytes += int64(len(s)) + cellBytes
	return null + cell(len(t.ends))
}

func (m *memory) columns(table string) []string {
	if t := m.tables[table]; t != nil {
		return t.names
	}
	return nil
}

func (m *memory) scan(table string, columns []string, each func(row) bool) error {
	t := m.tables[table]
	if t == nil {
		return nil
	}
	r := &keptRow{t: t, at: make([]int, len(columns))}
	for i, name := range columns {
		r.at[i] = -1
		if at, ok := t.index[strings.ToLower(name)]; ok {
			r.at[i] = at
		}
	}
	width := len(t.names)
	for _, block := range t.blocks {
		for ; len(block) > 0; block = block[width:] {
			if r.cells = block[:width]; !each(r) {
				return nil
			}
		}
	}
	return nil
}

// A keptRow is a row of a table that is kept.
type keptRow struct {
	t     *kept
	cells []cell
	at    []int // of each column that was asked for, -1 if there is none
}

func (r *keptRow) cell(column int) cell {
	if at := r.at[column]; at >= 0 {
		return r.cells[at]
	}
	return null
}

func (r *keptRow) num(column int) int64 {
	switch c := r.cell(column); {
	case c >= firstNumber:
		return int64(c)
	case c > null:
		return integer(string(r.text(column)))
	}
	return 0
}

func (r *keptRow) null(column int) bool { return r.cell(column) == null }

func (r *keptRow) odd(column int) bool {
	c := r.cell(column)
	if c <= null || c >= firstNumber {
		return false
	}
	_, err := strconv.ParseFloat(string(r.text(column)), 64)
	return err != nil
}

func (r *keptRow) text(column int) []byte {
	c := r.cell(column)
	if c == null || c >= firstNumber {
		return nil
	}
	i, from := int(c-null)-1, int64(0)
	if i > 0 {
		from = r.t.ends[i-1]
	}
	return r.t.texts[from:r.t.ends[i]]
}

// integer reads a number as JSON has it. Ids may be written without their sign.
func integer(s string) int64 {
	n, err := strconv.ParseInt(s, 10, 64)
	if err == nil {
		return n
	}
	if u, err := strconv.ParseUint(s, 10, 64); err == nil {
		return int64(u)
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f > -1<<63 && f < 1<<63) {
		return 0
	}
	return int64(f)
}
