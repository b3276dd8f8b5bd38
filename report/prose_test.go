package report

import (
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/judge/finding"
	"assay/summary"
)

// TestAdviceIsWhole: long advice and help are wrapped, not cut.
func TestAdviceIsWhole(t *testing.T) {
	s := samplerun.Train()
	help := "the profiler was stopped before it had written everything that it had recorded, so the last of the events are missing; export the trace only after prof.stop() has returned, and never from a handler of a signal"
	s.Issues[0].Help = help
	r := goldenResult(s)
	r.Findings[1].Level = finding.Warn
	r.Findings[1].Next = []finding.Step{says(help)}
	r.Findings[0].Next[0] = says(help)
	out := strings.Join(strings.Fields(text(t, Build(s, r), 80)), " ")
	if n := strings.Count(out, help); n != 3 {
		t.Errorf("the text has the advice %d times, want 3:\n%s", n, text(t, Build(s, r), 80))
	}
}

// TestVerdictByRule: the finding that decided is not repeated below the
// verdict, though the verdict says it in other words.
func TestVerdictByRule(t *testing.T) {
	s := samplerun.Train()
	r := goldenResult(s)
	r.Verdict.Rule, r.Verdict.Sentence = "exposed-communication", "the GPUs wait for each other"
	out := text(t, Build(s, r), 80)
	if strings.Contains(out, r.Findings[0].Title[:30]) || !strings.Contains(out, "Fix: Profile every rank") {
		t.Errorf("the finding is not taken for the verdict:\n%s", out)
	}
}

// TestIssuePlace: the text says where an issue was met where that is not
// plain.
func TestIssuePlace(t *testing.T) {
	for _, tc := range []struct {
		code   string
		inputs int
		want   bool
	}{{"orphan", 1, false}, {"orphan", 2, true}, {"input-truncated", 1, true}} {
		s := &summary.Summary{Inputs: make([]summary.Input, tc.inputs), Issues: []summary.Issue{{Code: tc.code, Count: 1, First: "run.json@81920"}}}
		if out := text(t, Build(s, judged(s)), 80); strings.Contains(out, "first at run.json@81920") != tc.want {
			t.Errorf("%+v:\n%s", tc, out)
		}
	}
}
