package plot

import (
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

// writePNG writes an opaque image, with a palette if that is possible: this takes a quarter
// of the time and half the bytes. Compression is the fastest, because a higher level takes
// several times as long for a file that is a few percent smaller.
func writePNG(w io.Writer, img *image.RGBA) error {
	enc := png.Encoder{CompressionLevel: png.BestSpeed}
	if p := indexed(img); p != nil {
		return enc.Encode(w, p)
	}
	return enc.Encode(w, img)
}

// A shade is a colour of an image.
type shade struct {
	rgba   uint32 // red is the lowest byte
	pixels int
	index  uint8 // in the palette
}

// indexed returns an opaque image with a palette, or nil if it has too many colours that
// differ.
func indexed(img *image.RGBA) *image.Paletted {
	list, at := shadesOf(img)
	palette, ok := paletteOf(list)
	if !ok {
		return nil
	}
	size := img.Rect.Size()
	out := image.NewPaletted(image.Rectangle{Max: size}, palette)
	var last shade
	for y := range size.Y {
		from, to := img.Pix[y*img.Stride:][:4*size.X], out.Pix[y*out.Stride:][:size.X]
		for x := range to {
			if c := binary.LittleEndian.Uint32(from[4*x:]); c != last.rgba {
				last = list[at[c]]
			}
			to[x] = last.index
		}
	}
	return out
}

// shadesOf returns the colours of an opaque image in the order of their first pixels, and
// where each is in the list.
func shadesOf(img *image.RGBA) (list []shade, at map[uint32]int) {
	at = make(map[uint32]int, mostColors)
	width := img.Rect.Dx()
	last, i := uint32(0), 0 // 0 is transparent, so no pixel has it
	for y := range img.Rect.Dy() {
		row := img.Pix[y*img.Stride:][:4*width]
		for x := range width {
			// Most pixels have the colour of the pixel before.
			if c := binary.LittleEndian.Uint32(row[4*x:]); c != last {
				var known bool
				if i, known = at[c]; !known {
					i = len(list)
					at[c] = i
					list = append(list, shade{rgba: c})
				}
				last = c
			}
			list[i].pixels++
		}
	}
	return list, at
}

// paletteOf returns the palette of the colours with the most pixels and sets the index of
// every colour. It reports whether each colour is near one of the palette.
func paletteOf(list []shade) (color.Palette, bool) {
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
