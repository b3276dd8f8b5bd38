package whatif_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze/whatif"
	"assay/trace"
)

// TestTooShort: where the durations of kernels cannot be true, nothing is forecast.
func TestTooShort(t *testing.T) {
	for dur, withheld := range map[float64]bool{21: false, 1.1: false, .021: true} {
		var b strings.Builder
		b.WriteString(`{"traceEvents": [{"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#3", "pid": 5, "tid": 5, "ts": 0, "dur": 1300}`)
		for i := range 40 {
			fmt.Fprintf(&b, `, {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": %d, "dur": 4, "args": {"correlation": %d}}`, 30*i, i+1)
			fmt.Fprintf(&b, `, {"ph": "X", "cat": "kernel", "name": "rms_norm", "pid": 0, "tid": 9, "ts": %d, "dur": %g, "args": {"device": 0, "stream": 9, "correlation": %d}}`, 30*i+7, dur, i+1)
		}
		b.WriteString("]}")
		tr, err := trace.Read(strings.NewReader(b.String()), "t.json", trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		a, err := whatif.Of([]whatif.Input{{Trace: tr}}, whatif.Question{Sweep: true})
		if err != nil {
			t.Fatal(err)
		}
		v := a.CriticalPaths[0]
		if got := strings.Contains(strings.Join(v.Reasons, ";"), "shorter than"); got != withheld || got != (v.Verdict == "abstain") {
			t.Errorf("%g µs: %s %q", dur, v.Verdict, v.Reasons)
		}
		for _, x := range a.Sweep {
			if withheld && x.Verdict != "abstain" {
				t.Errorf("%g µs: %+v", dur, x)
			}
		}
	}
}
