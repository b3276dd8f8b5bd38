package doctor

import (
	"strings"
	"testing"
	"unicode"

	"assay/judge"
	"assay/judge/rule"
	"assay/summary"
)

// answered returns the answers of a summary by their questions.
func answered(t *testing.T, s *summary.Summary) map[string]Answer {
	t.Helper()
	out := map[string]Answer{}
	for _, a := range Examine(s, judge.Judge(s, rule.DefaultThresholds())) {
		if a.Question == "" || a.Why == "" || (a.Can != Yes && a.Can != Partly && a.Can != No) {
			t.Errorf("%s: %+v", a.ID, a)
		}
		if a.Can == Yes && len(a.Flags) > 0 {
			t.Errorf("%s is answered, and says how to record: %+v", a.ID, a.Flags)
		}
		for _, f := range a.Flags {
			isSentence(t, a.ID, f.Text)
		}
		isSentence(t, a.ID, a.Question)
		isSentence(t, a.ID, a.Why)
		out[a.ID] = a
	}
	return out
}

// isSentence checks that a text stands for itself: it begins with a capital or a number,
// ends with a mark, does not continue another text, and has whole pairs of backticks.
func isSentence(t *testing.T, id, text string) {
	t.Helper()
	if text == "" {
		t.Errorf("%s: a text is missing", id)
		return
	}
	first := rune(text[0])
	if !unicode.IsUpper(first) && !unicode.IsDigit(first) || !strings.ContainsAny(text[len(text)-1:], ".?") || strings.Contains(text, ";") || strings.Count(text, "`")%2 != 0 {
		t.Errorf("%s: not a whole sentence: %q", id, text)
	}
}

// TestSentences: every text of the file is whole sentences.
func TestSentences(t *testing.T) {
	for _, q := range questions() {
		for _, text := range []string{q.Torch, q.Nsys, q.SGLang, q.VLLM, q.NCU, q.Any, q.VeRL, q.Megatron, q.DeepSpeed} {
			if text != "" {
				isSentence(t, q.id, text)
			}
		}
		if !strings.HasSuffix(q.Question, "?") {
			t.Errorf("%s: %q is no question", q.id, q.Question)
		}
	}
}

// TestQuestions: every question has someone to look into it, every look its
// question, and each says how to record for it.
func TestQuestions(t *testing.T) {
	e := examination{Summary: &summary.Summary{}}
	ask := e.byQuestion()
	for _, q := range questions() {
		if ask[q.id] == nil {
			t.Fatalf("nothing examines %q", q.id)
		}
		delete(ask, q.id)
		if q.Any == "" && q.NCU == "" && (q.Torch == "" || q.Nsys == "") || (q.Any == "") != (q.Of == "") {
			t.Errorf("%s does not say how to record", q.id)
		}
	}
	for id := range ask {
		t.Errorf("%q is no question", id)
	}
}

