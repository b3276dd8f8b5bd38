package summary

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Series has the statistics of one metric that a program logged, or a monitor recorded, at one place.
// (Input, Producer, Metric, Name, Labels, Pooled) is its key.
//
// Values are in the base unit of the metric: "ns", "byte", "share" (0 to 1), "token/s", "count". Statistics
// exclude values that are missing or not finite.
type Series struct {
	Input    int    `json:"input"`
	Metric   string `json:"metric"`           // canonical, such as "step.time"; the producer's name if it has no canonical one
	Unit     string `json:"unit,omitempty"`   // base unit; absent for plain numbers
	Better   string `json:"better,omitempty"` // "lower" or "higher"; absent if the metric has no direction
	Role     string `json:"role"`             // "time", "latency", "throughput", "utilization", "queue", "memory", "quality", "load", "health" or "other"
	Pool     string `json:"pool,omitempty"`   // how several places combine: "sum" for rates and amounts, "worst" for times; absent if they do not
	Producer string `json:"producer"`         // the program that logged it, such as "veRL"
	Name     string `json:"name"`             // the producer's name of the metric, such as "timing_s/gen"

	// Labels are where it was measured: "rank", "dp", "tp", "replica", "engine", "gpu", "device", and the
	// "phase" of a step or of a server.
	Labels map[string]string `json:"labels,omitempty"`

	// Pooled is the number of series whose values this row combines: the series of all ranks or replicas.
	// It is absent for a row of one place.
	Pooled int64 `json:"pooled,omitempty"`
	// Together is the sum of the medians of the pooled series for metrics that add up (rates, amounts), and
	// the worst median for times and latencies. It is absent for other metrics and for rows of one place.
	Together *float64 `json:"together,omitempty"`

	N      int64    `json:"n"`             // number of values
	Min    *float64 `json:"min,omitempty"` // these are absent if N is 0
	Median *float64 `json:"median,omitempty"`
	Mean   *float64 `json:"mean,omitempty"`
	Max    *float64 `json:"max,omitempty"`
	Sum    *float64 `json:"sum,omitempty"`
	MAD    *float64 `json:"mad,omitempty"`        // median absolute deviation from the median
	First  *float64 `json:"first,omitempty"`      // the first value, which often includes the start-up of the program
	After  *float64 `json:"mean_after,omitempty"` // mean of the values after the first; absent if there are none
	Last   *float64 `json:"last,omitempty"`

	NaN      int64 `json:"nan,omitempty"`      // number of values that were NaN
	Infinite int64 `json:"infinite,omitempty"` // number of infinite values
	Missing  int64 `json:"missing,omitempty"`  // number of records without this value
	Sampled  bool  `json:"sampled,omitempty"`  // Median, MAD and Strip were computed from a sample of the values

	// FirstNS and LastNS are the times of the first and the last value, in ns since the first time of the
	// input; absent if the values have no times. FirstStep and LastStep are the steps of these values.
	FirstNS   *int64 `json:"first_ns,omitempty"`
	LastNS    *int64 `json:"last_ns,omitempty"`
	FirstStep *int64 `json:"first_step,omitempty"`
	LastStep  *int64 `json:"last_step,omitempty"`

	// Runs is the number of starts of the program in the log, if there are several.
	Runs int64 `json:"runs,omitempty"`
	// Derived is how the values were computed if the producer did not log them, such as "sum of the
	// phases".
	Derived string `json:"derived,omitempty"`
	// Inside is the Name of the phase whose time includes the time of this one.
	Inside string `json:"inside,omitempty"`
	// InSteps is the part of a phase's values in steps whose time was logged.
	InSteps *InSteps `json:"in_steps,omitempty"`

	Strip *SeriesStrip `json:"strip,omitempty"`
}

// MaxStrip is the largest number of points of a [SeriesStrip].
const MaxStrip = 128

// A SeriesStrip has the values of a series for pictures: all of them, or the medians of groups of
// neighbouring values with their minima and maxima. X are steps, times in ns since the first time of the
// input, or indices of values from 0: see By.
type SeriesStrip struct {
	By     string    `json:"by"` // "step", "time" or "index"
	X      []int64   `json:"x"`  // position of the first value of each group
	Values []float64 `json:"values"`
	Low    []float64 `json:"low,omitempty"`  // smallest value of each group; absent if every group is a single value
	High   []float64 `json:"high,omitempty"` // largest value of each group
}

