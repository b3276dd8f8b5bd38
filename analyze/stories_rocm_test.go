package analyze_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/analyze"
	"assay/internal/test/pfgen"
	"assay/internal/test/rocmgen"
	"assay/internal/test/tracegen"
	"assay/rocm"
	"assay/summary"
	"assay/trace"
	"assay/trace/perfetto"
)

// TestStoriesOnROCm: a capture of rocprofv3 of a program on AMD GPUs, as a database and as a trace of Perfetto, has the
// summary of its Kineto trace without operators, functions of Python and the profiler's own work, which such captures do
// not have. Memsets are kernels there, and copies do not say whether memory of the host is pinned.
func TestStoriesOnROCm(t *testing.T) {
	n := 0
	for _, p := range tracegen.Stories() {
		if !strings.HasSuffix(p.Name, "_hip") {
			continue
		}
		n++
		story := p.Make()
		sel := analyze.Needs()
		sel.Kinds = sel.Kinds.Without(trace.Python, trace.CPUOp, trace.Overhead)
		kineto, err := trace.Read(bytes.NewReader(story.JSON), story.Name, sel)
		if err != nil {
			t.Fatal(err)
		}
		want := shifted(analyze.Trace(kineto, summary.Input{}, analyze.DefaultOptions()), rocmgen.Shift)
		path := filepath.Join(t.TempDir(), "1_results.db")
		if err := rocmgen.WriteRocpd(path, rocmgen.Process{Trace: kineto}); err != nil {
			t.Fatal(err)
		}
		db, _, _, err := rocm.ReadSQLite(path, story.Name, analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		pf, _, err := perfetto.Read(bytes.NewReader(pfgen.Trace(kineto, pfgen.Rocprofv3, rocmgen.Shift)), story.Name, analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		for form, tr := range map[string]*trace.Trace{"rocpd": db, "Perfetto": pf} {
			got := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
			for _, table := range []struct {
				name      string
				want, got any
			}{
				{"devices", storyDevices(want), storyDevices(got)},
				{"kernels", kernelTimes(want), kernelTimes(got)},
				{"copies", directions(want), directions(got)},
				{"idle", storyIdle(want), storyIdle(got)},
				{"annotations", want.Annotations, got.Annotations},
				{"calls", storyCalls(want), storyCalls(got)},
				{"launches", withoutShort(want), withoutShort(got)},
				{"steps", storySteps(want), storySteps(got)},
			} {
				if diff := gocmp.Diff(table.want, table.got); diff != "" {
					t.Errorf("%s, %s, %s: Kineto(-) capture(+)\n%.1500s", story.Name, form, table.name, diff)
				}
			}
		}
	}
	if n < 3 {
		t.Errorf("%d programs", n)
	}
}

// kernelTimes returns the number and the time of kernels by name.
func kernelTimes(s *summary.Summary) map[string][2]int64 {
	out := map[string][2]int64{}
	for _, k := range s.Kernels {
		if !strings.HasPrefix(k.Name, "Memset") {
			out[k.Name] = [2]int64{k.Count, k.TotalNS}
		}
	}
	return out
}

// directions adds up copies by their direction.
func directions(s *summary.Summary) map[string][3]int64 {
	out := map[string][3]int64{}
	for kind, sum := range copiesByKind(s) {
		name, _, _ := strings.Cut(kind, " (")
		for i := range sum {
			sum[i] += out[name][i]
		}
		if name != "Memset" {
			out[name] = sum
		}
	}
	return out
}

// withoutShort returns launches without the number of short kernels, which has memsets on AMD GPUs, and without what
// PyTorch's profiler recorded on the host.
func withoutShort(s *summary.Summary) (out []summary.Launches) {
	for _, l := range s.Launches {
		l.Short, l.ShortNS, l.HostEvents, l.HostEventsPerStep = 0, 0, 0, nil
		out = append(out, l)
	}
	return out
}
