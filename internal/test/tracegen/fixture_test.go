package tracegen

import (
	"bytes"
	"compress/gzip"
	"flag"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the generated fixtures")

// fixtures are the presets that other packages use from testdata/gen.
var fixtures = []string{"comm_bound", "cpu_only", "era2022", "host_bound", "llm_train_slower", "llm_train_step", "rocm"}

// TestFixtures checks that the generated traces in testdata equal the current
// output of the generator. They are compared uncompressed, because compressors
// change.
func TestFixtures(t *testing.T) {
	for _, p := range Presets() {
		name := filepath.Join("..", "..", "..", "testdata", "gen", p.Name+".json.gz")
		if !slices.Contains(fixtures, p.Name) {
			if _, err := os.Stat(name); err == nil {
				t.Errorf("%s is not among the fixtures", name)
			}
			continue
		}
		_, want := generated(t, p.Make(), 0)
		if *update {
			writeFixture(t, name, want)
		}
		f, err := os.Open(name)
		if err != nil {
			t.Fatalf("%v (go test ./internal/test/tracegen -update writes it)", err)
		}
		defer f.Close()
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		got, err := io.ReadAll(z)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s differs from what is generated now; if that is intended, run with -update", name)
		}
	}
}

func writeFixture(t *testing.T, name string, text []byte) {
	t.Helper()
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := z.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
}
