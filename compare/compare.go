// Package compare holds two runs against each other: which time moved, how far,
// and from which part, category, operator and kernel. It sees summaries only, so
// every comparison can be made again from two saved ones.
//
// What adds up does so to the nanosecond. A [Part] is a list of rows whose
// deltas sum to its own, and the delta of a row is the sum of what its count and
// what the duration of each run did. Where a time is divided by the number of
// steps, the fraction of a nanosecond that a row leaves is carried to the next
// row, so that no sum loses any: a row is off by less than 1 ns.
package compare

import (
	"assay/summary"
)

// Schema names the JSON layout of a [Comparison]. Fields may be added to it,
// never renamed.
const Schema = "assay/comparison/1"

// What a time of a comparison is of.
const (
	PerStep   = "step"   // one step on one device, the mean over all of them
	PerWindow = "window" // the window of one device, the mean over all of them
	PerNone   = "none"   // neither: there are tables or counters only
)

// A Comparison is what moved between two runs, or two sets of repeated runs.
type Comparison struct {
	Schema   string `json:"schema"`
	Headline string `json:"headline"` // what changed most, in a sentence with numbers
	Per      string `json:"per"`      // what times and counts are of: see the constants
	Base     Side   `json:"base"`
	New      Side   `json:"new"`

	// Reasons are why the runs may not be comparable, the worst first.
	Reasons []Reason `json:"reasons"`
	// SharedBase and SharedNew are the kernel time in kernels that the other side
	// has too, by name or nearly so, out of the base and new time of Kernels.
	SharedBase int64 `json:"shared_base_ns"`
	SharedNew  int64 `json:"shared_new_ns"`

	// Budget cuts the step or window into compute, exposed communication, exposed
	// copies and idle time; Cells into the sets of classes that ran together. Both
	// sum to its length.
	Budget Part `json:"budget"`
	Cells  Part `json:"cells"`

	// Kernel work: sums of durations, cut three times. All have the same sums.
	Categories Part `json:"categories"`
	Ops        Part `json:"ops"`
	Kernels    Part `json:"kernels"`

	Copies Part `json:"copies"` // work of copies and memsets, by name
	Idle   Part `json:"idle"`   // the idle time of Budget, by who owned it
	Calls  Part `json:"calls"`  // host time in calls of runtime and driver
	Passes Part `json:"passes"` // device work of forward, backward, optimizer

	// Annotations have device work of the ranges that the program marked. They may
	// lie in each other, so their rows do not add up.
	Annotations []Row `json:"annotations,omitempty"`

	Shapes  []Shape  `json:"shapes,omitempty"`  // operators whose inputs changed
	Figures []Figure `json:"figures,omitempty"` // counts and sizes that are no times

	// Estimates are what repeated runs say; absent for single ones.
	Estimates []Estimate `json:"estimates,omitempty"`

	Tables   []TableDelta   `json:"tables,omitempty"`   // sums that other tools made
	Counters []CounterDelta `json:"counters,omitempty"` // kernels by their hardware counters
}

// A Side is one of the two.
type Side struct {
	Inputs  []Input `json:"inputs"`
	Runs    int     `json:"runs"`
	Devices int64   `json:"devices"` // of all runs
	Name    string  `json:"device_name,omitempty"`
	// Parts is by how many steps or windows totals were divided.
	Parts int64 `json:"parts"`
	// Walls are the lengths of all steps, or windows, in rising order.
	Walls    []int64 `json:"walls_ns"`
	MedianNS int64   `json:"median_ns"`
	MeanNS   int64   `json:"mean_ns"`
	// Activity is the sum over all steps or windows.
	Activity summary.Activity `json:"activity"`
	// CommNS is the work of communication kernels, of one step or window.
	CommNS int64 `json:"comm_work_ns"`
}

// An Input is what a side was measured from: see [summary.Input].
type Input struct {
	Path   string `json:"path"`
	Format string `json:"format"`
	SHA256 string `json:"sha256"`
	Rank   int    `json:"rank"`
}

// A Part is a list of rows that add up.
type Part struct {
	BaseNS  int64 `json:"base_ns"`
	NewNS   int64 `json:"new_ns"`
	DeltaNS int64 `json:"delta_ns"` // NewNS less BaseNS, and the sum over Rows
	Rows    []Row `json:"rows"`     // the largest delta first, of either sign
}

