package parquet

import "encoding/binary"

// Types of fields that only the reader meets.
const (
	thriftFalse  = 2
	thriftByte   = 3
	thriftI16    = 4
	thriftDouble = 7
)

// Limits of a description. Structs of the format nest six levels deep.
const (
	maxNesting = 32
	maxNodes   = 1 << 20
)

// A node is a value of Thrift: a number, a text, a list, or the fields of a struct. What is missing is zero.
type node struct {
	n      int64 // of a truth value 1 or 0
	text   []byte
	list   []node
	fields map[int16]node
}

// A structReader reads the compact protocol. After damage, bad is set and all values are zero.
type structReader struct {
	in    []byte
	bad   bool
	depth int
	nodes int
}

func (m *structReader) take(n uint64) []byte {
	if n > uint64(len(m.in)) {
		m.in, m.bad, n = nil, true, 0
	}
	out := m.in[:n]
	m.in = m.in[n:]
	return out
}

func (m *structReader) byte() (b byte) {
	for _, b = range m.take(1) {
	}
	return b
}

func (m *structReader) uvarint() uint64 {
	n, size := binary.Uvarint(m.in)
	if size <= 0 {
		m.in, m.bad = nil, true
		return 0
	}
	m.in = m.in[size:]
	return n
}

func (m *structReader) int() int64 {
	n := m.uvarint()
	return int64(n>>1) ^ -int64(n&1)
}

// value reads a value of a type.
func (m *structReader) value(kind byte) (v node) {
	m.nodes++
	m.depth++
	defer func() { m.depth-- }()
	if m.bad = m.bad || m.depth > maxNesting || m.nodes > maxNodes; m.bad {
		return v
	}
	switch kind {
	case thriftTrue:
		v.n = 1
	case thriftFalse:
	case thriftByte:
		v.n = int64(m.byte())
	case thriftI16, thriftI32, thriftI64:
		v.n = m.int()
	case thriftDouble:
		m.take(8)
	case thriftBinary:
		v.text = m.take(m.uvarint())
	case thriftList:
		head := m.byte()
		n := uint64(head >> 4)
		if n == 15 {
			n = m.uvarint()
		}
		for ; n > 0 && !m.bad; n-- {
			v.list = append(v.list, m.value(head&15))
		}
	case thriftStruct:
		v.fields = make(map[int16]node)
		for id := int16(0); !m.bad; {
			head := m.byte()
			if head == 0 {
				break
			}
			if id += int16(head >> 4); head>>4 == 0 {
				id = int16(m.int())
			}
			v.fields[id] = m.value(head & 15)
		}
	default: // sets and maps, which the format has none of
		m.bad = true
	}
	return v
}
