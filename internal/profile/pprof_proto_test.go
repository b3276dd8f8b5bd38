package profile

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime/pprof"
	"slices"
	"testing"

	google "github.com/google/pprof/profile"

	"assay/internal/test"
)

// theirs reads a profile with pprof's own package, and returns whether it accepts it and what of it we read.
func theirs(data []byte) (text string, read, valid bool) {
	in, err := google.ParseUncompressed(data)
	if err != nil {
		return "", false, false
	}
	text = fmt.Sprintf("%q %d %d %q\n", in.Comments, in.TimeNanos, in.DurationNanos, in.DefaultSampleType)
	for _, t := range in.SampleType {
		text += fmt.Sprintf("type %q %q\n", t.Type, t.Unit)
	}
	for _, m := range in.Mapping {
		text += fmt.Sprintf("mapping %d %q\n", m.ID, m.File)
	}
	for _, s := range in.Sample {
		text += fmt.Sprintf("sample %v", s.Value)
		for _, l := range s.Location {
			if l == nil {
				text += " nil"
				continue
			}
			text += fmt.Sprintf(" (%d %d %t", l.ID, l.Address, l.Mapping != nil)
			for _, line := range l.Line {
				if line.Function == nil {
					text += " nil"
					continue
				}
				text += fmt.Sprintf(" %d %q %q %d", line.Function.ID, line.Function.Name, line.Function.Filename, line.Line)
			}
			text += ")"
		}
		var labels []Label
		for key, all := range s.Label {
			for _, l := range all {
				if l != "" {
					labels = append(labels, Label{Key: key, Text: l})
				}
			}
		}
		for key, all := range s.NumLabel {
			for i, n := range all {
				l := Label{Key: key, Number: n}
				if units := s.NumUnit[key]; i < len(units) {
					l.Unit = units[i]
				}
				labels = append(labels, l)
			}
		}
		text += fmt.Sprintf(" %+v\n", sorted(nil, labels))
	}
	return text, true, in.CheckValid() == nil
}

// ours is like theirs, with this package.
func ours(data []byte) (text string, read, valid bool) {
	in, err := readProto(data)
	if err != nil {
		return "", false, false
	}
	text = fmt.Sprintf("%q %d %d %q\n", in.comments, in.time, in.duration, in.defaultType)
	for _, t := range in.types {
		text += fmt.Sprintf("type %q %q\n", t.name, t.unit)
	}
	for _, m := range in.mappings {
		text += fmt.Sprintf("mapping %d %q\n", m.id, m.file)
	}
	for _, s := range in.samples {
		text += fmt.Sprintf("sample %v", s.values)
		for _, l := range s.stack {
			if l == nil {
				text += " nil"
				continue
			}
			text += fmt.Sprintf(" (%d %d %t", l.id, l.address, l.mapping != nil)
			for _, line := range l.lines {
				if line.function == nil {
					text += " nil"
					continue
				}
				text += fmt.Sprintf(" %d %q %q %d", line.function.id, line.function.name, line.function.file, line.line)
			}
			text += ")"
		}
		text += fmt.Sprintf(" %+v\n", sorted(nil, slices.Clone(s.labels)))
	}
	return text, true, in.check() == nil
}

// TestProtoAsTheirs: pprof's own package reads the same of what we write, writes the same bytes, and accepts and
// refuses the same damaged profiles.
func TestProtoAsTheirs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(test.Seed(t), 1))
	read, valid := 0, 0
	for range 400 {
		data := random(rnd).proto().encode()
		in, err := google.ParseUncompressed(data)
		if err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := in.WriteUncompressed(&again); err != nil || !bytes.Equal(again.Bytes(), data) {
			t.Fatalf("pprof writes other bytes (%v):\n%q\n%q", err, again.Bytes(), data)
		}
		for range 40 {
			damaged := slices.Clone(data)
			for range rnd.IntN(4) {
				switch at := rnd.IntN(len(damaged)); rnd.IntN(3) {
				case 0:
					damaged[at] = byte(rnd.IntN(256))
				case 1:
					damaged[at] = byte(rnd.IntN(8))
				default:
					damaged = slices.Delete(damaged, at, at+1)
				}
				if len(damaged) == 0 {
					break
				}
			}
			if (&wire{data: damaged, budget: 1 << 30, most: 1 << 30}).check() != nil {
				continue // refused before it is read
			}
			want, wantRead, wantValid := theirs(damaged)
			got, gotRead, gotValid := ours(damaged)
			if got != want || gotRead != wantRead || gotValid != wantValid {
				t.Fatalf("read %t, %t; valid %t, %t of %q:\n%s\n%s", gotRead, wantRead, gotValid, wantValid, damaged, got, want)
			}
			if gotRead {
				read++
			}
			if gotValid {
				valid++
			}
		}
	}
	if read < 1000 || valid < 500 || read == valid {
		t.Errorf("%d were read, %d were valid", read, valid)
	}
	t.Logf("%d were read, %d were valid", read, valid)
}

// TestProtoOfGo: the profile that Go's runtime wrote is read as pprof reads it.
func TestProtoOfGo(t *testing.T) {
	var file bytes.Buffer
	if err := pprof.Lookup("heap").WriteTo(&file, 0); err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(&file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	want, _, _ := theirs(data)
	if got, _, _ := ours(data); got != want || len(got) < 1000 {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}
