// This file has the model of hardware counters: how close each kernel launch came
// to the peak of the device, and what limited it.
//
// A [Capture] has launches; a [Launch] has metrics, each with the name that its
// producer uses and its value in a base unit. Metrics that every producer has
// under some name also have a [Quantity], so that analyses do not depend on
// names. A [Builder] makes captures and keeps them within a memory limit.
//
// Launches have durations but no start times: a profiler of counters runs each
// launch several times, and without the work that overlapped it in the program.
// Package trace has the timeline.

package ncu

import (
	"slices"

	"assay/internal/diag"
)

// A Capture has the counters of one input. It is immutable once it is built.
type Capture struct {
	Launches []Launch
	Keys     []Key    // indexed by Metric.Key
	Texts    []string // indexed by Metric.Text; the first is ""

	Rows     int64 // of tables, usable or not
	Complete bool  // false if the input ended early or was not read to its end
	Issues   []diag.Issue
}

// A Launch is one launch of a kernel. If the producer prints averages, it
// represents Count launches of the same shape.
type Launch struct {
	Kernel     string
	Process    string
	Capability string // compute capability of the device, such as "9.0"; "" if unknown

	PID, Device, Context, Stream int64
	Grid, Block                  Dim
	Count                        int64

	Metrics []Metric
	Rules   []Rule
}

// A Dim is an extent in x, y and z, all 0 if unknown.
type Dim [3]int64

// Size returns the number of elements, or 0 if it is unknown or exceeds int64.
func (d Dim) Size() int64 {
	n := int64(1)
	for _, e := range d {
		if e <= 0 || n > (1<<62)/e {
			return 0
		}
		n *= e
	}
	return n
}

// A Key identifies a metric. Names are not unique, but (Section, Name) is: one
// name is a share of the peak in one section and a rate in another.
type Key struct {
	Section  string // as the producer shows it; "" if it has none
	Name     string
	Part     string // which of several metrics of one Quantity, such as the reason of a stall
	Unit     string // base unit: "ns", "byte", "byte/s", "hz", "%", "inst/cycle", ...; "" for plain numbers
	Quantity Quantity
}

// A Metric is one number of a launch, or one text if Text is not 0.
type Metric struct {
	Key   int32
	Text  int32 // index into Capture.Texts
	Value float64
}

// A Rule is a conclusion of the producer about a launch.
type Rule struct {
	Name string // such as "SOLBottleneck"
	Type string // "OPT", "INF", "WRN"
	Text string

	Speedup     float64 // estimated, in percent; 0 if it was not estimated
	SpeedupKind string  // "global": of the launch; "local": of the part that the rule examined; ""
}

// Value returns the first value of a quantity, in the unit given in the
// quantity's documentation.
func (c *Capture) Value(l *Launch, q Quantity) (float64, bool) {
	for _, m := range l.Metrics {
		if m.Text == 0 && c.Keys[m.Key].Quantity == q {
			return m.Value, true
		}
	}
	return 0, false
}

// Limited reports whether a limit ended the reading of the input.
func (c *Capture) Limited() bool {
	return slices.ContainsFunc(c.Issues, diag.Issue.EndsInput)
}
