package analyze_test

import (
	"strings"
	"testing"
)

// TestMarkersTakenOver: a server that writes its batches inside the markers of another one
// is named by its own, whatever the order of the two. Markers of vLLM alone are vLLM's.
func TestMarkersTakenOver(t *testing.T) {
	const (
		vllm   = `{"ph": "X", "cat": "user_annotation", "name": "execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk0)", "pid": 1, "tid": 1, "ts": 100, "dur": 900}`
		sglang = `{"ph": "X", "cat": "user_annotation", "name": "step[DECODE bs=32]", "pid": 1, "tid": 1, "ts": 200, "dur": 700}`
		work   = `{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 300, "dur": 5, "args": {"correlation": 7}},
			{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 310, "dur": 500, "args": {"device": 0, "stream": 7, "correlation": 7}}`
	)
	for _, tc := range []struct {
		events []string
		want   string
	}{
		{[]string{vllm, sglang, work}, "SGLang"},
		{[]string{sglang, vllm, work}, "SGLang"},
		{[]string{vllm, work}, "vLLM"},
		{[]string{sglang, work}, "SGLang"},
	} {
		s := summed(t, []byte(`{"traceEvents": [`+strings.Join(tc.events, ",")+`]}`))
		if len(s.Steps) != 1 || s.Steps[0].Marker != tc.want {
			t.Errorf("steps %+v, want one of %s", s.Steps, tc.want)
		}
	}
}
