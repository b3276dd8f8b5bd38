package judge

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

func TestCaptureQuality(t *testing.T) {
	s := one(600, 0, 0)
	s.Issues = []summary.Issue{{Code: "no-rank", Severity: "info", Count: 1, Help: "none"}}
	if got := Judge(s, rule.DefaultThresholds()); got.Findings[0].Rule != rule.GPUIdle {
		t.Errorf("an info issue became %+v", got.Findings[0])
	}
	s.Issues = append(s.Issues, summary.Issue{Code: "cut-short", Severity: "data-loss", Count: 1, First: "run.json@9", Help: "record again"})
	f := Judge(s, rule.DefaultThresholds()).Findings[0]
	if f.Rule != rule.CaptureQuality || f.Level != finding.Info || f.Title != "Incomplete capture, some numbers may be too low: cut-short" {
		t.Errorf("got %+v", f)
	}
	wantEvidence(t, f, "cut-short (data-loss): 1 time, first at run.json@9")
	s.Issues = append(s.Issues, summary.Issue{Code: "clock", Severity: "suspect", Count: 1200, Help: "record again"})
	f = Judge(s, rule.DefaultThresholds()).Findings[0]
	if f.Level != finding.Warn || f.Title != "Doubtful capture, some numbers may be wrong: cut-short, clock" || !slices.Equal(texts(f.Next), []string{"record again"}) {
		t.Errorf("got %+v", f)
	}
	// It stays first, and does not hide that nothing can be judged.
	s.Devices, s.Spans = nil, make([]summary.Span, 3)
	got := Judge(s, rule.DefaultThresholds())
	if len(got.Findings) != 2 || got.Findings[0].Rule != rule.CaptureQuality || got.Verdict.Bound != "unknown" {
		t.Errorf("got %+v", got)
	}
	wantEvidence(t, got.Findings[1], "3 kinds of CPU slices were measured")
}

// TestPooledKernels: the row of the kernels over the row limit is no kernel, so none
// dominates, and the largest kernel is a real one.
func TestPooledKernels(t *testing.T) {
	s := one(0, 0, 0)
	s.Kernels = []summary.Kernel{
		{Name: summary.PooledKernels, Class: "compute", Category: "other", Stream: -1, Count: 900, TotalNS: 900 * ms},
		{Name: "gemm", Class: "compute", Category: "gemm", Stream: 7, Count: 100, TotalNS: 100 * ms},
	}
	r := Judge(s, rule.DefaultThresholds())
	for _, f := range r.Findings {
		if f.Rule == rule.DominantKernel {
			t.Errorf("got %+v", f)
		}
		if f.Rule == rule.ComputeBound && !slices.ContainsFunc(f.Evidence, func(e string) bool { return strings.Contains(e, `largest compute kernel: "gemm", 10.0%`) }) {
			t.Errorf("got the evidence %q", f.Evidence)
		}
	}
	s.Kernels[1].TotalNS = 9000 * ms
	if f := findingOf(Judge(s, rule.DefaultThresholds()).Findings, rule.DominantKernel); f == nil || !strings.Contains(f.Title, "90.9%") {
		t.Errorf("got %+v, want a finding on gemm, with 90.9%% of all kernel time", f)
	}
}

