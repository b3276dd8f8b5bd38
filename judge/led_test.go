package judge

import (
	"fmt"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
)

// TestLedByFinding: what needs action is the sentence of a verdict on logs that names no bottleneck; the verdict
// stays without one. Without a finding it is the values.
func TestLedByFinding(t *testing.T) {
	monitored := func(use int) string {
		var b strings.Builder
		b.WriteString("timestamp, index, utilization.gpu [%], memory.used [MiB], memory.total [MiB]\n")
		for i := range 60 {
			fmt.Fprintf(&b, "2026/03/04 10:%02d:%02d.000, 0, %d %%, 30000 MiB, 81559 MiB\n", i/60, i%60, use+i%2)
		}
		return b.String()
	}
	for _, tc := range []struct {
		name, text, rule string
	}{
		{"a GPU that is hardly used", monitored(21), rule.LowGPUUse},
		{"a GPU that is in use", monitored(97), ""},
	} {
		r := Judge(given(tc.text)(t), rule.DefaultThresholds())
		v := r.Verdict
		if v.Bound != finding.BoundUnknown || v.Abstained == nil || v.Rule != tc.rule {
			t.Errorf("%s: %+v\n%s", tc.name, v, told(r))
			continue
		}
		if tc.rule != "" && (r.Findings[0].Rule != tc.rule || v.Sentence != r.Findings[0].Title) {
			t.Errorf("%s: %q\n%s", tc.name, v.Sentence, told(r))
		}
	}
}
