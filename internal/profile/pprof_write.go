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
// It returns an error for a column of totals, because viewers add values up. The
// format loses a label without a text whose number is 0 and has no unit. Invalid UTF-8
// in names is replaced.
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
	// With a mapping that has functions, files and lines, pprof does not search for
	// a binary to look them up.
	mapping := &profile.Mapping{
		ID: 1, File: utf8(p.Source), HasFunctions: true, HasFilenames: true, HasLineNumbers: true,
	}
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

// defaultType returns the name of the default column. It returns "" for the last
// column, which is pprof's default, if an earlier column has the same name.
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

// location returns the location of a frame, which it creates at first use.
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

// function returns the function of a name and file, which it creates at first use. Its
// SystemName stays empty: if it equals the name, pprof treats the name as mangled and
// removes the text in <> and (), so different kernels get the same name.
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

// utf8 replaces invalid UTF-8 in s. Protobuf readers reject a whole file because of it.
func utf8(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
