package report

import (
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/judge"
	"assay/judge/rule"
)

// TestPhaseTable holds the tables to the comment of samplerun.Phases: what is within a
// phase follows it, shares are of both windows, and the rest comes last.
func TestPhaseTable(t *testing.T) {
	s := samplerun.Phases()
	d := Build(s, samplerun.PhasesResult(s))
	rows := tableOf(t, render(t, d.Markdown), "Phases")[1:]
	want := [][]string{{"generation", "50.0%", "30.000"}, {"· decode", "40.0%", "24.000"}, {"training", "25.0%", "15.000"}, {"weight sync", "15.0%", "9.000"}, {"outside phases", "10.0%", "6.000"}}
	if len(rows) != len(want) {
		t.Fatalf("%d rows, want %d: %q", len(rows), len(want), rows)
	}
	for i, w := range want {
		if rows[i][0] != w[0] || rows[i][6] != w[1] || rows[i][7] != w[2] {
			t.Errorf("row %q, want %q", rows[i], w)
		}
	}
	steps := tableOf(t, render(t, d.Markdown), "Steps")[1:]
	if len(steps) != 5 || steps[0][1] != "warm-up" || steps[1][1] != "" || steps[4][0] != "`step 4`" {
		t.Errorf("steps %q", steps)
	}
}

// TestManyPhases: what tables leave out of more phases is counted.
func TestManyPhases(t *testing.T) {
	s := samplerun.StrangePhases()
	d := Build(s, judge.Judge(s, rule.DefaultThresholds()))
	if got := text(t, d, 80); !strings.Contains(got, "more phases, ") && !strings.Contains(got, "outside phases") {
		t.Errorf("the screen says nothing of phases:\n%s", got)
	}
	md := render(t, d.Markdown)
	if !strings.Contains(md, "61 more phases") {
		t.Errorf("the report does not say that 61 of 101 rows are left out")
	}
}
