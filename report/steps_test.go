package report

import (
	"bytes"
	"strings"
	"testing"

	"assay/analyze"
	"assay/internal/test/tracegen"
	"assay/judge"
	"assay/judge/rule"
	"assay/summary"
	"assay/trace"
)

// TestStepPhases checks the report of a trainer whose rollout engine is another process. Each step takes
// 48.6 s on its host, and the first generation precedes the window of the GPU.
func TestStepPhases(t *testing.T) {
	of := func(story tracegen.Story) Report {
		tr, err := trace.Read(bytes.NewReader(story.JSON), "rl.json", analyze.Needs())
		if err != nil {
			t.Fatal(err)
		}
		s := analyze.Trace(tr, summary.Input{Path: "rl.json", Format: "kineto", Complete: true}, analyze.DefaultOptions())
		return Build(s, judge.Judge(s, rule.DefaultThresholds()))
	}
	elsewhere := of(tracegen.RLTrainer("rl", 4, 30_000, 12_000, 5_000, 1_600))
	md := render(t, elsewhere.BriefMarkdown)
	wantText(t, md, "Step of 48.6 s: generation 61.7%, training 24.7%, weight sync 10.3%, data 3.3%.", "## Step by phase",
		"CPU time per step, mean of 4 steps: 48.6 s", "| generation ", "30.000 |     61.7% | ██████████ | no GPU work of this process |", "the rollout engine is another process. Profile it, or give its log.")
	for _, s := range elsewhere.Brief {
		if s.Title != "Verdict: host-bound" {
			continue
		}
		text := render(t, elsewhere.BriefMarkdown)
		fix, _, _ := strings.Cut(text[strings.Index(text, "What to do first:"):], "\n## ")
		if !strings.Contains(fix, "profile the inference engine") || strings.Contains(fix, "CUDA graphs") {
			t.Errorf("the first advice is %s", fix)
		}
	}
	if !strings.Contains(md, "## Verdict: host-bound") {
		t.Errorf("the trainer waits for the engine:\n%s", md)
	}
	own := render(t, of(tracegen.RLSteps("rl", 4, 30_000, 12_000, 5_000, 1_600)).BriefMarkdown)
	wantText(t, own, "Step of 48.6 s: generation 61.7%")
	if strings.Contains(own, "rollout engine") || strings.Count(own, "no GPU work of this process") != 1 {
		t.Errorf("this process generates, and only data has no work:\n%s", own)
	}
}
