package gate

import (
	"math/rand/v2"
	"strings"
	"testing"

	"assay/judge/rule"
	"assay/summary"
)

// withMFU returns a run with an MFU of which FLOPs are known for a share of the GPU time.
func withMFU(mfu, known float64, issues ...summary.Issue) []Run {
	s := usualProgram().run(rand.New(rand.NewPCG(1, 2)), 1)
	s.Efficiency.Devices = []summary.EfficiencyDevice{{EfficiencySums: summary.EfficiencySums{
		GPUNS: 1000 * ms, FLOPsKnownNS: int64(known * float64(1000*ms)), WallNS: 1000 * ms, MatrixFLOPs: 1, MFU: &mfu, HFU: &mfu, RooflineNS: ms,
	}}}
	s.Issues = issues
	return []Run{{Summary: s}}
}

// withComm gives a share of the GPU time to communication.
func withComm(runs []Run, share float64) []Run {
	runs[0].Summary.Efficiency.Devices[0].CommNS = int64(share * float64(1000*ms))
	return runs
}

// TestLowerBound: a lower bound decides only what it can, and two of them compare only if
// they leave out the same.
func TestLowerBound(t *testing.T) {
	over := summary.Issue{Code: "over-peak", Severity: "suspect", Count: 1}
	for _, tt := range []struct {
		name, gate string
		now, base  []Run
		want       Result
		says       string
	}{
		{"over the limit", `">= 30%"`, withMFU(0.4, 0.7), nil, Pass, "40.0%"},
		{"under it", `">= 50%"`, withMFU(0.4, 0.7), nil, Inconclusive, "is at least 40.0% and at most 70.0%; limit 50%. FLOPs are known for 70.0% of GPU time"},
		{"under it for certain", `">= 75%"`, withMFU(0.4, 0.7), nil, Fail, "is at most 70.0%, under the limit of 75%. FLOPs are known for 70.0%"},
		{"under a maximum for certain", `"<= 75%"`, withMFU(0.4, 0.7), nil, Pass, "at least 40.0%"},
		{"the rest is communication", `">= 50%"`, withComm(withMFU(0.4, 0.7), 0.3), nil, Fail, "is 40.0%"},
		{"part of the rest is", `">= 55%"`, withComm(withMFU(0.4, 0.7), 0.2), nil, Fail, "is at most 50.0%"},
		{"under it, all is known", `">= 50%"`, withMFU(0.4, 1), nil, Fail, "under the limit of 50%"},
		{"nearly all is known", `">= 50%"`, withMFU(0.4, 0.995), nil, Fail, "under the limit of 50%"},
		{"under a maximum", `"<= 50%"`, withMFU(0.4, 0.7), nil, Inconclusive, "limit 50%"},
		{"over a maximum", `"<= 30%"`, withMFU(0.4, 0.7), nil, Fail, "over the limit of 30%"},
		{"a maximum inside the range, a minimum above it", `{max: 50%, min: 75%}`, withMFU(0.4, 0.7), nil, Fail, "is at most 70.0%, under the limit of 75%. FLOPs"},
		{"both inside the range", `{max: 60%, min: 50%}`, withMFU(0.4, 0.7), nil, Inconclusive, "is at least 40.0% and at most 70.0%; limits 60% and 50%."},
		{"outside of both", `{max: 30%, min: 75%}`, withMFU(0.4, 0.7), nil, Fail, "is at least 40.0%, over the limit of 30%, and at most 70.0%, under the limit of 75%."},
		{"fell, same coverage", `{max_decrease: 10pp}`, withMFU(0.2, 0.7), withMFU(0.4, 0.7), Fail, "fell by 20 points"},
		{"fell, other coverage", `{max_decrease: 10pp}`, withMFU(0.2, 0.5), withMFU(0.4, 0.7), Inconclusive, "not comparable: the baseline leaves 30.0%"},
		{"over a peak", `">= 30%"`, withMFU(0.4, 1, over), nil, Inconclusive, "over-peak"},
	} {
		gates, err := Parse([]byte("efficiency.mfu: "+tt.gate+"\nstep.count: \">= 1\"\n"), "gates.yaml")
		if err != nil {
			t.Fatal(err)
		}
		rep, err := Check(gates, tt.now, tt.base, Options{Thresholds: rule.DefaultThresholds()})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range rep.Outcomes {
			switch {
			case o.Gate.Metric.Name == "step.count" && o.Result != Pass:
				t.Errorf("%s: step.count is %s: %s", tt.name, o.Result, o.Why)
			case o.Gate.Metric.Name == "efficiency.mfu" && (o.Result != tt.want || !strings.Contains(o.Why, tt.says) || o.Capture != (tt.want == Inconclusive)):
				t.Errorf("%s: %s (capture %v): %s; want %s: %s", tt.name, o.Result, o.Capture, o.Why, tt.want, tt.says)
			}
		}
	}
}
