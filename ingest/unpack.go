package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"assay/internal/inflate"
)

// A tailError ends a content if bytes that are not compressed follow complete compressed
// data. Readers distinguish it from damage by its method Harmless, with errors.As.
type tailError struct{ packing string }

func (e *tailError) Error() string {
	return fmt.Sprintf("bytes that are not %s follow the compressed data", e.packing)
}

// Harmless reports that all data before the error is usable.
func (e *tailError) Harmless() bool { return true }

// inside returns the meaning of err within compressed data. There, the end of an outer
// layer of compression is io.ErrUnexpectedEOF, even if that layer ended without damage.
func inside(err error) error {
	if tail := (*tailError)(nil); err == io.EOF || errors.As(err, &tail) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// A gzipReader reads all members of a gzip file. Its first error is permanent.
type gzipReader struct {
	z   *inflate.Reader
	any bool // data was read, so an error is not in the first header
	err error
}

// newGzipReader returns a reader of in, which must begin with the magic number of gzip.
func newGzipReader(in io.Reader) *gzipReader { return &gzipReader{z: inflate.NewReader(in)} }

func (g *gzipReader) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	n, err := g.z.Read(p)
	g.any = g.any || n > 0
	switch {
	case err == io.EOF:
		g.err = err
	case errors.Is(err, inflate.ErrNotGzip) && g.any:
		g.err = &tailError{"gzip"}
	case err != nil && g.z.Whole() && g.any:
		g.err = err // the error of the surrounding layer
	case err != nil:
		g.err = inside(err)
	}
	return n, g.err
}

// zstdWindow is the maximum window of a zstd file in bytes, that of "zstd --long=29". The
// decoder keeps that much in memory.
const zstdWindow = 512 << 20

var errZstdWindow = fmt.Errorf("its zstd window is over the limit of %d MiB", zstdWindow>>20)

// errZstdChecksum ends a content that is complete except for its checksum.
var errZstdChecksum = errors.New("the checksum behind the zstd data is cut off")

// isZstd reports whether magic starts a zstd file. The first frame may be a skippable one,
// which pzstd writes.
func isZstd(magic []byte) bool {
	return bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(magic) == 4 && magic[0]&0xf0 == 0x50 && bytes.Equal(magic[1:], []byte{0x2a, 0x4d, 0x18})
}

// A zstdReader reads all frames of a zstd file. Its first error is permanent.
type zstdReader struct {
	z   *zstd.Decoder
	err error
}

func newZstdReader(in io.Reader) (*zstdReader, error) {
	// One goroutine: on two cores a second one makes it slower.
	z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(zstdWindow))
	if err != nil {
		return nil, err
	}
	return &zstdReader{z: z}, nil
}

func (z *zstdReader) Read(p []byte) (int, error) {
	if z.err != nil {
		return 0, z.err
	}
	n, err := z.z.Read(p)
	if err != nil && err != io.EOF && n < len(p) {
		// The decoder does not return the last block at once if its checksum is
		// missing or wrong. That block can be all of a small file, so it is read here.
		rest, _ := z.z.Read(p[n:])
		if n += rest; n == len(p) {
			return n, nil // the next Read returns the error
		}
		if rest > 0 && (errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)) {
			err = errZstdChecksum
		}
	}
	switch {
	case err == io.EOF:
		z.err = err
	case errors.Is(err, zstd.ErrMagicMismatch): // Open saw the first frame's magic number
		z.err = &tailError{"zstd"}
	case errors.Is(err, zstd.ErrWindowSizeExceeded), errors.Is(err, zstd.ErrDecoderSizeExceeded):
		z.err = errZstdWindow
	default:
		z.err = inside(err)
	}
	return n, z.err
}
