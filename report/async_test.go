package report

import (
	"strings"
	"testing"

	"assay/judge"
	"assay/judge/rule"
	"assay/summary"
)

// TestAsynchronousOperations: operations without a thread are listed by their total time, never with the
// self time of 0 that they have; without them there is no such table.
func TestAsynchronousOperations(t *testing.T) {
	thread := summary.Span{Name: "loop", Category: "cat", Process: "1", Thread: "1", Count: 3, TotalNS: 9_000, SelfNS: 9_000, MaxNS: 4_000}
	async := summary.Span{Name: "fetch", Category: "net", Process: "1", Count: 2, TotalNS: 70_000, MaxNS: 50_000, Async: true}
	instant := summary.Span{Name: "mark", Category: "net", Process: "1", Count: 2, Async: true}
	for _, tc := range []struct {
		name     string
		spans    []summary.Span
		has, not []string
	}{
		{"both", []summary.Span{thread, async}, []string{"Top CPU slices by self time (9 µs", "asynchronous operations", "70.000      2    50.000  net       fetch"}, []string{"  0.0%"}},
		{"asynchronous only", []summary.Span{async}, []string{"asynchronous operations", "fetch"}, []string{"Top CPU slices"}},
		{"without durations", []summary.Span{thread, instant}, []string{"Top CPU slices"}, []string{"asynchronous operations", "mark"}},
		{"threads only", []summary.Span{thread}, []string{"Top CPU slices"}, []string{"asynchronous"}},
	} {
		s := &summary.Summary{Schema: summary.Schema, Inputs: []summary.Input{{Path: "t.json", Format: "chrome-trace", Complete: true}}, Spans: tc.spans}
		out := text(t, Overview(s, judge.Judge(s, rule.DefaultThresholds())), 80)
		for _, text := range tc.has {
			if !strings.Contains(out, text) {
				t.Errorf("%s: no %q in\n%s", tc.name, text, out)
			}
		}
		for _, text := range tc.not {
			if strings.Contains(out, text) {
				t.Errorf("%s: %q in\n%s", tc.name, text, out)
			}
		}
	}
}
