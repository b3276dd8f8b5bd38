package partial

import (
	"testing"

	"assay/summary"
)

// TestJoinCompilations: a compilation belongs to the step in which most of it was, of a timeline with Unix time and of
// the same rank.
func TestJoinCompilations(t *testing.T) {
	base := int64(1_700_000_000_000_000_000)
	s := &summary.Summary{
		Inputs: []summary.Input{{BaseTimeNS: &base}, {}, {}},
		Steps: []summary.Step{{Name: "step 1", StartNS: 0, WallNS: 100}, {Name: "step 2", StartNS: 100, WallNS: 50, HostNS: 300},
			{Name: "other rank", Rank: 1, StartNS: 1000, WallNS: 100}, {Name: "logged", StartNS: 1000, WallNS: 100, Source: summary.SourceLog},
			{Name: "no clock", Input: 1, StartNS: base + 1000, WallNS: 100}},
		Compilations: []summary.Compilation{{ID: "0/0", StartNS: base + 80, WallNS: 120}, {ID: "0/1", StartNS: base + 10, WallNS: 20},
			{ID: "0/2", StartNS: base + 1000, WallNS: 50}, {ID: "0/3", WallNS: 50}},
	}
	joinCompilations(s)
	for i, want := range []*summary.CompiledStep{{Name: "step 2", WallNS: 300, InNS: 100}, {Name: "step 1", WallNS: 100, InNS: 20}, nil, nil} {
		got := s.Compilations[i].Step
		if (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%s is in %+v, want %+v", s.Compilations[i].ID, got, want)
		}
	}
}
