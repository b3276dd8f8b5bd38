package judge

import (
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

// TestRecorderOfKernels: a recorder without launches gives no verdict about idle time; one that has them does, and so
// does a run with both.
func TestRecorderOfKernels(t *testing.T) {
	for _, c := range []struct {
		formats  []string
		withheld bool
	}{
		{[]string{summary.FormatProton}, true}, {[]string{summary.FormatProton, summary.FormatProton}, true},
		{[]string{"kineto"}, false}, {[]string{summary.FormatProton, "kineto"}, false},
	} {
		s := one(600, 0, 0)
		s.Inputs = nil
		for _, format := range c.formats {
			s.Inputs = append(s.Inputs, summary.Input{Format: format, Complete: true})
		}
		v := Judge(s, rule.DefaultThresholds()).Verdict
		if got := v.Bound == finding.BoundUnknown; got != c.withheld || got != strings.Contains(v.Sentence, "Only kernels are recorded") {
			t.Errorf("%q: %s: %q; want it withheld: %v", c.formats, v.Bound, v.Sentence, c.withheld)
		}
	}
}
