package parquet

import "encoding/binary"

// Types of fields in the compact protocol of Thrift, in which the metadata of a file is written.
const (
	thriftTrue   = 1
	thriftI32    = 5
	thriftI64    = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

// A thrift writes structs of Thrift. Fields of a struct are written in ascending order.
type thrift struct {
	out  []byte
	last []int16 // the id of the last field of each open struct
}

func (t *thrift) begin() { t.last = append(t.last, 0) }

func (t *thrift) end() {
	t.out = append(t.out, 0)
	t.last = t.last[:len(t.last)-1]
}

func (t *thrift) field(id int16, kind byte) {
	last := &t.last[len(t.last)-1]
	t.out = append(t.out, byte(id-*last)<<4|kind) // ids of this format are never 16 apart
	*last = id
}

func (t *thrift) zigzag(n int64) { t.out = binary.AppendVarint(t.out, n) }

func (t *thrift) i32(id int16, n int32) {
	t.field(id, thriftI32)
	t.zigzag(int64(n))
}

func (t *thrift) i64(id int16, n int64) {
	t.field(id, thriftI64)
	t.zigzag(n)
}

func (t *thrift) text(id int16, s string) {
	t.field(id, thriftBinary)
	t.bytes(s)
}

func (t *thrift) bytes(s string) {
	t.out = binary.AppendUvarint(t.out, uint64(len(s)))
	t.out = append(t.out, s...)
}

// list begins a field that is a list of n elements.
func (t *thrift) list(id int16, kind byte, n int) {
	t.field(id, thriftList)
	if n < 15 {
		t.out = append(t.out, byte(n)<<4|kind)
		return
	}
	t.out = append(t.out, 0xf0|kind)
	t.out = binary.AppendUvarint(t.out, uint64(n))
}

// open begins a field that is a struct.
func (t *thrift) open(id int16) {
	t.field(id, thriftStruct)
	t.begin()
}

// empty writes a field that is a struct without fields.
func (t *thrift) empty(id int16) {
	t.open(id)
	t.end()
}
