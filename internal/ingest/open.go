// Package ingest turns what a user names into models: it expands paths, opens
// and decompresses, finds the format by content, and calls its reader. It is
// the only package that knows all formats.
package ingest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"
)

// Stdin is the path that stands for standard input.
const Stdin = "-"

// A File is an opened input whose bytes come decompressed from Read.
type File struct {
	Path        string // as the user gave it; "<stdin>" for standard input
	Compression string // "none", "gzip", "zstd"

	raw     *countingReader
	buf     *bufio.Reader
	content *bufio.Reader
	close   []func()
}

// sniffLen is how much of the content decides about its format.
const sniffLen = 4096

// Open opens the file at path, or stdin for [Stdin].
func Open(path string, stdin io.Reader) (*File, error) {
	f := &File{Path: path, Compression: "none"}
	var src io.Reader
	if path == Stdin {
		f.Path, src = "<stdin>", stdin
	} else {
		file, err := os.Open(path)
		if err != nil {
			return nil, pathError(err)
		}
		f.close = append(f.close, func() { file.Close() })
		src = file
	}
	f.raw = &countingReader{r: src, sum: sha256.New()}
	f.buf = bufio.NewReaderSize(f.raw, 1<<18)
	f.content = f.buf
	// Twice, because traces that were gzipped by two programs exist.
	for range 2 {
		if err := f.decompress(); err != nil {
			f.Close()
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	f.decodeUTF16()
	return f, nil
}

// pathError makes an error of the os package read "PATH: reason".
func pathError(err error) error {
	var pe *os.PathError
	if errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}

// decompress puts a decompressor before the content if its first bytes ask
// for one.
func (f *File) decompress() error {
	magic, _ := f.content.Peek(4)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(f.content)
		if err != nil {
			return fmt.Errorf("the gzip header is damaged (%w); the file may be cut: copy it again", err)
		}
		f.Compression = "gzip"
		f.content = bufio.NewReaderSize(gzipTail{z}, 1<<18)
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		// One goroutine: on two cores a second one makes it slower.
		z, err := zstd.NewReader(f.content, zstd.WithDecoderConcurrency(1))
		if err != nil {
			return fmt.Errorf("the zstd header is damaged (%w); the file may be cut: copy it again", err)
		}
		f.Compression = "zstd"
		f.close = append(f.close, z.Close)
		f.content = bufio.NewReaderSize(z, 1<<18)
	}
	return nil
}

// decodeUTF16 turns UTF-16, as Windows shells write when they redirect, into
// UTF-8.
func (f *File) decodeUTF16() {
	bom, _ := f.content.Peek(2)
	if string(bom) == "\xff\xfe" || string(bom) == "\xfe\xff" {
		decoder := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		f.content = bufio.NewReaderSize(transform.NewReader(f.content, decoder), 1<<18)
	}
}

// gzipTail makes an error of what follows the last gzip member readable: the
// data before it is good.
type gzipTail struct{ z *gzip.Reader }

func (g gzipTail) Read(p []byte) (int, error) {
	n, err := g.z.Read(p)
	if errors.Is(err, gzip.ErrHeader) {
		err = errGzipTail
	}
	return n, err
}

var errGzipTail = errors.New("bytes that are not gzip follow the compressed data")

// Peek returns the first bytes of the content without reading them. The error
// is not nil if there are none and that is not because the content is empty.
func (f *File) Peek() ([]byte, error) {
	b, err := f.content.Peek(sniffLen)
	if len(b) > 0 || err == io.EOF {
		return b, nil
	}
	return nil, fmt.Errorf("%s: cannot be read (%w); the file is cut or damaged: copy it again", f.Path, err)
}

// Read reads the decompressed content.
func (f *File) Read(p []byte) (int, error) { return f.content.Read(p) }

// Finish reads what is left of the stored bytes and returns how many there
// were in all and their SHA-256 in hex.
func (f *File) Finish() (n int64, sum string, err error) {
	_, err = io.Copy(io.Discard, f.buf)
	return f.raw.n, hex.EncodeToString(f.raw.sum.Sum(nil)), err
}

// Stored returns how many stored bytes were read so far. It may be called
// while another goroutine reads.
func (f *File) Stored() int64 { return f.raw.progress.Load() }

// Close releases what Open took.
func (f *File) Close() {
	for i := len(f.close) - 1; i >= 0; i-- {
		f.close[i]()
	}
	f.close = nil
}

// A countingReader counts and hashes what passes.
type countingReader struct {
	r        io.Reader
	n        int64
	sum      hash.Hash
	progress atomic.Int64
}

func (c *countingReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.sum.Write(p[:n])
	c.n += int64(n)
	c.progress.Store(c.n)
	return n, err
}
