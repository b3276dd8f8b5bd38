package raster

import (
	"encoding/binary"
	"image"
	"image/png"
	"io"
	"slices"
	"sync"
)

// WritePNG writes an opaque image, with a palette if possible: that takes a quarter of the time and
// half the bytes. It uses the fastest compression, because a higher level takes several times as long
// for a file that is a few percent smaller.
func WritePNG(w io.Writer, img *image.RGBA) error {
	e := encoders.Get().(*encoder)
	defer encoders.Put(e)
	enc := png.Encoder{CompressionLevel: png.BestSpeed, BufferPool: e}
	if palette, ok := e.index(img); ok {
		return enc.Encode(w, &image.Paletted{Pix: e.unpack(img.Rect.Size()), Stride: img.Rect.Dx(), Rect: img.Rect, Palette: palette})
	}
	return enc.Encode(w, img)
}

// An encoder has the memory to write a PNG file. It is reused for the next file, because fresh
// memory costs more time than encoding.
type encoder struct {
	indexing
	pixels []byte
	buffer *png.EncoderBuffer
}

var encoders = sync.Pool{New: func() any { return new(encoder) }}

// Get and Put make an encoder the pool of its own buffer.
func (e *encoder) Get() *png.EncoderBuffer  { return e.buffer }
func (e *encoder) Put(b *png.EncoderBuffer) { e.buffer = b }

// unpack returns the indices of all pixels in the palette.
func (e *encoder) unpack(size image.Point) []byte {
	e.pixels = slices.Grow(e.pixels[:0], size.X*size.Y)[:size.X*size.Y]
	next := e.runs
	for y := range size.Y {
		row := e.pixels[y*size.X:][:size.X]
		if e.repeats[y] {
			copy(row, e.pixels[(y-1)*size.X:])
			continue
		}
		for at := 0; at < len(row); next = next[1:] {
			n := int(next[0].pixels)
			fill(row[at:at+n], e.list[next[0].color].index)
			at += n
		}
	}
	return e.pixels
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
