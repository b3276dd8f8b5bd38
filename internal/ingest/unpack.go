package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// A tailError ends a content whose compressed data is whole and is followed by
// bytes that are not compressed. A reader of the content tells it from damage
// by its method Harmless, which errors.As finds.
type tailError struct{ packing string }

func (e *tailError) Error() string {
	return fmt.Sprintf("bytes that are not %s follow the compressed data", e.packing)
}

// Harmless reports that all data before the error is good.
func (e *tailError) Harmless() bool { return true }

// inside returns what err means within compressed data. There the end of the
// packing around it, which is harmless elsewhere, cuts the data off.
func inside(err error) error {
	if tail := (*tailError)(nil); err == io.EOF || errors.As(err, &tail) {
		return io.ErrUnexpectedEOF
	}
	return err
}

var gzipMagic = []byte{0x1f, 0x8b}

// A gzipReader reads all members of a gzip file. It goes from member to member
// itself because [gzip.Reader] does not tell what follows the last member from
// a member that is cut or damaged. Its errors stay.
type gzipReader struct {
	in  *bufio.Reader
	z   *gzip.Reader
	err error
}

func newGzipReader(in *bufio.Reader) (*gzipReader, error) {
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, inside(err)
	}
	z.Multistream(false)
	return &gzipReader{in: in, z: z}, nil
}

func (g *gzipReader) Read(p []byte) (n int, err error) {
	for n == 0 && g.err == nil {
		n, err = g.z.Read(p)
		if err == io.EOF {
			g.err = g.nextMember()
		} else {
			g.err = inside(err)
		}
		if len(p) == 0 {
			break
		}
	}
	return n, g.err
}

// nextMember goes on behind the end of a member.
func (g *gzipReader) nextMember() error {
	head, err := g.in.Peek(len(gzipMagic))
	switch {
	case len(head) == 0:
		return err
	case !bytes.HasPrefix(gzipMagic, head):
		return &tailError{"gzip"}
	}
	if err := g.z.Reset(g.in); err != nil {
		return inside(err)
	}
	g.z.Multistream(false)
	return nil
}

// zstdWindow is how much of its past a zstd file may refer to: what "zstd
// --long=29" writes. The decoder keeps that much in memory.
const zstdWindow = 512 << 20

var errZstdWindow = fmt.Errorf("its zstd window is over the limit of %d MiB", zstdWindow>>20)

// isZstd reports whether magic starts a zstd file, whose first frame may be one
// to skip, as pzstd writes.
func isZstd(magic []byte) bool {
	return bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}) ||
		len(magic) == 4 && magic[0]&0xf0 == 0x50 && bytes.Equal(magic[1:], []byte{0x2a, 0x4d, 0x18})
}

// A zstdReader reads all frames of a zstd file. Its errors stay.
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
