package analyze_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/analyze"
	"assay/internal/test/nsysgen"
	"assay/internal/test/tracegen"
	"assay/nsys"
	"assay/summary"
	"assay/trace"
)

// TestStoriesExported checks that the Nsight Systems export of a story gives the
// same summary as its trace without Python functions, which exports do not have.
// TestStories compares the traces with the truth.
func TestStoriesExported(t *testing.T) {
	n := 0
	for _, p := range tracegen.Stories() {
		if strings.HasSuffix(p.Name, "_hip") {
			continue // Nsight Systems records no hardware of AMD's
		}
		n++
		t.Run(p.Name, func(t *testing.T) { checkExported(t, p.Make()) })
	}
	for seed := range uint64(5) {
		t.Run("mixture", func(t *testing.T) { checkExported(t, tracegen.Mixture(10+seed)) })
	}
	if n < 30 {
		t.Errorf("%d stories", n)
	}
}

func checkExported(t *testing.T, story tracegen.Story) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.sqlite")
	shift, err := nsysgen.RecordStory(path, story)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := nsys.ReadSQLite(path, story.Name, analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	got := analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions())
	sel := analyze.Needs()
	sel.Kinds = sel.Kinds.Without(trace.Python)
	if tr, err = trace.Read(bytes.NewReader(story.JSON), story.Name, sel); err != nil {
		t.Fatal(err)
	}
	want := shifted(analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions()), shift)
	for i := range want.Launches { // the events of another profiler
		want.Launches[i].HostEvents, want.Launches[i].HostEventsPerStep = 0, nil
	}
	for _, table := range []struct {
		name      string
		want, got any
	}{
		{"devices", storyDevices(want), storyDevices(got)},
		{"kernels", want.Kernels, got.Kernels},
		{"copies", copiesByKind(want), copiesByKind(got)},
		{"idle", storyIdle(want), storyIdle(got)},
		{"operators", storyOps(want), storyOps(got)},
		{"annotations", want.Annotations, got.Annotations},
		{"passes", want.Passes, got.Passes},
		{"calls", storyCalls(want), storyCalls(got)},
		{"synchronizations", want.Syncs, got.Syncs},
		{"launches", want.Launches, got.Launches},
		{"graphs", storyGraphs(want), storyGraphs(got)},
		{"phases", storyPhases(nil, want), storyPhases(nil, got)},
		{"steps", storySteps(want), storySteps(got)},
	} {
		if diff := gocmp.Diff(table.want, table.got); diff != "" {
			t.Errorf("%s: trace(-) export(+)\n%s", table.name, diff)
		}
	}
}

// shifted moves the times of a summary to another clock.
func shifted(s *summary.Summary, ns int64) *summary.Summary {
	for i := range s.Devices {
		s.Devices[i].StartNS += ns
	}
	for i := range s.Steps {
		s.Steps[i].StartNS += ns
	}
	for i := range s.Syncs {
		s.Syncs[i].MaxStartNS += ns
	}
	return s
}

// copiesByKind adds up copies by the part of their names that exports have.
func copiesByKind(s *summary.Summary) map[string][3]int64 {
	out := make(map[string][3]int64)
	for _, c := range s.Copies {
		kind, _, _ := strings.Cut(c.Name, ")")
		sum := out[kind]
		sum[0], sum[1] = sum[0]+c.Count, sum[1]+c.TotalNS
		if c.Bytes != nil {
			sum[2] += *c.Bytes
		}
		out[kind] = sum
	}
	return out
}
