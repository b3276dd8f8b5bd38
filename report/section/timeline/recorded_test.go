package timeline

import (
	"slices"
	"strings"
	"testing"
	"time"

	"assay/judge"
	"assay/judge/rule"
	"assay/report/doc"
	"assay/report/section"
	"assay/summary"
)

// TestRecordedPart: the breakdown shows the part of the window that the verdict judges. Time that was
// not recorded is in no row, and the text says how much there is; idle time of a program stays.
func TestRecordedPart(t *testing.T) {
	const ms = int64(time.Millisecond)
	made := func(owner string, idle int64) *section.Context {
		s := &summary.Summary{Inputs: []summary.Input{{Path: "a", Complete: true}}}
		var a summary.Activity
		a[0] = idle
		a[summary.ClassCompute] = 30 * ms
		for i := range int64(2) {
			s.Devices = append(s.Devices, summary.Device{Device: i, WindowNS: a.Window(), Activity: a, Events: 500})
			s.Idle = append(s.Idle, summary.Idle{Device: i, Owner: owner, Count: 1, NS: idle - 6*ms},
				summary.Idle{Device: i, Owner: summary.OwnerLaunch, Count: 9, NS: 6 * ms})
		}
		return section.New(s, judge.Judge(s, rule.DefaultThresholds()))
	}
	for _, tc := range []struct {
		owner string
		idle  int64
		want  []string
		says  string
	}{
		// 30 ms of 36 ms; 114 ms of 150 ms are left out.
		{summary.OwnerNotRecorded, 120 * ms, []string{"36", "83.3%", "16.7%"}, "Left out: 114 ms per GPU in which the GPU ran work that is not in the capture (of a window of 150 ms)."},
		{summary.OwnerHost, 120 * ms, []string{"150", "20.0%", "80.0%"}, ""},
		{summary.OwnerNotRecorded, 6 * ms, []string{"36", "83.3%", "16.7%"}, ""},
	} {
		ctx := made(tc.owner, tc.idle)
		for _, s := range []doc.Section{ScreenBudget(ctx), Budget(ctx)} {
			var text []string
			rows := 0
			for _, b := range s.Blocks {
				switch b := b.(type) {
				case doc.Paragraph:
					text = append(text, b.Text)
				case doc.Table:
					text = append(text, b.Note)
					for _, r := range b.Rows {
						rows++
						for _, want := range tc.want {
							if !slices.ContainsFunc(r.Cells, func(c string) bool { return strings.HasPrefix(c, want) }) {
								t.Errorf("%s, %d ms idle, %q: no cell begins with %s", tc.owner, tc.idle/ms, r.Cells, want)
							}
						}
					}
				}
			}
			if says := strings.Join(text, " "); rows != 3 || !strings.Contains(says, tc.says) || strings.Contains(says, "Left out") != (tc.says != "") {
				t.Errorf("%s, %d ms idle: %d rows and %q, want 3 and %q", tc.owner, tc.idle/ms, rows, says, tc.says)
			}
		}
	}
}
