// Package captures reads captures for tests, as the command reads them.
package captures

import (
	"testing"

	"assay/analyze"
	"assay/ingest"
)

// Load returns the input at a path, with what all measures need.
func Load(t testing.TB, path string) *ingest.Input {
	t.Helper()
	f, err := ingest.Open(path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	in, err := ingest.Load(f, analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	return in
}
