package pprof

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	google "github.com/google/pprof/profile"
)

// drawn returns a random profile of package google.
func drawn(rnd *rand.Rand) *google.Profile {
	text := func() string { return []string{"", "cpu", "ns", "main", "a.go", "libc.so", "é"}[rnd.IntN(7)] }
	number := func() int64 { return []int64{0, 1, -1, 127, 128, 1 << 40, rnd.Int64()}[rnd.IntN(7)] }
	p := &google.Profile{TimeNanos: number(), DurationNanos: number(), DefaultSampleType: text(), Period: number(), DropFrames: text(), DocURL: text()}
	if rnd.IntN(2) == 0 {
		p.PeriodType = &google.ValueType{Type: text(), Unit: text()}
	}
	for range rnd.IntN(4) {
		p.SampleType = append(p.SampleType, &google.ValueType{Type: text(), Unit: text()})
		p.Comments = append(p.Comments, text())
	}
	id := func(i int) uint64 { return []uint64{uint64(i + 1), uint64(i+1) * 1000}[rnd.IntN(2)] }
	for i := range 1 + rnd.IntN(3) {
		p.Mapping = append(p.Mapping, &google.Mapping{ID: id(i), File: text(), BuildID: text(), Start: uint64(number()), HasFunctions: rnd.IntN(2) == 0, HasLineNumbers: true})
	}
	for i := range 1 + rnd.IntN(4) {
		p.Function = append(p.Function, &google.Function{ID: id(i), Name: text(), SystemName: text(), Filename: text(), StartLine: number()})
	}
	for i := range 1 + rnd.IntN(5) {
		l := &google.Location{ID: id(i), Address: uint64(number()), IsFolded: rnd.IntN(2) == 0}
		if rnd.IntN(2) == 0 {
			l.Mapping = p.Mapping[rnd.IntN(len(p.Mapping))]
		}
		for range rnd.IntN(4) {
			l.Line = append(l.Line, google.Line{Function: p.Function[rnd.IntN(len(p.Function))], Line: number(), Column: number()})
		}
		p.Location = append(p.Location, l)
	}
	for range rnd.IntN(5) {
		s := &google.Sample{Label: map[string][]string{}, NumLabel: map[string][]int64{}, NumUnit: map[string][]string{}}
		for range p.SampleType {
			s.Value = append(s.Value, number())
		}
		for range rnd.IntN(5) {
			s.Location = append(s.Location, p.Location[rnd.IntN(len(p.Location))])
		}
		for range rnd.IntN(3) {
			s.Label[text()] = []string{text(), text()}
			key := text()
			if s.NumLabel[key] = []int64{number(), number()}; rnd.IntN(2) == 0 {
				s.NumUnit[key] = []string{text(), text()}
			}
		}
		p.Sample = append(p.Sample, s)
	}
	return p
}

// shown returns what of a profile is part of a [Profile], as text.
func shown(p *google.Profile) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d %d %q %q\n", p.TimeNanos, p.DurationNanos, p.DefaultSampleType, p.Comments)
	for _, t := range p.SampleType {
		fmt.Fprintf(&b, "type %q %q\n", t.Type, t.Unit)
	}
	for _, m := range p.Mapping {
		fmt.Fprintf(&b, "mapping %d %q %v %v %v\n", m.ID, m.File, m.HasFunctions, m.HasFilenames, m.HasLineNumbers)
	}
	for _, f := range p.Function {
		fmt.Fprintf(&b, "function %d %q %q\n", f.ID, f.Name, f.Filename)
	}
	place := func(l *google.Location) {
		if l == nil {
			fmt.Fprintln(&b, "nowhere")
			return
		}
		fmt.Fprintf(&b, "location %d %d %d", l.ID, l.Address, slices.Index(p.Mapping, l.Mapping))
		for _, line := range l.Line {
			fmt.Fprintf(&b, " %d:%d", slices.Index(p.Function, line.Function), line.Line)
		}
		fmt.Fprintln(&b)
	}
	for _, l := range p.Location {
		place(l)
	}
	for _, s := range p.Sample {
		fmt.Fprintf(&b, "sample %d %q %v %q\n", s.Value, s.Label, s.NumLabel, s.NumUnit)
		for _, l := range s.Location {
			place(l)
		}
	}
	return b.String()
}

