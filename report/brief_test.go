package report

import (
	"regexp"
	"strings"
	"testing"

	"assay/compare"
	"assay/internal/test/marktest"
	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/judge/finding"
	"assay/summary"
)

// briefRuns are summaries of each kind of input, ordinary and hostile.
func briefRuns() map[string]*summary.Summary {
	return map[string]*summary.Summary{
		"train": samplerun.Train(), "host": samplerun.Host(), "phases": samplerun.Phases(), "attributed": samplerun.Attributed(8), "counted": samplerun.Counted(),
		"memory": samplerun.Memory(), "profile": samplerun.Profile(), "tables": samplerun.Tables(), "many": samplerun.ManyReasons(300),
		"hostile memory": samplerun.HostileMemory(), "strange phases": samplerun.StrangePhases(), "empty": {},
	}
}

// TestBriefPage checks the page for a pull request: it is short, is Markdown that no name
// can break, begins with the verdict, and has no heading in what is folded.
func TestBriefPage(t *testing.T) {
	for name, s := range briefRuns() {
		for _, hostile := range append([]string{""}, samplerun.HostileNames()...) {
			for i := range s.Kernels {
				if hostile != "" {
					s.Kernels[i].Name = hostile + strings.Repeat("x", i)
				}
			}
			md := render(t, Brief(s, judged(s)).BriefMarkdown)
			if len(md) >= 4000 {
				t.Errorf("%s: %d bytes", name, len(md))
			}
			marktest.Check(t, name, md)
			if parts := strings.Split(md, "\n## "); len(parts) < 2 || !strings.HasPrefix(parts[1], "Verdict: ") {
				t.Errorf("%s: the verdict is not the first section:\n%s", name, md)
			}
			if strings.Count(md, "\n<details>\n") != strings.Count(md, "\n</details>\n") {
				t.Errorf("%s: what is folded does not end:\n%s", name, md)
			}
			if i := strings.Index(md, "\n<details>\n"); i >= 0 && strings.Contains(md[i:], "\n## ") {
				t.Errorf("%s: a heading is behind what is folded:\n%s", name, md)
			}
		}
	}
}

// TestBriefParts checks what the page has of a run whose sums are known.
func TestBriefParts(t *testing.T) {
	s := samplerun.Train()
	var r judge.Result
	r.Verdict = finding.Verdict{Bound: "communication", Sentence: "it waits", Rule: "exposed-communication"}
	for _, f := range []string{"exposed-communication", "capture-quality", "a", "b", "c", "d", "e"} {
		r.Findings = append(r.Findings, finding.Finding{Rule: f, Level: finding.Warn, Title: "Title " + f})
	}
	md := render(t, Brief(s, r).BriefMarkdown)
	open, folded, _ := strings.Cut(md, "<details>")
	wantText(t, open, "## Verdict: communication-bound\n\n**It waits.**", "**warning** Title a", "**warning** Title b", "**warning** Title c")
	if regexp.MustCompile(`Title (d|e|capture|exposed)`).MatchString(open) {
		t.Errorf("more than three findings are open:\n%s", open)
	}
	wantText(t, folded, "<summary>2 more findings</summary>", "**warning** Title d", "**warning** Title e", "<summary>Capture (issues: events-not-closed)</summary>")
	// 60.0%, 20.0%, 2.0% and 18.0% of 14 cells; a part under half a cell is not drawn.
	wantText(t, open, "|     60.0% |  20.0% |     2.0% |  18.0% | ████████▓▓▓··· |")
}

// TestReportOpensWithBrief checks that reports begin with the text of the page.
func TestReportOpensWithBrief(t *testing.T) {
	opens := func(name string, whole, alone Report) {
		t.Helper()
		page := render(t, alone.BriefMarkdown)
		if report := render(t, whole.Markdown); !strings.HasPrefix(report, page) || page == "" {
			t.Errorf("%s: the report does not begin with the page", name)
		}
		if summary := render(t, whole.StepSummary); !strings.HasPrefix(summary, page) {
			t.Errorf("%s: the summary of a workflow step does not begin with the page", name)
		}
	}
	for name, s := range briefRuns() {
		opens(name, Build(s, judged(s)), Brief(s, judged(s)))
	}
	for name, c := range samplerun.Comparisons(t) {
		opens(name, BuildDiff(c), BuildDiff(c))
	}
}

// briefChanges is the largest number of changes on the page of a comparison.
const briefChanges = 5

