package metric

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"assay/internal/unit"
)

// A Unit is the unit of a metric.
type Unit uint8

// The units. Values are float64: ns, bytes, numbers, rates per second, and shares from 0 to 1.
const (
	Share Unit = iota
	Time
	Size
	Count
	Rate // bytes per second
	FLOPRate
)

// String returns the name of the unit in the list of metrics.
func (u Unit) String() string {
	return [...]string{"share", "ns", "bytes", "count", "bytes/s", "FLOP/s"}[u]
}

// A Bound is the limit of a value.
type Bound struct {
	At   float64 // in the metric's unit
	Text string  // as it was written: "2000 ms"
}

// A Change is how much worse than the baseline a metric may be: a share of the baseline's value or,
// if Points is true, an amount in the metric's unit.
type Change struct {
	By     float64
	Points bool
	Text   string // as it was written: "5%"
}

// UsualNoise is the noise of single runs of one program if the gate file does not set it, as a
// share.
const (
	UsualNoise = 0.20

	// shareNoise is the noise of a share, in points, divided by that of its numerator and
	// denominator. A share s = x/(x+y) moves by s(1-s) times the relative change of x/y, and s(1-s)
	// is at most a quarter.
	shareNoise = 0.25
)

// NoiseOf returns the noise of a metric; singleRuns is that of single runs, as a share.
func (m *Metric) NoiseOf(singleRuns float64) float64 {
	switch {
	case m.Steady:
		return 0
	case m.Unit == Share:
		return singleRuns * shareNoise
	}
	return singleRuns
}

// Text prints a value of the unit: "84.2 ms", "17.15%", "1.5 GiB", "114".
func (u Unit) Text(v float64) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return unit.None
	}
	switch u {
	case Time:
		return unit.FineDuration(clamp(v))
	case Size:
		return unit.FineBytes(clamp(v))
	case Rate:
		return unit.Rate(clamp(v), 1e9)
	case FLOPRate:
		return unit.FLOPRate(v)
	case Share:
		return strconv.FormatFloat(100*v, 'f', shareDigits(v), 64) + "%"
	}
	if v == math.Trunc(v) {
		return unit.Count(clamp(v))
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Range prints the bounds of a value: "at most 250 ms", "over 30 s".
func (u Unit) Range(low, high float64) string {
	switch {
	case math.IsInf(high, 1):
		return "over " + u.Text(low)
	case low == 0:
		return "at most " + u.Text(high)
	}
	return "at least " + u.Text(low) + " and at most " + u.Text(high)
}

// Exact prints a value with all its digits.
func (u Unit) Exact(v float64) string {
	digits := func(size float64) string { return strconv.FormatFloat(v/size, 'f', -1, 64) }
	switch u {
	case Share:
		return strconv.FormatFloat(100*v, 'f', 6, 64) + "%"
	case Size:
		return unit.Count(clamp(v)) + " B"
	case Rate:
		return unit.Count(clamp(v)) + " B/s"
	case FLOPRate:
		return unit.Count(clamp(v)) + " FLOP/s"
	}
	_, name, _ := strings.Cut(u.Text(v), " ")
	if ns, err := unit.ParseDuration("1 " + name); err == nil {
		return digits(float64(ns)) + " " + name
	}
	return digits(1)
}

// shareDigits returns the number of decimals that distinguish a share from 0 and from 1.
func shareDigits(v float64) int {
	switch {
	case v == 0 || v == 1:
		return 0
	case math.Abs(v) < 0.1:
		return 2
	}
	return 1
}

// Percent prints a share as it was written.
func Percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e8)/1e6, 'f', -1, 64) + "%"
}

// Points prints a difference of shares.
func Points(d float64) string {
	text := strconv.FormatFloat(math.Round(d*1e4)/1e2, 'f', -1, 64)
	if text == "1" {
		return text + " point"
	}
	return text + " points"
}

func clamp(v float64) int64 {
	switch {
	case v >= math.MaxInt64:
		return math.MaxInt64
	case v <= math.MinInt64:
		return math.MinInt64
	}
	return int64(math.Round(v))
}