// TestTruncation: a file that broke off lost everything behind, which is worse
// than an event that could not be read.
func TestTruncation(t *testing.T) {
	const incomplete, doubtful = "Incomplete capture, some numbers may be too low: ", "Doubtful capture, some numbers may be wrong: "
	for _, tc := range []struct {
		code, severity string
		level          finding.Level
		title          string
	}{
		{"input-truncated", "data-loss", finding.Warn, incomplete},
		{"trailing-data", "data-loss", finding.Warn, incomplete},
		{"memory-limit", "data-loss", finding.Warn, incomplete},
		{"input-limit", "data-loss", finding.Warn, incomplete},
		{"event-malformed", "data-loss", finding.Info, incomplete},
		{"rank-repeated", "suspect", finding.Warn, doubtful},
	} {
		s := one(0, 0, 0)
		s.Issues = []summary.Issue{{Code: tc.code, Severity: tc.severity, Count: 1, Help: "record again"}}
		f := Judge(s, rule.DefaultThresholds()).Findings[0]
		if f.Rule != rule.CaptureQuality || f.Level != tc.level || f.Title != tc.title+tc.code {
			t.Errorf("%s: got %s: %s", tc.code, f.Level, f.Title)
		}
	}
	s := one(0, 0, 0)
	s.Issues = []summary.Issue{{Code: "trailing-data", Severity: "info", Count: 1}}
	if got := Judge(s, rule.DefaultThresholds()).Findings; got[0].Rule == rule.CaptureQuality {
		t.Errorf("harmless trailing data became %+v", got[0])
	}
}

// TestNoGPUEvents: the advice fits the reason that the capture shows.
func TestNoGPUEvents(t *testing.T) {
	kineto, foreign := summary.Input{Format: "kineto"}, summary.Input{Format: "chrome-trace"}
	launched := []summary.Issue{{Code: "gpu-events-missing", Severity: "suspect", Count: 9}}
	spans := []summary.Span{{Name: "main"}}
	for _, tc := range []struct {
		name            string
		s               summary.Summary
		sentence, first string
		recordAt        int // which advice names ProfilerActivity.CUDA; -1 for none
	}{
		{"truncated", summary.Summary{Inputs: []summary.Input{kineto}, Issues: []summary.Issue{{Code: "input-truncated", Severity: "data-loss", Count: 1}}},
			"No GPU events: the input is cut before the first one", "copy-the-file-again", -1},
		{"limited", summary.Summary{Inputs: []summary.Input{kineto}, Issues: []summary.Issue{{Code: "input-limit", Severity: "data-loss", Count: 1}}},
			"No GPU events in the part of the capture that was read; a limit cut the rest", "read-more-of-the-file", -1},
		{"kineto", summary.Summary{Inputs: []summary.Input{kineto}}, "No GPU events; record with", "record-the-gpu", 0},
		{"launched", summary.Summary{Inputs: []summary.Input{kineto}, Issues: launched}, "No GPU events: another profiler used CUPTI", "stop-other-profilers", -1},
		{"foreign", summary.Summary{Inputs: []summary.Input{foreign}, Spans: spans},
			"No GPU events; only CPU slices are reported", "read-cpu-slices", 1},
		{"foreign without spans", summary.Summary{Inputs: []summary.Input{foreign}}, "No GPU events and no CPU slices", "record-the-gpu-of-pytorch", 0},
		{"foreign, launched", summary.Summary{Inputs: []summary.Input{foreign}, Issues: launched}, "No GPU events: another profiler used CUPTI", "stop-other-profilers", -1},
		{"HIP calls alone", summary.Summary{Inputs: []summary.Input{{Format: "rocprofv3-csv"}}, Issues: launched}, "No GPU events; record with --kernel-trace", "record-the-gpu-rocm", -1},
		{"mixed", summary.Summary{Inputs: []summary.Input{foreign, kineto}, Spans: spans}, "No GPU events; record with", "record-the-gpu", 0},
	} {
		got := Judge(&tc.s, rule.DefaultThresholds())
		f := find(t, got, rule.NoGPUTime)
		if got.Verdict.Bound != "unknown" || got.Verdict.Rule != rule.NoGPUTime || !strings.HasPrefix(got.Verdict.Sentence, tc.sentence) {
			t.Errorf("%s: %+v", tc.name, got.Verdict)
		}
		if f.Next[0].ID != tc.first {
			t.Errorf("%s: first advice is %q, want %q", tc.name, f.Next[0].ID, tc.first)
		}
		at := slices.IndexFunc(texts(f.Next), func(s string) bool { return strings.Contains(s, "ProfilerActivity.CUDA") })
		if at != tc.recordAt || at >= 0 && strings.Contains(tc.name, "foreign") != strings.HasPrefix(rule.Text(f.Next[at]), "If ") {
			t.Errorf("%s: advice %d of %q is to record the GPU, want %d", tc.name, at, texts(f.Next), tc.recordAt)
		}
	}
}

