package inspect_test

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"assay/analyze"
	"assay/analyze/inspect"
	"assay/ingest"
	"assay/internal/test"
)

// TestCorpus asks every question about every real trace, and compares the answers with the
// summary.
func TestCorpus(t *testing.T) {
	most := int64(100 << 10)
	if test.Long() {
		most = 1 << 40
	}
	n := 0
	for _, folder := range []string{"kineto", "nsight", "ranks", "formats"} {
		root := test.Corpus(t, folder)
		filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !isTimeline(path) {
				return err
			}
			if info, err := d.Info(); err != nil || info.Size() > most {
				return err
			}
			name, _ := filepath.Rel(filepath.Dir(root), path)
			t.Run(name, func(t *testing.T) {
				n++
				askAll(t, path)
			})
			return nil
		})
	}
	if n < 20 {
		t.Errorf("only %d traces were asked", n)
	}
}

func isTimeline(path string) bool {
	for _, end := range []string{".json", ".json.gz", ".sqlite"} {
		if strings.HasSuffix(path, end) {
			return true
		}
	}
	return false
}

func askAll(t *testing.T, path string) {
	f, err := ingest.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := ingest.Load(f, analyze.Needs())
	if err != nil || in.Trace == nil {
		t.Skipf("no timeline: %v", err)
	}
	tr := in.Trace
	s := measured(tr)
	repeated := false
	for _, is := range s.Issues {
		repeated = repeated || is.Code == "gpu-events-repeated" || is.Code == "table-rows-pooled"
	}
	if !repeated {
		compareWithSummary(t, tr)
		if len(s.Devices) < 64 {
			compareGaps(t, tr)
		}
	}
	c := capture(tr)
	span := analyze.Extent(tr)
	for _, at := range []int64{span.Start, span.Start + span.Len()/3, span.End - 1} {
		encodes(t, c.At(at, 10))
	}
	encodes(t, inspect.JoinKernels([]*inspect.Kernels{c.Kernels("e", 10)}, 10))
	encodes(t, inspect.JoinOps([]*inspect.Ops{c.Ops("a", 10)}, 10))
}

// encodes checks that an answer is JSON, and bounded.
func encodes(t *testing.T, answer any) {
	t.Helper()
	text, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	if len(text) > 1<<20 || !bytes.HasPrefix(text, []byte("{")) {
		t.Errorf("the answer has %d bytes", len(text))
	}
}
