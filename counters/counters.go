// Package counters is the model of what hardware counters said about each
// launch of a kernel: how near the launch came to what the device can do, and
// what held it back.
//
// A [Capture] has launches; a [Launch] has metrics, each under the name that its
// producer gave it, with its value in a base unit. The metrics that every
// producer has in some spelling have a [Quantity] too, so that who measures need
// not know spellings. A [Builder] makes captures and keeps them within a budget
// of memory.
//
// There is no time of day in this model: a profiler of counters runs a launch
// many times, and what stands beside it is not what stood beside it in the
// program. Package trace has that.
package counters

import (
	"slices"

	"assay/diag"
)

// A Capture is what the counters of one input say. It does not change once it
// is built.
type Capture struct {
	Launches []Launch
	Keys     []Key    // what Metric.Key points at
	Texts    []string // what Metric.Text points at; the first is ""

	Rows     int64 // of tables, usable or not
	Complete bool  // false if the input ended early or was not read to its end
	Issues   []diag.Issue
}

// A Launch is one launch of a kernel, or, of producers that print averages,
// Count launches of the same shape.
type Launch struct {
	Kernel     string
	Process    string
	Capability string // compute capability of the device, as "9.0"; "" if unknown

	PID, Device, Context, Stream int64
	Grid, Block                  Dim
	Count                        int64

	Metrics []Metric
	Rules   []Rule
}

// A Dim is an extent in x, y and z, all 0 if unknown.
type Dim [3]int64

// Size returns how many elements there are, 0 if that is unknown or over what
// int64 holds.
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

// A Key is what a metric is. Names are not unique, (Section, Name) is: one name
// stands for a share of the peak in one section and for a rate in another.
type Key struct {
	Section  string // as the producer shows it; "" where it has none
	Name     string
	Part     string // which of several metrics of one Quantity, as the reason of a stall
	Unit     string // base unit: "ns", "byte", "byte/s", "hz", "%", "inst/cycle", ...; "" for plain numbers
	Quantity Quantity
}

// A Metric is one figure of a launch, or, where Text is not 0, one word.
type Metric struct {
	Key   int32
	Text  int32 // index into Capture.Texts
	Value float64
}

// A Rule is what the producer itself concluded of a launch.
type Rule struct {
	Name string // as "SOLBottleneck"
	Type string // "OPT", "INF", "WRN"
	Text string

	Speedup     float64 // estimated, in percent; 0 if it was not estimated
	SpeedupKind string  // "global": of the launch; "local": of what the rule looked at; ""
}

// Value returns the first figure of a quantity, in the unit that its
// documentation names.
func (c *Capture) Value(l *Launch, q Quantity) (float64, bool) {
	for _, m := range l.Metrics {
		if m.Text == 0 && c.Keys[m.Key].Quantity == q {
			return m.Value, true
		}
	}
	return 0, false
}

// Limited reports whether the reading of the input was ended by a limit.
func (c *Capture) Limited() bool {
	return slices.ContainsFunc(c.Issues, func(is diag.Issue) bool {
		return is.Code == "memory-limit" || is.Code == "input-limit" || is.Code == "inflation-limit"
	})
}
