package profile

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
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
	z := gzip.NewWriter(w)
	if _, err := z.Write(p.proto().encode()); err != nil {
		return errors.Join(err, z.Close())
	}
	return z.Close()
}

// A protoMaker makes the tables of functions and locations.
type protoMaker struct {
	out       *protoProfile
	functions map[Frame]*protoFunction // by frames without lines
	locations map[Frame]*protoLocation
}

func (p *Profile) proto() *protoProfile {
	m := protoMaker{
		// With a mapping that has functions, files and lines, pprof does not search for a binary to look them up.
		out: &protoProfile{
			mappings: []*protoMapping{{id: 1, file: utf8(p.Source)}}, time: p.Time, duration: p.Duration, defaultType: p.defaultType(),
		},
		functions: make(map[Frame]*protoFunction),
		locations: make(map[Frame]*protoLocation),
	}
	for _, c := range p.Columns {
		m.out.types = append(m.out.types, protoType{utf8(c.Name), utf8(c.Unit)})
	}
	for _, c := range p.Comments {
		m.out.comments = append(m.out.comments, utf8(c))
	}
	for i := range p.Samples {
		m.out.samples = append(m.out.samples, m.sample(&p.Samples[i]))
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

func (m *protoMaker) sample(s *Sample) *protoSample {
	out := &protoSample{values: s.Values}
	for i := len(s.Stack) - 1; i >= 0; i-- { // innermost first
		out.stack = append(out.stack, m.location(s.Stack[i]))
	}
	for _, l := range s.Labels {
		out.labels = append(out.labels, Label{Key: utf8(l.Key), Text: utf8(l.Text), Number: l.Number, Unit: utf8(l.Unit)})
	}
	return out
}

// location returns the location of a frame, which it creates at first use.
func (m *protoMaker) location(f Frame) *protoLocation {
	if l := m.locations[f]; l != nil {
		return l
	}
	l := &protoLocation{id: uint64(len(m.locations) + 1), mapping: m.out.mappings[0], lines: []protoLine{{function: m.function(f), line: f.Line}}}
	m.locations[f] = l
	m.out.locations = append(m.out.locations, l)
	return l
}

// function returns the function of a name and file, which it creates at first use. It has no system name: if that
// equals the name, pprof treats the name as mangled and removes the text in <> and (), so different kernels get the
// same name.
func (m *protoMaker) function(f Frame) *protoFunction {
	f.Line = 0
	if fn := m.functions[f]; fn != nil {
		return fn
	}
	fn := &protoFunction{id: uint64(len(m.functions) + 1), name: utf8(f.Name), file: utf8(f.File)}
	m.functions[f] = fn
	m.out.functions = append(m.out.functions, fn)
	return fn
}

// utf8 replaces invalid UTF-8 in s. Protobuf readers reject a whole file because of it.
func utf8(s string) string { return strings.ToValidUTF8(s, "\ufffd") }
