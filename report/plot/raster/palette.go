package raster

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"image"
	"image/color"
	"slices"
)

// A palette has at most mostColors colours. Any other colour is replaced by one of the palette from
// which no component differs by more than nearColor of 255. These are colours of a few pixels at the
// edges of slanted lines.
const (
	mostColors = 256
	nearColor  = 64
)

// An imageColor is a colour of an image.
type imageColor struct {
	rgba   uint32 // red is the lowest byte
	pixels int    // in rows that differ from the row above
	index  uint8  // in the palette
}

// A run is a number of consecutive pixels of a row with the same colour.
type run struct{ color, pixels uint16 } // color is an index into the list of colours

// An indexing is an image as numbers of colours.
type indexing struct {
	imageColors
	repeats []bool // of each row: it is equal to the row above
	runs    []run  // of the other rows
}

// mostWide is the maximum width of an image with a palette.
const mostWide = 1<<16 - 1

// index numbers the colours of an opaque image and returns its palette. It returns false if the image
// has too many different colours.
func (e *indexing) index(img *image.RGBA) (color.Palette, bool) {
	e.imageColors.clear()
	size := img.Rect.Size()
	if size.X > mostWide {
		return nil, false
	}
	e.repeats, e.runs = e.repeats[:0], e.runs[:0]
	for y := range size.Y {
		row, repeats := rowOf(img, y)
		if e.repeats = append(e.repeats, repeats); !repeats && !e.number(row) {
			return nil, false
		}
	}
	return paletteOf(e.list)
}

// rowOf returns a row of an image, and whether it is equal to the row above. Most are.
func rowOf(img *image.RGBA, y int) (row []byte, repeats bool) {
	width := 4 * img.Rect.Dx()
	row = img.Pix[y*img.Stride:][:width]
	return row, y > 0 && bytes.Equal(row, img.Pix[(y-1)*img.Stride:][:width])
}

// imageColors are the colours of an image in the order of first use. slots is a hash table of fixed
// size, with indices into the list plus 1, because each pixel at an edge is looked up.
type imageColors struct {
	list  []imageColor
	slots [4 * mostLookedAt]uint16
}

// mostLookedAt is the maximum number of colours of an image with a palette, before similar ones are
// merged.
const mostLookedAt = 1 << 11

func (s *imageColors) clear() {
	s.list = s.list[:0]
	clear(s.slots[:])
}

// find returns the index of a colour in the list, or the slot for it.
func (s *imageColors) find(rgba uint32) (i int, slot *uint16) {
	for at := rgba * 0x9e3779b1 >> (32 - 13); ; at = (at + 1) % uint32(len(s.slots)) {
		slot = &s.slots[at]
		if *slot == 0 || s.list[*slot-1].rgba == rgba {
			return int(*slot) - 1, slot
		}
	}
}

// number appends the runs of a row. It reports whether all colours have a place in the
// list, which it extends.
func (e *indexing) number(row []byte) bool {
	for len(row) > 0 {
		c := binary.LittleEndian.Uint32(row)
		i, slot := e.find(c)
		if i < 0 {
			if i = len(e.list); i == mostLookedAt {
				return false
			}
			e.list = append(e.list, imageColor{rgba: c})
			*slot = uint16(i + 1)
		}
		n := sameColor(row, c)
		e.list[i].pixels += n
		e.runs = append(e.runs, run{uint16(i), uint16(n)})
		row = row[4*n:]
	}
	return true
}

// sameColor returns the number of pixels at the start of a row that have colour c.
func sameColor(row []byte, c uint32) int {
	rest, two := row, uint64(c)<<32|uint64(c)
	for len(rest) >= 8 && binary.LittleEndian.Uint64(rest) == two {
		rest = rest[8:]
	}
	if len(rest) >= 4 && binary.LittleEndian.Uint32(rest) == c {
		rest = rest[4:]
	}
	return (len(row) - len(rest)) / 4
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
		near, least := 0, 256
		for _, k := range order[:mostColors] {
			if d := distance(c, list[k].rgba); d < least {
				near, least = k, d
			}
		}
		if least > nearColor {
			return nil, false
		}
		list[i].index = list[near].index
	}
	return palette, true
}

// distance returns the largest difference of two colours in any component.
func distance(a, b uint32) (most int) {
	for range 3 {
		d := int(a&255) - int(b&255)
		most = max(most, d, -d)
		a, b = a>>8, b>>8
	}
	return most
}
