package ingest

import (
	"bufio"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"assay/internal/test/tracegen"
	"assay/trace"
)

// BenchmarkLoad reads a generated trace of 64 MB from a file and from a pipe,
// in each packing. It also measures decompression alone, as the lower bound for
// reading. MB/s count JSON, so packings are comparable. A run that loses an event
// fails.
func BenchmarkLoad(b *testing.B) {
	dir := b.TempDir()
	plainFile := filepath.Join(dir, "plain.json")
	var want int64
	size := writeFile(b, plainFile, func(w io.Writer) error {
		truth, err := tracegen.Generate(w, tracegen.Big(64e6), 0)
		want = truth.Events
		return err
	})
	pack := func(name string, open func(io.Writer) (io.WriteCloser, error)) string {
		path := filepath.Join(dir, name)
		writeFile(b, path, func(w io.Writer) error {
			z, err := open(w)
			if err != nil {
				return err
			}
			in, err := os.Open(plainFile)
			if err != nil {
				return err
			}
			defer in.Close()
			if _, err := io.Copy(z, in); err != nil {
				return err
			}
			return z.Close()
		})
		return path
	}
	files := []struct{ name, path string }{
		{"plain", plainFile},
		{"gzip", pack("gzip.json", func(w io.Writer) (io.WriteCloser, error) { return gzip.NewWriter(w), nil })},
		{"zstd", pack("zstd.json", func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) })},
	}
	for _, f := range files {
		b.Run("file/"+f.name, func(b *testing.B) {
			benchmarkLoad(b, size, want, func() int64 { return loadOnce(b, f.path, nil) })
		})
	}
	for name, open := range map[string]func(io.Reader) (io.Reader, error){
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		"zstd": func(r io.Reader) (io.Reader, error) { return zstd.NewReader(r) },
	} {
		b.Run("alone/"+name, func(b *testing.B) {
			benchmarkLoad(b, size, size, func() int64 { return unpackOnce(b, filepath.Join(dir, name+".json"), open) })
		})
	}
	for _, f := range files {
		b.Run("pipe/"+f.name, func(b *testing.B) {
			benchmarkLoad(b, size, want, func() int64 { return loadPiped(b, f.path) })
		})
	}
}

// unpackOnce returns the length of what a library makes of a file.
func unpackOnce(b *testing.B, path string, open func(io.Reader) (io.Reader, error)) int64 {
	f, err := os.Open(path)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	r, err := open(f)
	if err != nil {
		b.Fatal(err)
	}
	n, err := io.Copy(io.Discard, r)
	if err != nil {
		b.Fatal(err)
	}
	return n
}

func benchmarkLoad(b *testing.B, size, want int64, load func() int64) {
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		if got := load(); got != want {
			b.Fatalf("%d events read, %d written", got, want)
		}
	}
}

// loadOnce returns the number of events in a file, or in stdin for [Stdin].
func loadOnce(b *testing.B, path string, stdin io.Reader) int64 {
	f, err := Open(path, stdin)
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	in, err := Load(f, trace.SelectAll())
	if err != nil {
		b.Fatal(err)
	}
	if len(in.Trace.Issues) > 0 {
		b.Fatal(in.Trace.Issues)
	}
	return in.Trace.Events
}

// loadPiped reads a file that another goroutine writes into a pipe, whose
// buffer of 64 KiB cuts it into small pieces.
func loadPiped(b *testing.B, path string) int64 {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	sent := make(chan error, 1)
	go func() {
		defer w.Close()
		in, err := os.Open(path)
		if err == nil {
			defer in.Close()
			// Without ReadFrom, which would move the file inside the kernel.
			_, err = io.Copy(struct{ io.Writer }{w}, struct{ io.Reader }{in})
		}
		sent <- err
	}()
	n := loadOnce(b, Stdin, r)
	if err := <-sent; err != nil {
		b.Fatal(err)
	}
	return n
}

// writeFile makes a file and returns its size.
func writeFile(b *testing.B, path string, write func(io.Writer) error) int64 {
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	out := bufio.NewWriterSize(f, 1<<20)
	err = write(out)
	if err == nil {
		err = out.Flush()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}
