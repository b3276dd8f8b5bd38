// Package test has what tests of all packages share: the paths of their inputs, and
// whether they run at full size.
package test

import (
	"bytes"
	"errors"
	"go/format"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// Long reports whether tests take all inputs, full sizes and full memory: if ASSAY_LONG is
// set, as by make long. Usually they take a part, which must still be able to fail.
func Long() bool { return os.Getenv("ASSAY_LONG") != "" }

// Every returns n, or 1 if tests are [Long]: a test takes every nth input, and proves with
// an nth of the least number that it tests something.
func Every(n int) int {
	if Long() {
		return 1
	}
	return n
}

// Files returns the files that match any of the patterns of [filepath.Glob]. A pattern that
// matches none fails the test: after a move of files a test would pass without inputs.
func Files(t testing.TB, patterns ...string) (files []string) {
	t.Helper()
	for _, pattern := range patterns {
		found, err := filepath.Glob(pattern)
		if err != nil || len(found) == 0 {
			t.Fatalf("no file matches %s (%v)", pattern, err)
		}
		files = append(files, found...)
	}
	return files
}

// Generated compares a file of Go that a test generates with the source it should have, or
// writes it if update is set.
func Generated(t testing.TB, file string, source []byte, update bool) {
	t.Helper()
	want, err := format.Source(source)
	if err != nil {
		t.Fatal(err)
	}
	if update {
		if err := os.WriteFile(file, want, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got, err := os.ReadFile(file); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what is generated (%v); go test -run %s -update writes it", file, err, t.Name())
	}
}

// Unpacked returns the content of a file, decompressed if it is a gzip file.
func Unpacked(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err == nil && bytes.HasPrefix(text, []byte("\x1f\x8b")) {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(text)); err == nil {
			text, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return text
}

// Fixture compares the content of a gzip file that a test generates with what it should have,
// or writes it if update is set. Compressors change, so the compressed bytes may differ.
func Fixture(t testing.TB, path string, want []byte, update bool) {
	t.Helper()
	if update {
		var b bytes.Buffer
		z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
		if err != nil {
			t.Fatal(err)
		}
		_, err = z.Write(want)
		if err := errors.Join(err, z.Close(), os.WriteFile(path, b.Bytes(), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(Unpacked(t, path), want) {
		t.Errorf("%s differs from what is generated now; if that is intended, run with -update", path)
	}
}
