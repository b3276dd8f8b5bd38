package hardware

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Figure is one of the peaks of a device: a rate of operations on numbers of a type, or
// a bandwidth.
type Figure uint8

// The figures. Rates are in 10^12 operations/s, bandwidths in 10^9 bytes/s. Those of
// links are per direction.
const (
	NoFigure Figure = iota
	FP64
	FP32 // also of all vector work
	TF32
	FP16
	BF16
	FP8
	FP4
	INT8
	HBM  // the memory of the device
	Link // NVLink or xGMI, all links of the device
	PCIe
	C2C // the link to the CPU of the same package
	numFigures
)

var figureNames = [numFigures]string{"", "fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "fp4", "int8", "hbm", "link", "pcie", "c2c"}

// String returns the name of a figure, as files and flags have it.
func (f Figure) String() string { return figureNames[f] }

// IsRate reports whether the figure is a rate of operations, and no bandwidth.
func (f Figure) IsRate() bool { return f >= FP64 && f <= INT8 }

// FigureOf returns the figure of a name, or NoFigure.
func FigureOf(name string) Figure {
	return Figure(max(0, slices.Index(figureNames[:], name)))
}

// figureList returns all names, for messages.
func figureList() string { return strings.Join(figureNames[1:], ", ") }

// Figures has a number for each figure, 0 if it is not known.
type Figures [numFigures]float64

// parseFigure returns the number of a figure. Peaks of devices of today are below 10^5; a
// number over the limit is one in another unit, and so is one of almost nothing, which would
// make shares without end.
func parseFigure(f Figure, text string) (float64, error) {
	const least, most = 0.001, 1e7
	unit := "10^9 bytes/s"
	if f.IsRate() {
		unit = "10^12 operations/s"
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || v < least || v > most {
		return 0, fmt.Errorf("%s: %q is no peak, want a number from %g to %.0f in %s", f, text, least, most, unit)
	}
	return v, nil
}

// ParseFigures reads "bf16=989.4,hbm=3352".
func ParseFigures(text string) (out Figures, err error) {
	for part := range strings.SplitSeq(text, ",") {
		name, value, ok := strings.Cut(part, "=")
		f := FigureOf(strings.ToLower(strings.TrimSpace(name)))
		switch {
		case !ok:
			return out, fmt.Errorf("%q: want FIGURE=NUMBER, as bf16=989.4", part)
		case f == NoFigure:
			return out, fmt.Errorf("unknown figure %q, want one of %s", strings.TrimSpace(name), figureList())
		case out[f] != 0:
			return out, fmt.Errorf("%s is given twice", f)
		}
		if out[f], err = parseFigure(f, strings.TrimSpace(value)); err != nil {
			return out, err
		}
	}
	return out, nil
}

// rates reports whether one of the figures is a rate.
func (s Figures) rates() bool {
	for f, v := range s {
		if v > 0 && Figure(f).IsRate() {
			return true
		}
	}
	return false
}
