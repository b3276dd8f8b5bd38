package rule

import (
	"math"
	"testing"

	"assay/internal/unit"
)

// TestTargets: a rule that judges the target of a guide has the same limit, and each target names a known page.
func TestTargets(t *testing.T) {
	thresholds := DefaultThresholds()
	of := map[string]func(Rule) float64{
		WeightSyncTime: func(r Rule) float64 { return float64(r.Under) },
		SlowFirstToken: func(r Rule) float64 { return float64(r.Under) },
		SlowNextToken:  func(r Rule) float64 { return float64(r.Under) },
		LowGPUUse:      func(r Rule) float64 { return 1 - r.Warn },
		EagerDecode:    func(r Rule) float64 { return 1 - r.Warn },
		PoorScaling:    func(r Rule) float64 { return 1 - r.Warn },
		MemoryPressure: func(r Rule) float64 { return r.Warn },
		UnderLoaded:    func(r Rule) float64 { return r.Margin },
		KVCacheFull:    func(r Rule) float64 { return r.OfPeak },
		FunctionTotal:  func(r Rule) float64 { return r.Critical },
	}
	for _, target := range Targets {
		if target.Source().Title == "" || target.Min+target.Max == "" {
			t.Errorf("%s of %s has no limit or no page", target.Metric, target.Guide)
		}
		if target.Rule == "" {
			continue
		}
		text := target.Max
		if text == "" {
			text = target.Min
		}
		want, err := unit.ParseShare(text)
		if err != nil {
			ns, err := unit.ParseDuration(text)
			if err != nil {
				t.Fatal(target.Metric, err)
			}
			want = float64(ns)
		}
		if of[target.Rule] == nil {
			t.Fatalf("no limit of %s is compared", target.Rule)
		}
		limits, _ := thresholds.Rule(target.Rule)
		if got := of[target.Rule](limits); math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s of %s: rule %s has %g, the target is %g", target.Metric, target.Guide, target.Rule, got, want)
		}
	}
}