// TestWaitsOfHorovod: slices that are negotiations are waits, and not where to look for work. With other slices
// most of the time, or without Horovod, the slices stay.
func TestWaitsOfHorovod(t *testing.T) {
	slices := func(negotiation string, ns, work int64) *summary.Summary {
		return &summary.Summary{Inputs: []summary.Input{{Format: "chrome-trace"}}, Spans: []summary.Span{
			{Name: negotiation, SelfNS: ns}, {Name: "WAIT_FOR_DATA", SelfNS: 20}, {Name: "MPI_ALLREDUCE", SelfNS: work}}}
	}
	for _, tt := range []struct {
		s    *summary.Summary
		want string
		next int
	}{
		{slices("NEGOTIATE_ALLGATHER", 60, 20), "No GPU events; 80.0% of the self time of CPU slices is waiting of Horovod", 0},
		{slices("NEGOTIATE_ALLGATHER", 20, 60), "No GPU events; only CPU slices are reported", 2},
		{slices("ALLGATHER", 60, 20), "No GPU events; only CPU slices are reported", 2},
	} {
		got := Judge(tt.s, rule.DefaultThresholds())
		if f := find(t, got, rule.NoGPUTime); !strings.HasPrefix(got.Verdict.Sentence, tt.want) || len(f.Next) != tt.next {
			t.Errorf("%q, %d fixes; want %q, %d", got.Verdict.Sentence, len(f.Next), tt.want, tt.next)
		}
	}
}

