package pictures

import (
	"bytes"
	"io"
	"testing"
	"time"

	"assay/analyze"
	"assay/internal/test"
	"assay/internal/test/samplerun"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

// longest is the time in which a picture must be encoded, also on a machine that
// does other work: the slowest takes a twentieth of it.
const longest = 5 * time.Second

// TestLabelledRuns draws every registered picture of every generated run whose
// problem is known, and of the sample runs. No picture panics, clips a text,
// overlaps two texts or takes longer than [longest], and each picture of the list
// is drawn at least once.
func TestLabelledRuns(t *testing.T) {
	runs := samplerun.All()
	runs["counters"] = samplerun.Counted()
	runs["counters and arithmetic"] = samplerun.Roofline(samplerun.Counted())
	for i, trouble := range tracegen.Troubles() {
		if i%test.Every(8) != 0 {
			continue
		}
		runs["labelled "+trouble.Name] = read(t, trouble.Ranks)
	}
	if len(runs) < 100/test.Every(4) {
		t.Fatalf("only %d runs", len(runs))
	}
	drawn := map[string]int{}
	for name, s := range runs {
		r := samplerun.Judged(s)
		for _, p := range all() {
			start := time.Now()
			c, ok := p.draw(s, r)
			if !ok {
				continue
			}
			painted, err := c.Paint()
			if err != nil {
				t.Fatalf("%s: %s: %v", name, p.name, err)
			}
			checkTexts(t, name+": "+p.name, painted)
			if drawn[p.name]++; drawn[p.name] == 1 {
				if err := c.PNG(io.Discard); err != nil {
					t.Errorf("%s: %s: %v", name, p.name, err)
				}
			}
			if took := time.Since(start); took > longest {
				t.Errorf("%s: %s took %v", name, p.name, took)
			}
		}
	}
	for _, p := range all() {
		if drawn[p.name] == 0 {
			t.Errorf("no run has the picture %s", p.name)
		}
	}
}

// read analyzes the traces of all ranks and merges them.
func read(t *testing.T, ranks []tracegen.Story) *summary.Summary {
	t.Helper()
	var all []*summary.Summary
	for rank, story := range ranks {
		tr, err := trace.Read(bytes.NewReader(story.JSON), story.Name, analyze.Needs())
		if tr == nil {
			t.Fatalf("%s: %v", story.Name, err)
		}
		all = append(all, analyze.Trace(tr, summary.Input{Path: story.Name, Format: "kineto", Rank: rank}, analyze.DefaultOptions()))
	}
	return summary.Merge(all...)
}
