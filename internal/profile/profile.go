// Package profile is the model of costs without a timeline: profiles of stacks and
// tables of totals.
//
// A [Profile] has samples, each a stack of frames with one value per column.
// Profiles are read and written as pprof's profile.proto ([ReadPprof],
// [Profile.WritePprof]) and as folded stacks ([ReadFolded],
// [Profile.WriteFolded]), which most viewers of profiles and flame graphs open. A
// [Builder] makes them from other data. A [Table] has the rows that a tool
// printed.
//
// Start with this file and table.go, the two models; rows.go converts a table to
// a profile. folded.go, pprof_read.go and pprof_write.go have the formats. wire.go
// and pprof_salvage.go protect the reader of profile.proto from hostile and damaged
// files.
//
// Package pyprof reads formats of Python profilers into tables. Package trace is
// the model of timelines.
package profile

import (
	"fmt"
	"math"
	"slices"

	"assay/internal/diag"
)

// Limits bound the resources for reading one input. A field that is 0 has the default
// value. Fields may be added.
type Limits struct {
	// Memory is the maximum memory of all stacks, in estimated bytes. Samples of
	// further stacks are added up in one, [OtherStacks]: "table-rows-pooled".
	Memory int64
}

const defaultMemory = 1 << 30

// UnitEvents is the unit of numbers of events that are not about time or memory, such as context switches.
const UnitEvents = "events"

// OtherStacks is the only frame of the sample with the costs of the stacks over the
// limit.
const OtherStacks = "(other stacks)"

const pooledHelp = "The stacks reached the memory limit. The samples counted here are added up in one stack: sums are correct, but names are missing. Raise --max-memory."

// A Profile has the costs of stacks. Fields may be added.
type Profile struct {
	Columns []Column
	Default int // index of the column that viewers show first
	Samples []Sample

	Source   string // the file or program that was recorded; "" if unknown
	Time     int64  // ns of Unix time at which the recording began; 0 if unknown
	Duration int64  // ns of the recording; 0 if unknown
	Idle     int64  // of the default column, in which no code ran; it is in no sample
	Comments []string
	Beside   []*Table     // what the input has beside its stacks, such as a table of threads
	Threads  []Timed      // the samples with their times, by thread, if the input has them
	Cut      bool         // the input could not be read to its end
	Issues   []diag.Issue // of reading, worst first
}

// A Timed has the samples of one thread with their times, which a join with a timeline needs.
type Timed struct {
	Thread string  // name
	PID    int64   // of its process; 0 if unknown
	At     []int64 // ns on the clock of the sampler, ascending
	Until  []int64 // up to when the stack of each sample is the same; nil if equal stacks are samples of their own
	Stacks []int32 // of each sample: index into Inner and Code
	Inner  []Frame // innermost frame of each stack
	Code   []Frame // innermost frame of each stack that is in a source file; frames of native libraries may be inside of it
}

// A Column describes the values at one index.
type Column struct {
	Name string
	Unit string // "nanoseconds", "bytes", "count", UnitEvents

	// Total is set if a value includes the costs of callees. The sum of such values
	// counts one cost many times, so it means nothing; values of other columns add up.
	Total bool
}

// A Sample is one row.
type Sample struct {
	Stack  []Frame // outermost first; may be empty
	Values []int64 // one for each column
	Labels []Label // sorted
}

// A Frame is one level of a stack: a function, a kernel, a step or anything else that
// has costs.
type Frame struct {
	Name string
	File string // "" if unknown
	Line int64  // 0 if unknown
}

// A Label is a property of a sample: a text or, if Text is empty, a number.
type Label struct {
	Key, Text string
	Number    int64
	Unit      string // of Number
}

// Check returns an error if p is inconsistent.
func (p *Profile) Check() error {
	if p.Default < 0 || p.Default >= len(p.Columns) && p.Default > 0 {
		return fmt.Errorf("default column is %d of %d", p.Default, len(p.Columns))
	}
	for i := range p.Samples {
		s := &p.Samples[i]
		if len(s.Values) != len(p.Columns) {
			return fmt.Errorf("sample %d has %d values for %d columns", i, len(s.Values), len(p.Columns))
		}
	}
	return nil
}

// Column returns the index of the first column with the given name.
func (p *Profile) Column(name string) (index int, ok bool) {
	for i, c := range p.Columns {
		if c.Name == name {
			return i, true
		}
	}
	return 0, false
}

// Sum returns the sum of a column over all samples. It means nothing if the column's
// Total is set. A sum out of range is the largest or smallest int64.
func (p *Profile) Sum(column int) (sum int64) {
	for i := range p.Samples {
		sum = Plus(sum, p.Samples[i].Values[column])
	}
	return sum
}

// Under returns p with the given frame as the outermost frame of every stack, and
// with these labels added to every sample. The result shares the values with p.
func (p *Profile) Under(f Frame, labels ...Label) *Profile {
	out := *p
	out.Samples = make([]Sample, len(p.Samples))
	for i, s := range p.Samples {
		s.Stack = append([]Frame{f}, s.Stack...)
		s.Labels = sorted(s.Labels, labels)
		out.Samples[i] = s
	}
	return &out
}

// Merge returns one profile with the samples of all parts. Values of equal stacks and
// labels are added up. The parts must have the same columns and should be of one run:
// the result has the earliest time, the longest duration, and the source if all parts
// have the same.
func Merge(parts ...*Profile) (*Profile, error) {
	if len(parts) == 0 {
		return &Profile{}, nil
	}
	first := parts[0]
	b := NewBuilder(first.Columns...)
	out := Profile{Default: first.Default, Source: first.Source, Time: first.Time}
	var issues diag.Ledger
	for n, p := range parts {
		if err := p.Check(); err != nil {
			return nil, fmt.Errorf("profile %d: %w", n, err)
		}
		if !slices.Equal(p.Columns, first.Columns) {
			return nil, fmt.Errorf("profile %d has the columns %v, the first has %v", n, p.Columns, first.Columns)
		}
		for i := range p.Samples {
			s := &p.Samples[i]
			b.Add(s.Stack, s.Labels, s.Values...)
		}
		if p.Source != out.Source {
			out.Source = ""
		}
		if out.Time == 0 || p.Time != 0 && p.Time < out.Time {
			out.Time = p.Time
		}
		out.Duration = max(out.Duration, p.Duration)
		out.Comments = append(out.Comments, p.Comments...)
		issues.AddAll(p.Issues)
	}
	out.Columns, out.Samples = first.Columns, b.Profile().Samples
	out.Issues = issues.Issues()
	return &out, nil
}

// Plus adds with saturation at the largest and smallest int64. Damaged times can
// overflow, and a sum that wraps around would look like a measurement.
func Plus(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}
