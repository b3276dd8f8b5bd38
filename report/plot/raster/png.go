package raster

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"
	"sync"

	"github.com/klauspost/compress/flate"
)

// WritePNG writes an opaque image, with a palette if possible: that takes a quarter of the time and
// half the bytes. It uses the fastest compression, because a higher level takes several times as long
// for a file that is a few percent smaller.
func WritePNG(w io.Writer, img *image.RGBA) error {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	if palette, ok := e.index(img); ok {
		return e.write(w, img.Rect.Size(), palette)
	}
	return (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(w, img)
}

// An encoder has the memory to write a PNG file. It is reused for the next file, because fresh
// memory costs more time than encoding.
type encoder struct {
	indexing
	zipped bytes.Buffer
	zip    *flate.Writer // to zipped
	row    []byte
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

// The types of PNG chunks with their lengths and checksums are those of the PNG
// specification, sections 5 and 11.
const signature = "\x89PNG\r\n\x1a\n"

// write writes the indexed image. Unlike the encoder of package png, it does not process rows that
// repeat the row above, which are half of them.
func (e *encoder) write(w io.Writer, size image.Point, palette color.Palette) error {
	if _, err := io.WriteString(w, signature); err != nil {
		return err
	}
	head := binary.BigEndian.AppendUint32(nil, uint32(size.X))
	head = binary.BigEndian.AppendUint32(head, uint32(size.Y))
	head = append(head, 8, 3, 0, 0, 0) // bits of an index, a palette, no other method, not interlaced
	if err := writeChunk(w, "IHDR", head); err != nil {
		return err
	}
	var colors []byte
	for _, c := range palette {
		c := c.(color.RGBA)
		colors = append(colors, c.R, c.G, c.B)
	}
	if err := writeChunk(w, "PLTE", colors); err != nil {
		return err
	}
	if err := e.compress(size); err != nil {
		return err
	}
	if err := writeChunk(w, "IDAT", e.zipped.Bytes()); err != nil {
		return err
	}
	return writeChunk(w, "IEND", nil)
}

func writeChunk(w io.Writer, name string, data []byte) error {
	head := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), name...)
	sum := crc32.Update(crc32.ChecksumIEEE(head[4:]), crc32.IEEETable, data)
	for _, part := range [][]byte{head, data, binary.BigEndian.AppendUint32(nil, sum)} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// compress fills e.zipped with the rows as a zlib stream (RFC 1950).
func (e *encoder) compress(size image.Point) error {
	e.zipped.Reset()
	e.zipped.Write([]byte{0x78, 0x01}) // a window of 32 KiB, the fastest compression
	if e.zip == nil {
		var err error
		if e.zip, err = flate.NewWriter(&e.zipped, flate.BestSpeed); err != nil {
			return err
		}
	}
	e.zip.Reset(&e.zipped)
	e.row = slices.Grow(e.row[:0], 1+size.X)[:1+size.X]
	e.row[0] = 0 // no filter
	sum, row, next := adler{low: 1}, adler{}, e.runs
	for y := range size.Y {
		if !e.repeats[y] {
			next, row = e.unpack(next)
		}
		if _, err := e.zip.Write(e.row); err != nil {
			return err
		}
		sum = sum.then(row, len(e.row))
	}
	if err := e.zip.Close(); err != nil {
		return err
	}
	e.zipped.Write(binary.BigEndian.AppendUint32(nil, uint32(sum.high<<16|sum.low)))
	return nil
}

// unpack expands runs into e.row until it is full. It returns the remaining runs and the checksum of
// the row.
func (e *encoder) unpack(next []run) ([]run, adler) {
	var sum adler
	for at := 1; at < len(e.row); next = next[1:] {
		v, n := e.list[next[0].color].index, int(next[0].pixels)
		fill(e.row[at:at+n], v)
		sum = sum.run(uint64(v), uint64(n))
		at += n
	}
	return next, sum
}

func fill(row []byte, v byte) {
	eight := uint64(v) * 0x0101010101010101
	for ; len(row) >= 8; row = row[8:] {
		binary.LittleEndian.PutUint64(row, eight)
	}
	for i := range row {
		row[i] = v
	}
}

// An adler has the two sums of an Adler-32 checksum (RFC 1950, section 9), without the initial 1. The
// sums of parts can be combined, so a run of pixels takes as long as one pixel, and a repeated row is
// not summed again.
type adler struct{ low, high uint64 }

const adlerBase = 65521

// run returns the sums after n more bytes of value v. Within a row of at most [mostWide] bytes they
// need no modulo.
func (a adler) run(v, n uint64) adler {
	return adler{a.low + v*n, a.high + n*a.low + v*(n*(n+1)/2)}
}

// then returns the sums after one more row of n bytes.
func (a adler) then(row adler, n int) adler {
	return adler{(a.low + row.low) % adlerBase, (a.high + uint64(n)*a.low + row.high) % adlerBase}
}