// parse reads a value of the unit.
func (u Unit) parse(text string) (float64, error) {
	switch u {
	case Time:
		ns, err := unit.ParseDuration(text)
		return float64(ns), notBelow(err, float64(ns), text)
	case Size:
		n, err := unit.ParseBytes(text)
		return float64(n), notBelow(err, float64(n), text)
	case Rate:
		size, ok := strings.CutSuffix(text, "/s")
		if !ok {
			return 0, fmt.Errorf("bandwidth %q: want a size per second, such as 300GB/s", text)
		}
		n, err := unit.ParseBytes(size)
		return float64(n), notBelow(err, float64(n), text)
	case FLOPRate:
		v, err := parseFLOPRate(text)
		return v, notBelow(err, v, text)
	case Share:
		v, err := unit.ParseShare(text)
		if err == nil && v > 1 {
			err = fmt.Errorf("share %q is over 100%%; write 80%% or 0.8", text)
		}
		return v, notBelow(err, v, text)
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return v, notBelow(nil, v, text)
}

// parseFLOPRate reads "300TFLOP/s", "1.2 PFLOP/s" or a number of TFLOP/s, the unit in the names of
// metrics.
func parseFLOPRate(text string) (float64, error) {
	number, scale := strings.TrimSpace(text), 1e12
	if size, ok := strings.CutSuffix(number, "FLOP/s"); ok {
		number, scale = strings.TrimSpace(size), 1
		for i, prefix := range []string{"k", "M", "G", "T", "P"} {
			if rest, ok := strings.CutSuffix(number, prefix); ok {
				number, scale = strings.TrimSpace(rest), math.Pow10(3*(i+1))
			}
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, fmt.Errorf("rate %q: want FLOPs per second, such as 300TFLOP/s", text)
	}
	return v * scale, nil
}

func notBelow(err error, v float64, text string) error {
	if err == nil && v < 0 {
		return fmt.Errorf("%q is below 0", text)
	}
	return err
}

// Bound reads a value of the unit, and keeps how it was written.
func (u Unit) Bound(text string) (*Bound, error) {
	text = strings.TrimSpace(text)
	v, err := u.parse(text)
	if u == Share {
		return &Bound{v, Percent(v)}, err
	}
	if u == FLOPRate && err == nil {
		return &Bound{v, u.Text(v)}, nil
	}
	return &Bound{v, written(text)}, err
}

// written returns a quantity with one space between number and unit: "1500 us".
func written(text string) string {
	number := strings.TrimRight(strings.TrimSuffix(text, "/s"), "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZµμ")
	return strings.TrimSpace(strings.TrimSpace(number) + " " + text[len(number):])
}

// ParseChange reads a change: "5%" of the baseline's value, or a difference such as "1ms", "64MiB",
// "3" or, for shares, "2pp".
func (u Unit) ParseChange(text string) (Change, error) {
	if u == Share {
		if n, ok := strings.CutSuffix(text, "pp"); ok {
			v, err := unit.ParseShare(strings.TrimSpace(n) + "%")
			return Change{v, true, Points(v)}, notBelow(err, v, text)
		}
	}
	if strings.HasSuffix(text, "%") {
		v, err := unit.ParseShare(text)
		return Change{v, false, Percent(v)}, notBelow(err, v, text)
	}
	if u == Share {
		return Change{}, fmt.Errorf("%q is no change of a share, want one as 5%% (of the baseline's value) or 2pp (percentage points)", text)
	}
	v, err := u.parse(text)
	return Change{v, true, written(text)}, err
}

// Noun names a value of the unit.
func (u Unit) Noun() string {
	return [...]string{"share", "duration", "size", "number", "bandwidth", "rate"}[u]
}

// Example returns a value of the unit as it is written.
func (u Unit) Example() string {
	return [...]string{"5%", "2s", "64GiB", "100", "300GB/s", "300TFLOP/s"}[u]
}

// Difference returns a difference of two values as it is written.
func (u Unit) Difference() string {
	return [...]string{"2pp", "1ms", "64MiB", "10", "5GB/s", "5TFLOP/s"}[u]
}
