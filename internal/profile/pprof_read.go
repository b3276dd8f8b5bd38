package profile

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/google/pprof/profile"

	"assay/internal/diag"
)

// Limits for reading, far above what profilers write. They prevent a small hostile
// input from filling the memory.
const (
	maxPprofBytes = 256 << 20 // uncompressed
)

// ReadPprof reads a profile.proto, compressed with gzip or not. Functions that
// were inlined become frames of their own. A location without a function is
// named by its address, and its file is the binary's. Name is that of the
// input, for messages.
//
// If the input is cut or damaged, ReadPprof reads the complete records. References
// to missing records become unknown frames. Issues count both.
//
// Addresses, mappings, columns within lines, and the period of sampling are not part
// of a Profile and are dropped.
func ReadPprof(r io.Reader, name string, limits Limits) (*Profile, error) {
	memory := cmp.Or(limits.Memory, defaultMemory)
	data, reading := readPacked(r, min(maxPprofBytes, memory/2))
	if reading != nil && len(data) == 0 {
		return nil, fmt.Errorf("%s: %w", name, reading)
	}
	w := wire{data: data, budget: memory, most: memory}
	bad := w.check()
	if bad != nil {
		bad = &diag.Error{Pos: diag.Pos{File: name, Offset: int64(w.at)}, Msg: "cannot be read as a pprof profile", Err: bad}
	}
	if over := overBudget(0); errors.As(bad, &over) {
		return nil, bad
	}
	var in *profile.Profile
	if bad == nil && reading == nil {
		if in, bad = profile.ParseUncompressed(data); bad == nil {
			bad = in.CheckValid()
		}
		if bad != nil {
			bad = fmt.Errorf("%s: cannot be read as a pprof profile: %w", name, bad)
		}
	}
	rest := salvage{name: name, memory: memory}
	if bad != nil || reading != nil {
		var left error
		if in, left = rest.read(data, reading); left != nil {
			return nil, cmp.Or(bad, fmt.Errorf("%s: %w", name, cmp.Or(reading, left)))
		}
	}
	p := fromPprof(in, memory, name)
	p.Cut, p.Issues = rest.cut, append(p.Issues, rest.issues.Issues()...)
	return p, nil
}

// readPacked returns the decompressed content of r, up to a limit. If r fails, it
// returns the bytes read so far together with the error.
func readPacked(r io.Reader, limit int64) ([]byte, error) {
	buf := bufio.NewReader(r)
	r = buf
	if magic, _ := buf.Peek(2); string(magic) == "\x1f\x8b" {
		z, err := gzip.NewReader(buf)
		if err != nil {
			return nil, err
		}
		r = z
	}
	data, err := io.ReadAll(io.LimitReader(r, limit+1))
	switch {
	case err != nil:
		return data, fmt.Errorf("the file is cut or damaged (%w): copy it again", err)
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("the uncompressed profile has more than the limit of %d MiB; raise --max-memory", limit>>20)
	case len(data) == 0:
		return nil, errors.New("is empty")
	}
	return data, nil
}

// fromPprof converts a valid profile. The stacks of profile.proto share locations, and
// those of a Profile do not, so the result can be much larger. Samples over the budget
// are added up in one.
func fromPprof(in *profile.Profile, budget int64, name string) *Profile {
	const frameBytes = 40
	p := &Profile{Time: in.TimeNanos, Duration: in.DurationNanos, Comments: in.Comments}
	if len(in.Mapping) > 0 {
		p.Source = in.Mapping[0].File
	}
	for _, t := range in.SampleType {
		p.Columns = append(p.Columns, Column{Name: t.Type, Unit: t.Unit})
	}
	p.Default = max(0, len(p.Columns)-1) // the column that pprof shows if the profile names none
	if i, ok := p.Column(in.DefaultSampleType); ok && in.DefaultSampleType != "" {
		p.Default = i
	}
	var pooled int64
	others := make([]int64, len(p.Columns))
	frames := make(map[*profile.Location][]Frame)
	for _, s := range in.Sample {
		n := 0
		for _, l := range s.Location {
			if _, ok := frames[l]; !ok {
				frames[l] = framesOf(l)
			}
			n += len(frames[l])
		}
		if budget -= int64(n) * frameBytes; budget < 0 {
			pooled++
			for i, v := range s.Value {
				others[i] = Plus(others[i], v)
			}
			continue
		}
		out := Sample{Values: s.Value, Labels: labelsOf(s)}
		if n > 0 {
			out.Stack = make([]Frame, 0, n)
		}
		for i := len(s.Location) - 1; i >= 0; i-- {
			out.Stack = append(out.Stack, frames[s.Location[i]]...)
		}
		p.Samples = append(p.Samples, out)
	}
	if pooled > 0 {
		p.Samples = append(p.Samples, Sample{Stack: []Frame{{Name: OtherStacks}}, Values: others})
		p.Issues = append(p.Issues, diag.Issue{Code: "table-rows-pooled", Severity: diag.DataLoss, Count: pooled, First: diag.Pos{File: name}, Help: pooledHelp})
	}
	return p
}

// framesOf returns the frames of a location, outermost first: profile.proto
// has the innermost of inlined functions first.
func framesOf(l *profile.Location) []Frame {
	if len(l.Line) == 0 {
		unknown := Frame{Name: fmt.Sprintf("%#x", l.Address)}
		if l.Mapping != nil {
			unknown.File = l.Mapping.File
		}
		return []Frame{unknown}
	}
	out := make([]Frame, 0, len(l.Line))
	for i := len(l.Line) - 1; i >= 0; i-- {
		fn := l.Line[i].Function // not nil in a valid profile
		out = append(out, Frame{Name: fn.Name, File: fn.Filename, Line: l.Line[i].Line})
	}
	return out
}

func labelsOf(s *profile.Sample) []Label {
	var out []Label
	for key, texts := range s.Label {
		for _, text := range texts {
			if text != "" { // a Label with an empty text would be a number
				out = append(out, Label{Key: key, Text: text})
			}
		}
	}
	for key, numbers := range s.NumLabel {
		units := s.NumUnit[key]
		for i, n := range numbers {
			l := Label{Key: key, Number: n}
			if i < len(units) {
				l.Unit = units[i]
			}
			out = append(out, l)
		}
	}
	return sorted(nil, out)
}
