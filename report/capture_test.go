package report

import (
	"bytes"
	"math"
	"regexp"
	"strings"
	"testing"

	"assay/internal/unit"
	"assay/judge"
	"assay/judge/rule"
	"assay/report/section"
	"assay/summary"
)

// TestWholeness: an input may be read to its end and still have lost events.
func TestWholeness(t *testing.T) {
	for _, tc := range []struct {
		complete bool
		severity string
		want     string
	}{
		{true, "info", ", complete"},
		{true, "suspect", ", complete"},
		{true, "data-loss", ", read to the end, with data loss"},
		{false, "data-loss", ", incomplete"},
	} {
		s := &summary.Summary{Inputs: []summary.Input{{Complete: tc.complete}}, Issues: []summary.Issue{{Code: "x", Severity: tc.severity, Count: 1}}}
		if line := captureLine(section.New(s, judge.Result{})); !strings.HasSuffix(line, tc.want) {
			t.Errorf("complete %t, %s: %q, want it to end in %q", tc.complete, tc.severity, line, tc.want)
		}
	}
}

// TestNoNegativeDurations prints a run whose numbers take most of what the bounds have, and whose
// moments are as far apart as int64 has them.
func TestNoNegativeDurations(t *testing.T) {
	const most = 1 << 53
	s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "x", Complete: true, SpanNS: most}, {Path: "y", Complete: true, SpanNS: most, Rank: 1}}}
	for i := range 2 {
		for dev := range int64(2) {
			d := summary.Device{Input: i, Rank: i, Device: dev, StartNS: math.MinInt64, WindowNS: most, Events: most}
			if dev == 1 {
				d.StartNS = 0
			}
			d.Activity = summary.Activity{0: most / 2, summary.ClassComm: most / 4, summary.ClassCompute: most - most/2 - most/4}
			for range 3 {
				d.Durations.Add(most)
				d.Gaps.Add(most)
			}
			d.LargestGaps = []summary.Gap{{StartNS: -math.MaxInt64, NS: most}, {NS: most}}
			s.Devices = append(s.Devices, d)
			bytes := int64(most)
			s.Streams = append(s.Streams, summary.Stream{Input: i, Rank: i, Device: dev, Stream: 7, Kernels: most, BusyNS: most, WorkNS: most})
			s.Steps = append(s.Steps, summary.Step{Input: i, Rank: i, Device: dev, Name: "ProfilerStep#1", Number: 1, WallNS: most, Activity: d.Activity})
			s.Copies = append(s.Copies, summary.Copy{Name: "Memcpy HtoD", Class: "copy", Input: i, Rank: i, Device: dev, Count: most, TotalNS: most, MaxNS: most, Bytes: &bytes})
			for _, class := range []string{"compute", "comm"} {
				s.Kernels = append(s.Kernels, summary.Kernel{Name: class, Class: class, Category: class, Input: i, Rank: i, Device: dev, Op: "aten::mm", Count: most, TotalNS: most, MaxNS: most})
			}
		}
	}
	if err := summary.NewBounds().Take(s); err != nil {
		t.Fatal(err)
	}
	d := Build(s, judge.Judge(s, rule.DefaultThresholds()))
	// A minus before a digit, without a letter, digit or bracket in front.
	negative := regexp.MustCompile(`(^|[\s(|])-[0-9]+(\.[0-9]+)? ?(ns|µs|ms|s|min|h|B|[KMGTPE]iB|%)?\b`)
	var text, markdown bytes.Buffer
	if err := d.Text(&text, 100); err != nil {
		t.Fatal(err)
	}
	if err := d.Markdown(&markdown); err != nil {
		t.Fatal(err)
	}
	for _, out := range []string{text.String(), markdown.String()} {
		for _, line := range strings.Split(out, "\n") {
			// The start of a gap may be before the origin of the clock.
			if at := negative.FindString(line); at != "" && !strings.Contains(line, "µs") {
				t.Errorf("%q is negative in %q", at, line)
			}
		}
	}
	if !strings.Contains(text.String(), unit.Duration(2*most)) {
		t.Errorf("no %s in\n%s", unit.Duration(2*most), text.String())
	}
	for _, c := range d.Charts() {
		if err := c.PNG(&bytes.Buffer{}); err != nil {
			t.Errorf("%s: %v", c.File(), err)
		}
	}
}
