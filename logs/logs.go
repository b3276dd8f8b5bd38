// Package logs is the model of values over steps or time: what trainers and
// servers log, what monitors record, and what benchmarks print at their end.
//
// A [Log] has series; a [Series] is one metric of one place (rank, replica,
// phase) as columns over the steps of the program or over time. Its metric has a
// canonical name, so that analyses do not depend on what producers call it. A
// [Benchmark] is one result that a benchmark printed: its percentiles are kept as
// they were reported and are never computed again. A [Builder] makes logs and
// keeps them within a memory limit.
//
// Values are in base units: ns, bytes, tokens per second, and shares from 0 to 1.
// Missing values and values that are not finite are counted, but they are not part
// of any statistic; in particular, a missing value is not 0.
//
// Start with this file and metrics.txt, the list of canonical metrics, which
// catalog.go parses. builder.go makes a log. Packages forms (log lines), monitor
// (monitors), bench (benchmarks) and comm (NCCL) fill builders; package
// analyze/logs measures the result.
package logs

import (
	"math"
	"slices"
	"strings"

	"assay/internal/diag"
)

// NoStep and NoTime are in columns for values without a step or a time.
const (
	NoStep int64 = math.MinInt64
	NoTime int64 = math.MinInt64
)

// A Log has the values of one input. It is immutable once it is built.
type Log struct {
	Series     []Series // in the order of their first values
	Benchmarks []Benchmark
	Groups     []Group    // of ranks that communicate
	Spans      []Span     // of phases that log a line at their end
	Settings   []Setting  // of the configuration that the input begins with
	Readings   []Reading  // of the parts of machines
	Producers  []Producer // the programs whose records were found, in the order of the input

	Course Course // the life of the program

	Clock Clock

	Lines    int64 // lines of the input, with or without a record; 0 if it has no lines
	Records  int64 // records with values
	Complete bool  // false if the input ended early or was not read to its end
	Issues   []diag.Issue
}

// A Producer is a program whose records an input has.
type Producer struct {
	Name       string // "veRL"
	Records    int64
	Unverified int64 // records whose form is known from the producer's source only, not from real files
}

// A Clock describes the times of an input. Logs have the local time of their
// machine, mostly without its zone and sometimes without the year.
type Clock struct {
	Known bool  // some values have a time
	Start int64 // the first time of the input: Unix ns, as if its zone was UTC
	Dated bool  // the year is known; otherwise it is taken to be 1970
	Zoned bool  // the input states its zone, and Start is exact
	Leap  bool  // there is a 29 February without a year, so the year counts as a leap year
}

// A Metric is a quantity that is measured repeatedly.
type Metric struct {
	Name   string // canonical, such as "step.time"; the producer's name if there is no canonical one
	Unit   string // base unit: "ns", "byte", "token/s", "share", "count"; "" for plain numbers
	Better Better
	Role   Role
	Pool   Pool
	Help   string // what it measures; "" if it has no canonical name
}

// Better is the direction in which a metric improves.
type Better string

// The directions. Most metrics that describe the load of a program have none.
const (
	Lower   Better = "lower"
	Higher  Better = "higher"
	Neither Better = ""
)

// A Role is the kind of a metric, by which reports group metrics.
type Role string

// The roles.
const (
	Time        Role = "time"        // durations of the program's own work
	Latency     Role = "latency"     // durations that a client waits
	Throughput  Role = "throughput"  // amounts per time
	Utilization Role = "utilization" // shares of a resource
	Queue       Role = "queue"       // requests that wait or run
	Memory      Role = "memory"
	Quality     Role = "quality" // loss, reward and other goals of training
	Load        Role = "load"    // sizes of inputs and outputs, which explain times
	Health      Role = "health"  // errors, retries, throttling
	Other       Role = "other"   // without a canonical name
)

// Pool is the way in which the values of several ranks or replicas are combined.
type Pool string

// The ways to combine values. Percentiles are never averaged.
const (
	PoolSum   Pool = "sum"   // rates and amounts add up
	PoolWorst Pool = "worst" // the worst one decides: times, latencies
	PoolNone  Pool = ""      // values of different places do not combine
)

// A Label names where a series was measured: "rank", "dp", "tp", "replica",
// "engine", "gpu", "device", "phase".
type Label struct{ Name, Value string }

// A Series is one metric at one place.
type Series struct {
	Metric   Metric
	As       string // the producer's name: "timing_s/gen"
	Producer string
	Labels   []Label // by name, each once
	Inside   string  // As of the series of step.phase whose time includes that of this one; "" if none

	Points Points

	// Statistics over all finite values, including those that are not in Points.
	N             int64
	Min, Max, Sum float64 // 0 if N is 0

	NaN     int64 // number of NaN values
	Inf     int64 // number of infinite values
	Missing int64 // number of missing values: None, N/A or empty
}

// Points are the finite values of a series as columns, in the order of the input.
// If a log has more values than the memory limit allows, Points are a sample, and
// [Series.Sampled] reports true. The sample is the same in every run.
type Points struct {
	Value []float64
	Step  []int64 // nil if no value has a step
	Time  []int64 // Unix ns as in [Clock]; nil if no value has a time
	Run   []int32 // the start of the program that a value belongs to, from 0; nil if there is only one
}

// Sampled reports whether Points have only part of the values.
func (s *Series) Sampled() bool { return int64(len(s.Points.Value)) < s.N }

// Label returns the value of a label, or "".
func (s *Series) Label(name string) string {
	for _, l := range s.Labels {
		if l.Name == name {
			return l.Value
		}
	}
	return ""
}

// Len returns the number of values.
func (p *Points) Len() int { return len(p.Value) }

// StepAt returns the step of a value, or NoStep.
func (p *Points) StepAt(i int) int64 {
	if p.Step == nil {
		return NoStep
	}
	return p.Step[i]
}

// TimeAt returns the time of a value, or NoTime.
func (p *Points) TimeAt(i int) int64 {
	if p.Time == nil {
		return NoTime
	}
	return p.Time[i]
}

// RunAt returns the start of the program that a value belongs to.
func (p *Points) RunAt(i int) int32 {
	if p.Run == nil {
		return 0
	}
	return p.Run[i]
}

// Limited reports whether a limit ended the reading of the input.
func (l *Log) Limited() bool {
	return slices.ContainsFunc(l.Issues, diag.Issue.EndsInput)
}

// Empty reports whether the log has no value, finite or not.
func (l *Log) Empty() bool {
	return !l.Course.Died() && len(l.Benchmarks) == 0 && len(l.Groups) == 0 && len(l.Readings) == 0 &&
		!slices.ContainsFunc(l.Series, func(s Series) bool { return s.N+s.NaN+s.Inf > 0 })
}

// labelKey returns a text that is equal only for equal labels.
func labelKey(labels []Label) string {
	var b strings.Builder
	for _, l := range labels {
		b.WriteString(l.Name)
		b.WriteByte(0)
		b.WriteString(l.Value)
		b.WriteByte(1)
	}
	return b.String()
}
