package judge

import (
	"bytes"
	"sync"
	"testing"

	"assay/analyze"
	"assay/analyze/ranks"
	"assay/analyze/ranks/collective"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

// troubles are written once, because their traces take seconds.
var troubles = sync.OnceValue(tracegen.Troubles)

// labelledTraces are the troubles that generated traces show.
func labelledTraces() (out []labelled) {
	for _, tr := range troubles() {
		out = append(out, labelled{
			name: tr.Name, label: tr.Rule, near: tr.Near, limits: tr.Limits, num: tr.NS, den: tr.OfNS,
			in: func(t *testing.T) *summary.Summary { return traced(t, tr.Ranks) },
		})
	}
	return out
}

// traced reads the traces of all ranks and adds them up.
func traced(t *testing.T, perRank []tracegen.Story) *summary.Summary {
	t.Helper()
	var all []*summary.Summary
	var members []ranks.Member
	for rank, story := range perRank {
		tr, err := trace.Read(bytes.NewReader(story.JSON), story.Name, analyze.Needs())
		if tr == nil {
			t.Fatalf("%s: %v", story.Name, err)
		}
		opt := analyze.DefaultOptions()
		opt.Collectives = func(device int64, c *collective.Columns) {
			members = append(members, ranks.Member{Input: rank, Rank: rank, Device: device, Columns: c})
		}
		all = append(all, analyze.Trace(tr, summary.Input{Path: story.Name, Format: "kineto", Rank: rank}, opt))
	}
	s := summary.Merge(all...)
	if job := ranks.Match(members); job != nil {
		job.AddTo(s)
	}
	return s
}
