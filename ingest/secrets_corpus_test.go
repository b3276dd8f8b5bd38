package ingest

import (
	"io/fs"
	"path/filepath"
	"testing"

	"assay/internal/test"
	"assay/trace"
)

// TestNoNameOfCorpusIsMasked: no name of a real capture is taken for a secret.
func TestNoNameOfCorpusIsMasked(t *testing.T) {
	if !test.Long() {
		t.Skip("reads all real captures: make long")
	}
	const largest = 32 << 20 // bytes as stored
	corpus, read := test.Corpus(t), 0
	for _, folder := range []string{"kineto", "ranks", "formats", "nsight"} {
		err := filepath.WalkDir(filepath.Join(corpus, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			if info, err := d.Info(); err != nil || info.Size() > largest {
				return err
			}
			f, err := Open(path, nil)
			if err != nil {
				return nil // a damaged file
			}
			defer f.Close()
			in, err := Load(f, trace.SelectAll())
			if err != nil || in.Secrets == nil {
				return nil // not a capture
			}
			read++
			if n := in.Secrets.Secrets(); n > 0 {
				t.Errorf("%s: %d texts were masked", path, n)
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	if read < 100 {
		t.Errorf("only %d captures were read", read)
	}
}
