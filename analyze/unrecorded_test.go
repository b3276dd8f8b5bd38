package analyze_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/internal/test"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

// scenarioJSON returns the trace of a scenario.
func scenarioJSON(t *testing.T, sc tracegen.Scenario) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := tracegen.Generate(&b, sc, 0); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// measuredAs measures the trace of a rank.
func measuredAs(t *testing.T, text []byte, rank int) *summary.Summary {
	t.Helper()
	tr, err := trace.Read(bytes.NewReader(text), "t.json", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Trace(tr, summary.Input{Rank: rank}, analyze.DefaultOptions())
}

// missingOf returns what a summary says is missing of a kind, and of how many.
func missingOf(s *summary.Summary, kind string) (missing, calls int64) {
	for _, r := range s.LaunchLosses {
		if r.Kind == kind {
			missing, calls = missing+r.Missing, calls+r.Calls
		}
	}
	return missing, calls
}

// TestLostRecords drops a known share of the records of each kind: the counts are
// those that were dropped, and the issue's severity follows the share.
func TestLostRecords(t *testing.T) {
	text := scenarioJSON(t, tracegen.LLMTrainStep())
	copies := scenarioJSON(t, tracegen.CopyBound())
	for _, tc := range []struct {
		kind, category string
		text           []byte
	}{
		{summary.LossKernel, "kernel", text}, {summary.LossCopy, "gpu_memcpy", copies},
	} {
		_, all := tracegen.Lose(tc.text, tc.category, 1)
		for _, share := range []float64{0.01, 0.1, 0.5, 1} {
			cut, lost := tracegen.Lose(tc.text, tc.category, share)
			if lost == 0 && share*float64(all) < 1 {
				continue // of so few records
			}
			s := measuredAs(t, cut, 3)
			missing, calls := missingOf(s, tc.kind)
			is := issue(s, "launches-without-kernels")
			if missing != int64(lost) || calls != int64(all) || is.Count != int64(lost) || len(s.LaunchLosses) != 1 || s.LaunchLosses[0].Rank != 3 {
				t.Errorf("%s, %v dropped: %d of %d are missing and the issue counts %d; want %d of %d: %+v", tc.kind, share, missing, calls, is.Count, lost, all, s.LaunchLosses)
			}
			want := "info"
			if 20*lost > all && (tc.kind == summary.LossKernel || lost >= 10) {
				want = "data-loss"
			}
			if is.Severity != want || !strings.Contains(is.Help, fmt.Sprintf("Rank 3: the GPU work of %d of %d ", lost, all)) {
				t.Errorf("%s, %v dropped: %s %q, want %s", tc.kind, share, is.Severity, is.Help, want)
			}
		}
	}
}

// TestLostKinds drops memsets, and all work of every second launch of a graph.
func TestLostKinds(t *testing.T) {
	text := scenarioJSON(t, tracegen.LLMTrainStep())
	cut, lost := tracegen.Lose(text, "gpu_memset", 0.5)
	s := measuredAs(t, cut, 0)
	if n, _ := missingOf(s, summary.LossMemset); n != int64(lost) || lost == 0 {
		t.Errorf("%d memsets are missing, want %d", n, lost)
	}
	if is := issue(s, "launches-without-kernels"); is.Count != 0 {
		t.Errorf("%d memsets have the issue %+v: they may be of 0 bytes", lost, is)
	}
	var b strings.Builder
	for i := range 20 {
		fmt.Fprintf(&b, `{"ph":"X","cat":"cuda_runtime","name":"cudaGraphLaunch","pid":1,"tid":1,"ts":%d,"dur":5,"args":{"correlation":%d}},`, 100*i, i+1)
		for k := range 3 {
			if i%2 == 0 {
				fmt.Fprintf(&b, `{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%d,"dur":5,"args":{"device":0,"stream":7,"correlation":%d}},`, 100*i+10+10*k, i+1)
			}
		}
	}
	s = measured(t, list(strings.TrimSuffix(b.String(), ",")))
	if n, of := missingOf(s, summary.LossGraph); n != 10 || of != 20 || s.LaunchLosses[0].AtEnd != 1 {
		t.Errorf("losses %+v, want 10 of 20 graph launches, 1 of them at the end", s.LaunchLosses)
	}
}

// TestLostOfOneRank: the counts of each rank are its own.
func TestLostOfOneRank(t *testing.T) {
	text := scenarioJSON(t, tracegen.LLMTrainStep())
	cut, lost := tracegen.Lose(text, "kernel", 0.25)
	s := summary.Merge(measuredAs(t, text, 0), measuredAs(t, cut, 1), measuredAs(t, text, 2))
	if len(s.LaunchLosses) != 1 || s.LaunchLosses[0].Rank != 1 || s.LaunchLosses[0].Input != 1 || s.LaunchLosses[0].Missing != int64(lost) {
		t.Errorf("losses %+v, want %d of rank 1", s.LaunchLosses, lost)
	}
	for i, d := range s.Devices {
		if (d.UncertainNS > 0) != (i == 1) {
			t.Errorf("rank %d: %d ns are uncertain", d.Rank, d.UncertainNS)
		}
	}
}

// TestNothingLost: calls that run nothing on a device are not missing anything.
func TestNothingLost(t *testing.T) {
	call := func(name string, corr int, ts, dur float64) string {
		return fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":%q,"pid":1,"tid":1,"ts":%v,"dur":%v,"args":{"correlation":%d}}`, name, ts, dur, corr)
	}
	kernel := `{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":900,"dur":5,"args":{"device":0,"stream":7,"correlation":1}}`
	launch := call("cudaLaunchKernel", 1, 890, 5)
	for _, tc := range []struct {
		name   string
		events []string
		want   int64
	}{
		{"a launch without work", []string{call("cudaLaunchKernel", 2, 10, 5)}, 1},
		{"of the driver", []string{call("cuLaunchKernelEx", 2, 10, 5)}, 1},
		{"of HIP", []string{call("hipExtModuleLaunchKernel", 2, 10, 5)}, 1},
		{"within a capture", []string{call("cudaStreamBeginCapture", 3, 0, 5), call("cudaLaunchKernel", 2, 10, 5), call("cudaMemcpyAsync", 4, 20, 5), call("cudaStreamEndCapture", 5, 50, 5)}, 0},
		{"after a capture", []string{call("cudaStreamBeginCapture", 3, 0, 5), call("cudaStreamEndCapture", 5, 50, 5), call("cudaLaunchKernel", 2, 60, 5)}, 1},
		{"a capture that began before the trace", []string{call("cudaLaunchKernel", 2, 10, 5), call("cudaStreamEndCapture", 5, 50, 5)}, 0},
		{"a function of the host", []string{call("cudaLaunchHostFunc", 2, 10, 5)}, 0},
		{"a node of a graph", []string{call("cudaGraphAddMemcpyNode", 2, 10, 5), call("cudaGraphAddKernelNode", 3, 20, 5)}, 0},
		{"the driver's call in the runtime's, of one correlation", []string{call("cudaLaunchKernel", 2, 10, 5), call("cuLaunchKernel", 2, 11, 3)}, 1},
		{"the driver's call in the runtime's, of two", []string{call("cudaLaunchKernel", 2, 10, 5), call("cuLaunchKernel", 3, 11, 3)}, 1},
		{"the driver's call has the work", []string{call("cudaLaunchKernel", 2, 880, 25), call("cuLaunchKernel", 1, 889, 7)}, 0},
		{"a copy of nothing", []string{call("cudaMemcpyAsync", 2, 10, 0.25)}, 0},
		{"no correlation", []string{call("cudaLaunchKernel", 0, 10, 5)}, 0},
		{"graphs that were recorded whole", []string{call("cudaGraphLaunch", 2, 10, 5)}, 0},
	} {
		events := append([]string{kernel}, tc.events...)
		if tc.name != "the driver's call has the work" {
			events = append(events, launch)
		}
		s := measured(t, list(events...))
		sum := int64(0)
		for _, r := range s.LaunchLosses {
			sum += r.Missing
		}
		if sum != tc.want {
			t.Errorf("%s: %+v, want %d", tc.name, s.LaunchLosses, tc.want)
		}
	}
}

// TestIntactTracesLoseNothing: generated traces have all their work, but for stories
// of launches that have none.
func TestIntactTracesLoseNothing(t *testing.T) {
	for _, p := range tracegen.Stories() {
		s := measured(t, string(p.Make().JSON))
		for _, r := range s.LaunchLosses {
			t.Errorf("%s (%s): %+v", p.Name, p.About, r)
		}
	}
	for _, sc := range []tracegen.Scenario{tracegen.LLMTrainStep(), tracegen.Graphs(), tracegen.MultiDevice(), tracegen.CopyBound(), tracegen.ComputeBound()} {
		if s := measuredAs(t, scenarioJSON(t, sc), 0); len(s.LaunchLosses) > 0 {
			t.Errorf("%s: %+v", sc.Name, s.LaunchLosses)
		}
	}
}

// TestRealTracesLoseNothing: no capture of PyTorch's profiler in the corpus has the
// issue.
func TestRealTracesLoseNothing(t *testing.T) {
	for _, f := range test.Files(t, filepath.Join(test.Corpus(t, "kineto", "tracelens"), "*", "*.json.gz")) {
		s := measuredAs(t, test.Unpacked(t, f), 0)
		if slices.ContainsFunc(s.Issues, func(is summary.Issue) bool { return is.Code == "launches-without-kernels" }) {
			t.Errorf("%s: %+v", f, s.LaunchLosses)
		}
	}
}
