package gate

import (
	"math"
	"strconv"
	"strings"

	"assay/unit"
)

// A Gate is one metric of a part of the run with its limits.
type Gate struct {
	Text     string // metric and selector, as "kernels.total{category=gemm}"
	Metric   *Metric
	Selector Selector
	Line     int // in the file

	Fail, Warn Limits
	// WarnOnly makes a failure of the gate a warning.
	WarnOnly bool
	// Noise is by how much single runs of one program differ: as a share of the
	// baseline's value, of shares in points. It is 0 for steady metrics.
	Noise float64
	// IfMeasured leaves the gate out where neither side has the metric.
	IfMeasured bool
	Source     string // who wants it so
}

// A Bound is the limit of a value.
type Bound struct {
	At   float64 // in the metric's unit
	Text string  // as it was written: "2000 ms"
}

// Limits are the limits of a metric. Those that are not set are nil.
type Limits struct {
	Max, Min, Equal *Bound
	Over, Under     bool // Max and Min are themselves out of bounds

	MaxIncrease, MaxDecrease *Change
	MinAbs                   *Bound // changes under it do not count
}

// A Change is how much worse than the baseline a metric may be: a share of the
// baseline's value or, if Points, so much of the metric's unit.
type Change struct {
	By     float64
	Points bool
	Text   string // as it was written: "5%"
}

// absolute reports whether there is a limit that needs no baseline.
func (l *Limits) absolute() bool { return l.Max != nil || l.Min != nil || l.Equal != nil }

// relative reports whether there is a limit that needs a baseline.
func (l *Limits) relative() bool { return l.MaxIncrease != nil || l.MaxDecrease != nil }

func (l *Limits) empty() bool { return !l.absolute() && !l.relative() }

// NeedsBaseline reports whether g compares with a baseline.
func (g *Gate) NeedsBaseline() bool { return g.Fail.relative() || g.Warn.relative() }

// Noise that is taken where the file sets none.
const (
	usualNoise = 0.20

	// ofShares is the noise of a share, in points, divided by that of its numerator and
	// denominator. A share s = x/(x+y) moves by s(1-s) times the relative change of x/y, and
	// s(1-s) is at most a quarter.
	ofShares = 0.25
)

// noiseOf returns the noise of a metric where single runs of a program differ by so much.
func (m *Metric) noiseOf(singleRuns float64) float64 {
	switch {
	case m.Steady:
		return 0
	case m.Unit == Share:
		return singleRuns * ofShares
	}
	return singleRuns
}

// Limit says in words what g wants: "<= 5%", "max increase 5%, from 1 ms on".
func (g *Gate) Limit() string {
	text := g.Fail.text()
	if !g.Warn.empty() {
		if text != "" {
			text += "; "
		}
		text += "warn: " + g.Warn.text()
	}
	return text
}

func (l *Limits) text() string {
	var parts []string
	add := func(limit *Bound, sign string) {
		if limit != nil {
			parts = append(parts, sign+" "+limit.Text)
		}
	}
	add(l.Max, upTo(l.Over))
	add(l.Min, from(l.Under))
	add(l.Equal, "==")
	for _, c := range []struct {
		what string
		*Change
	}{{"max increase", l.MaxIncrease}, {"max decrease", l.MaxDecrease}} {
		if c.Change != nil {
			parts = append(parts, c.what+" "+c.Text)
		}
	}
	text := strings.Join(parts, ", ")
	if l.MinAbs != nil {
		text += ", from " + l.MinAbs.Text + " on"
	}
	return text
}

func upTo(exclusive bool) string {
	if exclusive {
		return "<"
	}
	return "<="
}

func from(exclusive bool) string {
	if exclusive {
		return ">"
	}
	return ">="
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
	case Share:
		return strconv.FormatFloat(100*v, 'f', shareDigits(v), 64) + "%"
	}
	if v == math.Trunc(v) {
		return unit.Count(clamp(v))
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// exact prints a value with all its digits.
func (u Unit) exact(v float64) string {
	digits := func(size float64) string { return strconv.FormatFloat(v/size, 'f', -1, 64) }
	switch u {
	case Share:
		return strconv.FormatFloat(100*v, 'f', 6, 64) + "%"
	case Size:
		return unit.Count(clamp(v)) + " B"
	case Rate:
		return unit.Count(clamp(v)) + " B/s"
	}
	_, name, _ := strings.Cut(u.Text(v), " ")
	if ns, err := unit.ParseDuration("1 " + name); err == nil {
		return digits(float64(ns)) + " " + name
	}
	return digits(1)
}

// shareDigits returns how many decimals tell a share from 0 and from all.
func shareDigits(v float64) int {
	switch {
	case v == 0 || v == 1:
		return 0
	case math.Abs(v) < 0.1:
		return 2
	}
	return 1
}

func percent(share float64) string {
	return strconv.FormatFloat(math.Round(share*1e8)/1e6, 'f', -1, 64) + "%"
}

// points prints a difference of shares.
func points(d float64) string {
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
