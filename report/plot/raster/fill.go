package raster

import (
	"encoding/binary"
	"image"
	"image/color"
	"math"
)

// FillRect fills a rectangle whose coordinates are in quarters of a pixel. Pictures consist mostly of
// rectangles, and the drawing library takes ten times as long, because it handles any shape.
func FillRect(img *image.RGBA, r image.Rectangle, fill color.RGBA) {
	r = r.Intersect(image.Rectangle{Min: img.Rect.Min.Mul(4), Max: img.Rect.Max.Mul(4)})
	left := r.Min.X / 4
	whole := image.Rectangle{
		Min: image.Pt((r.Min.X+3)/4, (r.Min.Y+3)/4),
		Max: image.Pt(r.Max.X/4, r.Max.Y/4),
	}
	fillWhole(img, whole, fill)
	for y := r.Min.Y / 4; 4*y < r.Max.Y; y++ {
		high := within(y, r.Min.Y, r.Max.Y)
		row := img.Pix[img.PixOffset(left, y):]
		for x := left; 4*x < r.Max.X; x++ {
			if (image.Point{X: x, Y: y}).In(whole) {
				x = whole.Max.X - 1
				continue
			}
			blend(row[4*(x-left):], fill, high*within(x, r.Min.X, r.Max.X))
		}
	}
}

// fillWhole fills whole pixels, the first row by pixel and the others as copies.
func fillWhole(img *image.RGBA, r image.Rectangle, fill color.RGBA) {
	if r.Empty() {
		return
	}
	first := img.Pix[img.PixOffset(r.Min.X, r.Min.Y):][:4*r.Dx()]
	for x := 0; x < len(first); x += 4 {
		binary.LittleEndian.PutUint32(first[x:], uint32(fill.R)|uint32(fill.G)<<8|uint32(fill.B)<<16|uint32(fill.A)<<24)
	}
	for y := r.Min.Y + 1; y < r.Max.Y; y++ {
		copy(img.Pix[img.PixOffset(r.Min.X, y):], first)
	}
}

// within returns the number of quarters of a pixel that are in a range of quarters.
func within(pixel, from, to int) int { return min(4*pixel+4, to) - max(4*pixel, from) }

// blend covers part sixteenths of an opaque pixel with a colour.
func blend(pixel []byte, fill color.RGBA, part int) {
	if part == 16 {
		pixel[0], pixel[1], pixel[2] = fill.R, fill.G, fill.B
		return
	}
	for i, v := range [3]uint8{fill.R, fill.G, fill.B} {
		pixel[i] = uint8((int(v)*part + int(pixel[i])*(16-part) + 8) / 16)
	}
}

// Quarters returns a coordinate in quarters of a pixel.
func Quarters(v float64) int { return int(math.Round(4 * v)) }
