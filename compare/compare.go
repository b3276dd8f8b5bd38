package compare

import (
	"assay/compare/efficiency"
	"assay/compare/layers"
	"assay/compare/logs"
	"assay/compare/phases"
	"assay/compare/ranks"
	"assay/summary"
	"assay/summary/view"
)

// Schema names the JSON layout of a [Comparison]. Fields may be added to it, never renamed.
const Schema = "assay/comparison/1"

// The unit to which the times of a comparison refer.
const (
	PerStep   = "step"   // one step on one device, as the mean over all of them
	PerWindow = "window" // the window of one device, as the mean over all of them
	PerNone   = "none"   // the sides have only tables, counters or logs
)

// A Comparison has the differences between two runs, or two sets of repeated runs.
type Comparison struct {
	Schema   string `json:"schema"`
	Headline string `json:"headline"` // the largest change, in a sentence with numbers
	Per      string `json:"per"`      // the unit of times and counts: PerStep, PerWindow or PerNone
	Base     Side   `json:"base"`
	New      Side   `json:"new"`

	// Reasons say why the runs may not be comparable, the worst first.
	Reasons []Reason `json:"reasons"`
	// SharedBase and SharedNew are the ns of kernels that the other side has too, by the same or a
	// similar name. Their denominators are the base and new time of Kernels.
	SharedBase int64 `json:"shared_base_ns"`
	SharedNew  int64 `json:"shared_new_ns"`

	// Steps compares the steps on the host, and Phases the phases in them, which sum to the step.
	// Both are absent if a side has no steps. Steps of logs can be compared with steps of traces.
	Steps  *phases.Steps `json:"steps,omitempty"`
	Phases []phases.Row  `json:"phases,omitempty"`

	// Ranks compares each rank, and Waits the sums over all ranks. Both are absent if a side has
	// only one rank.
	Ranks []ranks.Row `json:"ranks,omitempty"`
	Waits *Waits      `json:"waits,omitempty"`

	// Budget divides the step or window into compute, exposed communication, exposed copies and
	// idle time; Cells divides it by the sets of classes that ran together. Both sum to its length.
	Budget Part `json:"budget"`
	Cells  Part `json:"cells"`

	// Three ways to divide the total kernel time, with equal sums.
	Categories Part `json:"categories"`
	Ops        Part `json:"ops"`
	Kernels    Part `json:"kernels"`

	Copies Part `json:"copies"` // time of copies and memsets, by name
	Idle   Part `json:"idle"`   // the idle time of Budget, by cause
	Calls  Part `json:"calls"`  // CPU time in calls of runtime and driver
	Passes Part `json:"passes"` // GPU work of forward, backward, optimizer

	// Annotations has the GPU work of the ranges that the program marked. Ranges may be nested, so
	// these rows do not add up.
	Annotations []Row `json:"annotations,omitempty"`

	// Modules and Lines have the device work launched in them, outside of nested ones. They are absent
	// if a side has only sums over its ranks.
	Modules []Row `json:"modules,omitempty"`
	Lines   []Row `json:"lines,omitempty"`

	// Layers compares one layer of the model; absent if a side has no layers.
	Layers []layers.Row `json:"layers,omitempty"`

	Shapes  []Shape  `json:"shapes,omitempty"`  // operators whose inputs changed
	Figures []Figure `json:"figures,omitempty"` // counts and sizes

	// Efficiency compares operators with the peaks of their GPUs. It is absent if a side lacks the
	// data, or if the GPUs or their peaks differ.
	Efficiency *efficiency.Comparison `json:"efficiency,omitempty"`
	OtherPeaks bool                   `json:"other_peaks,omitempty"` // only different GPUs or peaks prevent Efficiency

	// Estimates has the statistics of repeated runs. It is absent for single runs.
	Estimates []Estimate `json:"estimates,omitempty"`

	Series     []logs.Metric    `json:"series,omitempty"`     // metrics of logs and monitors
	Benchmarks []logs.Benchmark `json:"benchmarks,omitempty"` // results of benchmarks

	Tables   []TableDelta   `json:"tables,omitempty"`   // totals made by other tools
	Counters []CounterDelta `json:"counters,omitempty"` // kernels by their hardware counters

	profiled bool // the profiler's own cost may be the change of the idle time, which is most of that of the whole
}

