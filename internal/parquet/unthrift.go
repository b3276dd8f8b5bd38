package parquet

import "encoding/binary"

// Types of fields that only the reader meets.
const (
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftDouble = 7
	thriftSet    = 10
)

// maxNesting is how deep structs may nest; those of the format have six levels.
const maxNesting = 32

// A field is a field of a struct: its id and the type of its value.
type field struct {
	id   int16
	kind byte
}

// A structReader reads structs of Thrift in the compact protocol. After damage, bad is set and all values are zero.
type structReader struct {
	in    []byte
	bad   bool
	depth int
}

func (m *structReader) fail() { m.in, m.bad = nil, true }

func (m *structReader) byte() byte {
	if len(m.in) == 0 {
		m.fail()
		return 0
	}
	b := m.in[0]
	m.in = m.in[1:]
	return b
}

func (m *structReader) uvarint() uint64 {
	n, size := binary.Uvarint(m.in)
	if size <= 0 {
		m.fail()
		return 0
	}
	m.in = m.in[size:]
	return n
}

func (m *structReader) int() int64 {
	n := m.uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

func (m *structReader) bytes() []byte { return m.take(m.uvarint()) }

func (m *structReader) take(n uint64) []byte {
	if n > uint64(len(m.in)) {
		m.fail()
		return nil
	}
	out := m.in[:n]
	m.in = m.in[n:]
	return out
}

// fields calls each for every field of a struct. It must read the value, or skip it.
func (m *structReader) fields(each func(field)) {
	if m.depth++; m.depth > maxNesting {
		m.fail()
	}
	for id := int16(0); !m.bad; {
		head := m.byte()
		if head == 0 {
			break
		}
		if id += int16(head >> 4); head>>4 == 0 {
			id = int16(m.int())
		}
		each(field{id, head & 15})
	}
	m.depth--
}

// structure is fields for a value that should be a struct.
func (m *structReader) structure(kind byte, each func(field)) {
	if kind != thriftStruct {
		m.fail()
		return
	}
	m.fields(each)
}

// list calls each for every element of a list. It must read the element.
func (m *structReader) list(each func(kind byte)) {
	head := m.byte()
	n := uint64(head >> 4)
	if n == 15 {
		n = m.uvarint()
	}
	for ; n > 0 && !m.bad; n-- {
		if len(m.in) == 0 { // every element takes a byte
			m.fail()
			return
		}
		each(head & 15)
	}
}

func (m *structReader) skip(kind byte) {
	switch kind {
	case thriftTrue, thriftFalse:
	case thriftByte:
		m.byte()
	case thriftI16, thriftI32, thriftI64:
		m.uvarint()
	case thriftDouble:
		m.take(8)
	case thriftBinary:
		m.bytes()
	case thriftStruct:
		m.fields(func(id field) { m.skip(id.kind) })
	case thriftList, thriftSet:
		if m.depth++; m.depth > maxNesting {
			m.fail()
		}
		m.list(m.skipElement)
		m.depth--
	default: // maps, which the format has none of
		m.fail()
	}
}

// skipElement skips an element of a list, where truth values take a byte.
func (m *structReader) skipElement(kind byte) {
	if kind == thriftTrue || kind == thriftFalse {
		kind = thriftByte
	}
	m.skip(kind)
}
