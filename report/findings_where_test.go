package report

import (
	"strings"
	"testing"

	"assay/judge"
	"assay/report/section"
	"assay/summary"
)

// TestWhere: a finding with a fix lists places with the times of the trace, and counts the
// other places.
func TestWhere(t *testing.T) {
	device, start := int64(0), int64(5_000_123)
	place := judge.Place{Rank: 1, Device: &device, StartNS: &start, NS: 2_000_000, Step: "ProfilerStep#3"}
	s := &summary.Summary{Devices: []summary.Device{{}, {Rank: 1, Name: "H100"}}}
	of := func(level judge.Level, places ...judge.Place) string {
		ctx := section.New(s, judge.Result{})
		return whereText(ctx, judge.Finding{Level: level, Where: places})
	}
	if got, want := of(judge.Warn, place), "step ProfilerStep#3, rank 1 GPU 0 at 5000.123 µs for 2 ms"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Devices[1].StartNS, s.Devices[1].WindowNS = 1_000_123, 4_000_000
	if got, want := of(judge.Warn, place), "step ProfilerStep#3, rank 1 GPU 0 at 5000.123 µs (4 ms into the window) for 2 ms"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Devices[1].WindowNS-- // the place is behind it
	if got := of(judge.Warn, place); strings.Contains(got, "into the window") {
		t.Errorf("%q", got)
	}
	kernel := judge.Place{Kernel: strings.Repeat("k", 100), Op: "aten::mm", NS: 1000}
	if got := of(judge.Critical, kernel); !strings.HasPrefix(got, "kernel kkk") || !strings.Contains(got, ", operator aten::mm for 1 µs") || len(got) > 120 {
		t.Errorf("%q", got)
	}
	if got := of(judge.Warn, place, place, place, place, place); strings.Count(got, "ProfilerStep") != 3 || !strings.HasSuffix(got, "; 2 more in summary.json") {
		t.Errorf("%q", got)
	}
	if got := of(judge.Info, place); got != "" {
		t.Errorf("for information: %q", got)
	}
}