// Waits has the waits of the ranks of both sides.
type Waits struct {
	Base ranks.Total `json:"base"`
	New  ranks.Total `json:"new"`
}

// A Side describes the runs on one side.
type Side struct {
	Inputs  []Input `json:"inputs"`
	Runs    int     `json:"runs"`
	RunsBy  string  `json:"runs_by,omitempty"` // what distinguished the runs: "rank", "folder" or "process"
	Copies  []Input `json:"copies,omitempty"`  // left out, because an earlier input has the same content
	Devices int64   `json:"devices"`           // number of devices in all runs
	Name    string  `json:"device_name,omitempty"`
	// Parts is the number of steps or windows by which totals were divided.
	Parts int64 `json:"parts"`
	// Walls are the lengths of all steps, or windows, in ascending order.
	Walls    []int64 `json:"walls_ns"`
	MedianNS int64   `json:"median_ns"`
	MeanNS   int64   `json:"mean_ns"`
	// Activity is the sum over all steps or windows.
	Activity summary.Activity `json:"activity"`
	// CommNS is the total time of communication kernels per step or window.
	CommNS int64 `json:"comm_work_ns"`
}

// An Input is an input of a side: see [summary.Input].
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
	DeltaNS int64 `json:"delta_ns"` // NewNS - BaseNS, and the sum over Rows
	Rows    []Row `json:"rows"`     // the largest delta first, whatever its sign
}

// How a row was matched with the other side.
const (
	ByName      = "name"      // the same name
	ByCanonical = "canonical" // the same except for numbers, tiles and similar parts
	ByPlace     = "place"     // launched by the same operator; neither name has a match
	OnlyNew     = "new"
	OnlyBase    = "gone"
)

// A Row is one item and its time on both sides. Times are per step or window. Counts are totals of
// a side: divide them by [Side.Parts].
type Row struct {
	Name     string   `json:"name"`           // name on the new side, or on the base side if it was removed
	Was      []string `json:"was,omitempty"`  // names on the base side, if different
	Also     []string `json:"also,omitempty"` // further names on the new side
	Match    string   `json:"match"`
	Class    string   `json:"class,omitempty"`
	Category string   `json:"category,omitempty"`
	Op       string   `json:"op,omitempty"`    // operator that launched most of it
	Owner    string   `json:"owner,omitempty"` // cause of idle time
	State    string   `json:"state,omitempty"` // state of the CPU during idle time
	Keys     []string `json:"-"`               // keys of a row of [Grouped]

	BaseCount int64 `json:"base_count"`
	NewCount  int64 `json:"new_count"`
	BaseNS    int64 `json:"base_ns"`
	NewNS     int64 `json:"new_ns"`
	DeltaNS   int64 `json:"delta_ns"`
	// CountNS is the effect of the changed count at the mean duration of the base, and DurationNS
	// the effect of the changed mean duration at the new count. They sum to DeltaNS.
	CountNS    int64 `json:"count_ns"`
	DurationNS int64 `json:"duration_ns"`
}

// A Shape is an operator that was called with different inputs.
type Shape struct {
	Op   string   `json:"op"`
	Base []string `json:"base"` // dimensions that only the base has
	New  []string `json:"new"`  // dimensions that only the new run has
	NS   int64    `json:"ns"`   // GPU work that it launched on the new side
}