// TestBriefComparison checks the page of a comparison.
func TestBriefComparison(t *testing.T) {
	for name, c := range samplerun.Comparisons(t) {
		md := render(t, BuildDiff(c).BriefMarkdown)
		if len(md) >= 4000 || !strings.Contains(md, "\n## What changed\n\n**") {
			t.Errorf("%s: %d bytes:\n%s", name, len(md), md)
		}
		marktest.Check(t, name, md)
	}
	md := render(t, BuildDiff(samplerun.Compared(t, samplerun.Train(), samplerun.Slower())).BriefMarkdown)
	wantText(t, md, "\n## GPU time\n", "| baseline |", "| new ", "| delta ", "| delta % ", "\n## Largest changes\n")
	open, _, _ := strings.Cut(md, "<details>")
	_, changes, _ := strings.Cut(open, "## Largest changes\n")
	if n := strings.Count(changes, "\n- **"); n < 1 || n > briefChanges {
		t.Errorf("%d changes:\n%s", n, changes)
	}
}

// TestBriefHostile checks that the page is short, is there, and stays Markdown whatever paths,
// phases, functions, metrics and kernels are called.
func TestBriefHostile(t *testing.T) {
	for _, name := range append(samplerun.HostileNames(), strings.Repeat("|`<>@*_", 900), strings.Repeat("</details>", 500), strings.Repeat("@a ", 900)) {
		for i, pair := range hostilePairs(name) {
			c, err := compare.Summaries(pair[0], pair[1], compare.Options{Force: true})
			if err != nil {
				t.Fatalf("%d: %v", i, err)
			}
			d := BuildDiff(c)
			md := render(t, d.BriefMarkdown)
			if len(md) >= 4000 || !strings.Contains(md, "\n## What changed\n\n**") {
				t.Errorf("%.20q, %d: %d bytes: %.300s", name, i, len(md), md)
			}
			marktest.Check(t, "comparison", md)
			if md = render(t, Brief(pair[1], judged(pair[1])).BriefMarkdown); len(md) >= 4000 || !strings.Contains(md, "\n## Verdict: ") {
				t.Errorf("%.20q, %d: %d bytes: %.300s", name, i, len(md), md)
			}
			marktest.Check(t, "report", md)
		}
	}
}

// hostilePairs are two sides of each kind of input with a name in each place for one.
func hostilePairs(name string) (out [][2]*summary.Summary) {
	side := func(scale int64) (timeline, logged, totals *summary.Summary) {
		in := []summary.Input{{Path: "dir/" + name + ".json", Format: "kineto", Complete: true}}
		timeline = &summary.Summary{Inputs: in}
		a := summary.Activity{}
		a[summary.ClassCompute], a[0] = 60*scale, 40*scale
		timeline.Devices = []summary.Device{{Name: name, Activity: a}}
		timeline.Kernels = []summary.Kernel{{Name: name, Class: "compute", Category: name, Op: name, Count: scale, TotalNS: 60 * scale}, {Name: name + "2", Class: "compute", Count: 1, TotalNS: 1}}
		timeline.Idle = []summary.Idle{{Owner: summary.OwnerHost, State: name, Name: name, NS: 40 * scale, Count: 1, MaxNS: 40 * scale}}
		logged = &summary.Summary{Inputs: in}
		for n := range int64(6) {
			logged.Steps = append(logged.Steps, summary.Step{Source: summary.SourceLog, Device: summary.NoDevice, Marker: name, Number: n, WallNS: 1000 * scale,
				Phases: []summary.StepPhase{{Name: name, NS: 600 * scale}, {Name: name + "2", NS: 300}}})
		}
		v := float64(scale)
		one := int64(scale)
		logged.Series = []summary.Series{{Producer: name, Metric: "serving.ttft", Name: name, Role: "latency", Better: "lower", Unit: name, N: 1, Median: &v, Max: &v, Sum: &v, Labels: map[string]string{name: name}}}
		totals = &summary.Summary{Inputs: in, Tables: []summary.Table{{Tool: name, Name: name, Of: summary.OfFunction,
			Columns: []summary.TableColumn{{Name: "self", Unit: "ns", Adds: summary.AddsSelf}}, Rows: []summary.TableRow{{Name: name, Values: []*int64{&one}}}}}}
		return timeline, logged, totals
	}
	t1, l1, f1 := side(100)
	t2, l2, f2 := side(250)
	return [][2]*summary.Summary{{t1, t2}, {l1, l2}, {f1, f2}}
}
