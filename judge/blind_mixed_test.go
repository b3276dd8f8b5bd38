package judge

import (
	"math"
	"slices"
	"testing"

	"assay/internal/test"
	"assay/internal/test/blind"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/judge/tree"
)

// TestBlindMixed judges programs with several causes of random sizes: the verdict is the part
// of the window with the largest loss, a cause of 15% of the window or more is in the tree,
// causes have at most the time of their part, and without a cause its finding is gone
// while findings on other parts stay.
func TestBlindMixed(t *testing.T) {
	bounds := map[finding.Bound]int{}
	removed := 0
	for seed := range uint64(stories(t, 60/test.Every(4))) {
		m := blind.Mixed(seed)
		text, parts := m.Simulate(-1, 1)
		s := measured(t, m.Name, [][]byte{text})
		sameParts(t, m.Name, s, parts)
		with := Judge(s, rule.DefaultThresholds())
		bounds[with.Verdict.Bound]++
		if want := largest(parts); with.Verdict.Bound != want && want != "" {
			t.Errorf("%s: %s-bound, want %s (%+v)\n%s", m.Name, with.Verdict.Bound, want, parts, told(with))
		}
		of := partsOfRules(with.Tree)
		for i, cause := range m.Causes {
			text, without := m.Simulate(i, 1)
			share := float64(parts.Window-without.Window) / float64(parts.Window)
			if share < 0.15 {
				continue
			}
			removed++
			if len(of[cause.Rules[0]]) == 0 {
				t.Errorf("%s: %s costs %.0f%% of the window, and is not in the tree\n%s", m.Name, cause.Rules[0], 100*share, told(with))
			}
			r := Judge(measured(t, m.Name, [][]byte{text}), rule.DefaultThresholds())
			sameOthers(t, m.Name, cause.Rules[0], with, r)
		}
	}
	if few := test.Every(4); removed < 60/few || bounds[finding.BoundHost] < 15/few || bounds[finding.BoundCommunication] < 5/few || bounds[finding.BoundCopies] < 5/few {
		t.Errorf("%d causes, %v; the test tests little", removed, bounds)
	}
}

// largest returns the verdict of the part with the largest loss, or "" if no part is over
// its limit, or two are nearly as large.
func largest(p blind.Parts) finding.Bound {
	type loss struct {
		ns    int64
		bound finding.Bound
	}
	share := func(part float64) int64 { return int64(part * float64(p.Window)) }
	losses := []loss{}
	for _, l := range []struct {
		loss
		limit float64
	}{{loss{p.Idle, finding.BoundHost}, 0.15}, {loss{p.Comm, finding.BoundCommunication}, 0.10}, {loss{p.Copies, finding.BoundCopies}, 0.05}} {
		if l.ns > share(l.limit) {
			losses = append(losses, l.loss)
		}
	}
	slices.SortFunc(losses, func(a, b loss) int { return int(min(max(b.ns-a.ns, -1), 1)) })
	if len(losses) == 0 || len(losses) > 1 && losses[0].ns-losses[1].ns < share(0.01) {
		return ""
	}
	return losses[0].bound
}

// sameOthers checks that the finding of a cause goes with it, and that no finding on
// another part does.
func sameOthers(t *testing.T, name, cause string, with, without Result) {
	t.Helper()
	for _, f := range without.Findings {
		if f.Level > finding.Info && f.Rule == cause {
			t.Errorf("%s: %s without its cause\n%s", name, cause, told(without))
		}
	}
	of := partsOfRules(with.Tree)
	for _, f := range with.Findings {
		at := of[f.Rule]
		other := len(at) == 1 && at[0] != tree.PartCompute && !slices.Contains(of[cause], at[0])
		if other && f.Level > finding.Info && findingOf(without.Findings, f.Rule) == nil && findingOf(without.Findings, f.InPlaceOf) == nil {
			t.Errorf("%s: %s goes with %s\n%s\nand\n%s", name, f.Rule, cause, told(with), told(without))
		}
	}
}

// TestBlindMixedTenTimesSlower writes all times ten times as long: rules whose limits are shares of the
// window say the same.
func TestBlindMixedTenTimesSlower(t *testing.T) {
	ofShares := []string{rule.GPUIdle, rule.ExposedComm, rule.ExposedCopies, rule.DataLoading, rule.Allocating, rule.ComputeBound, rule.DominantKernel}
	for seed := range uint64(stories(t, 60/test.Every(4))) {
		m := blind.Mixed(seed)
		var r [2]Result
		for i, factor := range []int64{1, 10} {
			text, _ := m.Simulate(-1, factor)
			r[i] = Judge(measured(t, m.Name, [][]byte{text}), rule.DefaultThresholds())
		}
		if r[0].Verdict.Bound != r[1].Verdict.Bound {
			t.Errorf("%s: %s-bound, ten times slower %s-bound\n%s\nand\n%s", m.Name, r[0].Verdict.Bound, r[1].Verdict.Bound, told(r[0]), told(r[1]))
		}
		for _, id := range ofShares {
			f, g := findingOf(r[0].Findings, id), findingOf(r[1].Findings, id)
			if (f == nil) != (g == nil) || f != nil && f.Rule == g.Rule && (f.Level != g.Level || math.Abs(f.Value-g.Value) > 1e-6) {
				t.Errorf("%s: %s differs\n%s\nand\n%s", m.Name, id, told(r[0]), told(r[1]))
			}
		}
	}
}