// A Figure is a count or size. If Each is true, Base and New are totals of a side: divide them by
// [Side.Parts].
type Figure struct {
	Name string `json:"name"`
	Unit string `json:"unit"` // "count" or "bytes"
	Each bool   `json:"each"`
	Base *int64 `json:"base"` // null if it was not measured
	New  *int64 `json:"new"`
}

// An Estimate has the statistics of repeated runs for one value per step or window: medians over
// the runs, each with an interval that contains the true median with the given confidence, and the
// probability that runs of one distribution differ as much. No distribution is assumed.
type Estimate struct {
	Name       string   `json:"name"`
	Base       Interval `json:"base"`
	New        Interval `json:"new"`
	P          float64  `json:"p"`
	Alpha      float64  `json:"alpha"` // a difference is significant if P is below it
	Warnings   []string `json:"warnings,omitempty"`
	Confidence float64  `json:"confidence"` // confidence of the intervals, 0 to 1
}

// An Interval is a median over runs, in ns, with its confidence interval.
type Interval struct {
	Runs     int    `json:"runs"`
	MedianNS int64  `json:"median_ns"`
	LowNS    *int64 `json:"low_ns"` // null if there are too few runs
	HighNS   *int64 `json:"high_ns"`
}

// Differs reports whether the difference between the sides is significant.
func (e Estimate) Differs() bool { return e.P < e.Alpha }

// Options control a comparison. Fields may be added.
type Options struct {
	Force bool // also compare runs that are not comparable
}

// A Refusal is the reason why two runs are not compared.
type Refusal struct{ Reason Reason }

func (r *Refusal) Error() string { return r.Reason.Text }

// Runs compares repeated runs of a base with those of a new state. If the runs are not comparable,
// it returns a *[Refusal], unless opt forces the comparison. Summaries that are rolled up are
// compared by their sums over ranks; if these do not suffice, Runs returns an error.
func Runs(base, new []Run, opt Options) (*Comparison, error) {
	d, err := compared(base, new, opt)
	if err != nil {
		return nil, err
	}
	return d.c, nil
}

// compared compares the runs and returns the comparison together with the facts of both sides.
func compared(base, new []Run, opt Options) (*differ, error) {
	base, err := unrolled(base)
	if err != nil {
		return nil, err
	}
	if new, err = unrolled(new); err != nil {
		return nil, err
	}
	b, n := gather(base), gather(new)
	c := &Comparison{Schema: Schema}
	d := &differ{c: c, base: b, new: n, force: opt.Force}
	d.host()
	c.Per = perOf(b, n, c.logged())
	b.use(c.Per)
	n.use(c.Per)
	c.Base, c.New = b.side(), n.side()
	if c.Per != PerNone {
		d.timeline()
	}
	c.Tables, c.Counters = d.tables(), d.counters()
	c.Reasons = d.reasons()
	if len(c.Reasons) > 0 && c.Reasons[0].Level == Refuse && !opt.Force {
		return nil, &Refusal{c.Reasons[0]}
	}
	if c.Estimates = d.estimates(base, new); c.Estimates == nil {
		c.Estimates = d.stepEstimates()
	}
	c.Headline = c.headline()
	return d, nil
}

// Summaries compares two summaries. Inputs of one side that have the same rank are repeated runs.
func Summaries(base, new *summary.Summary, opt Options) (*Comparison, error) {
	b, n := view.Runs(view.Captures(base)), view.Runs(view.Captures(new))
	c, err := Runs(split(base, b), split(new, n), opt)
	if err != nil {
		return nil, err
	}
	c.Base.grouped(base, b)
	c.New.grouped(new, n)
	return c, nil
}

// grouped records what distinguished the runs of a side, and the inputs that were left out.
func (s *Side) grouped(of *summary.Summary, g view.Grouping) {
	s.RunsBy = string(g.From)
	for _, i := range g.Copies {
		in := of.Inputs[i]
		s.Copies = append(s.Copies, Input{in.Path, in.Format, in.SHA256, in.Rank})
	}
}
