package ingest

import (
	"bytes"
	"encoding/binary"

	"assay/trace/xplane"
)

// isPerfetto reports whether head begins a trace of Perfetto: a sequence of packets
// (field 1), each of which begins with a field that packets have.
func isPerfetto(head []byte) bool {
	const first = 1<<3 | 2 // the tag of a packet
	if xplane.Sniff(head) {
		return false
	}
	packets := 0
	for at := 0; at < len(head) && packets < 8; packets++ {
		if head[at] != first {
			return false
		}
		size, n := binary.Uvarint(head[at+1:])
		if n <= 0 || size < 2 || size > 64<<20 {
			return false
		}
		at += 1 + n
		if at < len(head) {
			if tag, _ := binary.Uvarint(head[at:]); !packetField(tag >> 3) {
				return false
			}
		}
		if size > uint64(len(head)) {
			return packets > 0
		}
		at += int(size)
	}
	return packets > 1
}

// packetField reports whether a packet of Perfetto may begin with this field: a
// time, a sequence number, ftrace events, metadata or a track descriptor.
func packetField(n uint64) bool {
	switch n {
	case 1, 2, 3, 6, 8, 10, 11, 12, 13, 33, 35, 36, 41, 42, 43, 44, 45, 50, 56, 58, 59, 60, 61, 87:
		return true
	}
	return false
}

// isTFEvents reports whether head begins an event file of TensorBoard. The first
// record, after its length and checksum, contains a time and the version.
func isTFEvents(head []byte) bool {
	return len(head) > 24 && binary.LittleEndian.Uint64(head) < 1<<10 &&
		bytes.Contains(head[12:min(len(head), 64)], []byte("brain.Event:"))
}

// isSafetensors reports whether head begins a file of safetensors: a length and
// a JSON object of that length.
func isSafetensors(head []byte) bool {
	return len(head) > 10 && head[8] == '{' && head[9] == '"' && binary.LittleEndian.Uint64(head) < 1<<28
}
