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

// TestWaitsNotRecorded: a host that seems never to wait is only believed where the profiler records waits. The kernels
// are launched at the start of each step, and their work fills it, so the program waits at its end.
func TestWaitsNotRecorded(t *testing.T) {
	for tool, withheld := range map[string]bool{"": false, trace.ToolTF: false, trace.ToolXLA: true} {
		var b strings.Builder
		b.WriteString(`{"traceEvents": [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": "host"}}`)
		for i := range 5 {
			at := 1000 * i
			fmt.Fprintf(&b, `, {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#%d", "pid": 5, "tid": 5, "ts": %d, "dur": 990}`, i, at)
			fmt.Fprintf(&b, `, {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 5, "tid": 5, "ts": %d, "dur": 4, "args": {"correlation": %d}}`, at+10, i+1)
			fmt.Fprintf(&b, `, {"ph": "X", "cat": "kernel", "name": "fusion", "pid": 0, "tid": 9, "ts": %d, "dur": 960, "args": {"device": 0, "stream": 9, "correlation": %d}}`, at+20, i+1)
		}
		b.WriteString("]}")
		tr, err := trace.Read(strings.NewReader(b.String()), "t.json", trace.SelectAll())
		if err != nil {
			t.Fatal(err)
		}
		tr.Meta.Tool = tool
		a, err := whatif.Of([]whatif.Input{{Trace: tr}}, whatif.Question{Sweep: true})
		if err != nil {
			t.Fatal(err)
		}
		v := a.CriticalPaths[0]
		if got := v.Verdict == "abstain" && strings.Contains(v.Reasons[0], "block_until_ready"); got != withheld {
			t.Errorf("%q: %s %q", tool, v.Verdict, v.Reasons)
		}
	}
}