// A Benchmark is one result that a benchmark printed or wrote. (Input, Number) is its
// key. Results of one input are never combined: the first is often a cold run.
type Benchmark struct {
	Input    int    `json:"input"`
	Number   int    `json:"number"` // its index in the input, from 0
	Line     int64  `json:"line,omitempty"`
	Producer string `json:"producer"` // "SGLang bench_serving"
	Title    string `json:"title,omitempty"`
	TimeNS   *int64 `json:"time_ns,omitempty"` // Unix time at which it was written; absent if unknown

	Settings map[string]string `json:"settings,omitempty"` // the benchmark's parameters, by the producer's names
	Metrics  []Figure          `json:"metrics"`
}

// A Figure is one number that a benchmark reported.
type Figure struct {
	Metric string  `json:"metric"`         // canonical name, or the producer's
	Stat   string  `json:"stat,omitempty"` // "mean", "median", "p99", "max", "std"; absent for a total
	Name   string  `json:"name"`           // the producer's name, such as "P99 TTFT (ms)"
	Unit   string  `json:"unit,omitempty"`
	Better string  `json:"better,omitempty"`
	Role   string  `json:"role"`
	Value  float64 `json:"value"`
}

// LabelText returns the labels as one text, sorted: "dp=0 phase=decode".
func (s *Series) LabelText() string { return labelText(s.Labels) }

func labelText(labels map[string]string) string {
	if len(labels) == 1 {
		for name, value := range labels {
			return name + "=" + value
		}
	}
	var b strings.Builder
	for i, name := range slices.Sorted(maps.Keys(labels)) {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(name + "=" + labels[name])
	}
	return b.String()
}

// order sorts series of one input by producer and metric, with pooled rows before rows of one place.
func (s *Series) order(other *Series) int {
	before := cmp.Or(cmp.Compare(s.Producer, other.Producer), cmp.Compare(s.Metric, other.Metric), cmp.Compare(other.Pooled, s.Pooled),
		cmp.Compare(s.Name, other.Name), cmp.Compare(s.Unit, other.Unit))
	if before != 0 { // building the text of the labels is slower than comparing all other fields
		return before
	}
	return cmp.Compare(s.LabelText(), other.LabelText())
}

// check returns the first violated constraint of a row.
func (s *Series) check() error {
	switch {
	case s.N < 0 || s.NaN < 0 || s.Infinite < 0 || s.Missing < 0:
		return fmt.Errorf(".n: a number of values is negative")
	case s.N > 0 && (s.Min == nil || s.Max == nil || s.Median == nil || s.Mean == nil || s.Sum == nil):
		return fmt.Errorf(".n: has %d values and not all of min, median, mean, max and sum", s.N)
	case s.N == 0 && (s.Min != nil || s.Median != nil || s.Sum != nil):
		return fmt.Errorf(".n: has no values, and statistics of some")
	case s.N > 0 && !(*s.Min <= *s.Median && *s.Median <= *s.Max):
		return fmt.Errorf(".median: %v is not between min %v and max %v", *s.Median, *s.Min, *s.Max)
	}
	if st := s.Strip; st != nil && (len(st.X) != len(st.Values) || len(st.X) > MaxStrip || st.Low != nil && len(st.Low) != len(st.X) || st.High != nil && len(st.High) != len(st.X)) {
		return fmt.Errorf(".strip: columns have %d and %d entries, want equal numbers up to %d", len(st.X), len(st.Values), MaxStrip)
	}
	return nil
}

// SourceLog is the Source of steps and phases that a program logged. They have a length but no activity of
// a GPU, and their Device is [NoDevice].
const SourceLog = "log"

// NoDevice is the device of rows that belong to no device.
const NoDevice = -1

// Timelines returns s without the steps and phases that were logged, which say nothing
// about the activity of a GPU. The result shares the memory of s.
func (s *Summary) Timelines() *Summary {
	steps := slices.ContainsFunc(s.Steps, func(st Step) bool { return st.Source == SourceLog })
	phases := slices.ContainsFunc(s.Phases, func(p Phase) bool { return p.Source == SourceLog })
	if !steps && !phases {
		return s
	}
	out := *s
	out.Steps = slices.DeleteFunc(slices.Clone(s.Steps), func(st Step) bool { return st.Source == SourceLog })
	out.Phases = slices.DeleteFunc(slices.Clone(s.Phases), func(p Phase) bool { return p.Source == SourceLog })
	return &out
}
