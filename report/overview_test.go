package report

import (
	"bytes"
	"testing"

	"assay/internal/samplerun"
	"assay/judge"
	"assay/summary"
)

// TestOverview: the overview prints what the whole report prints on a screen and as
// JSON.
func TestOverview(t *testing.T) {
	for name, s := range map[string]*summary.Summary{
		"attributed": samplerun.Attributed(100), "phases": samplerun.Phases(), "profile": samplerun.Profile(), "counters": samplerun.Roofline(samplerun.Counted()), "nothing": {},
	} {
		r := judge.Judge(s, judge.DefaultThresholds())
		whole, overview := Build(s, r), Overview(s, r)
		if len(overview.Sections)+len(overview.Charts()) > 0 {
			t.Errorf("%s: the overview has %d sections and %d pictures", name, len(overview.Sections), len(overview.Charts()))
		}
		for what, print := range map[string]func(Doc, *bytes.Buffer) error{
			"text": func(d Doc, b *bytes.Buffer) error { return d.Text(b, 80) },
			"JSON": func(d Doc, b *bytes.Buffer) error { return d.JSON(b) },
		} {
			var a, b bytes.Buffer
			if err := print(whole, &a); err != nil {
				t.Fatal(err)
			}
			if err := print(overview, &b); err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a.Bytes(), b.Bytes()) || a.Len() == 0 {
				t.Errorf("%s: the %s of the overview differs:\n%s\nwant\n%s", name, what, &b, &a)
			}
		}
	}
}
