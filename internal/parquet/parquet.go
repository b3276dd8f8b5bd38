// Package parquet writes and reads files of Apache Parquet.
//
// A [Writer] writes flat tables, whose columns can be null or lists of values, for other programs. A [File] reads the flat
// columns of what other programs wrote, row by row: read.go has the description of a file, cursor.go the pages of a column,
// values.go the encodings of numbers.
//
// A file is a list of row groups, each with one part per column, and a footer with the schema and where the parts are.
// A part has a dictionary of its values if that is smaller, and one page of values or of indices into the dictionary,
// compressed with zstd. A writer keeps one row group in memory.
//
// The libraries for Parquet in Go would add a quarter to the size of the program: see CONTRIBUTING.md.
package parquet

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"assay/internal/tabular"
)

// Limits of a row group. The number of rows is what DuckDB makes its own groups of.
const (
	groupRows  = 122_880
	groupBytes = 32 << 20
)

const magic = "PAR1"

// Numbers of the format.
const (
	typeBool, typeInt64, typeDouble, typeBytes         = 0, 2, 5, 6
	encodingPlain, encodingRLE, encodingDictionary     = 0, 3, 8
	required, optional, repeated                       = 0, 1, 2
	convertedUTF8, convertedList, convertedJSON        = 0, 3, 19
	logicalString, logicalList, logicalJSON            = 1, 3, 12
	codecZstd, pageData, pageDictionary, formatVersion = 6, 0, 2, 2
)

// A Meta is a pair of the metadata of a file.
type Meta struct{ Key, Value string }

// A Writer writes the rows of one table.
type Writer struct {
	out     io.Writer
	at      int64
	failed  error
	zip     *zstd.Encoder
	columns []tabular.Column
	parts   []part // of the row group that is being made
	rows    int    // in it
	bytes   int    // in it, about
	groups  []group
	all     int64
	meta    []Meta
	scratch []byte
}

// A group is a row group that was written.
type group struct {
	chunks []chunk
	rows   int64
	bytes  int64
}

// A chunk is what the footer says of a column in a row group.
type chunk struct {
	dictionaryAt, dataAt int64
	values               int64
	plain, compressed    int64
	nulls                int64
	low, high            int64
	ranged               bool
}

// NewWriter begins a file with a table of the given columns.
func NewWriter(out io.Writer, columns []tabular.Column, meta ...Meta) (*Writer, error) {
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedFastest))
	if err != nil {
		return nil, err
	}
	w := &Writer{out: out, zip: zip, columns: columns, parts: make([]part, len(columns)), meta: meta}
	for i := range w.parts {
		w.parts[i].Column = &columns[i]
	}
	w.write([]byte(magic))
	return w, w.failed
}

// Row adds a row.
func (w *Writer) Row(cells []tabular.Cell) error {
	if len(cells) != len(w.parts) {
		return fmt.Errorf("parquet: a row of %d cells in a table of %d columns", len(cells), len(w.parts))
	}
	for i := range cells {
		w.bytes += w.parts[i].add(&cells[i])
	}
	if w.rows++; w.rows >= groupRows || w.bytes >= groupBytes {
		w.flush()
	}
	return w.failed
}

// Close writes the rest of the file.
func (w *Writer) Close() error {
	w.flush()
	footer := w.footer()
	w.write(footer)
	w.write(binary.LittleEndian.AppendUint32(nil, uint32(len(footer))))
	w.write([]byte(magic))
	return w.failed
}

func (w *Writer) write(b []byte) {
	if w.failed != nil {
		return
	}
	n, err := w.out.Write(b)
	w.at, w.failed = w.at+int64(n), err
}

// flush writes the row group.
func (w *Writer) flush() {
	if w.rows == 0 {
		return
	}
	g := group{rows: int64(w.rows)}
	for i := range w.parts {
		p := &w.parts[i]
		c := chunk{values: int64(p.entries()), nulls: p.nulls, low: p.low, high: p.high, ranged: p.ranged}
		if p.indexed() {
			c.dictionaryAt = w.at
			w.page(&c, p.dictionary(), pageDictionary, p.distinct.len())
		}
		c.dataAt = w.at
		w.page(&c, p.page(), pageData, p.entries())
		g.chunks, g.bytes = append(g.chunks, c), g.bytes+c.plain
		p.reset()
	}
	w.groups, w.all = append(w.groups, g), w.all+g.rows
	w.rows, w.bytes = 0, 0
}

