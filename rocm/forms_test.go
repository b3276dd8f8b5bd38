package rocm

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"assay/internal/test/rocmgen"
	"assay/internal/test/tracegen"
	"assay/trace"
)

// hipStories returns the traces of generated programs on AMD GPUs.
func hipStories(t testing.TB) map[string]*trace.Trace {
	out := map[string]*trace.Trace{}
	for _, p := range tracegen.Stories() {
		if strings.HasSuffix(p.Name, "_hip") {
			tr, err := trace.Read(bytes.NewReader(p.Make().JSON), p.Name, trace.SelectAll())
			if err != nil {
				t.Fatal(err)
			}
			out[p.Name] = tr
		}
	}
	if len(out) < 3 {
		t.Fatalf("%d programs", len(out))
	}
	return out
}

// said returns what all forms say of a trace, sorted. Copies have the name of their direction alone, and memsets are
// kernels.
func said(t *trace.Trace, shift int64) (out []string) {
	say := func(words ...any) { out = append(out, fmt.Sprintln(words...)) }
	for a := range t.Activities.All() {
		d, on, kind := t.Detail(a.Detail), t.Tracks[a.Track], a.Kind
		name, _, _ := strings.Cut(t.Name(a.Name), " (")
		if kind != trace.Memcpy {
			name, kind = t.Name(a.Name), trace.Kernel
		}
		say("work", a.Start+shift, a.Dur, kind, name, a.Correlation, on.Device, on.Stream, max(1, d.Grid[0]), max(1, d.Block[0]))
	}
	for c := range t.Calls.All() {
		say("call", c.Start+shift, c.Dur, t.Name(c.Name), c.Correlation, t.Tracks[c.Track].PID, t.Tracks[c.Track].TID)
	}
	for s := range t.Spans.All() {
		if s.Kind == trace.Annotation {
			say("range", s.Start+shift, s.Dur, t.Name(s.Name), t.Tracks[s.Track].PID, t.Tracks[s.Track].TID)
		}
	}
	slices.Sort(out)
	return out
}

