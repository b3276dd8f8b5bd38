package analyze_test

import (
	"path/filepath"
	"testing"

	"assay/summary"
)

// TestChrome measures traces of programs that are no GPU profilers. The numbers
// were taken from the files by other means: the text of the JSON and arithmetic.
func TestChrome(t *testing.T) {
	spans := func(s *summary.Summary, name string) (sum summary.Span) {
		for _, sp := range s.Spans {
			if sp.Name == name {
				sum.Count += sp.Count
				sum.TotalNS += sp.TotalNS
				sum.Async = sp.Async
			}
		}
		return sum
	}
	issues := func(s *summary.Summary) map[string]int64 {
		out := make(map[string]int64)
		for _, is := range s.Issues {
			out[is.Code] = is.Count
		}
		return out
	}
	for _, tt := range []struct {
		file, span string
		count      int64
		totalNS    int64
		async      bool
		issue      string
		issueCount int64
	}{
		// 85 events are called "Total ..." and start at 0; one ExecuteCompiler lasts 10699380 us.
		{"clang14_ftime_trace.json", "ExecuteCompiler", 1, 10699380000, false, "derived-spans", 85},
		{"SYNTHETIC_ray1_timeline_string_pid_tid.json", "f", 1, 2000500, false, "", 0},
	} {
		s := measure(t, filepath.Join("..", "testdata", "chrome", tt.file))
		got := spans(s, tt.span)
		if got.Count != tt.count || got.TotalNS != tt.totalNS || got.Async != tt.async {
			t.Errorf("%s: %s: %+v, want %d runs of %d ns", tt.file, tt.span, got, tt.count, tt.totalNS)
		}
		if tt.issue != "" && issues(s)[tt.issue] != tt.issueCount {
			t.Errorf("%s: issues %v, want %s %d times", tt.file, issues(s), tt.issue, tt.issueCount)
		}
	}
	// Every process's spans fit into the capture's span, thread by thread.
	for _, file := range []string{"clang14_ftime_trace.json", "bazel_4.2.3_command.profile.gz", "node20_node_trace.1.log", "legacy_autograd_1.13.json"} {
		s := measure(t, filepath.Join("..", "testdata", "chrome", file))
		busy := make(map[[2]string]int64)
		for _, sp := range s.Spans {
			busy[[2]string{sp.Process, sp.Thread}] += sp.SelfNS
		}
		if len(busy) == 0 {
			t.Errorf("%s: no spans", file)
		}
		for thread, ns := range busy {
			if ns > s.Inputs[0].SpanNS {
				t.Errorf("%s: thread %v is busy for %d ns of a capture of %d", file, thread, ns, s.Inputs[0].SpanNS)
			}
		}
	}
}
