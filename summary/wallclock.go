package summary

import (
	"cmp"
	"fmt"
	"slices"
)

// A Clock is how the times of one input are aligned with the times of others. It exists if a monitor was
// given together with a log or a trace. Input is its key.
type Clock struct {
	Input int `json:"input"`
	// Frame is "unix" for inputs whose time zone is known or assumed. It is "local" for inputs whose times
	// are local times of a machine without a known zone, if the other inputs of the run have such times
	// too. It is absent if the input has no times that can be aligned.
	Frame string `json:"frame,omitempty"`
	// FirstNS and LastNS are its first and last time on that clock in Unix ns; a local frame is treated as
	// if its zone was UTC.
	FirstNS *int64 `json:"first_ns,omitempty"`
	LastNS  *int64 `json:"last_ns,omitempty"`
	// ShiftNS was added to the times of the input because of its zone, its year and --clock-offset.
	ShiftNS int64 `json:"shift_ns,omitempty"`
	// Assumed lists what the input does not state: "same-zone" (it was assumed to have the zone of the
	// others), "zone" and "year" (the only ones with which it overlaps the others).
	Assumed []string `json:"assumed,omitempty"`
	Given   bool     `json:"given,omitempty"` // --clock-offset was given for it
	// LeftOut is why the input is joined with nothing: a constant below. It is absent if it is joined.
	LeftOut string `json:"left_out,omitempty"`
	// Fits is what must be added to its times so that its load fits the steps of a program, if LeftOut is "other-zone".
	Fits int64 `json:"fits_ns,omitempty"`
	// Power is whether its samples of the power of GPUs count for the energy of jobs: "counts", or why not, a constant
	// below. It is absent for inputs without such samples, and where LeftOut says why.
	Power string `json:"power,omitempty"`
}

// Values of [Clock.Power].
const (
	PowerCounts      = "counts"
	PowerSameGPUs    = "same-gpus"   // another input has the power of the same GPUs
	PowerElsewhere   = "other-time"  // it has no sample while a job ran
	PowerImplausible = "implausible" // the values are not watts of one GPU
)

// The frames of a [Clock].
const (
	FrameUnix  = "unix"
	FrameLocal = "local"
)

// The assumptions of a [Clock].
const (
	AssumedSameZone = "same-zone"
	AssumedZone     = "zone"
	AssumedYear     = "year"
)

// Values of [Clock.LeftOut].
const (
	NoTimes     = "no-times"      // its values have no date and time
	ZoneUnknown = "zone-unknown"  // others have Unix time, and several zones or none fit
	YearUnknown = "year-unknown"  // several years or none fit
	OtherZone   = "other-zone"    // its load fits the steps of a program only with another zone: see Fits
	IdleInSteps = "idle-in-steps" // its GPUs are idle during all steps of programs and in use at other times
	NoOverlap   = "no-overlap"    // no other input has a time in common with it
	ValuesGone  = "sampled"       // it has more values than there is memory for
	TooMany     = "too-many"      // over the limit of inputs that are joined
)

// check returns the first violated constraint of a row.
func (c *Clock) check() error {
	if c.Frame != "" && (c.FirstNS == nil || c.LastNS == nil || *c.LastNS < *c.FirstNS) {
		return fmt.Errorf(".frame: is %q, and there are no first and last times in order", c.Frame)
	}
	return nil
}

// MinSamples is the number of samples that a [Monitored] needs to have statistics.
const MinSamples = 3

// A Monitored row is what a monitor measured while a phase, a step or the whole of another input ran. A
// sample stands for the time since the sample before it, and counts if that time is certainly within the
// phase. (Input, Beside, Name, Step, Place, Metric) is its key.
type Monitored struct {
	Input  int `json:"input"`  // the monitor
	Beside int `json:"beside"` // the log or trace

	Phase string `json:"phase,omitempty"` // kind of the phase, such as "generation"; absent if it has none
	Name  string `json:"name,omitempty"`  // of the phase, by its producer; absent for steps and the whole
	Step  *int64 `json:"step,omitempty"`  // absent for phases and the whole

	Place  string `json:"place,omitempty"`  // "gpu 0" or "host"; absent for the mean of all GPUs
	Places int64  `json:"places,omitempty"` // number of GPUs in the mean
	Metric string `json:"metric"`           // canonical, such as "gpu.util"
	Unit   string `json:"unit,omitempty"`

	Parts   int64 `json:"parts"`   // times that the phase ran; 1 for a step
	Samples int64 `json:"samples"` // number of samples that count
	NS      int64 `json:"ns"`      // time for which these samples stand

	// Mean is weighted by time; for several GPUs it is the mean over the GPUs. All three are absent if a
	// GPU has fewer than MinSamples samples.
	Mean *float64 `json:"mean,omitempty"`
	Min  *float64 `json:"min,omitempty"`
	Max  *float64 `json:"max,omitempty"`
}

func (m *Monitored) order(other *Monitored) int {
	step := func(p *int64) int64 {
		if p == nil {
			return -1
		}
		return *p
	}
	return cmp.Or(cmp.Compare(m.Beside, other.Beside), cmp.Compare(m.Name, other.Name), cmp.Compare(step(m.Step), step(other.Step)),
		cmp.Compare(m.Place, other.Place), cmp.Compare(m.Metric, other.Metric))
}

func (m *Monitored) check() error {
	switch {
	case m.Samples < 0 || m.Parts < 0 || m.NS < 0:
		return fmt.Errorf(".samples: a number is negative")
	case m.Mean != nil && (m.Min == nil || m.Max == nil || m.Samples < MinSamples):
		return fmt.Errorf(".mean: is there with %d samples, or without min and max", m.Samples)
	}
	return nil
}

// Whole reports whether the row covers the whole time of an input.
func (m *Monitored) Whole() bool { return m.Name == "" && m.Step == nil }

// A LeftOut lists the files in given directories that were not read.
type LeftOut struct {
	Count int64         `json:"count"` // number of all such files
	Files []LeftOutFile `json:"files"` // the first MaxLeftOut by path
}

// A LeftOutFile is a file that was not read.
type LeftOutFile struct {
	Path string `json:"path"`
	Why  string `json:"why"` // a constant below
}

// MaxLeftOut is the largest number of files that a [LeftOut] lists.
const MaxLeftOut = 100

// Values of [LeftOutFile.Why].
const (
	LeftUnknown = "not-recognized" // nothing that assay reads
	LeftEmpty   = "empty"
	LeftLink    = "symbolic-link" // it may lead out of the directory
	LeftSpecial = "special"       // a pipe, socket or device
	LeftSaved   = "saved-summary" // made from captures of the same directory

	LeftUntimed  = "untimed"  // an execution trace, beside captures with times
	LeftExported = "exported" // the directory has what nsys exported of this report
)

// Plus returns the files of both lists.
func (l *LeftOut) Plus(other *LeftOut) *LeftOut {
	if l == nil && other == nil {
		return nil
	}
	out := &LeftOut{Files: []LeftOutFile{}}
	for _, of := range []*LeftOut{l, other} {
		if of != nil {
			out.Count, out.Files = Plus(out.Count, of.Count), append(out.Files, of.Files...)
		}
	}
	slices.SortStableFunc(out.Files, func(a, b LeftOutFile) int { return cmp.Compare(a.Path, b.Path) })
	out.Files = out.Files[:min(len(out.Files), MaxLeftOut)]
	return out
}