// page compresses and writes a page.
func (w *Writer) page(c *chunk, content []byte, kind int32, values int) {
	w.scratch = w.zip.EncodeAll(content, w.scratch[:0])
	encoding := int32(encodingPlain)
	if kind == pageData && c.dictionaryAt > 0 {
		encoding = encodingDictionary
	}
	var t thrift
	t.begin()
	t.i32(1, kind)
	t.i32(2, int32(len(content)))
	t.i32(3, int32(len(w.scratch)))
	if kind == pageData {
		t.open(5)
		t.i32(1, int32(values))
		t.i32(2, encoding)
		t.i32(3, encodingRLE)
		t.i32(4, encodingRLE)
	} else {
		t.open(7)
		t.i32(1, int32(values))
		t.i32(2, encoding)
	}
	t.end()
	t.end()
	w.write(t.out)
	w.write(w.scratch)
	c.plain += int64(len(t.out) + len(content))
	c.compressed += int64(len(t.out) + len(w.scratch))
}

func (w *Writer) footer() []byte {
	var t thrift
	t.begin()
	t.i32(1, formatVersion)
	w.schema(&t)
	t.i64(3, w.all)
	t.list(4, thriftStruct, len(w.groups))
	for i := range w.groups {
		w.group(&t, &w.groups[i])
	}
	t.list(5, thriftStruct, len(w.meta))
	for _, m := range w.meta {
		t.begin()
		t.text(1, m.Key)
		t.text(2, m.Value)
		t.end()
	}
	t.text(6, "assay")
	t.list(7, thriftStruct, len(w.columns)) // minima and maxima are ordered as the types say
	for range w.columns {
		t.begin()
		t.empty(1)
		t.end()
	}
	t.end()
	return t.out
}

// schema writes the tree of columns. A list is a group with a repeated group, which has the values.
func (w *Writer) schema(t *thrift) {
	n := 1
	for _, c := range w.columns {
		if n++; c.List {
			n += 2
		}
	}
	t.list(2, thriftStruct, n)
	node := func(name string, repetition int32, children int) {
		t.begin()
		if repetition >= 0 {
			t.i32(3, repetition)
		}
		t.text(4, name)
		t.i32(5, int32(children))
	}
	node("table", -1, len(w.columns))
	t.end()
	for i := range w.columns {
		c := &w.columns[i]
		name, repetition := c.Name, int32(required)
		if c.Optional {
			repetition = optional
		}
		if c.List {
			node(name, repetition, 1)
			t.i32(6, convertedList)
			t.open(10)
			t.empty(logicalList)
			t.end()
			t.end()
			node("list", repeated, 1)
			t.end()
			name, repetition = "element", optional
		}
		t.begin()
		t.i32(1, physical(c.Type))
		t.i32(3, repetition)
		t.text(4, name)
		switch c.Type {
		case tabular.Text:
			t.i32(6, convertedUTF8)
			t.open(10)
			t.empty(logicalString)
			t.end()
		case tabular.Structured:
			t.i32(6, convertedJSON)
			t.open(10)
			t.empty(logicalJSON)
			t.end()
		}
		t.end()
	}
}

func physical(t tabular.Type) int32 {
	return [...]int32{tabular.Text: typeBytes, tabular.Int: typeInt64, tabular.Float: typeDouble, tabular.Bool: typeBool, tabular.Structured: typeBytes}[t]
}

func (w *Writer) group(t *thrift, g *group) {
	t.begin()
	t.list(1, thriftStruct, len(g.chunks))
	for i := range g.chunks {
		w.chunk(t, &w.columns[i], &g.chunks[i])
	}
	t.i64(2, g.bytes)
	t.i64(3, g.rows)
	t.end()
}

func (w *Writer) chunk(t *thrift, column *tabular.Column, c *chunk) {
	t.begin()
	t.i64(2, 0) // the offset of metadata that is stored apart; none is
	t.open(3)
	t.i32(1, physical(column.Type))
	encodings := []int64{encodingPlain, encodingRLE}
	if c.dictionaryAt > 0 {
		encodings = append(encodings, encodingDictionary)
	}
	t.list(2, thriftI32, len(encodings))
	for _, e := range encodings {
		t.zigzag(e)
	}
	path := []string{column.Name}
	if column.List {
		path = append(path, "list", "element")
	}
	t.list(3, thriftBinary, len(path))
	for _, name := range path {
		t.bytes(name)
	}
	t.i32(4, codecZstd)
	t.i64(5, c.values)
	t.i64(6, c.plain)
	t.i64(7, c.compressed)
	t.i64(9, c.dataAt)
	if c.dictionaryAt > 0 {
		t.i64(11, c.dictionaryAt)
	}
	t.open(12)
	t.i64(3, c.nulls)
	if c.ranged {
		t.text(5, string(binary.LittleEndian.AppendUint64(nil, uint64(c.high))))
		t.text(6, string(binary.LittleEndian.AppendUint64(nil, uint64(c.low))))
	}
	t.end()
	t.end()
	t.end()
}
