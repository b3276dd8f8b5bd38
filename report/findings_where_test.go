package report

import (
	"slices"
	"strings"
	"testing"

	"assay/judge"
	"assay/judge/finding"
	"assay/report/page"
	"assay/report/section"
	"assay/summary"
)

// TestWhere: a finding with a fix lists places with the times of the trace, and counts the
// other places.
func TestWhere(t *testing.T) {
	device, start := int64(0), int64(5_000_123)
	place := finding.Place{Rank: 1, Device: &device, StartNS: &start, NS: 2_000_000, Step: "ProfilerStep#3"}
	s := &summary.Summary{Devices: []summary.Device{{}, {Rank: 1, Name: "H100"}}}
	of := func(level finding.Level, places ...finding.Place) string {
		ctx := section.New(s, judge.Result{})
		return whereText(ctx, finding.Finding{Level: level, Where: places})
	}
	if got, want := of(finding.Warn, place), "step ProfilerStep#3, rank 1 GPU 0 at 5000.123 µs for 2 ms"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Devices[1].StartNS, s.Devices[1].WindowNS = 1_000_123, 4_000_000
	if got, want := of(finding.Warn, place), "step ProfilerStep#3, rank 1 GPU 0 at 5000.123 µs (4 ms into the window) for 2 ms"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	s.Devices[1].WindowNS-- // the place is behind it
	if got := of(finding.Warn, place); strings.Contains(got, "into the window") {
		t.Errorf("%q", got)
	}
	kernel := finding.Place{Kernel: strings.Repeat("k", 100), Op: "aten::mm", NS: 1000}
	if got := of(finding.Critical, kernel); !strings.HasPrefix(got, "kernel kkk") || !strings.Contains(got, ", operator aten::mm for 1 µs") || len(got) > 120 {
		t.Errorf("%q", got)
	}
	if got := of(finding.Warn, place, place, place, place, place); strings.Count(got, "ProfilerStep") != 3 || !strings.HasSuffix(got, "; 2 more in summary.json") {
		t.Errorf("%q", got)
	}
	if got := of(finding.Info, place); got != "" {
		t.Errorf("for information: %q", got)
	}
}

// TestSavings: savings of several GPUs are means, as their titles are, whatever the windows leave out.
func TestSavings(t *testing.T) {
	f := finding.Finding{Level: finding.Warn, Confidence: finding.Likely}
	f.Gain(800_000_000, 8_000_000_000, "the GPU time of 4 GPUs without warm-up")
	f.GainGPUs, f.GainWithout, f.GainOfAll = 4, "warm-up", true
	if got, want := savingsText(f), "Estimated savings: up to 200 ms per GPU (10.0% of GPU time without warm-up). Confidence: likely"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if f.GainGPUs, f.GainWithout = 4, ""; !strings.Contains(savingsText(f), "up to 200 ms per GPU (10.0%).") {
		t.Error(savingsText(f))
	}
	f.Gain(800_000_000, 8_000_000_000, "total step time")
	if !strings.Contains(savingsText(f), "up to 200 ms per GPU (10.0% of total step time).") {
		t.Error(savingsText(f))
	}
	f.Gain(800_000_000, 8_000_000_000, "all steps")
	if f.GainGPUs = 0; !strings.Contains(savingsText(f), "up to 800 ms (10.0% of all steps).") {
		t.Error(savingsText(f))
	}
}

// TestPlacesWithOneLabel: places in time on one GPU have their lengths in the label; the label of the only one on a GPU
// is its GPU alone.
func TestPlacesWithOneLabel(t *testing.T) {
	at := int64(7)
	in := func(gpu string, ns int64) page.Target { return page.Target{Label: gpu, StartNS: &at, Length: ns} }
	list := []page.Target{in("GPU 0", 909_000_000), in("GPU 1", 770_000_000), in("GPU 0", 1_500)}
	distinguish(list)
	var got []string
	for _, p := range list {
		got = append(got, p.Label)
	}
	if want := []string{"GPU 0, 909 ms", "GPU 1", "GPU 0, 1.5 µs"}; !slices.Equal(got, want) {
		t.Errorf("labels %q, want %q", got, want)
	}
}
