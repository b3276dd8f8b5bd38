package raster

import (
	"image"
	"image/color"
	"math"
)

// FillRect fills a rectangle of quarters of pixels. Most of what pictures fill are
// rectangles, and the drawing library takes ten times as long for one because it expects
// any shape.
func FillRect(img *image.RGBA, r image.Rectangle, fill color.RGBA) {
	r = r.Intersect(image.Rectangle{Min: img.Rect.Min.Mul(4), Max: img.Rect.Max.Mul(4)})
	for y := r.Min.Y / 4; 4*y < r.Max.Y; y++ {
		high := within(y, r.Min.Y, r.Max.Y)
		row := img.Pix[img.PixOffset(r.Min.X/4, y):]
		for x := r.Min.X / 4; 4*x < r.Max.X; x++ {
			blend(row, fill, high*within(x, r.Min.X, r.Max.X))
			row = row[4:]
		}
	}
}

// within returns how many quarters of a pixel are within a range of quarters.
func within(pixel, from, to int) int { return min(4*pixel+4, to) - max(4*pixel, from) }

// blend covers a number of sixteenths of an opaque pixel.
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
