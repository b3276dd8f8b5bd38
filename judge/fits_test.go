package judge

import (
	"slices"
	"testing"

	"assay/internal/test/snapgen"
	"assay/internal/test/tracegen"
	"assay/judge/rule"
)

// ofRanks are the remedies about ranks that were not given, which come before the others.
var ofRanks = []string{"give-all-ranks", "send-less-between-ranks"}

// TestAdviceFits: the first remedy of a finding fits its cause, and no remedy is for a cause
// that the run only looks like.
func TestAdviceFits(t *testing.T) {
	for _, fit := range tracegen.Fits() {
		r := Judge(traced(t, fit.Ranks), rule.DefaultThresholds())
		if string(r.Verdict.Bound) != fit.Bound {
			t.Errorf("%s: %s-bound, want %s\n%s", fit.Name, r.Verdict.Bound, fit.Bound, told(r))
		}
		f := findingOf(r.Findings, fit.Rule)
		if f == nil {
			t.Errorf("%s: no finding of %s\n%s", fit.Name, fit.Rule, told(r))
			continue
		}
		next := ids(f.Next)
		for len(next) > 0 && next[0] != fit.First && slices.Contains(ofRanks, next[0]) {
			next = next[1:]
		}
		if len(next) == 0 || next[0] != fit.First {
			t.Errorf("%s: the remedies of %s are %q, want %s first", fit.Name, fit.Rule, ids(f.Next), fit.First)
		}
		for _, f := range r.Findings {
			for _, id := range ids(f.Next) {
				if slices.Contains(fit.Never, id) {
					t.Errorf("%s: %s gives %s", fit.Name, f.Rule, id)
				}
			}
		}
	}
}

// TestLeaksComeFirst: if memory grows until it is gone, the line that allocates comes before
// what only takes less memory. Without growth there is no such line.
func TestLeaksComeFirst(t *testing.T) {
	leak := snapgen.Options{Seed: 1, Steps: 8, Layers: 12, Scatter: true, Exhaust: true}
	large := snapgen.Options{Seed: 1, Steps: 1, Layers: 30, Exhaust: true}
	for name, tt := range map[string]struct {
		opt   snapgen.Options
		leaks bool
	}{"a leak": {leak, true}, "a large model": {large, false}} {
		f := find(t, Judge(played(tt.opt)(t), rule.DefaultThresholds()), rule.MemoryExhausted)
		if first := f.Next[0]; (first.ID == "free-what-a-line-allocates") != tt.leaks || tt.leaks && first.Args["site"] == "" {
			t.Errorf("%s: the steps are %q, the first one about %v", name, ids(f.Next), first.Args)
		}
	}
}
