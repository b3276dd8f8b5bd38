package parquet

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Limits of what is read. Files of profilers stay far below them; a damaged or hostile file ends with an error.
const (
	maxFooter     = 16 << 20
	maxPage       = 64 << 20 // of one page, uncompressed
	freeRows      = 1 << 20  // that any file may have
	rowsPerByte   = 8        // and a larger one: rows have times, which differ
	freeInflation = 1 << 30  // bytes that any file may inflate to
	inflation     = 64       // and how many times its size a larger one may
)

// Physical types and converted types that only the reader knows.
const (
	typeInt32, typeInt96, typeFloat, typeFixed = 1, 3, 4, 7
	convertedUint8, convertedUint32            = 11, 13
)

// A File is a file whose rows are read. Its columns are the values of the rows themselves: lists and groups are left out.
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
	length   int64 // of the values, if all are equally long texts
	optional bool
	unsigned int64 // bits of unsigned integers that are shorter than the physical type; 0 for others
	nested   bool  // in a list or a group
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
	rows := f.footer(&m)
	if m.bad || len(m.in) > 0 {
		return nil, errFooter
	}
	if err := f.check(rows); err != nil {
		return nil, err
	}
	return f, nil
}

// Columns returns the names of the columns.
func (f *File) Columns() (names []string) {
	for i := range f.leaves {
		if !f.leaves[i].nested {
			names = append(names, f.leaves[i].name)
		}
	}
	return names
}

// TextColumns returns the names of the columns whose values are texts.
func (f *File) TextColumns() (names []string) {
	for i := range f.leaves {
		if l := &f.leaves[i]; !l.nested && l.isText() {
			names = append(names, l.name)
		}
	}
	return names
}

// isText reports whether values are bytes, not numbers.
func (l *leaf) isText() bool {
	return l.kind == typeBytes || l.kind == typeFixed || l.kind == typeInt96
}

func (f *File) footer(m *structReader) (rows int64) {
	m.fields(func(id field) {
		switch id {
		case field{2, thriftList}:
			var nodes []schemaNode
			m.list(func(kind byte) {
				nodes = append(nodes, m.schemaNode(kind))
			})
			f.schema(m, nodes)
		case field{3, thriftI64}:
			rows = m.int()
		case field{4, thriftList}:
			m.list(func(kind byte) { f.groups = append(f.groups, m.rowGroup(kind)) })
		default:
			m.skip(id.kind)
		}
	})
	return rows
}

// A schemaNode is an element of the schema, which is a tree in preorder.
type schemaNode struct {
	leaf
	children int64
	repeated bool
}

func (m *structReader) schemaNode(kind byte) (n schemaNode) {
	converted, logical := int64(-1), int64(-1)
	m.structure(kind, func(id field) {
		switch id {
		case field{1, thriftI32}:
			n.kind = m.int()
		case field{2, thriftI32}:
			n.length = m.int()
		case field{3, thriftI32}:
			repetition := m.int()
			n.optional, n.repeated = repetition == optional, repetition == repeated
		case field{4, thriftBinary}:
			n.name = string(m.bytes())
		case field{5, thriftI32}:
			n.children = m.int()
		case field{6, thriftI32}:
			converted = m.int()
		case field{10, thriftStruct}:
			logical = m.unsigned()
		default:
			m.skip(id.kind)
		}
	})
	switch {
	case n.kind != typeInt32:
	case logical > 0 && logical <= 32:
		n.leaf.unsigned = logical
	case logical < 0 && converted >= convertedUint8 && converted <= convertedUint32:
		n.leaf.unsigned = 8 << (converted - convertedUint8)
	}
	return n
}

// unsigned reads a logical type and returns the bits of an unsigned integer, 0 for other types.
func (m *structReader) unsigned() (bits int64) {
	const integer = 10
	signed := true
	m.structure(thriftStruct, func(id field) {
		if id != (field{integer, thriftStruct}) {
			m.skip(id.kind)
			return
		}
		m.structure(thriftStruct, func(id field) {
			switch id {
			case field{1, thriftByte}:
				bits = int64(m.byte())
			case field{2, thriftFalse}:
				signed = false
			default:
				m.skip(id.kind)
			}
		})
	})
	if signed {
		return 0
	}
	return bits
}

// schema takes the leaves from the tree of columns.
func (f *File) schema(m *structReader, nodes []schemaNode) {
	if len(nodes) == 0 || nodes[0].children < 0 || nodes[0].children >= int64(len(nodes)) {
		m.bad = true
		return
	}
	depth := []int64{} // children that are still missing of each open group below the root
	for i := range nodes[1:] {
		n := &nodes[1:][i]
		nested := len(depth) > 0
		if nested {
			depth[len(depth)-1]--
		}
		if n.children > 0 {
			depth = append(depth, n.children)
		} else {
			n.nested = nested || n.repeated
			f.leaves = append(f.leaves, n.leaf)
		}
		for len(depth) > 0 && depth[len(depth)-1] == 0 {
			depth = depth[:len(depth)-1]
		}
	}
}

func (m *structReader) rowGroup(kind byte) (g rowGroup) {
	m.structure(kind, func(id field) {
		switch id {
		case field{1, thriftList}:
			m.list(func(kind byte) { g.spans = append(g.spans, m.span(kind)) })
		case field{3, thriftI64}:
			g.rows = m.int()
		default:
			m.skip(id.kind)
		}
	})
	return g
}

func (m *structReader) span(kind byte) (s span) {
	s.elsewhere = true // unless there is metadata
	apart, data, dictionary := false, int64(0), int64(0)
	m.structure(kind, func(id field) {
		switch id {
		case field{1, thriftBinary}:
			m.bytes()
			apart = true
		case field{3, thriftStruct}:
			s.elsewhere = false
			m.structure(thriftStruct, func(id field) {
				switch id {
				case field{4, thriftI32}:
					s.codec = m.int()
				case field{5, thriftI64}:
					s.values = m.int()
				case field{7, thriftI64}:
					s.size = m.int()
				case field{9, thriftI64}:
					data = m.int()
				case field{11, thriftI64}:
					dictionary = m.int()
				default:
					m.skip(id.kind)
				}
			})
		default:
			m.skip(id.kind)
		}
	})
	s.elsewhere = s.elsewhere || apart
	if s.at = data; dictionary > 0 && dictionary < data {
		s.at = dictionary
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
