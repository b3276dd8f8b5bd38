package judge

import (
	"strings"
	"testing"

	"assay/internal/test/tracegen"
	"assay/judge/rule"
	"assay/summary"
)

// labelledCauses are the runs of pairs with their cause, and those without it.
func labelledCauses() (out []labelled) {
	for _, p := range tracegen.Pairs() {
		out = append(out, labelled{name: p.Name, label: p.Rule, near: p.Near, in: func(t *testing.T) *summary.Summary { return traced(t, p.With) }})
	}
	return out
}

// TestPairs: the time by which the window is shorter without a cause is the truth about it.
// From 15% of the window on, the cause is the first finding, with that time, the bound and the
// first advice. Under 5% it is no finding.
func TestPairs(t *testing.T) {
	bounds, rules, advices, all := 0, 0, 0, 0
	for _, p := range tracegen.Pairs() {
		lost, window := p.LostNS(), p.WindowNS()
		if float64(lost) < 0.15*float64(window) {
			t.Errorf("%s: the cause takes %d of %d ns, too little to be named", p.Name, lost, window)
		}
		all++
		r := Judge(traced(t, p.With), rule.DefaultThresholds())
		if string(r.Verdict.Bound) == p.Bound {
			bounds++
		} else {
			t.Errorf("%s: %s-bound, want %s\n%s", p.Name, r.Verdict.Bound, p.Bound, told(r))
		}
		f := findingOf(r.Findings, p.Rule)
		if f == nil || firstRule(r) != p.Rule {
			t.Errorf("%s: the first finding is of %q, want %q\n%s", p.Name, firstRule(r), p.Rule, told(r))
			continue
		}
		rules++
		if f.Next[0].ID != p.Advice {
			t.Errorf("%s: the first advice is %q, want %q", p.Name, f.Next[0].ID, p.Advice)
		} else {
			advices++
		}
		if diff := f.NumeratorNS - lost; float64(max(diff, -diff)) > p.Within*float64(lost) {
			t.Errorf("%s: %s measures %d ns, and the window is %d ns shorter without it", p.Name, p.Rule, f.NumeratorNS, lost)
		}
		for kind, run := range map[string][]tracegen.Story{"without the cause": p.Without, "with little of it": p.Little} {
			if run == nil {
				continue
			}
			if r := Judge(traced(t, run), rule.DefaultThresholds()); findingOf(r.Findings, p.Rule) != nil {
				t.Errorf("%s %s: %s\n%s", p.Name, kind, p.Rule, told(r))
			}
		}
	}
	t.Logf("of %d pairs: %d bounds, %d first findings, %d first remedies", all, bounds, rules, advices)
}

// TestPeriodOfCPUWork: the evidence names the function and how often it runs.
func TestPeriodOfCPUWork(t *testing.T) {
	periods := map[string][2]string{
		"garbage_collection":           {"collect of gc", "in every 5th step"},
		"checkpoint_every_fourth_step": {"save_checkpoint", "in every 4th step"},
		"log_every_fourth_step":        {"log_metrics", "in every 4th step"},
		"evaluation_every_fourth_step": {"evaluate", "in every 4th step"},
	}
	for _, p := range tracegen.Pairs() {
		want, periodic := periods[p.Name]
		if !periodic {
			continue
		}
		f := find(t, Judge(traced(t, p.With), rule.DefaultThresholds()), rule.CPUWork)
		if text := strings.Join(f.Evidence, "\n"); !strings.Contains(text, want[0]) || !strings.Contains(text, want[1]) {
			t.Errorf("%s: no function and period in\n%s", p.Name, text)
		}
	}
}

// TestCauseOfPeriodicSteps: slow steps at equal distances name the function that only they
// have, and the first remedy is for that. Steps that only compute longer name none.
func TestCauseOfPeriodicSteps(t *testing.T) {
	for name, want := range map[string][2]string{
		"checkpoint_every_eighth_step": {"save_checkpoint", "save-asynchronously"},
		"log_every_eighth_step":        {"log_metrics", "log-less-often"},
		"every_fourth_step":            {"", "find-what-is-periodic"},
	} {
		f := find(t, troubled(t, name), rule.PeriodicStalls)
		named := strings.Contains(f.Evidence[0], "takes 3 ms of 5 slow steps on average")
		if named != (want[0] != "") || !strings.Contains(f.Evidence[0], want[0]) || f.Next[0].ID != want[1] {
			t.Errorf("%s: evidence %q, steps %q", name, f.Evidence, ids(f.Next))
		}
	}
}
