package ingest

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"assay/trace"
)

// TestHoleBehindTrace: what a file has behind its data, because it was made longer than what was
// written to it, is not read.
func TestHoleBehindTrace(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("holes are found on Linux")
	}
	const size = 8 << 30 // reading this many bytes would take several seconds
	event := `{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":1,"dur":2}`
	whole := "[" + strings.Repeat(event+",", 20_000) + event + "]"
	for name, tc := range map[string]struct {
		text, code string
		events     int64
	}{
		"complete": {whole, "trailing-data", 20_001},
		"cut":      {whole[:len(whole)-30], "input-truncated", 20_000},
		"short":    {"[" + event + "]", "trailing-data", 1},
	} {
		path := filepath.Join(t.TempDir(), name+".json")
		if err := os.WriteFile(path, []byte(tc.text), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, size); err != nil {
			t.Skip(err)
		}
		f, err := Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		in, err := Load(f, trace.SelectAll())
		read := f.Stored()
		f.Close()
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, is := range in.Trace.Issues {
			found = found || is.Code == tc.code
		}
		if !found || in.Trace.Events != tc.events || in.Bytes != size || in.SHA256 != "" || read > 64<<20 {
			t.Errorf("%s: %d events, %d bytes, digest %q, %d bytes read, issues %v", name, in.Trace.Events, in.Bytes, in.SHA256, read, in.Trace.Issues)
		}
	}
}
