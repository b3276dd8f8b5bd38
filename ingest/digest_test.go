package ingest

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"assay/trace"
)

// TestDigest checks that the digest covers all stored bytes, also those after the
// data that was read, and that leaving it out changes nothing else.
func TestDigest(t *testing.T) {
	text := []byte(`{"traceEvents": [{"ph": "X", "name": "a", "ts": 1, "dur": 2}]} ` + "\n\n")
	path := filepath.Join(t.TempDir(), "t.json")
	if err := os.WriteFile(path, text, 0o666); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	for _, skip := range []bool{false, true} {
		open, want := Open, hex.EncodeToString(sum[:])
		if skip {
			open, want = OpenWithoutDigest, ""
		}
		f, err := open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		in, err := Load(f, trace.SelectAll())
		f.Close()
		if err != nil || in.SHA256 != want || in.Bytes != int64(len(text)) || in.Trace.Events != 1 {
			t.Errorf("skip %v: %v, %+v, want the digest %q of %d bytes", skip, err, in, want, len(text))
		}
	}
}
