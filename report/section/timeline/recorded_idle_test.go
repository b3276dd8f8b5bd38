package timeline

import (
	"testing"
	"time"

	"assay/judge"
	"assay/judge/rule"
	"assay/report/section"
	"assay/summary"
)

// TestRecordedIdle: idle time is shown for the part of the window that the breakdown shows. 60 ms of compute and
// 140 ms without, of which 130 ms are not recorded: 10 of 70 ms are idle. Idle time of the CPU all counts.
func TestRecordedIdle(t *testing.T) {
	const ms = int64(time.Millisecond)
	for _, tc := range []struct {
		owner, screen string
		mostly        bool
	}{
		{summary.OwnerNotRecorded, "Idle time by cause (10 ms, 14.3% of the recorded window)", false},
		{summary.OwnerHost, "Idle time by cause (140 ms, 70.0% of the window)", true},
	} {
		var a summary.Activity
		a[0], a[summary.ClassCompute] = 140*ms, 60*ms
		s := &summary.Summary{Inputs: []summary.Input{{Path: "a", Complete: true}},
			Devices: []summary.Device{{WindowNS: 200 * ms, Activity: a, Events: 500}},
			Idle:    []summary.Idle{{Owner: tc.owner, Count: 1, NS: 130 * ms}, {Owner: summary.OwnerLaunch, Count: 4, NS: 10 * ms}}}
		ctx := section.New(s, judge.Judge(s, rule.DefaultThresholds()))
		if got := ScreenIdle(ctx).Title; got != tc.screen {
			t.Errorf("%s: %q, want %q", tc.owner, got, tc.screen)
		}
		_, all := judgedIdle(ctx)
		rows := 2
		if tc.owner == summary.OwnerNotRecorded {
			rows = 1
		}
		if len(all) != rows || ctx.MostlyIdle() != tc.mostly || len(ctx.Idle) != 2 {
			t.Errorf("%s: %d causes of %d, mostly idle %t", tc.owner, len(all), len(ctx.Idle), ctx.MostlyIdle())
		}
	}
}
