// Package profile is the aggregate model: who cost what, without when.
//
// A [Profile] has samples, each a stack of frames with one value per column. A
// row of a table is a sample whose stack is one frame. Profiles are read and
// written as pprof's profile.proto ([ReadPprof], [Profile.WritePprof]) and as
// folded stacks ([ReadFolded], [Profile.WriteFolded]), which most viewers of
// profiles and flame graphs open; a [Builder] makes them of anything else.
//
// Package trace, the other model, also says when.
package profile

import (
	"fmt"
	"math"
	"slices"

	"assay/internal/diag"
)

// Limits bound what reading one input may take. A field that is 0 has the value of
// the default. Fields may be added.
type Limits struct {
	// Memory is how many bytes the stacks may take, as estimated. Samples of further
	// stacks are added up in one, [OtherStacks]: "table-rows-pooled".
	Memory int64
}

const defaultMemory = 1 << 30

// OtherStacks is the only frame of the sample that has what stacks over the limit
// cost.
const OtherStacks = "(other stacks)"

const pooledHelp = "The stacks reached the memory limit. The samples counted here are added up in one stack: sums are correct, but names are missing. Raise --max-memory."

// A Profile says who cost what. Fields may be added.
type Profile struct {
	Columns []Column
	Default int // index of the column that viewers show first
	Samples []Sample

	Source   string // the file or program that was recorded; "" if unknown
	Time     int64  // ns of Unix time at which the recording began; 0 if unknown
	Duration int64  // ns that it took; 0 if unknown
	Comments []string
	Cut      bool         // the input could not be read to its end
	Issues   []diag.Issue // of reading, worst first
}

// A Column says what the values at one index are.
type Column struct {
	Name string
	Unit string // "nanoseconds", "bytes", "count"

	// Total is set if values include those of what was called. Such values count
	// one cost many times, so they never add up; all others do.
	Total bool
}

// A Sample is one row.
type Sample struct {
	Stack  []Frame // outermost first; may be empty
	Values []int64 // one for each column
	Labels []Label // sorted
}

// A Frame is one level of a stack: a function, a kernel, a step, whatever costs
// are put down to.
type Frame struct {
	Name string
	File string // "" if unknown
	Line int64  // 0 if unknown
}

// A Label says more about a sample: a text or, where Text is empty, a number.
type Label struct {
	Key, Text string
	Number    int64
	Unit      string // of Number
}

// Check reports what of p contradicts itself.
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

// Column returns the index of the first column of that name.
func (p *Profile) Column(name string) (index int, ok bool) {
	for i, c := range p.Columns {
		if c.Name == name {
			return i, true
		}
	}
	return 0, false
}

// Sum returns the sum of a column over all samples. It means nothing where the
// column's Total is set. A sum that int64 cannot hold is the nearest it can.
func (p *Profile) Sum(column int) (sum int64) {
	for i := range p.Samples {
		sum = plus(sum, p.Samples[i].Values[column])
	}
	return sum
}

// Under returns p with every stack below the given frame and with these labels
// on every sample. It shares the values with p.
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

// Merge returns all samples of profiles that have the same columns; values of
// equal stacks and labels are added up. Profiles are taken to be of one run:
// the earliest time and the longest duration are kept, and the source if they
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
		for _, is := range p.Issues {
			issues.AddN(is, is.Count)
		}
	}
	out.Columns, out.Samples = first.Columns, b.Profile().Samples
	out.Issues = issues.Issues()
	return &out, nil
}

// plus adds, and stays at the largest or smallest int64 where the sum is beyond
// it: damaged times add up to more than int64 holds, and a sum that wraps around
// looks like a measurement.
func plus(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}