// How a row of one side was found on the other.
const (
	ByName      = "name"      // the same name
	ByCanonical = "canonical" // the same but for numbers, tiles and the like
	ByPlace     = "place"     // the same operator launched it, and neither name has a partner
	OnlyNew     = "new"
	OnlyBase    = "gone"
)

// A Row is one thing and its time on both sides. Times are of one step or
// window, counts are of the whole side: divide them by [Side.Parts].
type Row struct {
	Name     string   `json:"name"`           // on the new side, or where it is gone on the base side
	Was      []string `json:"was,omitempty"`  // the names on the base side, where others
	Also     []string `json:"also,omitempty"` // further names on the new side
	Match    string   `json:"match"`
	Class    string   `json:"class,omitempty"`
	Category string   `json:"category,omitempty"`
	Op       string   `json:"op,omitempty"`    // the operator that launched most of it
	Owner    string   `json:"owner,omitempty"` // of idle time
	State    string   `json:"state,omitempty"` // of idle time

	BaseCount int64 `json:"base_count"`
	NewCount  int64 `json:"new_count"`
	BaseNS    int64 `json:"base_ns"`
	NewNS     int64 `json:"new_ns"`
	DeltaNS   int64 `json:"delta_ns"`
	// CountNS is what the change of the count would have made with the base's
	// mean duration, DurationNS what the change of the mean made with the new
	// count. They sum to DeltaNS.
	CountNS    int64 `json:"count_ns"`
	DurationNS int64 `json:"duration_ns"`
}

// A Shape is an operator that was called with other inputs than before.
type Shape struct {
	Op   string   `json:"op"`
	Base []string `json:"base"` // dimensions that only the base has
	New  []string `json:"new"`  // dimensions that only the new run has
	NS   int64    `json:"ns"`   // device work that it launched on the new side
}

// A Figure is a number that is no time. Base and New are of the whole side where
// Each is true: divide them by [Side.Parts].
type Figure struct {
	Name string `json:"name"`
	Unit string `json:"unit"` // "count" or "bytes"
	Each bool   `json:"each"`
	Base *int64 `json:"base"` // null where it was not measured
	New  *int64 `json:"new"`
}

// An Estimate is what repeated runs say of one figure of one step or window:
// medians over the runs, each with an interval that holds the true median with
// the given confidence, and the probability that runs of equal distribution
// differ as much. No distribution is assumed.
type Estimate struct {
	Name       string   `json:"name"`
	Base       Interval `json:"base"`
	New        Interval `json:"new"`
	P          float64  `json:"p"`
	Alpha      float64  `json:"alpha"` // P below it counts as a difference
	Warnings   []string `json:"warnings,omitempty"`
	Confidence float64  `json:"confidence"` // that was asked for
}

// An Interval is a median over runs, in nanoseconds, and what it may be.
type Interval struct {
	Runs     int    `json:"runs"`
	MedianNS int64  `json:"median_ns"`
	LowNS    *int64 `json:"low_ns"` // null where there are too few runs to tell
	HighNS   *int64 `json:"high_ns"`
}

// Differs reports whether the runs tell the sides apart.
func (e Estimate) Differs() bool { return e.P < e.Alpha }

// Options say how to compare. Fields may be added.
type Options struct {
	Force bool // compare what is not comparable, too
}

// A Refusal says why two runs are not compared.
type Refusal struct{ Reason Reason }

func (r *Refusal) Error() string { return r.Reason.Text }

// Runs compares repeated runs of a base with those of a new state. It returns a
// *[Refusal] where that would be nonsense, unless it is forced.
func Runs(base, new []Run, opt Options) (*Comparison, error) {
	b, n := gather(base), gather(new)
	c := &Comparison{Schema: Schema, Per: perOf(b, n)}
	b.use(c.Per)
	n.use(c.Per)
	c.Base, c.New = b.side(), n.side()
	d := &differ{c: c, base: b, new: n}
	if c.Per != PerNone {
		d.timeline()
	}
	c.Tables, c.Counters = d.tables(), d.counters()
	c.Reasons = d.reasons()
	if len(c.Reasons) > 0 && c.Reasons[0].Level == Refuse && !opt.Force {
		return nil, &Refusal{c.Reasons[0]}
	}
	c.Estimates = d.estimates(base, new)
	c.Headline = c.headline()
	return c, nil
}

// Summaries compares two summaries; the inputs of each that have the same rank
// are repeated runs.
func Summaries(base, new *summary.Summary, opt Options) (*Comparison, error) {
	return Runs(Split(base), Split(new), opt)
}