// TestForms: a program has the same work, calls and ranges in each form in which rocprofv3 writes it.
func TestForms(t *testing.T) {
	for name, want := range hipStories(t) {
		dir := t.TempDir()
		path := filepath.Join(dir, "1_results.db")
		if err := rocmgen.WriteRocpd(path, rocmgen.Process{Trace: want}); err != nil {
			t.Fatal(err)
		}
		fromDB, _, format, err := ReadSQLite(path, path, trace.SelectAll())
		if err != nil || format != FormatRocpd {
			t.Fatal(format, err)
		}
		var text bytes.Buffer
		if err := rocmgen.WriteJSON(&text, want); err != nil {
			t.Fatal(err)
		}
		if !SniffJSON(text.Bytes()[:100]) {
			t.Error("the JSON is not recognized")
		}
		fromJSON, _, err := ReadJSON(&text, "1_results.json", trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		if err := rocmgen.WriteCSV(dir, "1_", want); err != nil {
			t.Fatal(err)
		}
		for form, got := range map[string]*trace.Trace{"rocpd": fromDB, "JSON": fromJSON, "CSV": readTables(t, dir)} {
			if !got.Complete || len(got.Issues) > 0 {
				t.Errorf("%s, %s: complete %t, issues %+v", name, form, got.Complete, got.Issues)
			}
			if diff := gocmp.Diff(said(want, rocmgen.Shift), said(got, 0)); diff != "" {
				t.Errorf("%s, %s: %.2000s", name, form, diff)
			}
			if got.Meta.Devices[0] != "AMD Instinct MI300X" || got.Meta.Hardware[0].SMs != 304 {
				t.Errorf("%s, %s: GPU %q, %+v", name, form, got.Meta.Devices[0], got.Meta.Hardware[0])
			}
		}
	}
}

// readTables reads all tables in a directory as one capture.
func readTables(t testing.TB, dir string) *trace.Trace {
	t.Helper()
	var parts []Part
	for _, table := range []string{"agent_info", "kernel_trace", "memory_copy_trace", "hip_api_trace", "marker_api_trace"} {
		text, err := os.ReadFile(filepath.Join(dir, "1_"+table+".csv"))
		if err != nil {
			continue // it had no row
		}
		if format, counters := SniffCSV(text[:min(len(text), 400)]); format != FormatCSV || counters {
			t.Errorf("%s: %q", table, format)
		}
		parts = append(parts, Part{table, bytes.NewReader(text)})
	}
	tr, err := ReadCSV(parts, "1_kernel_trace.csv", trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// TestMerged: processes of a merged database keep their GPUs apart by the places of these in the machine, and their calls
// by the process, although both count from the same number.
func TestMerged(t *testing.T) {
	story := hipStories(t)["memory_hip"]
	path := filepath.Join(t.TempDir(), "merged_results.db")
	err := rocmgen.WriteRocpd(path, rocmgen.Process{Trace: story, Location: 1280, Environment: `{"RANK":"3","WORLD_SIZE":"8"}`},
		rocmgen.Process{Trace: story, Location: 768, Environment: `{"RANK":"4"}`}, rocmgen.Process{Trace: story, Location: 1280})
	if err != nil {
		t.Fatal(err)
	}
	got, _, _, err := ReadSQLite(path, path, trace.SelectAll())
	if err != nil {
		t.Fatal(err)
	}
	work, ids := map[int64]int{}, map[trace.ID]int{}
	for a := range got.Activities.All() {
		work[got.Tracks[a.Track].Device]++
		ids[a.Correlation]++
	}
	before := map[trace.ID]bool{}
	for a := range story.Activities.All() {
		before[a.Correlation] = true
	}
	n := story.Activities.Len()
	if work[0] != 2*n || work[1] != n || len(work) != 2 {
		t.Errorf("work by GPU: %v, want twice and once %d", work, n)
	}
	if len(ids) != 3*len(before) {
		t.Errorf("%d calls launched work, want 3 × %d", len(ids), len(before))
	}
	if got.Meta.Rank != nil {
		t.Errorf("rank %d of a merged file", *got.Meta.Rank)
	}
}

// TestRank: the rank is in the environment of the process; that of the launcher nearest to the program counts.
func TestRank(t *testing.T) {
	story := hipStories(t)["memory_hip"]
	for _, tc := range []struct {
		environment string
		rank, of    int // -1 if unknown
	}{
		{`{"SLURM_PROCID":"7","SLURM_NTASKS":"16","RANK":"5","WORLD_SIZE":"16"}`, 5, 16},
		{`{"OMPI_COMM_WORLD_RANK":"2","OMPI_COMM_WORLD_SIZE":"4","LOCAL_RANK":"0"}`, 2, 4},
		{`{"SLURM_PROCID":"9","SLURM_NTASKS":"4"}`, 9, -1},
		{`{"LOCAL_RANK":"1"}`, -1, -1}, {`{"RANK":"-4"}`, -1, -1}, {`{"RANK":"three"}`, -1, -1}, {``, -1, -1}, {`{"RANK":`, -1, -1},
	} {
		path := filepath.Join(t.TempDir(), "1_results.db")
		if err := rocmgen.WriteRocpd(path, rocmgen.Process{Trace: story, Environment: tc.environment}); err != nil {
			t.Fatal(err)
		}
		got, _, _, err := ReadSQLite(path, path, trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		rank, of := -1, -1
		if got.Meta.Rank != nil {
			rank = *got.Meta.Rank
		}
		if got.Meta.WorldSize != nil {
			of = *got.Meta.WorldSize
		}
		if rank != tc.rank || of != tc.of {
			t.Errorf("%s: rank %d of %d", tc.environment, rank, of)
		}
	}
}