// TestExamine: a summary of each kind, and what it can answer.
func TestExamine(t *testing.T) {
	peak, pct := int64(5), 50.0
	const ms = 1_000_000
	full := &summary.Summary{Devices: []summary.Device{{WindowNS: 1000 * ms, Activity: summary.Activity{0: 300 * ms, summary.ClassCompute: 700 * ms}}}}
	full.Inputs = []summary.Input{{Format: "kineto", SpanNS: 1100 * ms, Complete: true}}
	full.Devices[0].Events = 50
	full.Kernels = []summary.Kernel{{Name: "k", Class: "compute", Category: "gemm", TotalNS: 100}}
	full.Idle = []summary.Idle{{Owner: summary.OwnerHost, State: summary.StateOp, NS: 300 * ms}}
	full.Ops = []summary.Op{{Name: "aten::mm", GPUSelfNS: 90, Shapes: 2}}
	full.Lines = []summary.Line{{File: "a.py", GPUSelfNS: 80}}
	full.Memory = []summary.Memory{{PeakAllocated: &peak}}
	full.Steps = []summary.Step{{Number: 1}, {Number: 2}, {Number: 3}}
	full.Annotations = []summary.Annotation{{Name: "rollout"}}
	full.Calls = []summary.Call{{Name: "cudaLaunchKernel", Kind: "launch"}}
	for id, a := range answered(t, full) {
		if want := id != "efficiency"; (a.Can == Yes) != want {
			t.Errorf("full: %s: %s, %s", id, a.Can, a.Why)
		}
	}
	for id, a := range answered(t, &summary.Summary{}) {
		if want := id == "clocks" || id == "complete" || id == "sharing"; (a.Can == Yes) != want || !want && len(a.Flags) == 0 {
			t.Errorf("nothing: %s: %s, %s, %+v", id, a.Can, a.Why, a.Flags)
		}
	}
	alone := summary.Merge(full) // one process with all GPUs, which communicate
	alone.Kernels[0].Class, alone.Devices[0].Process = "comm", 1
	if a := answered(t, alone)["ranks"]; a.Can != Yes || len(a.Flags) > 0 {
		t.Errorf("one process: %s (%s), %+v", a.Can, a.Why, a.Flags)
	}
	// Two processes in one capture, whose collectives were compared.
	pair := func(group int) *summary.Summary {
		s := summary.Merge(full)
		s.Kernels[0].Class = "comm"
		s.Ranks = []summary.RankWait{{Device: 0}, {Device: 1}}
		s.Collectives = []summary.Collective{{Op: "all-reduce", Ranks: 2, GroupSize: group, Count: 4}}
		return s
	}
	if a := answered(t, pair(2))["ranks"]; a.Can != Yes || a.Why != "The collectives of 2 GPUs were compared." || len(a.Flags) > 0 {
		t.Errorf("two compared GPUs: %s (%s), %+v", a.Can, a.Why, a.Flags)
	}
	if a := answered(t, pair(4))["ranks"]; a.Can == Yes {
		t.Errorf("two GPUs of a group of four: %s (%s)", a.Can, a.Why)
	}
	part := pair(2) // of a job of eight ranks
	part.Inputs[0].WorldSize = 8
	if a := answered(t, part)["ranks"]; a.Can == Yes {
		t.Errorf("two GPUs of a job of eight: %s (%s)", a.Can, a.Why)
	}
	// One thing taken away at a time.
	for _, tc := range []struct {
		id, can, flag string
		spoil         func(*summary.Summary)
	}{
		{"operators", Partly, "ProfilerActivity.CPU", func(s *summary.Summary) { s.Ops[0].GPUSelfNS = 79 }},
		{"operators", No, "ProfilerActivity.CPU", func(s *summary.Summary) { s.Ops = nil }},
		{"idle", Partly, "with_stack", func(s *summary.Summary) { s.Idle[0].State = summary.StateUnrecorded }},
		{"idle", No, "with_stack", func(s *summary.Summary) { s.Idle[0].Owner = summary.OwnerUnknown }},
		{"lines", No, "with_stack=True", func(s *summary.Summary) { s.Lines = nil }},
		{"shapes", No, "record_shapes=True", func(s *summary.Summary) { s.Ops[0].Shapes = 0 }},
		{"steps", Partly, "schedule", func(s *summary.Summary) { s.Steps = s.Steps[:2] }},
		{"phases", No, "record_function", func(s *summary.Summary) { s.Annotations[0].Name = "ProfilerStep#1" }},
		{"graphs", No, "CUPTI", func(s *summary.Summary) { s.Graphs = []summary.Graph{{Opaque: true}} }},
		{"graphs", Partly, "CUPTI", func(s *summary.Summary) { s.Graphs = []summary.Graph{{Opaque: true}, {Nodes: 3}} }},
		{"ranks", No, "every rank", func(s *summary.Summary) { s.Kernels[0].Class = "comm" }},
		{"ranks", No, "every rank", func(s *summary.Summary) {
			s.Kernels[0].Class, s.Devices[0].Process, s.Inputs[0].WorldSize = "comm", 1, 2
		}},
		{"whole", Partly, "schedule", func(s *summary.Summary) { s.Inputs[0].SpanNS = 2001 * ms }},
		{"budget", Partly, "whole steps", func(s *summary.Summary) { s.Devices[0].Events = 9 }},
		{"clocks", Partly, "again", func(s *summary.Summary) { s.Issues = []summary.Issue{{Code: "work-before-launch", Severity: "info"}} }},
		{"complete", Partly, "export_chrome_trace", func(s *summary.Summary) { s.Inputs[0].Complete = false }},
		{"sharing", No, "--redact", func(s *summary.Summary) {
			s.Issues = []summary.Issue{{Code: "secrets-in-capture", Severity: "info", Count: 2}}
		}},
		{"efficiency", Partly, "", func(s *summary.Summary) {
			s.Efficiency.Devices = []summary.EfficiencyDevice{{EfficiencySums: summary.EfficiencySums{GPUNS: 100, CommNS: 20, FLOPsKnownNS: 40, RooflineNS: 10}}}
		}},
		{"efficiency", No, "", func(s *summary.Summary) { // FLOPs without a roofline say nothing of a peak
			s.Efficiency.Devices = []summary.EfficiencyDevice{{EfficiencySums: summary.EfficiencySums{GPUNS: 100, CommNS: 20, FLOPsKnownNS: 40}}}
		}},
		{"efficiency", Partly, "", func(s *summary.Summary) { s.Counters = []summary.Counter{{ComputePct: &pct, MemoryPct: &pct}, {}} }},
		{"efficiency", Yes, "", func(s *summary.Summary) { s.Counters = []summary.Counter{{ComputePct: &pct, MemoryPct: &pct}} }},
		{"kernels", Partly, "ProfilerActivity.CUDA", func(s *summary.Summary) { s.Kernels[0].Category = summary.WholeGraph }},
	} {
		s := summary.Merge(full)
		tc.spoil(s)
		a := answered(t, s)[tc.id]
		if tc.id == "efficiency" {
			if flags := len(a.Flags); a.Can != tc.can || (flags > 0) != (tc.can != Yes) || tc.can == Partly && len(s.Counters) == 0 && !strings.HasPrefix(a.Why, "FLOPs are known for 50.0% of GPU time.") {
				t.Errorf("%s: %s (%s), %+v; want %s", tc.id, a.Can, a.Why, a.Flags, tc.can)
			}
			continue
		}
		if a.Can != tc.can || len(a.Flags) != 1 || a.Flags[0].Producer != "torch.profiler" || !strings.Contains(a.Flags[0].Text, tc.flag) {
			t.Errorf("%s: %s (%s), %+v; want %s with %q", tc.id, a.Can, a.Why, a.Flags, tc.can, tc.flag)
		}
	}
}

