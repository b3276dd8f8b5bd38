package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	google "github.com/google/pprof/profile"

	"assay/internal/test"
	"assay/summary"
)

// TestConvertProfiles: of every profile each function and its own time is in the
// converted one, and pprof itself lists them in the order of the summary.
func TestConvertProfiles(t *testing.T) {
	goTool, err := exec.LookPath("go")
	if err != nil || !test.Long() {
		t.Skip("compiles pprof: make long")
	}
	for _, name := range []string{"yappi_cpu.txt", "yappi_wall.callgrind", "cprofile.prof", "yappi_cpu.pstat"} {
		path := filepath.Join("..", "..", "testdata", "profilers", name)
		s, err := summary.Read(bytes.NewReader(outputOf(t, "summary", "--format", "json", path)), path)
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int64{}
		for _, r := range s.Tables[0].Rows {
			if ns, ok := r.Value(s.Tables[0].Column("self")); ok {
				want[r.Name] += ns
			}
		}
		file := filepath.Join(t.TempDir(), "p.pb.gz")
		if err := os.WriteFile(file, outputOf(t, "convert", "--to", "pprof", path), 0o644); err != nil {
			t.Fatal(err)
		}
		packed, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := google.Parse(packed)
		packed.Close()
		if err != nil {
			t.Fatal(err)
		}
		self := slices.IndexFunc(p.SampleType, func(v *google.ValueType) bool { return v.Type == "self" && v.Unit == "nanoseconds" })
		if self < 0 || p.DefaultSampleType != "self" && self != len(p.SampleType)-1 {
			t.Fatalf("%s: %+v has no self times to show first", name, p.SampleType)
		}
		got := map[string]int64{}
		for _, sample := range p.Sample {
			got[sample.Location[0].Line[0].Function.Name] += sample.Value[self]
		}
		if len(got) != len(want) || len(want) < 100 {
			t.Errorf("%s: %d functions, want %d", name, len(got), len(want))
		}
		for f, ns := range want {
			if got[f] != ns {
				t.Errorf("%s: %s has %d ns, want %d", name, f, got[f], ns)
			}
		}
		listed := exec.Command(goTool, "tool", "pprof", "-top", "-nodecount=100000", "-nodefraction=0", file)
		text, err := listed.Output()
		if err != nil {
			t.Skipf("go tool pprof does not run here: %v", err)
		}
		checkOrder(t, name, string(text), want)
	}
}

// checkOrder compares the list that pprof prints with the self times.
func checkOrder(t *testing.T, name, text string, want map[string]int64) {
	t.Helper()
	_, text, _ = strings.Cut(text, "cum%\n")
	last, listed := int64(1<<62), 0
	for line := range strings.Lines(text) {
		fields := strings.SplitN(strings.Join(strings.Fields(line), " "), " ", 6)
		if len(fields) != 6 {
			t.Fatalf("%s: pprof prints %q", name, line)
		}
		ns, ok := want[fields[5]]
		if !ok || ns > last {
			t.Errorf("%s: pprof lists %q with %d ns behind %d", name, fields[5], ns, last)
		}
		last = ns
		listed++
	}
	for _, ns := range want {
		if ns == 0 {
			listed++ // which pprof leaves out
		}
	}
	if listed < len(want) {
		t.Errorf("%s: pprof lists %d functions, want %d", name, listed, len(want))
	}
}