// TestTooLittleWork walks around both limits.
func TestTooLittleWork(t *testing.T) {
	for _, tc := range []struct {
		name             string
		events           []int64
		windowMS, spanMS int64 // of each device and its input; a span of 0 is not known
		sentence         string
	}{
		{"one event too few", []int64{9}, 100, 200, "Too little GPU work: 9 GPU events in 100 ms of a capture of 200 ms; limit 10 events"},
		{"just enough events", []int64{10}, 100, 200, ""},
		{"one event", []int64{1}, 100, 0, "Too little GPU work: 1 GPU event in 100 ms; limit 10 events"},
		{"events of all devices count", []int64{5, 5}, 100, 200, ""},
		{"too few on two devices", []int64{5, 4}, 100, 200, "Too little GPU work: 9 GPU events in 200 ms of 2 captures, 400 ms together; limit 10 events"},
		{"share at its limit", []int64{1000}, 100, 5000, ""},
		{"share under its limit", []int64{1000}, 100, 5001, "Too little GPU work: 1,000 GPU events in 100 ms of a capture of 5 s; limit 2% of the capture"},
		{"span not known", []int64{1000}, 100, 0, ""},
	} {
		s := of()
		s.Inputs = nil
		for i, n := range tc.events {
			d := device(i, 0, map[summary.Class]int64{0: tc.windowMS * 9 / 10, comp: tc.windowMS / 10})
			d.Input, d.Events = i, n
			s.Devices = append(s.Devices, d)
			s.Inputs = append(s.Inputs, summary.Input{SpanNS: tc.spanMS * ms})
		}
		got := Judge(s, rule.DefaultThresholds())
		if tc.sentence == "" {
			if got.Verdict.Bound != "host" || got.Verdict.Rule != rule.GPUIdle || got.Findings[0].Level != finding.Critical {
				t.Errorf("%s: got %+v", tc.name, got)
			}
			continue
		}
		f := got.Findings[0]
		want := finding.Verdict{Bound: "unknown", Sentence: tc.sentence, Rule: rule.TooLittleWork, Abstained: &finding.Abstention{Code: rule.TooLittleWork, Reason: tc.sentence}}
		if !reflect.DeepEqual(got.Verdict, want) || f.Title != want.Sentence || f.Level != finding.Warn || !strings.Contains(rule.Text(f.Next[0]), "schedule(wait") {
			t.Errorf("%s: got  %+v\nwant %+v", tc.name, got, want)
		}
		if idle := find(t, got, rule.GPUIdle); idle.Level != finding.Info {
			t.Errorf("%s: idle time of too little work is %s", tc.name, idle.Level)
		}
	}
	// Long events that fill the window are enough from half the limit on.
	for _, tc := range []struct {
		events, busy int64 // busy is in ms of a window of 100 ms
		enough       bool
	}{{5, 100, true}, {5, 90, true}, {4, 100, false}, {5, 89, false}} {
		s := of(device(0, 0, map[summary.Class]int64{0: 100 - tc.busy, comp: tc.busy}))
		s.Devices[0].Events = tc.events
		if got := Judge(s, rule.DefaultThresholds()).Verdict; got.Rule == rule.TooLittleWork == tc.enough {
			t.Errorf("%d events that fill %d%%: %+v", tc.events, tc.busy, got)
		}
	}
	short := of(device(0, 0, map[summary.Class]int64{comp: 9})) // ms
	short.Devices[0].Events = 9
	if got := Judge(short, rule.DefaultThresholds()).Verdict; got.Rule != rule.TooLittleWork {
		t.Errorf("9 events that fill 9 ms: %+v", got)
	}
	th, err := rule.ParseThresholds([]byte("too-little-gpu-work: {min_events: 3, min_share: 50%}"), "t.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := one(600, 0, 0)
	s.Devices[0].Events = 3
	if got := Judge(s, th).Verdict.Bound; got != "host" {
		t.Errorf("3 events under a limit of 3 are %s", got)
	}
	s.Inputs[0].SpanNS = 2001 * ms
	if got := Judge(s, th).Verdict.Rule; got != rule.TooLittleWork {
		t.Errorf("1 s of 2.001 s under a limit of 50%% is decided by %s", got)
	}
}

// TestMixedSpans: devices of inputs whose span is not known do not count
// against the spans of others.
func TestMixedSpans(t *testing.T) {
	s := of(device(0, 0, map[summary.Class]int64{comp: 1000}), device(1, 0, map[summary.Class]int64{comp: 10}))
	s.Inputs = append(s.Inputs, summary.Input{SpanNS: 1000 * ms})
	s.Devices[1].Input = 1
	if f := find(t, Judge(s, rule.DefaultThresholds()), rule.TooLittleWork); f.NumeratorNS != 10*ms || f.DenominatorNS != 1000*ms || f.Value != 0.01 {
		t.Errorf("got %+v", f)
	}
}

// TestAscend: the trace of an NPU has slices of the CPU and of the NPU.
func TestAscend(t *testing.T) {
	s := of()
	s.Inputs = []summary.Input{{Format: "chrome-trace"}}
	s.Spans = []summary.Span{{Name: "AscendCL@aclopCompileAndExecute", Count: 1, SelfNS: 5, TotalNS: 5}, {Name: "Free", Count: 3, SelfNS: 9, TotalNS: 9}}
	f := find(t, Judge(s, rule.DefaultThresholds()), rule.NoGPUTime)
	if want := "No events of the NPU; record with ProfilerActivity.NPU of torch_npu.profiler"; f.Title != want || !strings.Contains(strings.Join(f.Evidence, " "), "CPU and the NPU") {
		t.Errorf("%q, %q, want %q", f.Title, f.Evidence, want)
	}
	s.Spans = s.Spans[1:]
	if f := find(t, Judge(s, rule.DefaultThresholds()), rule.NoGPUTime); f.Title != "No GPU events; only CPU slices are reported" {
		t.Errorf("without Ascend's calls: %q", f.Title)
	}
}
