package profile

import (
	"bufio"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

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
	var in *protoProfile
	if bad == nil && reading == nil {
		if in, bad = readProto(data); bad == nil {
			bad = in.check()
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
func fromPprof(in *protoProfile, budget int64, name string) *Profile {
	const frameBytes = 40
	p := &Profile{Time: in.time, Duration: in.duration, Comments: in.comments}
	if len(in.mappings) > 0 {
		p.Source = in.mappings[0].file
	}
	for _, t := range in.types {
		p.Columns = append(p.Columns, Column{Name: t.name, Unit: t.unit})
	}
	p.Default = max(0, len(p.Columns)-1) // the column that pprof shows if the profile names none
	if i, ok := p.Column(in.defaultType); ok && in.defaultType != "" {
		p.Default = i
	}
	var pooled int64
	others := make([]int64, len(p.Columns))
	frames := make(map[*protoLocation][]Frame)
	for _, s := range in.samples {
		n := 0
		for _, l := range s.stack {
			if _, ok := frames[l]; !ok {
				frames[l] = framesOf(l)
			}
			n += len(frames[l])
		}
		if budget -= int64(n) * frameBytes; budget < 0 {
			pooled++
			for i, v := range s.values {
				others[i] = plus(others[i], v)
			}
			continue
		}
		out := Sample{Values: s.values, Labels: sorted(nil, s.labels)}
		if n > 0 {
			out.Stack = make([]Frame, 0, n)
		}
		for i := len(s.stack) - 1; i >= 0; i-- {
			out.Stack = append(out.Stack, frames[s.stack[i]]...)
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
func framesOf(l *protoLocation) []Frame {
	if len(l.lines) == 0 {
		unknown := Frame{Name: fmt.Sprintf("%#x", l.address)}
		if l.mapping != nil {
			unknown.File = l.mapping.file
		}
		return []Frame{unknown}
	}
	out := make([]Frame, 0, len(l.lines))
	for i := len(l.lines) - 1; i >= 0; i-- {
		fn := l.lines[i].function // not nil in a valid profile
		out = append(out, Frame{Name: fn.name, File: fn.file, Line: l.lines[i].line})
	}
	return out
}
