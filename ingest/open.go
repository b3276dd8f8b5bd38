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
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

	"assay/internal/outfile"
	"assay/logs/forms"
	"assay/nsys"
	"assay/trace"
)

// Stdin is the path for standard input.
const Stdin = "-"

// stdinName is the Path of a [File] of standard input.
const stdinName = "<stdin>"

// A File is an opened input. Its Read method returns the decompressed content.
type File struct {
	Path        string // as the user gave it; "<stdin>" for standard input
	Compression string // "none", "gzip", "zstd"

	// Say, if not nil, is called with a message before a long operation that does
	// not show as progress of reading.
	Say func(string)

	// Tap, if not nil, receives all content that is read, in order. It does not
	// receive files that are opened by name instead, such as databases.
	Tap io.Writer

	// Temp lists the temporary files and child processes of the reading, so that a
	// signal can remove them. Open creates one for the file. Inputs that are read at
	// the same time share one, which their caller closes.
	Temp *outfile.Registry

	// ExportTime is the maximum time for nsys or ncu to export a report; 0 means
	// [DefaultExportTime].
	ExportTime time.Duration

	// Forms are the forms of the lines of logs; nil for the built-in ones.
	Forms *forms.Set

	raw        *countingReader
	buf        *bufio.Reader
	content    *bufio.Reader
	close      []func()
	max        int64 // bytes of content; 0 for no limit but that on bombs
	n          int64 // bytes of content read
	bomb       int64 // bytes that any input may inflate to
	whole      bool  // the input has an end, so its rest can be read
	limited    bool  // a limit has ended the content
	restIsHole bool  // nothing but a hole of the file follows
}

const (
	sniffLen   = 4 << 10   // bytes of the content by which its format is recognized
	bufferSize = 256 << 10 // bytes of one read; also the limit for white space before the content
)

func (f *File) say(text string) {
	if f.Say != nil {
		f.Say(text)
	}
}

// Open opens the file at path, or stdin for [Stdin]. The File computes the SHA-256 of the
// stored bytes while they are read.
func Open(path string, stdin io.Reader) (*File, error) {
	return open(path, stdin, bombSize, sha256.New())
}

// OpenWithoutDigest is Open without the SHA-256. For JSON that is not compressed, the digest
// would take half as long as everything else.
func OpenWithoutDigest(path string, stdin io.Reader) (*File, error) {
	return open(path, stdin, bombSize, nil)
}

// openListed opens a file that was found in a directory. It returns an error if the file is no
// longer a regular file, because opening a pipe would block until it has a writer.
func openListed(path string) (*File, error) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, pathError(err)
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return nil, fmt.Errorf("%s: this is not a regular file", path)
	}
	return opened(path, file, bombSize, nil)
}

// open is Open with the uncompressed size in bytes above which an input may be a bomb.
func open(path string, stdin io.Reader, bomb int64, sum hash.Hash) (*File, error) {
	if path == Stdin {
		return opened(stdinName, stdin, bomb, sum)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, pathError(err)
	}
	if info, err := file.Stat(); err == nil && info.IsDir() {
		if tables := nsys.ParquetFiles(path); len(tables) > 0 {
			file.Close()
			return openTables(path, tables, bomb, sum)
		}
	}
	return opened(path, file, bomb, sum)
}

// openTables opens the tables of an export as one content, in the order of their names.
func openTables(dir string, tables []string, bomb int64, sum hash.Hash) (*File, error) {
	var all []io.Reader
	var files []func()
	for _, path := range tables {
		file, err := os.Open(path)
		if err != nil {
			return nil, pathError(err)
		}
		all, files = append(all, file), append(files, func() { file.Close() })
	}
	f, err := opened(dir, io.MultiReader(all...), bomb, sum)
	if err == nil {
		f.whole, f.close = true, append(f.close, files...)
	}
	return f, err
}

// opened returns a File that reads src. If src is a file other than standard input, the File
// closes it. The sum is nil if no digest is wanted.
func opened(path string, src io.Reader, bomb int64, sum hash.Hash) (*File, error) {
	f := &File{Path: path, Compression: "none", bomb: bomb, Temp: new(outfile.Registry)}
	f.close = append(f.close, f.Temp.Close)
	if file, ok := src.(*os.File); ok && path != stdinName {
		f.close = append(f.close, func() { file.Close() })
		info, err := file.Stat()
		f.whole = err == nil && info.Mode().IsRegular()
	}
	f.raw = &countingReader{r: src, sum: sum}
	f.buf = f.buffered(f.raw)
	f.content = f.buf
	// Twice, because some traces were gzipped by two programs.
	for range 2 {
		if err := f.decompress(); err != nil {
			f.Close()
			return nil, fmt.Errorf("%s: %w", f.Path, err)
		}
	}
	f.decodeUTF16()
	return f, nil
}

// buffers keeps the buffers of closed files for the next ones.
var buffers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, bufferSize) }}

// buffered returns a reader of r with a buffer from the pool. Close returns the buffer.
func (f *File) buffered(r io.Reader) *bufio.Reader {
	b := buffers.Get().(*bufio.Reader)
	b.Reset(r)
	f.close = append(f.close, func() {
		b.Reset(nil)
		buffers.Put(b)
	})
	return b
}

// pathError makes an error of the os package read "PATH: reason".
func pathError(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return fmt.Errorf("%s: %w", pe.Path, pe.Err)
	}
	return err
}

