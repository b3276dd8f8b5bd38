// Package gate evaluates limits on the metrics of a run: absolute ones, and relative
// ones against a baseline.
//
// [Parse] reads gates from a file, [Runs] groups inputs into runs of a program, and
// [Check] evaluates the gates. Like package judge it reads summaries, not traces.
// Judge explains a run; gate returns one result per gate. Package report prints the
// results.
//
// # Noise
//
// Values that repeat exactly from run to run (kernel counts, launches, graphs) are
// compared with the limit directly. Times are not: whole runs of one program differ,
// and the steps within one run do not show by how much. With [MinRuns] runs on each side,
// a gate on times fails if the medians differ by more than its limit and a rank test finds
// a difference. With fewer runs, it fails if they differ by more than its limit and by more
// than single runs do, which is 20 % if the gate file does not say otherwise. A value over a
// limit that may be noise is inconclusive.
package gate

import (
	"strings"

	"assay/gate/metric"
)

// A Gate is one metric of a part of the run with its limits.
type Gate struct {
	Text     string // metric and selector, as "kernels.total{category=gemm}"
	Metric   *metric.Metric
	Selector metric.Selector
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

// Limits are the limits of a metric. Those that are not set are nil.
type Limits struct {
	Max, Min, Equal *metric.Bound
	Over, Under     bool // Max and Min are themselves out of bounds

	MaxIncrease, MaxDecrease *metric.Change
	MinAbs                   *metric.Bound // changes under it do not count
}

// absolute reports whether there is a limit that needs no baseline.
func (l *Limits) absolute() bool { return l.Max != nil || l.Min != nil || l.Equal != nil }

// relative reports whether there is a limit that needs a baseline.
func (l *Limits) relative() bool { return l.MaxIncrease != nil || l.MaxDecrease != nil }

func (l *Limits) empty() bool { return !l.absolute() && !l.relative() }

// NeedsBaseline reports whether g compares with a baseline.
func (g *Gate) NeedsBaseline() bool { return g.Fail.relative() || g.Warn.relative() }

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
