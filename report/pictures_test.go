package report

import (
	"slices"
	"strings"
	"testing"

	"assay/internal/test/samplerun"
	"assay/report/plot"
	"assay/summary/view"
)

// TestSameWorst: text, budget table and pictures show the same devices where
// they cannot show all.
func TestSameWorst(t *testing.T) {
	s := samplerun.Train()
	slices.Reverse(s.Devices) // now rank 7, with the least idle time, comes first
	d := Build(s, judged(s))
	at := slices.IndexFunc(d.Charts(), func(c plot.Chart) bool { return c.Name == "activity" })
	if at < 0 {
		t.Fatal("no picture of the activity")
	}
	c := d.Charts()[at]
	out := text(t, d, 80)
	_, budget, _ := strings.Cut(out, "GPU time breakdown")
	for _, label := range view.DeviceLabels(s)[4:] {
		if !strings.Contains(budget, label) {
			t.Errorf("%s is not in the text:\n%s", label, out)
		}
		if !slices.ContainsFunc(c.Body.(plot.Timeline).Panels, func(p plot.TimePanel) bool { return strings.HasPrefix(p.Title, label) }) {
			t.Errorf("%s has no panel", label)
		}
	}
}
