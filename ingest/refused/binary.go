package refused

import (
	"bytes"
	"encoding/binary"

	"assay/trace/perfetto"
	"assay/trace/xplane"
)

// isPerfetto reports whether head begins a trace of Perfetto.
func isPerfetto(head []byte) bool { return perfetto.Sniff(head) && !xplane.Sniff(head) }

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