// reason drops the name of the system call and the path from an error of the
// os package.
func reason(err error) error {
	if pe := (*fs.PathError)(nil); errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// decompress adds a decompressor if the first bytes of the content have the magic number of
// a compression format.
func (f *File) decompress() error {
	magic, _ := f.content.Peek(4)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		f.Compression = "gzip"
		f.content = f.buffered(&guard{f: f, r: newGzipReader(f.content)})
	case isZstd(magic):
		z, err := newZstdReader(f.content)
		if err != nil {
			return fmt.Errorf("the zstd header is damaged (%w); the file may be cut: copy it again", err)
		}
		f.Compression = "zstd"
		f.close = append(f.close, z.z.Close)
		f.content = f.buffered(&guard{f: f, r: z})
	}
	return nil
}

// decodeUTF16 converts UTF-16 to UTF-8. Windows shells write UTF-16 when they redirect
// output.
func (f *File) decodeUTF16() {
	bom, _ := f.content.Peek(2)
	if string(bom) == "\xff\xfe" || string(bom) == "\xfe\xff" {
		decoder := unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()
		f.content = f.buffered(transform.NewReader(f.content, decoder))
	}
}

// Peek returns the first bytes of the content after leading white space, enough to
// recognize the format, without consuming them. It returns none and no error if the
// content is empty or all white space.
func (f *File) Peek() ([]byte, error) {
	for n := sniffLen; ; n = min(2*n, bufferSize) {
		b, err := f.content.Peek(n)
		text := len(bytes.TrimLeft(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), " \t\r\n"))
		switch {
		case text >= sniffLen:
			return b[:len(b)-text+sniffLen], nil
		case text > 0 && (err != nil || n == bufferSize):
			return b, nil
		case err == io.EOF:
			return nil, nil
		case err != nil:
			return nil, f.unreadable(err)
		case n == bufferSize:
			return nil, &Refusal{f.Path,
				fmt.Sprintf("starts with %d bytes of white space, over the limit", n), "remove them, or record again"}
		}
	}
}

// unreadable explains why the content ends before its first byte.
func (f *File) unreadable(err error) error {
	var limit *trace.LimitError
	switch {
	case f.raw.err != nil && f.raw.err != io.EOF: // the error of the system, not of the decompressor
		return fmt.Errorf("%s: %w", f.Path, reason(f.raw.err))
	case errors.As(err, &limit):
		return fmt.Errorf("%s: no event within the limit: %w", f.Path, limit)
	case errors.Is(err, errZstdWindow):
		return &Refusal{f.Path, fmt.Sprintf("is compressed with a zstd window over the limit of %d MiB", zstdWindow>>20),
			"compress it again without --long, or unpack it first: " + withFile("zstd -dc --long=31 FILE | assay summary", f.Path)}
	}
	return fmt.Errorf("%s: cannot be read (%w); the file is cut or damaged: copy it again", f.Path, err)
}

// Read reads the decompressed content.
func (f *File) Read(p []byte) (int, error) {
	if f.max > 0 && int64(len(p)) > f.max-f.n {
		if f.n >= f.max {
			return 0, f.recordLimit(f.pastLimit())
		}
		p = p[:f.max-f.n]
	}
	if f.restIsHole {
		return 0, io.EOF
	}
	n, err := f.content.Read(p)
	f.n += int64(n)
	f.restIsHole = n > 0 && p[n-1] == 0 && f.endsInHole(p[:n])
	if f.Tap != nil && n > 0 {
		f.Tap.Write(p[:n])
	}
	return n, f.recordLimit(err)
}

// recordLimit returns err, and sets limited if it is the error of a limit.
func (f *File) recordLimit(err error) error {
	if limit := (*trace.LimitError)(nil); err != nil && errors.As(err, &limit) {
		f.limited = true
	}
	return err
}

// pastLimit returns the error for an input that continues after the limit, and io.EOF for
// one that ends exactly there.
func (f *File) pastLimit() error {
	if _, err := f.content.Peek(1); err != nil {
		return err
	}
	return trace.InputLimit(f.max)
}

// Finish reads the rest of the stored bytes. It returns their total number and their
// SHA-256 in hex. The digest is "" after [OpenWithoutDigest], and if [File.drain] has left
// bytes out.
func (f *File) Finish() (n int64, sum string, err error) {
	left, err := f.drain()
	if f.raw.sum != nil && left == 0 {
		sum = hex.EncodeToString(f.raw.sum.Sum(nil))
	}
	return f.raw.n + left, sum, err
}

// Stored returns the number of stored bytes that were read so far. It may be called
// while another goroutine reads.
func (f *File) Stored() int64 { return f.raw.progress.Load() }

// Close releases the resources of the File, which must not be read again.
func (f *File) Close() {
	for i := len(f.close) - 1; i >= 0; i-- {
		f.close[i]()
	}
	f.close, f.buf, f.content = nil, nil, nil
}

// A countingReader counts and hashes the bytes of another reader. Its first error is
// permanent, so that a later read returns it again and the user needs to end the input of
// a terminal only once.
type countingReader struct {
	r        io.Reader
	n        int64
	sum      hash.Hash // nil if no digest is wanted
	progress atomic.Int64
	err      error
}

func (c *countingReader) Read(p []byte) (n int, err error) {
	if c.err != nil {
		return 0, c.err
	}
	n, c.err = c.r.Read(p)
	if c.sum != nil {
		c.sum.Write(p[:n])
	}
	c.n += int64(n)
	c.progress.Store(c.n)
	return n, c.err
}