// foreign returns p as a profile of package google, with the same references.
func foreign(p *Profile) *google.Profile {
	out := &google.Profile{TimeNanos: p.TimeNanos, DurationNanos: p.DurationNanos, DefaultSampleType: p.DefaultSampleType, Comments: p.Comments}
	mappings, functions, locations := map[*Mapping]*google.Mapping{}, map[*Function]*google.Function{}, map[*Location]*google.Location{}
	for _, t := range p.SampleType {
		out.SampleType = append(out.SampleType, &google.ValueType{Type: t.Type, Unit: t.Unit})
	}
	for _, m := range p.Mapping {
		mappings[m] = &google.Mapping{ID: m.ID, File: m.File, HasFunctions: m.HasFunctions, HasFilenames: m.HasFilenames, HasLineNumbers: m.HasLineNumbers}
		out.Mapping = append(out.Mapping, mappings[m])
	}
	for _, f := range p.Function {
		functions[f] = &google.Function{ID: f.ID, Name: f.Name, Filename: f.Filename}
		out.Function = append(out.Function, functions[f])
	}
	for _, l := range p.Location {
		locations[l] = &google.Location{ID: l.ID, Address: l.Address, Mapping: mappings[l.Mapping]}
		for _, line := range l.Line {
			locations[l].Line = append(locations[l].Line, google.Line{Function: functions[line.Function], Line: line.Line})
		}
		out.Location = append(out.Location, locations[l])
	}
	for _, s := range p.Sample {
		x := &google.Sample{Value: s.Value, Label: s.Label, NumLabel: s.NumLabel, NumUnit: s.NumUnit}
		for _, l := range s.Location {
			x.Location = append(x.Location, locations[l])
		}
		out.Sample = append(out.Sample, x)
	}
	return out
}

// TestAgainstGoogle: what is read, whether it is valid, which errors damage causes and what
// is written is the same as with package google.
func TestAgainstGoogle(t *testing.T) {
	rnd := rand.New(rand.NewPCG(2, 6))
	errors := map[string]int{}
	for range 400 {
		var b bytes.Buffer
		if err := drawn(rnd).WriteUncompressed(&b); err != nil {
			t.Fatal(err)
		}
		for damages := range 6 {
			data := slices.Clone(b.Bytes())
			for range damages {
				switch at := rnd.IntN(len(data)); rnd.IntN(3) {
				case 0:
					data[at] = byte(rnd.Uint32())
				case 1:
					data[at] ^= 1 << rnd.IntN(8)
				case 2:
					data = slices.Delete(data, at, at+1)
				}
			}
			compare(t, data, errors)
		}
	}
	if len(errors) < 10 {
		t.Errorf("only these errors: %v", errors)
	}
}

// compare reads and writes data with both packages, and counts the errors.
func compare(t *testing.T, data []byte, errors map[string]int) {
	t.Helper()
	want, wantErr := google.ParseUncompressed(data)
	got, err := ParseUncompressed(data)
	if fmt.Sprint(err) != fmt.Sprint(wantErr) {
		t.Fatalf("%x: error %v, want %v", data, err, wantErr)
	}
	if err != nil {
		errors[err.Error()]++
		return
	}
	if a, b := shown(foreign(got)), shown(want); a != b {
		t.Fatalf("%x: got %s\nwant %s", data, a, b)
	}
	for i := range want.Sample { // an empty map is not nil to this comparison
		if g, w := got.Sample[i], want.Sample[i]; !reflect.DeepEqual(g.Label, w.Label) || !reflect.DeepEqual(g.NumLabel, w.NumLabel) || !reflect.DeepEqual(g.NumUnit, w.NumUnit) {
			t.Fatalf("%x: labels %v %v %v, want %v %v %v", data, g.Label, g.NumLabel, g.NumUnit, w.Label, w.NumLabel, w.NumUnit)
		}
	}
	if a, b := fmt.Sprint(got.CheckValid()), fmt.Sprint(want.CheckValid()); a != b {
		t.Fatalf("%x: %s, want %s", data, a, b)
	} else if a != "<nil>" {
		errors[a]++
		return
	}
	var a, b bytes.Buffer
	if err := got.Write(&a); err != nil {
		t.Fatal(err)
	}
	if err := foreign(got).Write(&b); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(a.Bytes(), b.Bytes()) {
		t.Fatalf("%x: other bytes are written", data)
	}
}

// FuzzParse compares both packages on any input.
func FuzzParse(f *testing.F) {
	var b bytes.Buffer
	drawn(rand.New(rand.NewPCG(1, 1))).WriteUncompressed(&b)
	f.Add(b.Bytes())
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) { compare(t, data, map[string]int{}) })
}
