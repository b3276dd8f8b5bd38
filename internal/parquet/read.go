package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// Limits of what is read. Files of profilers stay far below them; a damaged or hostile file ends with an error.
const (
	maxFooter     = 16 << 20
	maxPage       = 64 << 20 // of one page, uncompressed
	maxHead       = 16 << 10 // of what precedes it, with its minimum and maximum
	freeRows      = 1 << 20  // that any file may have
	rowsPerByte   = 8        // and a larger one: rows have times, which differ
	freeInflation = 1 << 30  // bytes that any file may inflate to
	inflation     = 64       // and how many times its size a larger one may
)

// Physical types and converted types that only the reader knows.
const (
	typeInt32                       = 1
	convertedUint8, convertedUint32 = 11, 13
)

// A File is a file whose rows are read. Its columns are the whole numbers, truth values and texts of the rows themselves:
// lists, groups and other types are left out.
type File struct {
	Memory int64 // for the pages of a scan; more is an error

	in     io.ReaderAt
	size   int64
	leaves []leaf
	groups []rowGroup
}

// A leaf is a column as the schema describes it.
type leaf struct {
	name     string
	kind     int64
	optional bool
	unsigned int64 // bits of unsigned integers that are shorter than the physical type; 0 for others
	nested   bool  // in a list or a group, or of another type
}

// A rowGroup has the rows that are stored together.
type rowGroup struct {
	rows  int64
	spans []span // one for each leaf
}

// A span is where the pages of a column in a row group are.
type span struct {
	at, size, values, codec int64
	elsewhere               bool // in another file, or encrypted
}

var errFooter = errors.New("the description of its columns is damaged")

// Open reads the description of the columns at the end of a file.
func Open(in io.ReaderAt, size int64) (*File, error) {
	f := &File{Memory: 4 * maxPage, in: in, size: size}
	var tail [8]byte
	if size < int64(len(magic)+len(tail)) {
		return nil, fmt.Errorf("a file of %d bytes is no Parquet file", size)
	}
	var head [len(magic)]byte
	if _, err := in.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	if _, err := in.ReadAt(tail[:], size-int64(len(tail))); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	switch {
	case string(tail[4:]) == "PARE":
		return nil, errors.New("it is encrypted")
	case string(head[:]) != magic:
		return nil, errors.New("it is no Parquet file")
	case string(tail[4:]) != magic:
		return nil, errors.New("its end is missing")
	case n > size-int64(len(magic)+len(tail)):
		return nil, errFooter
	case n > maxFooter:
		return nil, fmt.Errorf("the description of its columns takes %d bytes, over the limit of %d", n, maxFooter)
	}
	footer := make([]byte, n)
	if _, err := in.ReadAt(footer, size-int64(len(tail))-n); err != nil {
		return nil, err
	}
	m := structReader{in: footer}
	described := m.value(thriftStruct)
	if m.bad || len(m.in) > 0 || !f.schema(described.fields[2].list) {
		return nil, errFooter
	}
	for _, g := range described.fields[4].list {
		group := rowGroup{rows: g.fields[3].n}
		for _, c := range g.fields[1].list {
			group.spans = append(group.spans, spanOf(c))
		}
		f.groups = append(f.groups, group)
	}
	if err := f.check(described.fields[3].n); err != nil {
		return nil, err
	}
	return f, nil
}

// Columns returns the names of the columns, and of those whose values are texts.
func (f *File) Columns() (all, texts []string) {
	for _, l := range f.leaves {
		if !l.nested {
			all = append(all, l.name)
		}
		if !l.nested && l.isText() {
			texts = append(texts, l.name)
		}
	}
	return all, texts
}

// isText reports whether values are bytes, not numbers.
func (l *leaf) isText() bool {
	return l.kind == typeBytes
}

// leafOf returns a column by its node of the schema.
func leafOf(n node) leaf {
	const integer = 10 // among logical types
	l := leaf{name: string(n.fields[4].text), kind: n.fields[1].n, optional: n.fields[3].n == optional}
	l.nested = n.fields[3].n == repeated || !slices.Contains([]int64{typeBool, typeInt32, typeInt64, typeBytes}, l.kind)
	converted := n.fields[6].n
	switch logical, is := n.fields[10].fields[integer]; {
	case l.kind != typeInt32:
	case is && logical.fields[2].n == 0: // not signed
		l.unsigned = min(32, max(1, logical.fields[1].n))
	case converted >= convertedUint8 && converted <= convertedUint32:
		l.unsigned = 8 << (converted - convertedUint8)
	}
	return l
}

// schema takes the leaves from the tree of columns, which is in preorder. It returns false for damage.
func (f *File) schema(nodes []node) bool {
	if len(nodes) == 0 {
		return false
	}
	var open []int64 // children that are still missing of each group below the root
	for _, n := range nodes[1:] {
		nested := len(open) > 0
		if nested {
			open[len(open)-1]--
		}
		if children := n.fields[5].n; children > 0 {
			open = append(open, children)
		} else {
			l := leafOf(n)
			l.nested = l.nested || nested
			f.leaves = append(f.leaves, l)
		}
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
	}
	return true
}

// spanOf returns where a column of a row group is.
func spanOf(n node) span {
	m, is := n.fields[3]
	s := span{codec: m.fields[4].n, values: m.fields[5].n, size: m.fields[7].n, at: m.fields[9].n, elsewhere: !is || len(n.fields[1].text) > 0}
	if dictionary := m.fields[11].n; dictionary > 0 {
		s.at = min(s.at, dictionary)
	}
	return s
}

// check looks for numbers that a file of so many rows cannot have.
func (f *File) check(all int64) error {
	rows, most := int64(0), freeRows+f.size*rowsPerByte
	for _, g := range f.groups {
		if g.rows < 0 || len(g.spans) != len(f.leaves) {
			return errFooter
		}
		if g.rows > most-rows {
			return fmt.Errorf("it claims more rows than a file of %d bytes can have", f.size)
		}
		rows += g.rows
		for i, s := range g.spans {
			switch {
			case f.leaves[i].nested:
			case s.elsewhere:
				return fmt.Errorf("column %s is encrypted or in another file", f.leaves[i].name)
			case s.at < int64(len(magic)) || s.at > f.size || s.size < 0 || s.size > f.size-s.at || s.values != g.rows:
				return errFooter
			}
		}
	}
	if rows != all {
		return errFooter
	}
	return nil
}

// Scan calls each with every row, in order, until each returns false. Columns that the file does not have, and the column
// "", are null. Names are compared without regard to case. The error is the reason why rows are missing.
func (f *File) Scan(columns []string, each func(*Row) bool) error {
	s := &scan{File: f}
	defer s.close()
	row := &Row{make([]*cursor, len(columns))}
	var active []*cursor
	at := make([]int, len(columns)) // of the leaf
	for i, name := range columns {
		for j := range f.leaves {
			if l := &f.leaves[j]; !l.nested && strings.EqualFold(l.name, name) {
				row.cursors[i], at[i] = &cursor{scan: s, leaf: l}, j
				active = append(active, row.cursors[i])
				break
			}
		}
	}
	for _, g := range f.groups {
		for i, c := range row.cursors {
			if c != nil {
				c.begin(g.spans[at[i]])
			}
		}
		for range g.rows {
			for _, c := range active {
				if err := c.next(); err != nil {
					return fmt.Errorf("column %s: %w", c.leaf.name, err)
				}
			}
			if !each(row) {
				return nil
			}
		}
	}
	return nil
}
