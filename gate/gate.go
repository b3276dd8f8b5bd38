package gate

import (
	"strings"

	"assay/gate/metric"
)

// A Gate is one metric of a part of the run with its limits.
type Gate struct {
	Text     string // metric and selector, for example "kernels.total{category=gemm}"
	Metric   *metric.Metric
	Selector metric.Selector
	Line     int // line in the file

	Fail, Warn Limits
	// WarnOnly makes a failure of the gate a warning.
	WarnOnly bool
	// Noise is the largest change between single runs of one program: as a share of the baseline's
	// value, or in points if the metric is a share. It is 0 for steady metrics.
	Noise float64
	// IfMeasured skips the gate if neither side has the metric.
	IfMeasured bool
	Source     string // who wants these limits
}

// Limits are the limits of a metric. Those that are not set are nil.
type Limits struct {
	Max, Min, Equal *metric.Bound
	Over, Under     bool // Max or Min is exclusive: a value equal to it is out of bounds

	MaxIncrease, MaxDecrease *metric.Change
	MinAbs                   *metric.Bound // smaller changes do not count
}

// absolute reports whether there is a limit that needs no baseline.
func (l *Limits) absolute() bool { return l.Max != nil || l.Min != nil || l.Equal != nil }

// relative reports whether there is a limit that needs a baseline.
func (l *Limits) relative() bool { return l.MaxIncrease != nil || l.MaxDecrease != nil }

func (l *Limits) empty() bool { return !l.absolute() && !l.relative() }

// NeedsBaseline reports whether g compares with a baseline.
func (g *Gate) NeedsBaseline() bool { return g.Fail.relative() || g.Warn.relative() }

// Limit describes the limits: "<= 5%", "max increase 5%, from 1 ms on".
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
	add := func(limit *metric.Bound, sign string) {
		if limit != nil {
			parts = append(parts, sign+" "+limit.Text)
		}
	}
	add(l.Max, upTo(l.Over))
	add(l.Min, from(l.Under))
	add(l.Equal, "==")
	for _, c := range []struct {
		what string
		*metric.Change
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
