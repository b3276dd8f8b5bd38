package report

import (
	"testing"
	"time"

	"assay/judge"
	"assay/judge/rule"
	"assay/report/section"
	"assay/summary"
)

// TestPageHeadOfRecordedPart: the numbers at the head of the page are those of the breakdown: of 90 ms recorded,
// 72 ms are busy, and 410 ms more in which the GPU ran work that the capture lacks do not count.
func TestPageHeadOfRecordedPart(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, tc := range []struct{ owner, busy, of, budget string }{
		{summary.OwnerNotRecorded, "80.0%", "recorded, of a GPU window of 500 ms", "the recorded window"},
		{summary.OwnerHost, "14.4%", "GPU window", "the window"},
	} {
		var a summary.Activity
		a[0], a[summary.ClassCompute] = 428*ms, 72*ms
		s := &summary.Summary{Inputs: []summary.Input{{Path: "a", Complete: true}},
			Devices: []summary.Device{{WindowNS: 500 * ms, Activity: a, Events: 500}},
			Idle:    []summary.Idle{{Owner: tc.owner, Count: 1, NS: 410 * ms}, {Owner: summary.OwnerLaunch, Count: 4, NS: 18 * ms}}}
		ctx := section.New(s, judge.Judge(s, rule.DefaultThresholds()))
		facts := pageFacts(ctx)
		if first, last := facts[0], facts[len(facts)-1]; first.Value != tc.busy || last.Name != tc.of {
			t.Errorf("%s: %+v, want %s busy and %q", tc.owner, facts, tc.busy, tc.of)
		}
		if b := pageBudget(ctx); b.Of != tc.budget || b.Parts[0] != 72*ms || b.Parts[0]+b.Parts[3] != b.WindowNS {
			t.Errorf("%s: %+v", tc.owner, b)
		}
	}
}
