package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"assay/analyze"
	"assay/internal/test"
	"assay/summary"
	"assay/trace"
)

// measuredPart returns the JSON of a summary without what describes the files: their names,
// sizes and formats.
func measuredPart(t *testing.T, text []byte) string {
	t.Helper()
	s := summaryOf(t, text)
	for i := range s.Inputs {
		in := &s.Inputs[i]
		in.Path, in.Bytes, in.Events, in.SHA256, in.Compression, in.Format, in.Recorder = "", 0, 0, "", "", "", nil
	}
	for i := range s.Issues {
		s.Issues[i].First = ""
	}
	out, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func sameMeasures(t *testing.T, what string, whole, part []byte) {
	t.Helper()
	if diff := cmp.Diff(strings.Split(measuredPart(t, whole), "\n"), strings.Split(measuredPart(t, part), "\n")); diff != "" {
		t.Errorf("%s: part of the whole(-) trimmed(+)\n%.4000s", what, diff)
	}
}

// TestTrimRanks: ranks that are trimmed are compared like the parts of the whole ranks, and
// each has all work of the time that any of them was asked for, on one clock.
func TestTrimRanks(t *testing.T) {
	for _, name := range []string{"offsets", "slow_gpu", "late_in_turn", "begins_later"} {
		job, given := scenario(t, name)
		dir, paths, _ := writeRanks(t, job, given)
		out := filepath.Join(t.TempDir(), "out")
		outputOf(t, "trim", dir, "--step", "5", "-o", out)
		whole := outputOf(t, "summary", dir, "--step", "5", "--format", "json", "--full")
		sameMeasures(t, name, whole, outputOf(t, "summary", out, "--format", "json", "--full"))
		checkCommonTime(t, name, summaryOf(t, whole), paths, out)
	}
}

// checkCommonTime compares the work in the files with that of the time from the first start
// to the last end of the part on any rank, by the offsets that the summary states.
func checkCommonTime(t *testing.T, name string, s *summary.Summary, paths []string, out string) {
	t.Helper()
	shift := map[string]int64{}
	first, last := int64(1)<<62, int64(-1)<<62
	for _, row := range s.Ranks {
		in := s.Inputs[row.Input]
		if row.OffsetNS == nil || in.Window == nil {
			t.Fatalf("%s: %s has no clock or no window", name, in.Path)
		}
		by := -*row.OffsetNS
		if in.BaseTimeNS != nil {
			by += *in.BaseTimeNS
		}
		shift[in.Path] = by
		first, last = min(first, in.Window.StartNS+by), max(last, in.Window.EndNS+by)
	}
	if len(shift) < 2 {
		t.Fatalf("%s: %d ranks have a clock", name, len(shift))
	}
	for _, path := range paths {
		rel, _ := filepath.Rel(filepath.Dir(paths[0]), path)
		kept := map[int64]bool{}
		for _, start := range workOf(t, filepath.Join(out, filepath.Base(rel)), -1<<62, 1<<62) {
			kept[start] = true
		}
		for _, start := range workOf(t, path, first-shift[path], last-shift[path]) {
			if !kept[start] {
				t.Errorf("%s: %s: work at %d of the common time is lost", name, rel, start)
			}
		}
	}
}

// workOf returns when the GPU work of a file starts that overlaps a time. What the file says
// about its window does not count.
func workOf(t *testing.T, path string, start, end int64) (out []int64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Read(bytes.NewReader(bytes.Replace(text, []byte("assay_window"), []byte("other_window"), 1)), path, analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	for a := range tr.Activities.All() {
		if a.Start < end && a.End() > start {
			out = append(out, a.Start)
		}
	}
	slices.Sort(out)
	if len(out) == 0 {
		t.Errorf("%s has no work from %d to %d", path, start, end)
	}
	return out
}

// TestTrimNsight: what is measured of a part of an export of Nsight Systems that was written
// anew is what is measured of the part of the export, but for calls of the operating system.
func TestTrimNsight(t *testing.T) {
	root := test.Corpus(t, "nsight")
	for _, name := range []string{"GindaChen_nsys-ai/h100_2gpu_1s.sqlite", "brycelelbach_nsightful/power_iteration__baseline.sqlite"} {
		path, out := filepath.Join(root, name), filepath.Join(t.TempDir(), "part.json.gz")
		outputOf(t, "trim", path, "--from", "300ms", "--to", "1.2s", "-o", out)
		whole := summaryOf(t, outputOf(t, "summary", path, "--from", "300ms", "--to", "1.2s", "--format", "json"))
		part := summaryOf(t, outputOf(t, "summary", out, "--format", "json"))
		for _, sum := range []*summary.Summary{whole, part} {
			for i := range sum.Devices {
				sum.Devices[i].LargestGaps = nil // their causes may be times off the CPU
			}
		}
		for _, of := range []struct {
			what       string
			have, want any
		}{{"devices", part.Devices, whole.Devices}, {"kernels", part.Kernels, whole.Kernels}, {"copies", part.Copies, whole.Copies}, {"streams", part.Streams, whole.Streams}, {"launches", part.Launches, whole.Launches}} {
			if diff := cmp.Diff(of.want, of.have); diff != "" {
				t.Errorf("%s: %s of the part(-) and of the trimmed part(+)\n%.2000s", name, of.what, diff)
			}
		}
		if len(whole.Devices) == 0 || len(whole.Kernels) == 0 {
			t.Errorf("%s: no work in the part", name)
		}
	}
}
