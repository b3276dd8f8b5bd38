package report

import (
	"fmt"
	"strings"
	"testing"

	"assay/internal/label"
	"assay/internal/samplerun"
	"assay/judge"
	"assay/summary"
)

func TestShortenQuoted(t *testing.T) {
	long := "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, at::native::MeanOps<float, float>>>(int)"
	for in, want := range map[string]string{
		`kernel "gemm" is 60.0% of work`:                 `kernel "gemm" is 60.0% of work`,
		fmt.Sprintf("kernel %q is 60.0%% of work", long): `kernel "reduce_kernel<512, 1, ReduceOp<floa…" is 60.0% of work`,
		`a lone " stays`:                                 `a lone " stays`,
		`two "a" and "b"`:                                `two "a" and "b"`,
		fmt.Sprintf("%q", strings.Repeat(`\"`, 3)):       fmt.Sprintf("%q", strings.Repeat(`\"`, 3)),
	} {
		if got := shortenQuoted(in, 36); got != want {
			t.Errorf("%s\ngot  %s\nwant %s", in, got, want)
		}
	}
}

// TestBrief: nothing on the screen ends within a sentence.
func TestBrief(t *testing.T) {
	one := "Each of these sentences has exactly as many words as the others do, and one has no end of its own. "
	for n := 1; n < 8; n++ {
		text := strings.TrimSpace(strings.Repeat(one, n))
		got := brief(text)
		if label.Width(got) > briefColumns || !strings.HasSuffix(got, ".") || strings.Contains(got, label.Ellipsis) || !strings.HasPrefix(text, got) {
			t.Errorf("%d sentences become %q", n, got)
		}
		if n < 3 && got != text {
			t.Errorf("%d sentences become %q", n, got)
		}
	}
	path := "/" + strings.Repeat("a/", 60) + "trace.json"
	if got := brief("it has rank 0, as " + path + " has"); label.Width(got) != 18+briefWord+4 || !strings.HasPrefix(got, "it has rank 0, as /a/") || !strings.HasSuffix(got, "trace.json has") {
		t.Errorf("a long path becomes %q", got)
	}
	whole := strings.Repeat("one sentence that goes on, ", 12) + "and on"
	if got := brief(whole); got != whole {
		t.Errorf("a sentence was cut to %q", got)
	}
}

// TestAdviceIsWhole: long advice and help are wrapped, not cut.
func TestAdviceIsWhole(t *testing.T) {
	s := samplerun.Train()
	help := "the profiler was stopped before it had written everything that it had recorded, so the last of the events are missing; export the trace only after prof.stop() has returned, and never from a handler of a signal"
	s.Issues[0].Help = help
	r := goldenResult(s)
	r.Findings[1].Level = judge.Warn
	r.Findings[1].Next = []judge.Step{says(help)}
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
