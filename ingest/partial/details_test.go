package partial

import (
	"os"
	"path/filepath"
	"testing"

	"assay/analyze"
	"assay/analyze/detail"
	"assay/analyze/ranks"
	"assay/internal/test/captures"
	"assay/internal/test/rankgen"
	"assay/summary"
)

// detailsOf measures generated ranks with details and joins them.
func detailsOf(t *testing.T, files []rankgen.File) *summary.Summary {
	t.Helper()
	dir := t.TempDir()
	var all []Part
	for _, file := range files {
		path := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.JSON, 0o600); err != nil {
			t.Fatal(err)
		}
		in := captures.Load(t, path)
		opt := analyze.DefaultOptions()
		opt.Detail = &detail.Request{Inputs: len(files)}
		p, err := Measure(in, Options{Options: opt})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	all, _, failed := Arrange(all)
	if len(failed) > 0 {
		t.Fatal(failed)
	}
	return Join(all)
}

// TestDetailOffsets: offsets bring the details of ranks whose clocks differ to that of the
// first rank, and each rank of a run has its share of what a run may have.
func TestDetailOffsets(t *testing.T) {
	for _, sc := range rankgen.Scenarios() {
		if sc.Name != "offsets" && sc.Name != "two_nodes" && sc.Name != "offsets_no_seq" && sc.Name != "ten" {
			continue
		}
		t.Run(sc.Name, func(t *testing.T) {
			j := sc.Make()
			truth := j.Truth(j.Places())
			s := detailsOf(t, j.Files(j.Places()))
			if len(s.Details) != len(truth.Ranks) {
				t.Fatalf("%d details of %d ranks", len(s.Details), len(truth.Ranks))
			}
			for i, d := range s.Details {
				want := truth.Ranks[i]
				if d.Rank != want.Number || d.OffsetFrom != summary.OffsetCollectives || d.OffsetNS != -want.Offset {
					t.Errorf("rank %d: offset %d from %q, want %d", d.Rank, d.OffsetNS, d.OffsetFrom, -want.Offset)
				}
				if n := len(d.Cells.Compute); n > summary.MaxDetailCells || len(s.Details) > 16 && n > summary.MaxDetailCells/4 {
					t.Errorf("rank %d of %d: %d cells", d.Rank, len(s.Details), n)
				}
			}
		})
	}
}

// TestDetailsApart: ranks whose collectives cannot be matched are aligned by the base times
// of their files, and not at all if one of the files has none.
func TestDetailsApart(t *testing.T) {
	base := func(ns int64) *int64 { return &ns }
	s := &summary.Summary{
		Inputs:  []summary.Input{{BaseTimeNS: base(1000)}, {BaseTimeNS: base(1700)}, {}},
		Details: []summary.Detail{{Input: 0, Device: 0}, {Input: 0, Device: 1}, {Input: 1}, {Input: 2}},
	}
	ranks.AlignDetails(s)
	for i, want := range []struct {
		ns   int64
		from string
	}{{0, "capture"}, {0, "capture"}, {700, "capture"}, {0, ""}} {
		if d := s.Details[i]; d.OffsetNS != want.ns || d.OffsetFrom != want.from {
			t.Errorf("detail %d: offset %d from %q, want %d from %q", i, d.OffsetNS, d.OffsetFrom, want.ns, want.from)
		}
	}
}
