package parquet

import (
	"encoding/binary"
	"math"
	"math/bits"
	"testing"

	"github.com/klauspost/compress/zstd"

	"assay/internal/tabular"
)

// A file is one that was read by the rules of the format: github.com/apache/parquet-format.
type file struct {
	bytes  []byte
	rows   int64
	meta   map[string]string
	groups [][]chunkMeta
}

type chunkMeta struct {
	values, data, dictionary int64
	low, high                string // the bounds of a column of numbers
}

// any struct of Thrift is a map from the id of a field.
type fields map[int16]any

// A compact reads the compact protocol of Thrift.
type compact struct {
	t  *testing.T
	in []byte
}

func (c *compact) uvarint() uint64 {
	n, size := binary.Uvarint(c.in)
	if size <= 0 {
		c.t.Fatal("a number of the metadata is broken")
	}
	c.in = c.in[size:]
	return n
}

func (c *compact) varint() int64 {
	n := c.uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

func (c *compact) value(kind byte) any {
	switch kind {
	case 1, 2:
		return kind == 1
	case 5, 6:
		return c.varint()
	case 8:
		n := c.uvarint()
		text := string(c.in[:n])
		c.in = c.in[n:]
		return text
	case 9:
		head := c.in[0]
		c.in = c.in[1:]
		n := uint64(head >> 4)
		if n == 15 {
			n = c.uvarint()
		}
		var list []any
		for range n {
			list = append(list, c.value(head&15))
		}
		return list
	case 12:
		out := fields{}
		for id := int16(0); ; {
			head := c.in[0]
			c.in = c.in[1:]
			switch {
			case head == 0:
				return out
			case head>>4 == 0:
				id = int16(c.varint())
			default:
				id += int16(head >> 4)
			}
			out[id] = c.value(head & 15)
		}
	}
	c.t.Fatalf("a field of the unknown type %d", kind)
	return nil
}

func open(t *testing.T, b []byte) *file {
	t.Helper()
	if len(b) < 12 || string(b[:4]) != "PAR1" || string(b[len(b)-4:]) != "PAR1" {
		t.Fatal("the file does not begin and end as the format wants")
	}
	size := int(binary.LittleEndian.Uint32(b[len(b)-8:]))
	c := compact{t, b[len(b)-8-size : len(b)-8]}
	footer := c.value(12).(fields)
	if len(c.in) > 0 {
		t.Fatalf("%d bytes are left of the footer", len(c.in))
	}
	f := &file{bytes: b, rows: footer[3].(int64), meta: map[string]string{}}
	for _, m := range footer[5].([]any) {
		f.meta[m.(fields)[1].(string)] = m.(fields)[2].(string)
	}
	groups, _ := footer[4].([]any)
	for _, g := range groups {
		var chunks []chunkMeta
		for _, of := range g.(fields)[1].([]any) {
			m := of.(fields)[3].(fields)
			c := chunkMeta{values: m[5].(int64), data: m[9].(int64)}
			c.dictionary, _ = m[11].(int64)
			c.high, _ = m[12].(fields)[5].(string)
			c.low, _ = m[12].(fields)[6].(string)
			chunks = append(chunks, c)
		}
		f.groups = append(f.groups, chunks)
	}
	return f
}

// page returns the head and the content of the page at an offset.
func (f *file) page(t *testing.T, at int64) (fields, []byte) {
	t.Helper()
	c := compact{t, f.bytes[at:]}
	head := c.value(12).(fields)
	zip, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer zip.Close()
	out, err := zip.DecodeAll(c.in[:head[3].(int64)], nil)
	if err != nil || int64(len(out)) != head[2].(int64) {
		t.Fatalf("a page of %d bytes, want %v: %v", len(out), head[2], err)
	}
	return head, out
}

func plainValue(c tabular.Column, in []byte) (tabular.Cell, []byte) {
	out := tabular.Cell{Known: true}
	switch c.Type {
	case tabular.Int:
		out.Int = int64(binary.LittleEndian.Uint64(in))
		return out, in[8:]
	case tabular.Float:
		out.Float = math.Float64frombits(binary.LittleEndian.Uint64(in))
		return out, in[8:]
	}
	n := binary.LittleEndian.Uint32(in)
	out.Text = string(in[4 : 4+n])
	return out, in[4+n:]
}

// column returns the cells of a column.
func (f *file) column(t *testing.T, i int, c tabular.Column) (cells []tabular.Cell) {
	t.Helper()
	for _, g := range f.groups {
		var dictionary []tabular.Cell
		if g[i].dictionary > 0 {
			head, content := f.page(t, g[i].dictionary)
			for range head[7].(fields)[1].(int64) {
				var v tabular.Cell
				v, content = plainValue(c, content)
				dictionary = append(dictionary, v)
			}
		}
		head, content := f.page(t, g[i].data)
		n := int(head[5].(fields)[1].(int64))
		most, repeats := 0, make([]uint32, n)
		if c.Optional {
			most = 1
		}
		if c.List {
			most += 2
			repeats, content = readLevel(content, 1, n)
		}
		defined := make([]uint32, n)
		if most > 0 {
			defined, content = readLevel(content, most, n)
		}
		known := 0
		for _, d := range defined {
			if int(d) == most {
				known++
			}
		}
		cells = append(cells, assemble(c, defined, repeats, most, values(c, dictionary, content, known))...)
	}
	return cells
}

// values returns the values of a page.
func values(c tabular.Column, dictionary []tabular.Cell, content []byte, n int) (out []tabular.Cell) {
	switch {
	case dictionary != nil:
		index, _ := readHybrid(content[1:], int(content[0]), n)
		for _, at := range index {
			out = append(out, dictionary[at])
		}
	case c.Type == tabular.Bool:
		for i := range n {
			out = append(out, tabular.Cell{Known: true, Int: int64(content[i/8] >> (i % 8) & 1)})
		}
	default:
		for range n {
			var v tabular.Cell
			v, content = plainValue(c, content)
			out = append(out, v)
		}
	}
	return out
}

// assemble makes cells of values and levels.
func assemble(c tabular.Column, defined, repeats []uint32, most int, values []tabular.Cell) (cells []tabular.Cell) {
	for i, d := range defined {
		var v tabular.Cell
		if int(d) == most {
			v, values = values[0], values[1:]
		}
		if !c.List {
			cells = append(cells, v)
			continue
		}
		if repeats[i] == 0 {
			cells = append(cells, tabular.Cell{})
		}
		last := &cells[len(cells)-1]
		switch most - int(d) {
		case 0, 1:
			last.Known, last.List = true, append(last.List, v)
		case 2:
			last.Known, last.List = true, []tabular.Cell{}
		}
	}
	return cells
}

func readLevel(in []byte, most, n int) ([]uint32, []byte) {
	size := binary.LittleEndian.Uint32(in)
	out, _ := readHybrid(in[4:4+size], bits.Len(uint(most)), n)
	return out, in[4+size:]
}

// readHybrid reads n numbers of runs and packed bits.
func readHybrid(in []byte, width, n int) (out []uint32, rest []byte) {
	for len(out) < n {
		head, size := binary.Uvarint(in)
		in = in[size:]
		if head&1 == 0 {
			var v uint32
			for i := range (width + 7) / 8 {
				v |= uint32(in[i]) << (8 * i)
			}
			in = in[(width+7)/8:]
			for range head >> 1 {
				out = append(out, v)
			}
			continue
		}
		count := int(head>>1) * 8
		for i := range count {
			var v uint32
			for b := range width {
				at := i*width + b
				v |= uint32(in[at/8]>>(at%8)&1) << b
			}
			out = append(out, v)
		}
		in = in[count*width/8:]
	}
	return out[:n], in
}
