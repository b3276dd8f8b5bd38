package report

import (
	"testing"

	"assay/judge/finding"
)

// TestSavingsText: a best case is "up to", whether it is of a forecast or the time of the cause; a forecast that can be expected is not.
func TestSavingsText(t *testing.T) {
	ns := int64(30_000_000)
	f := finding.Finding{Level: finding.Warn, Confidence: finding.Likely, GainNS: &ns, GainOfNS: 100_000_000, GainOf: "the step s", GainBasis: finding.Modelled, GainVerdict: "ok"}
	best, upper := f, f
	best.GainBound, upper.GainBasis = true, finding.UpperBound
	for want, f := range map[string]finding.Finding{
		"Estimated savings, modelled: 30 ms of the step s (30.0%). Confidence: likely":       f,
		"Estimated savings, modelled: up to 30 ms of the step s (30.0%). Confidence: likely": best,
		"Estimated savings: up to 30 ms (30.0% of the step s). Confidence: likely":           upper,
	} {
		if got := savingsText(f); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
