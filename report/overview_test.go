package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/judge/finding"
	"assay/judge/rule"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
)

// TestOverview: the overview prints what the whole report prints on a screen and as
// JSON.
func TestOverview(t *testing.T) {
	for name, s := range map[string]*summary.Summary{
		"attributed": samplerun.Attributed(100), "phases": samplerun.Phases(), "profile": samplerun.Profile(), "counters": samplerun.Roofline(samplerun.Counted()), "nothing": {},
	} {
		r := judge.Judge(s, rule.DefaultThresholds())
		whole, overview := Build(s, r), Overview(s, r)
		if len(overview.Sections)+len(overview.Charts()) > 0 {
			t.Errorf("%s: the overview has %d sections and %d pictures", name, len(overview.Sections), len(overview.Charts()))
		}
		for what, print := range map[string]func(Report, *bytes.Buffer) error{
			"text": func(d Report, b *bytes.Buffer) error { return d.Text(b, 80) },
			"JSON": func(d Report, b *bytes.Buffer) error { return d.JSON(b) },
		} {
			var a, b bytes.Buffer
			if err := print(whole, &a); err != nil {
				t.Fatal(err)
			}
			if err := print(overview, &b); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a.Bytes(), b.Bytes()) || a.Len() == 0 {
				t.Errorf("%s: the %s of the overview differs:\n%s\nwant\n%s", name, what, &b, &a)
			}
		}
	}
}

// TestScreenHasRoom: if findings are long, the screen of one trace shows fewer of them,
// counts the others, and keeps its other sections.
func TestScreenHasRoom(t *testing.T) {
	s := samplerun.Attributed(1)
	long := strings.Repeat("a rather long title of a finding ", 10)
	for _, code := range []string{"stream-overlap", "unknown-phase"} {
		s.Issues = append(s.Issues, summary.Issue{Code: code, Severity: "info", Count: 2, Help: long})
	}
	r := judged(s)
	for range 4 {
		r.Findings = append(r.Findings, finding.Finding{Rule: "slow-steps", Level: finding.Critical, Title: long, Confidence: finding.Certain})
	}
	slices.SortStableFunc(r.Findings, func(a, b finding.Finding) int { return int(b.Level) - int(a.Level) })
	all, shown := section.New(s, r), Build(s, r)
	if n := (doc.Doc{Screen: screenSections(all, "", mostFindings)}).ScreenLines(); n <= screenLines {
		t.Fatalf("all findings take %d lines, which have room", n)
	}
	if n := shown.ScreenLines(); n > screenLines {
		t.Errorf("the screen has %d lines", n)
	}
	out := text(t, shown, 80)
	for _, want := range []string{"more findings\n", "Idle time by cause", "Top kernels"} {
		if !strings.Contains(out, want) {
			t.Errorf("the screen lacks %q:\n%s", want, out)
		}
	}
}

// TestParts: every part has a name of its own and something to show, and the page for a
// pull request folds only what the screen has.
func TestParts(t *testing.T) {
	seen := map[string]bool{}
	for _, p := range parts(section.New(samplerun.Attributed(1), judge.Result{})) {
		if p.name == "" || seen[p.name] {
			t.Errorf("two parts are named %q, or one has no name", p.name)
		}
		seen[p.name] = true
		if p.screen == nil && p.report == nil || p.fold != notBriefly && p.screen == nil {
			t.Errorf("part %q shows nothing, or the page for a pull request folds what the screen lacks", p.name)
		}
	}
	if !seen[partFindings] {
		t.Errorf("no part is named %q", partFindings)
	}
}
