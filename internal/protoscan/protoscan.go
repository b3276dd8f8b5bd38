// Package protoscan scans messages of protocol buffers without their schema: the readers know the numbers of the fields
// that they want.
package protoscan

import "encoding/binary"

// Types of fields as they are written.
const (
	Varint, Fixed64, Bytes, Fixed32 = 0, 1, 2, 5
)

// A Field is one field of a message.
type Field struct {
	Number int
	Type   byte
	Bits   uint64 // of a number
	Text   []byte // of Bytes: a text, a message or a packed list
}

// Each calls f with each field of a message. It reports whether the message has no damage; the fields before the damage
// were passed on.
func Each(b []byte, f func(Field)) bool {
	for len(b) > 0 {
		key, n := binary.Uvarint(b)
		if n <= 0 {
			return false
		}
		b = b[n:]
		it := Field{Number: int(key >> 3), Type: byte(key & 7)}
		switch it.Type {
		case Varint:
			it.Bits, n = binary.Uvarint(b)
		case Fixed64:
			if n = 8; len(b) >= n {
				it.Bits = binary.LittleEndian.Uint64(b)
			}
		case Fixed32:
			if n = 4; len(b) >= n {
				it.Bits = uint64(binary.LittleEndian.Uint32(b))
			}
		case Bytes:
			var size uint64
			if size, n = binary.Uvarint(b); n > 0 && size <= uint64(len(b)-n) {
				it.Text = b[n : n+int(size)]
				n += int(size)
			} else {
				n = 0
			}
		default:
			n = 0
		}
		if n <= 0 || n > len(b) {
			return false
		}
		b = b[n:]
		f(it)
	}
	return true
}
