package analyze_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestOneWrongTime: an event whose time or duration is wrong by years costs itself, and nothing else. The program
// is 40 steps of one operator, one launch and a kernel of 30 µs each, 100 µs apart.
func TestOneWrongTime(t *testing.T) {
	const years = 3_000_000_000_000_000 // µs
	program := func(bad, cat string, value int64) string {
		var events []string
		for i := range 40 {
			for _, e := range []struct {
				cat, name string
				tid       int
				ts, dur   int64
			}{{"cpu_op", "aten::mm", 1, 0, 20}, {"cuda_runtime", "hipLaunchKernel", 1, 5, 5}, {"kernel", "Cijk_gemm", 7, 40, 30}} {
				e.ts += 5_000_000 + 100*int64(i)
				if i == 17 && e.cat == cat {
					switch bad {
					case "dur":
						e.dur = value
					case "ts":
						e.ts += value
					}
				}
				events = append(events, fmt.Sprintf(`{"ph": "X", "cat": %q, "name": %q, "pid": 1, "tid": %d, "ts": %d, "dur": %d, "args": {"device": 0, "stream": 7, "correlation": %d, "External id": %d}}`, e.cat, e.name, e.tid, e.ts, e.dur, i+1, i+1))
			}
		}
		return `{"traceEvents": [` + strings.Join(events, ",") + `]}`
	}
	for _, tc := range []struct {
		bad, cat      string
		value         int64
		kernels, lost int64
	}{
		{"", "", 0, 40, 0},
		{"dur", "kernel", years, 39, 1}, {"dur", "cpu_op", years, 40, 1}, {"dur", "cuda_runtime", years, 40, 1},
		{"ts", "kernel", years, 39, 1}, {"ts", "kernel", -years, 39, 1}, {"ts", "cpu_op", years, 40, 1}, {"ts", "cuda_runtime", years, 40, 1},
		{"dur", "cpu_op", 3_600_000_000, 40, 0}, // an operator of an hour can be
	} {
		name := fmt.Sprint(tc.cat, " ", tc.bad, " ", tc.value)
		s := summed(t, []byte(program(tc.bad, tc.cat, tc.value)))
		kernels, lost := int64(0), int64(0)
		for _, k := range s.Kernels {
			kernels += k.Count
			if k.TotalNS != 30_000*k.Count {
				t.Errorf("%s: %d ns of %d kernels", name, k.TotalNS, k.Count)
			}
		}
		if is := s.Issue("event-bad-time"); is != nil {
			lost = is.Count
		}
		if window := s.Devices[0].Activity.Window(); kernels != tc.kernels || lost != tc.lost || window != (39*100+30)*1000 || s.Inputs[0].SpanNS == 0 {
			t.Errorf("%s: %d kernels, %d left out, window %d, span %d", name, kernels, lost, window, s.Inputs[0].SpanNS)
		}
	}
	// Two clocks are no single wrong times.
	text := program("", "", 0)
	half := strings.Index(text, `"External id": 20`)
	text = text[:half] + strings.ReplaceAll(text[half:], `"ts": 500`, `"ts": 5000000000`)
	if s := summed(t, []byte(text)); s.Issue("window-implausible") == nil || s.Issue("event-bad-time") != nil {
		t.Errorf("two clocks: %v", s.Issues)
	}
}
