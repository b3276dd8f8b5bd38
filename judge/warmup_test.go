package judge

import (
	"slices"
	"strings"
	"testing"

	"assay/internal/test/tracegen"
	"assay/judge/rule"
	"assay/summary"
)

// TestWarmUpChangesNothing: a program that warms up in its first step has the verdict of the
// same program without that, and the findings with their first remedies, except the one on
// the warm-up.
func TestWarmUpChangesNothing(t *testing.T) {
	rules := func(r Result) string {
		var out []string
		for _, f := range r.Findings {
			if f.Rule != rule.WarmUpSteps {
				out = append(out, f.Rule+": "+f.Next[0].ID)
			}
		}
		slices.Sort(out)
		return strings.Join(out, " ")
	}
	for _, w := range tracegen.WarmUps() {
		with, without := Judge(traced(t, w.With), rule.DefaultThresholds()), Judge(traced(t, w.Without), rule.DefaultThresholds())
		if findingOf(with.Findings, rule.WarmUpSteps) == nil || findingOf(without.Findings, rule.WarmUpSteps) != nil {
			t.Errorf("%s: warm-up\n%snone\n%s", w.Name, told(with), told(without))
		}
		if with.Verdict.Bound != without.Verdict.Bound {
			t.Errorf("%s: %s-bound, want %s\n%s", w.Name, with.Verdict.Bound, without.Verdict.Bound, told(with))
		}
		if rules(with) != rules(without) {
			t.Errorf("%s: findings of %q, want %q\n%s", w.Name, rules(with), rules(without), told(with))
		}
	}
}

// TestIdleOfFirstSteps: the causes of the idle time of the first steps sum to it. Of a
// warm-up they have the time that it was made with. Later steps have none.
func TestIdleOfFirstSteps(t *testing.T) {
	for _, w := range tracegen.WarmUps() {
		if !strings.HasSuffix(w.Name, "_and_compiles") {
			continue
		}
		s := traced(t, w.With)
		for i, st := range s.Steps {
			ns, compiling := int64(0), int64(0)
			for _, r := range st.Idle {
				if ns += r.NS; strings.HasSuffix(r.Name, "_compile") {
					compiling += r.NS
				}
			}
			before := max(0, s.Devices[0].StartNS-st.StartNS)
			after := max(0, st.StartNS+st.WallNS-s.Devices[0].StartNS-s.Devices[0].WindowNS)
			if want := st.Activity.Idle() - before - after; i < summary.MaxIdleSteps && ns != want || i >= summary.MaxIdleSteps && ns != 0 {
				t.Errorf("%s: causes of %d ns in step %d, which is idle for %d ns", w.Name, ns, i, want)
			}
			if want := map[bool]int64{true: 16 * ms}[i == 0]; compiling != want {
				t.Errorf("%s: step %d compiles for %d ns, want %d", w.Name, i, compiling, want)
			}
		}
	}
}
