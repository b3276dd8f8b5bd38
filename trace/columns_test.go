package trace

import (
	"bytes"
	"path/filepath"
	"testing"
	"unsafe"
)

// bytesOf returns the bytes in the rows of a table.
func bytesOf[T any](t *Table[T]) (n int64) {
	var row T
	return int64(t.Len()) * int64(unsafe.Sizeof(row))
}

// columnBytes returns the bytes in the rows of all tables.
func columnBytes(t *Trace) int64 {
	return bytesOf(&t.Activities) + bytesOf(&t.Ops) + bytesOf(&t.Calls) + bytesOf(&t.CopySizes) + bytesOf(&t.Python) +
		bytesOf(&t.Spans) + bytesOf(&t.Flows) + bytesOf(&t.Memory)
}

// TestColumnsAreSmall limits the memory of a trace to 40 bytes per event. With
// that, a trace of 10 GB needs one and a half GB of memory.
func TestColumnsAreSmall(t *testing.T) {
	for _, file := range corpusFiles(t, "kineto/*/*/*.json.gz", "kineto/*/*/*/*.json.gz") {
		tr, err := Read(bytes.NewReader(unzipped(t, file)), file, SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-40s %8d events %5.1f bytes per event", filepath.Base(file), tr.Events, float64(columnBytes(tr))/float64(tr.Events))
		if got := columnBytes(tr); got > 40*tr.Events {
			t.Errorf("%s: %d events in %d bytes, more than 40 each", file, tr.Events, got)
		}
	}
}