// TestFlagsOfProducers: the options are those of the profiler and the server that
// the capture is of, and none where the recording says that it had them.
func TestFlagsOfProducers(t *testing.T) {
	lines := func(s *summary.Summary) Answer { return answered(t, s)["lines"] }
	nsys := &summary.Summary{Inputs: []summary.Input{{Format: "nsys-sqlite"}}}
	if f := lines(nsys).Flags; len(f) != 1 || f[0].Producer != "nsys" || !strings.Contains(f[0].Text, "--python-backtrace=cuda") {
		t.Errorf("nsys: %+v", f)
	}
	both := &summary.Summary{Inputs: []summary.Input{{Format: "nsys-sqlite"}, {Format: "kineto"}}}
	if f := lines(both).Flags; len(f) != 2 || f[0].Producer != "torch.profiler" || f[1].Producer != "nsys" {
		t.Errorf("both: %+v", f)
	}
	kineto := &summary.Summary{Inputs: []summary.Input{{Format: "kineto"}}, Ops: []summary.Op{{Name: "vllm::x"}}}
	if f := lines(kineto).Flags; len(f) != 1 || f[0].Producer != "vLLM" || !strings.Contains(f[0].Text, "torch_profiler_with_stack") {
		t.Errorf("vLLM: %+v", f)
	}
	kineto.Inputs[0].Recorder = map[string]string{"with_stack": "1"}
	if a := lines(kineto); len(a.Flags) != 0 || !strings.HasSuffix(a.Why, "The profiler was started with with_stack, so it recorded what there is.") {
		t.Errorf("recorded with stacks: %+v", a)
	}
	if f := answered(t, nsys)["efficiency"].Flags; len(f) != 1 || f[0].Producer != "ncu" {
		t.Errorf("counters: %+v", f)
	}
}

// TestWaits: how to record waits between streams is said only where forecasts must infer them.
func TestWaits(t *testing.T) {
	input := func(format string, all, unknown int64) *summary.Summary {
		return &summary.Summary{Inputs: []summary.Input{{Format: format, StreamWaits: all, StreamWaitsUnknown: unknown, Complete: true}}}
	}
	for _, tt := range []struct {
		format       string
		all, unknown int64
		can, option  string
	}{
		{"kineto", 8, 8, No, "enable_cuda_sync_events=True"}, {"kineto", 8, 3, Partly, "enable_cuda_sync_events=True"},
		{"nsys-sqlite", 8, 8, No, "nsys export"}, {"kineto", 8, 1, "", ""}, {"kineto", 8, 0, "", ""}, {"kineto", 0, 0, "", ""},
	} {
		a, ok := answered(t, input(tt.format, tt.all, tt.unknown))["waits"]
		if ok != (tt.can != "") || a.Can != tt.can || ok && (len(a.Flags) != 1 || !strings.Contains(a.Flags[0].Text, tt.option)) {
			t.Errorf("%+v: %+v", tt, a)
		}
	}
}

