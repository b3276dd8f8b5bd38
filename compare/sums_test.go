package compare_test

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"assay/analyze"
	"assay/compare"
	"assay/internal/test"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

// checkSums checks the guarantees of a comparison: sums are exact to the
// nanosecond, and equal those of the summaries.
func checkSums(t *testing.T, c *compare.Comparison, base, new *summary.Summary) {
	t.Helper()
	for name, p := range map[string]compare.Part{
		"budget": c.Budget, "cells": c.Cells, "categories": c.Categories, "ops": c.Ops, "kernels": c.Kernels,
		"copies": c.Copies, "idle": c.Idle, "calls": c.Calls, "passes": c.Passes,
	} {
		var b, n, d int64
		for _, r := range p.Rows {
			if r.NewNS-r.BaseNS != r.DeltaNS || r.CountNS+r.DurationNS != r.DeltaNS {
				t.Errorf("%s: row does not add up: %+v", name, r)
			}
			b, n, d = b+r.BaseNS, n+r.NewNS, d+r.DeltaNS
		}
		if b != p.BaseNS || n != p.NewNS || d != p.DeltaNS || n-b != d {
			t.Errorf("%s: rows sum to %d, %d and %d, want %d, %d and %d", name, b, n, d, p.BaseNS, p.NewNS, p.DeltaNS)
		}
	}
	for name, p := range map[string]compare.Part{"categories": c.Categories, "ops": c.Ops, "cells": c.Cells, "idle": c.Idle} {
		want := map[string]compare.Part{"categories": c.Kernels, "ops": c.Kernels, "cells": c.Budget}[name]
		if name == "idle" {
			want.BaseNS, want.NewNS = c.Budget.Rows[3].BaseNS, c.Budget.Rows[3].NewNS
		}
		if p.BaseNS != want.BaseNS || p.NewNS != want.NewNS {
			t.Errorf("%s sums to %d and %d, want %d and %d", name, p.BaseNS, p.NewNS, want.BaseNS, want.NewNS)
		}
	}
	for _, side := range []struct {
		s          *summary.Summary
		wall, work int64
		parts      int64
	}{{base, c.Budget.BaseNS, c.Kernels.BaseNS, c.Base.Parts}, {new, c.Budget.NewNS, c.Kernels.NewNS, c.New.Parts}} {
		wall, work, parts := plainSums(side.s, c.Per)
		if parts != side.parts || side.wall != wall/parts || side.work != work/parts {
			t.Errorf("%d parts of %d ns with %d ns of kernels, want %d of %d with %d", side.parts, side.wall, side.work, parts, wall/parts, work/parts)
		}
	}
}

// plainSums adds up a summary without using the code under test.
func plainSums(s *summary.Summary, per string) (wall, work, parts int64) {
	for _, k := range s.Kernels {
		work += k.TotalNS
	}
	if per == compare.PerStep {
		for _, st := range s.Steps {
			wall += st.WallNS
		}
		return wall, work, int64(len(s.Steps))
	}
	for _, d := range s.Devices {
		wall += d.WindowNS
	}
	return wall, work, int64(len(s.Devices))
}

// TestRandomPairs compares programs that have little in common.
func TestRandomPairs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 14))
	presets := tracegen.Presets()
	var all []*summary.Summary
	for range 24 {
		sc := presets[rnd.IntN(len(presets))].Make()
		if sc.CPUOnly {
			continue
		}
		sc.Seed, sc.Steps = rnd.Uint64(), 1+rnd.IntN(5)
		if sc.Dialect.Era == tracegen.Modern {
			sc.Jitter = int64(rnd.IntN(200))
		}
		s := measured(t, sc)
		if rnd.IntN(4) == 0 {
			s.Steps = nil
		}
		all = append(all, s)
	}
	for range 100 {
		base, new := all[rnd.IntN(len(all))], all[rnd.IntN(len(all))]
		c, err := compare.Summaries(base, new, compare.Options{Force: true})
		if err != nil {
			t.Fatal(err)
		}
		checkSums(t, c, base, new)
		back, err := compare.Summaries(new, base, compare.Options{Force: true})
		if err != nil {
			t.Fatal(err)
		}
		if back.Budget.DeltaNS != -c.Budget.DeltaNS || back.Kernels.DeltaNS != -c.Kernels.DeltaNS {
			t.Errorf("there %d and %d, back %d and %d", c.Budget.DeltaNS, c.Kernels.DeltaNS, back.Budget.DeltaNS, back.Kernels.DeltaNS)
		}
	}
}

// TestSame: a run does not differ from itself.
func TestSame(t *testing.T) {
	for _, p := range tracegen.Presets() {
		s := measured(t, p.Make())
		c, err := compare.Summaries(s, s, compare.Options{})
		if len(s.Devices) == 0 {
			if refusal := (*compare.Refusal)(nil); !errors.As(err, &refusal) || refusal.Reason.Code != "no-gpu-time" {
				t.Errorf("%s: got %v, want a refusal", p.Name, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range []compare.Part{c.Budget, c.Kernels, c.Ops, c.Idle, c.Copies, c.Calls} {
			if i := slices.IndexFunc(part.Rows, func(r compare.Row) bool { return r.DeltaNS != 0 || r.CountNS != 0 || r.DurationNS != 0 }); i >= 0 {
				t.Errorf("%s: %+v", p.Name, part.Rows[i])
			}
		}
	}
}

// corpusSummary measures a real trace. It skips the test if there is no corpus.
func corpusSummary(t *testing.T, path string) *summary.Summary {
	t.Helper()
	tr, err := trace.Read(bytes.NewReader(test.Unpacked(t, test.Corpus(t, filepath.FromSlash(path)))), path, analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Trace(tr, summary.Input{Path: path, Format: "kineto"}, analyze.DefaultOptions())
}

// TestRealPairs: pairs of real traces have different devices, so they are
// refused. If forced, all sums are exact.
func TestRealPairs(t *testing.T) {
	for _, pair := range [][2]string{
		{"kineto/hta/trace_diff/control/control.json.gz", "kineto/hta/trace_diff/test/test.json.gz"},
		{"kineto/tracelens/h100/gaunernst_bert-small-uncased__1016001.json.gz", "kineto/tracelens/mi300/gaunernst_bert-small-uncased__1016001.json.gz"},
		{"kineto/tracelens/h100/Falconsai_nsfw_image_detection__1016002.json.gz", "kineto/tracelens/mi300/Falconsai_nsfw_image_detection__1016002.json.gz"},
	} {
		base, new := corpusSummary(t, pair[0]), corpusSummary(t, pair[1])
		_, err := compare.Summaries(base, new, compare.Options{})
		if refusal := (*compare.Refusal)(nil); !errors.As(err, &refusal) || refusal.Reason.Code != "other-hardware" {
			t.Errorf("%s: got %v, want a refusal of other hardware", pair[0], err)
		}
		c, err := compare.Summaries(base, new, compare.Options{Force: true})
		if err != nil {
			t.Fatal(err)
		}
		checkSums(t, c, base, new)
		t.Log(c.Headline)
	}
}
