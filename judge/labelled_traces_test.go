package judge

import (
	"bytes"
	"testing"

	"assay/analyze"
	"assay/internal/gen/tracegen"
	"assay/summary"
	"assay/trace"
)

// labelledTraces are the troubles that generated traces show.
func labelledTraces() (out []labelled) {
	for _, tr := range tracegen.Troubles() {
		out = append(out, labelled{
			name: tr.Name, label: tr.Rule, near: tr.Near, limits: tr.Limits, num: tr.NS, den: tr.OfNS,
			in: func(t *testing.T) *summary.Summary { return traced(t, tr.Ranks) },
		})
	}
	return out
}

// traced reads the traces of all ranks and adds them up.
func traced(t *testing.T, ranks []tracegen.Story) *summary.Summary {
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