// TestMakersTools: what a capture of ROCm's profilers cannot answer, they record, and counters of AMD GPUs need another tool
// than those of NVIDIA, whatever recorded the capture.
func TestMakersTools(t *testing.T) {
	for _, tc := range []struct{ gpu, format, lines, efficiency string }{
		{"AMD Instinct MI300X", "rocprofv3-sqlite", "rocprofv3", "rocprof-compute"}, {"AMD Instinct MI210", "kineto", "torch.profiler", "rocprof-compute"},
		{"NVIDIA H200", "kineto", "torch.profiler", "ncu"}, {"", "rpd", "rocprofv3", "rocprof-compute"},
	} {
		s := &summary.Summary{Inputs: []summary.Input{{Format: tc.format}}, Devices: []summary.Device{{Name: tc.gpu}}}
		got := answered(t, s)
		for question, want := range map[string]string{"lines": tc.lines, "efficiency": tc.efficiency} {
			if f := got[question].Flags; len(f) != 1 || f[0].Producer != want {
				t.Errorf("%s, %s, %s: %+v, want %s", tc.gpu, tc.format, question, f, want)
			}
		}
	}
}

// TestDevicesWithoutGraphs: TPUs and NPUs have no CUDA graphs, so nothing is asked about them.
func TestDevicesWithoutGraphs(t *testing.T) {
	for gpu, asked := range map[string]bool{"TPU v6 Lite": false, "Ascend NPU": false, "NVIDIA H200": true, "": true} {
		s := &summary.Summary{Inputs: []summary.Input{{Format: "xplane"}}, Devices: []summary.Device{{Name: gpu}}}
		if _, got := answered(t, s)["graphs"]; got != asked {
			t.Errorf("%q: asked %v, want %v", gpu, got, asked)
		}
	}
}

// TestProfilersCost: 1,000 recorded operators and calls cost 2 to 5 ms. It is asked only where the profiler
// recorded some and the GPU is idle.
func TestProfilersCost(t *testing.T) {
	const ms = 1_000_000
	capture := func(idle, window, events int64) *summary.Summary {
		return &summary.Summary{
			Inputs:   []summary.Input{{Path: "a", Format: "kineto", Complete: true}},
			Devices:  []summary.Device{{Events: 900, WindowNS: window * ms, Activity: summary.Activity{0: idle * ms, summary.ClassCompute: (window - idle) * ms}}},
			Idle:     []summary.Idle{{Owner: summary.OwnerLaunch, NS: idle * ms, Count: 9}},
			Launches: []summary.Launches{{HostEvents: events}},
		}
	}
	logged := capture(10, 100, 1000)
	for range 5 {
		logged.Steps = append(logged.Steps, summary.Step{Source: summary.SourceLog, WallNS: 90 * ms})
	}
	for _, tc := range []struct {
		name     string
		s        *summary.Summary
		can, has string // "" if it does not apply
	}{
		{"much of it", capture(10, 100, 1000), Partly, "20.0% to 50.0% of the idle time (2 ms to 5 ms of 10 ms), because it makes each of 1,000 recorded"},
		{"all of it", capture(4, 60, 9000), Partly, "100.0% of the idle time"},
		{"little of it", capture(50, 100, 1000), Yes, "at most 10.0% of the idle time (5 ms of 50 ms)"},
		{"a log of the same run", logged, Yes, "A log"},
		{"another profiler", capture(10, 100, 0), "", ""},
		{"a busy GPU", capture(4, 100, 1000), "", ""},
	} {
		a, asked := answered(t, tc.s)["profiler"]
		if asked != (tc.can != "") || a.Can != tc.can || !strings.Contains(a.Why, tc.has) {
			t.Errorf("%s: %+v, want %s, %s", tc.name, a, tc.can, tc.has)
		}
	}
}

// TestOneOfSeveralRanks: Gloo and MPI have no kernels, and one of their ranks does not tell which one is late.
func TestOneOfSeveralRanks(t *testing.T) {
	const ms = 1_000_000
	capture := func(world int, state string) *summary.Summary {
		return &summary.Summary{
			Inputs:  []summary.Input{{Path: "a", Format: "kineto", Complete: true, Rank: 1, WorldSize: world}},
			Devices: []summary.Device{{Rank: 1, Events: 900, WindowNS: 100 * ms, Activity: summary.Activity{0: 40 * ms, summary.ClassCompute: 60 * ms}}},
			Idle:    []summary.Idle{{Rank: 1, Owner: summary.OwnerHost, State: state, Name: "allreduce", NS: 40 * ms, Count: 9}},
		}
	}
	for _, tc := range []struct {
		world      int
		state, can string
	}{{4, summary.StateCollective, No}, {0, summary.StateCollective, No}, {4, summary.StateOp, No}, {1, summary.StateOp, Yes}, {0, summary.StateOp, Yes}} {
		if a := answered(t, capture(tc.world, tc.state))["ranks"]; a.Can != tc.can {
			t.Errorf("%d ranks, %s: %+v, want %s", tc.world, tc.state, a, tc.can)
		}
	}
}
