package raster

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"image"
	"image/color"
	"image/png"
	"io"
	"slices"
)

// A palette has at most mostColors colours. A colour without a place in it is drawn as one
// that has, if no part of it differs by more than nearColor of 255: such colours are those
// of a few pixels at the edges of slanted lines.
const (
	mostColors = 256
	nearColor  = 64
)

// WritePNG writes an opaque image, with a palette if that is possible: this takes a quarter
// of the time and half the bytes. Compression is the fastest, because a higher level takes
// several times as long for a file that is a few percent smaller.
func WritePNG(w io.Writer, img *image.RGBA) error {
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if p := indexed(img); p != nil {
		return enc.Encode(w, p)
	}
	return enc.Encode(w, img)
}

// An imageColor is a colour of an image.
type imageColor struct {
	rgba   uint32 // red is the lowest byte
	pixels int    // in rows that differ from the row above
	index  uint8  // in the palette
}

// indexed returns an opaque image with a palette, or nil if it has too many colours that
// differ.
func indexed(img *image.RGBA) *image.Paletted {
	all := colorsOf(img)
	if all == nil {
		return nil
	}
	palette, ok := paletteOf(all.list)
	if !ok {
		return nil
	}
	size := img.Rect.Size()
	out := image.NewPaletted(image.Rectangle{Max: size}, palette)
	var last imageColor
	for y := range size.Y {
		to := out.Pix[y*out.Stride:][:size.X]
		row, repeats := rowOf(img, y)
		if repeats {
			copy(to, out.Pix[(y-1)*out.Stride:])
			continue
		}
		for x := range to {
			if c := binary.LittleEndian.Uint32(row[4*x:]); c != last.rgba {
				i, _ := all.find(c)
				last = all.list[i]
			}
			to[x] = last.index
		}
	}
	return out
}

// rowOf returns a row of an image, and whether it is equal to the row above. Most are.
func rowOf(img *image.RGBA, y int) (row []byte, repeats bool) {
	width := 4 * img.Rect.Dx()
	row = img.Pix[y*img.Stride:][:width]
	return row, y > 0 && bytes.Equal(row, img.Pix[(y-1)*img.Stride:][:width])
}

// imageColors are the colours of an image in the order of their first pixels. Each pixel at an
// edge is looked up, so a hash table of fixed size has the places in the list, plus 1.
type imageColors struct {
	list  []imageColor
	slots [4 * mostLookedAt]uint16
}

// mostLookedAt is how many colours are looked at. An image with more has no palette.
const mostLookedAt = 1 << 11

// find returns where a colour is in the list, or the slot for it.
func (s *imageColors) find(rgba uint32) (i int, slot *uint16) {
	for at := rgba * 0x9e3779b1 >> (32 - 13); ; at = (at + 1) % uint32(len(s.slots)) {
		slot = &s.slots[at]
		if *slot == 0 || s.list[*slot-1].rgba == rgba {
			return int(*slot) - 1, slot
		}
	}
}

// colorsOf returns the colours of an opaque image, or nil if it has more than
// [mostLookedAt].
func colorsOf(img *image.RGBA) *imageColors {
	s := new(imageColors)
	last, i := uint32(0), 0 // 0 is transparent, so no pixel has it
	for y := range img.Rect.Dy() {
		row, repeats := rowOf(img, y)
		if repeats {
			continue
		}
		for x := 0; x < len(row); x += 4 {
			// Most pixels have the colour of the pixel before.
			if c := binary.LittleEndian.Uint32(row[x:]); c != last {
				var slot *uint16
				if i, slot = s.find(c); i < 0 {
					if i = len(s.list); i == mostLookedAt {
						return nil
					}
					s.list = append(s.list, imageColor{rgba: c})
					*slot = uint16(i + 1)
				}
				last = c
			}
			s.list[i].pixels++
		}
	}
	return s
}

// paletteOf returns the palette of the colours with the most pixels and sets the index of
// every colour. It reports whether each colour is near one of the palette.
func paletteOf(list []imageColor) (color.Palette, bool) {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[b].pixels, list[a].pixels) })
	var palette color.Palette
	for n, i := range order {
		c := list[i].rgba
		if n < mostColors {
			palette = append(palette, color.RGBA{uint8(c), uint8(c >> 8), uint8(c >> 16), uint8(c >> 24)})
			list[i].index = uint8(n)
			continue
		}
		near := slices.MinFunc(order[:mostColors], func(a, b int) int {
			return cmp.Compare(distance(c, list[a].rgba), distance(c, list[b].rgba))
		})
		if distance(c, list[near].rgba) > nearColor {
			return nil, false
		}
		list[i].index = list[near].index
	}
	return palette, true
}

// distance returns by how much the parts of two colours differ at most.
func distance(a, b uint32) (most int) {
	for range 3 {
		d := int(a&255) - int(b&255)
		most = max(most, d, -d)
		a, b = a>>8, b>>8
	}
	return most
}
