package profile

import (
	"fmt"
	"io"
	"strings"

	"github.com/google/pprof/profile"
)

// WritePprof writes p as a gzip'd profile.proto, as "go tool pprof" and
// speedscope read. Columns become sample types.
//
// What profile.proto cannot say: a column of totals is an error, since viewers
// add values up; a label without text whose number is 0 and has no unit is
// lost; names that are not UTF-8 are made so.
func (p *Profile) WritePprof(w io.Writer) error {
	if err := p.Check(); err != nil {
		return err
	}
	for _, c := range p.Columns {
		if c.Total {
			return fmt.Errorf("column %q holds totals, which pprof would add up", c.Name)
		}
	}
	out := p.pprof()
	if err := out.CheckValid(); err != nil {
		return err
	}
	return out.Write(w)
}

// A pprofMaker makes the tables of functions and locations.
type pprofMaker struct {
	out       *profile.Profile
	functions map[Frame]*profile.Function // by frames without lines
	locations map[Frame]*profile.Location
}

func (p *Profile) pprof() *profile.Profile {
	// A mapping that says that functions, files and lines are known keeps pprof
	// from looking for a binary to find them in.
	mapping := &profile.Mapping{ID: 1, File: utf8(p.Source), HasFunctions: true, HasFilenames: true, HasLineNumbers: true}
	m := pprofMaker{
		out: &profile.Profile{
			Mapping: []*profile.Mapping{mapping}, TimeNanos: p.Time, DurationNanos: p.Duration,
			DefaultSampleType: p.defaultType(),
		},
		functions: make(map[Frame]*profile.Function),
		locations: make(map[Frame]*profile.Location),
	}
	for _, c := range p.Columns {
		m.out.SampleType = append(m.out.SampleType, &profile.ValueType{Type: utf8(c.Name), Unit: utf8(c.Unit)})
	}
	for _, c := range p.Comments {
		m.out.Comments = append(m.out.Comments, utf8(c))
	}
	for i := range p.Samples {
		m.out.Sample = append(m.out.Sample, m.sample(&p.Samples[i]))
	}
	return m.out
}

// defaultType names the default column. Without a name it is the last one,
// which is how to say so of one whose name an earlier one has too.
func (p *Profile) defaultType() string {
	if p.Default == len(p.Columns)-1 || len(p.Columns) == 0 {
		return ""
	}
	return utf8(p.Columns[p.Default].Name)
}

func (m *pprofMaker) sample(s *Sample) *profile.Sample {
	out := &profile.Sample{Value: s.Values}
	for i := len(s.Stack) - 1; i >= 0; i-- { // innermost first
		out.Location = append(out.Location, m.location(s.Stack[i]))
	}
	for _, l := range s.Labels {
		key := utf8(l.Key)
		if l.Text != "" {
			if out.Label == nil {
				out.Label = make(map[string][]string)
			}
			out.Label[key] = append(out.Label[key], utf8(l.Text))
			continue
		}
		if out.NumLabel == nil {
			out.NumLabel, out.NumUnit = make(map[string][]int64), make(map[string][]string)
		}
		out.NumLabel[key] = append(out.NumLabel[key], l.Number)
		out.NumUnit[key] = append(out.NumUnit[key], utf8(l.Unit))
	}
	return out
}

// location returns the one location of a frame.
func (m *pprofMaker) location(f Frame) *profile.Location {
	if l := m.locations[f]; l != nil {
		return l
	}
	line := profile.Line{Function: m.function(f), Line: f.Line}
	l := &profile.Location{ID: uint64(len(m.locations) + 1), Mapping: m.out.Mapping[0], Line: []profile.Line{line}}
	m.locations[f] = l
	m.out.Location = append(m.out.Location, l)
	return l
}

// function returns the one function of a name and file. Its SystemName stays
// empty: where it equals the name, pprof takes that for a mangled one, cuts
// what is in <> and () and so makes different kernels the same.
func (m *pprofMaker) function(f Frame) *profile.Function {
	f.Line = 0
	if fn := m.functions[f]; fn != nil {
		return fn
	}
	fn := &profile.Function{ID: uint64(len(m.functions) + 1), Name: utf8(f.Name), Filename: utf8(f.File)}
	m.functions[f] = fn
	m.out.Function = append(m.out.Function, fn)
	return fn
}

// utf8 returns s as protobuf demands texts to be; others refuse the whole file.
func utf8(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
