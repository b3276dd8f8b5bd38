package ranks

import (
	"strings"
	"testing"

	"assay/judge"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
)

// pipeline returns a run of two stages of two GPUs with windows of 100 ms and two steps. Stage 1
// computes 30 ms longer.
func pipeline() *summary.Summary {
	messages := int64(3)
	s := &summary.Summary{Schema: summary.Schema, Topologies: []summary.Topology{{Stages: 2, Messages: &messages}}}
	for r, one := range []struct{ compute, wait int64 }{{40, 50}, {40, 54}, {70, 20}, {70, 10}} {
		s.Inputs = append(s.Inputs, summary.Input{Path: "x", Rank: r, RankFrom: "trace"})
		d := summary.Device{Input: r, Rank: r, WindowNS: 100 * ms}
		d.Activity[summary.ClassCompute], d.Activity[summary.ClassComm] = one.compute*ms, (100-one.compute)*ms
		s.Devices = append(s.Devices, d)
		stage, wait := r/2, one.wait*ms
		s.Ranks = append(s.Ranks, summary.RankWait{Input: r, Rank: r, Stage: &stage, StageWaitNS: &wait})
		for range 2 {
			s.Steps = append(s.Steps, summary.Step{Input: r, Rank: r})
		}
	}
	return s
}

// TestStages: the table has the means of the GPUs of each stage. Of the 52 ms that a GPU of stage
// 0 waits, 30 are for stage 1. The bubble is 22 ms on each GPU of stage 0 and 15 on those of
// stage 1: 74 of 400 ms.
func TestStages(t *testing.T) {
	ctx := section.New(pipeline(), judge.Result{})
	got := Stages(ctx)
	if len(got) != 1 {
		t.Fatalf("%d sections", len(got))
	}
	for i, want := range []string{
		"0 | 0, 1 | 100.00 | 40.00 | 40.0% | 52.00 | 52.0% | 30.00 | 22.00 | 26.000",
		"1 | 2, 3 | 100.00 | 70.00 | 70.0% | 15.00 | 15.0% | 0.00 | 15.00 | 7.500",
	} {
		if row := cells(table(t, got[0]), i); row != want {
			t.Errorf("row %d is %s, want %s", i, row, want)
		}
	}
	// (p-1)/(m+p-1) with 2 stages and 3 micro-batches is 1/4.
	if lead := got[0].Blocks[0].(doc.Paragraph).Text; lead != "2 stages. The bubble takes 18.5% of GPU time; with 3 micro-batches, a pipeline of equal stages has a bubble of (p-1)/(m+p-1) = 25.0%." {
		t.Errorf("the lead is %q", lead)
	}
	if screen := ScreenStages(ctx); len(screen) != 1 || cells(table(t, screen[0]), 1) != "1 | 2, 3 | 100.00 | 70.00 | 70.0% | 15.00 | 15.0% | 7.500" {
		t.Errorf("the screen has %+v", screen)
	}
}

// TestStagesMostlyFor: of 40 and 60 ms that the GPUs of stage 1 of three wait in messages, 30 and 50 are for
// stage 2, which is 80%. Stage 0 waits as long for both others, so none is named.
func TestStagesMostlyFor(t *testing.T) {
	s := pipeline()
	for i, waits := range [][]summary.StageWait{{{Stage: 1, NS: 7}, {Stage: 2, NS: 7}}, nil,
		{{Stage: 0, NS: 10 * ms}, {Stage: 2, NS: 30 * ms}}, {{Stage: 0, NS: 10 * ms}, {Stage: 2, NS: 50 * ms}}} {
		s.Ranks[i].StageWaits = waits
	}
	ctx := section.New(s, judge.Result{})
	for i, want := range []string{"–", "stage 2 (80.0%)"} {
		if row := cells(table(t, Stages(ctx)[0]), i); !strings.HasSuffix(row, " | "+want) {
			t.Errorf("row %d is %s, want %s at its end", i, row, want)
		}
	}
	if row := cells(table(t, ScreenStages(ctx)[0]), 1); !strings.HasSuffix(row, " | stage 2") {
		t.Errorf("on the screen: %s", row)
	}
}

// TestStagesMissing: with a stage that was not given, the cause of the waiting is not known.
func TestStagesMissing(t *testing.T) {
	s := pipeline()
	s.Topologies[0].Stages = 3
	got := Stages(section.New(s, judge.Result{}))
	if lead := got[0].Blocks[0].(doc.Paragraph).Text; lead != "2 of 3 stages were given." {
		t.Errorf("the lead is %q", lead)
	}
	if tab := table(t, got[0]); len(tab.Columns) != 8 || !strings.Contains(tab.Note, "not known") {
		t.Errorf("the table is %+v", tab)
	}
	if got := Stages(section.New(run(), judge.Result{})); len(got) != 0 {
		t.Errorf("a run without a pipeline has %+v", got)
	}
}

// TestEvenText: equal steps are one sentence; steps that differ have none.
func TestEvenText(t *testing.T) {
	s := run()
	for i := range s.Devices {
		for n := range int64(3) {
			s.Steps = append(s.Steps, summary.Step{Input: i, Rank: s.Devices[i].Rank, Name: "step", Number: n, WallNS: 1000 * ms})
		}
	}
	if got, want := evenText(section.New(s, judge.Result{})), "The times of steps differ by at most 0.1% from the median of the ranks."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Steps[0].WallNS += 4 * ms
	if got, want := evenText(section.New(s, judge.Result{})), "The times of steps differ by at most 0.4% from the median of the ranks."; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	s.Steps[0].WallNS += 4 * ms
	if got := evenText(section.New(s, judge.Result{})); got != "" {
		t.Errorf("steps that differ by 0.8%%: %q", got)
	}
}
