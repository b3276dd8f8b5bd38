package nsys

import (
	"math"
	"strconv"
	"strings"
)

// A rowBuffer keeps the rows of an export in JSON, which come in any order, until
// they are read table by table. It keeps only the columns that will be read.
type rowBuffer struct {
	tables map[string]*bufferedTable
	bytes  int64 // estimated memory
	wanted map[string]map[string]bool
}

// A bufferedTable is one table. Every row has a cell for each column.
type bufferedTable struct {
	index  map[string]int // by the name of a column in lower case
	names  []string
	blocks [][]cell // each has whole rows
	texts  []byte
	ends   []int64 // end of each text in texts
}

// A cell is null, a number from firstNumber up, or null + 1 + the index of a text.
type cell int64

const (
	null        cell = math.MinInt64
	firstNumber      = null + 1<<48 // less than any time, size or id
	cellBytes        = 8
	blockRows        = 1024
)

func newRowBuffer() *rowBuffer {
	m := &rowBuffer{tables: make(map[string]*bufferedTable), wanted: make(map[string]map[string]bool)}
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

// withoutNodes drops the columns that tell where the nodes of graphs were created.
func (m *rowBuffer) withoutNodes() {
	for _, table := range nodeTables {
		delete(m.wanted[table], strings.ToLower(graphNode))
		delete(m.wanted[table], strings.ToLower(originalNode))
	}
}

// table returns the table of a name, or nil if it will not be read.
func (m *rowBuffer) table(name string) *bufferedTable {
	t := m.tables[name]
	if t == nil && m.wanted[name] != nil {
		t = &bufferedTable{index: make(map[string]int)}
		for column := range m.wanted[name] {
			t.index[column] = len(t.names)
			t.names = append(t.names, column)
		}
		m.tables[name] = t
	}
	return t
}

// row adds a row of nulls and returns its cells for the caller to fill.
func (m *rowBuffer) row(t *bufferedTable) []cell {
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
func (m *rowBuffer) text(t *bufferedTable, s string) cell {
	t.texts = append(t.texts, s...)
	t.ends = append(t.ends, int64(len(t.texts)))
	m.bytes += int64(len(s)) + cellBytes
	return null + cell(len(t.ends))
}

func (m *rowBuffer) columns(table string) []string {
	if t := m.tables[table]; t != nil {
		return t.names
	}
	return nil
}

func (m *rowBuffer) scan(table string, columns []string, each func(row) bool) error {
	t := m.tables[table]
	if t == nil {
		return nil
	}
	r := &bufferedRow{t: t, at: make([]int, len(columns))}
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

// A bufferedRow is a row of a bufferedTable.
type bufferedRow struct {
	t     *bufferedTable
	cells []cell
	at    []int // index in the table of each column passed to scan; -1 if the table does not have it
}

func (r *bufferedRow) cell(column int) cell {
	if at := r.at[column]; at >= 0 {
		return r.cells[at]
	}
	return null
}

func (r *bufferedRow) Num(column int) int64 {
	switch c := r.cell(column); {
	case c >= firstNumber:
		return int64(c)
	case c > null:
		return integer(string(r.Text(column)))
	}
	return 0
}

func (r *bufferedRow) Null(column int) bool { return r.cell(column) == null }

func (r *bufferedRow) NotNumber(column int) bool {
	c := r.cell(column)
	if c <= null || c >= firstNumber {
		return false
	}
	_, err := strconv.ParseFloat(string(r.Text(column)), 64)
	return err != nil
}

func (r *bufferedRow) Text(column int) []byte {
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
