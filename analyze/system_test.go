package analyze_test

import (
	"testing"

	"assay/analyze"
	"assay/analyze/classify"
	"assay/summary"
	"assay/trace"
)

// A told is a trace of one thread and one stream that a test tells row by row;
// times are in us.
type told struct {
	a              *trace.Assembler
	thread, stream trace.TrackID
}

func tell() *told {
	a := trace.NewAssembler("told", trace.SelectAll())
	return &told{a, a.Thread(1, 1), a.Stream(1, 0, 7)}
}

func (s *told) span(kind trace.Kind, name string, from, to int64) {
	s.a.Span(trace.HostSpan{Start: from * 1000, Dur: (to - from) * 1000, Kind: kind, Name: s.a.Sym([]byte(name)), Track: s.thread})
}

// launch adds a call of one microsecond and the kernel that it launches.
func (s *told) launch(call, kernel string, id, at, from, to int64) {
	s.a.Call(trace.Call{Start: at * 1000, Dur: 1000, Kind: trace.Runtime, Name: s.a.Sym([]byte(call)), Track: s.thread, Correlation: trace.IDOf(id)})
	name := s.a.Sym([]byte(kernel))
	s.a.Activity(trace.Activity{Start: from * 1000, Dur: (to - from) * 1000, Kind: trace.Kernel, Name: name, Track: s.stream, Correlation: trace.IDOf(id),
		Detail: s.a.Detail(trace.Detail{Bytes: -1}, name)})
}

func (s *told) measured() *summary.Summary {
	t := s.a.Trace(trace.Meta{}, 0, true)
	return analyze.Trace(t, summary.Input{}, analyze.Options{Rules: classify.Default(), StripBins: analyze.StripBins})
}

// TestLateInSystem: a late thread that waits in the operating system, or has no
// core, is said to, but not where a call of the runtime says why.
//
//	time         10       20       30       40       50       60       70
//	kernels  kkkk                                                      kkkk
//	load          [aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]
//	cudaStreamS.  [cccc]
//	poll            oo       [ooooooo]
//	in the call       n
//	off core                   xxx      [xxxxxxx]                [xxx]
//	launch                                                           c
func TestLateInSystem(t *testing.T) {
	s := tell()
	s.launch("cudaLaunchKernel", "first", 1, 0, 5, 10)
	s.span(trace.Annotation, "load", 10, 50)
	s.a.Call(trace.Call{Start: 10_000, Dur: 6000, Kind: trace.Runtime, Name: s.a.Sym([]byte("cudaStreamSynchronize")), Track: s.thread})
	s.span(trace.OSCall, "ioctl", 12, 14)
	s.span(trace.OtherKind, "made a node", 14, 15)
	s.span(trace.OSCall, "poll", 20, 30)
	s.span(trace.OffCPU, "off", 22, 25)
	s.span(trace.OffCPU, "off", 35, 45)
	s.span(trace.OffCPU, "off", 60, 64)
	s.launch("cudaLaunchKernel", "second", 2, 70, 72, 75)
	type owner struct{ state, name string }
	want := map[owner]int64{
		{summary.StateSync, "cudaStreamSynchronize"}: 6_000,  // 10 to 16
		{summary.StateAnnotation, "load"}:            14_000, // 16 to 20, 30 to 35, 45 to 50
		{summary.StateOS, "poll"}:                    10_000, // 20 to 30
		{summary.StateOff, "load"}:                   10_000, // 35 to 45
		{summary.StateOff, ""}:                       4_000,  // 60 to 64
		{summary.StateUnrecorded, ""}:                16_000, // 50 to 60, 64 to 70
	}
	for _, r := range s.measured().Idle {
		if r.Owner != summary.OwnerHost {
			continue
		}
		key := owner{r.State, r.Name}
		if r.NS != want[key] {
			t.Errorf("%v: %d ns, want %d", key, r.NS, want[key])
		}
		delete(want, key)
	}
	if len(want) > 0 {
		t.Errorf("missing: %v", want)
	}
}

// TestWholeGraph: a graph that was recorded as one event is work, and no kernel.
func TestWholeGraph(t *testing.T) {
	s := tell()
	s.launch("cudaGraphLaunch", trace.OpaqueGraph, 1, 0, 5, 105)
	s.launch("cudaGraphLaunch", trace.OpaqueGraph, 2, 1, 105, 205)
	s.launch("cudaLaunchKernel", "gemm", 3, 2, 205, 215)
	sum := s.measured()
	if d := sum.Devices[0]; d.Durations.Count() != 1 || d.Activity.Compute() != 210_000 {
		t.Errorf("%d kernels, %d ns of compute, want 1 and 210000", d.Durations.Count(), d.Activity.Compute())
	}
	if len(sum.Graphs) != 1 || !sum.Graphs[0].Opaque || sum.Graphs[0].Launches != 2 || sum.Graphs[0].SpanNS != 200_000 {
		t.Errorf("graphs: %+v, want one, opaque, of 2 launches and 200000 ns", sum.Graphs)
	}
	if k := sum.Kernels[0]; k.Category != "whole-graph" || k.Count != 2 {
		t.Errorf("kernels[0]: %+v, want the 2 graphs", k)
	}
}

// TestWorkBeforeLaunch: a device's clock that is behind shows in work that
// starts before its call began.
func TestWorkBeforeLaunch(t *testing.T) {
	for _, tc := range []struct {
		early, fine int64
		severity    string // "" for no issue
	}{{0, 5, ""}, {1, 5, "suspect"}, {1, 150, "info"}} {
		s, at := tell(), int64(0)
		for i := range tc.early + tc.fine {
			work := at - 1 // within what clocks are apart
			if i < tc.early {
				work = at - 3
			}
			s.launch("cudaLaunchKernel", "k", i+1, at, work, work+5)
			at += 10
		}
		var severity string
		for _, is := range s.measured().Issues {
			if is.Code == "work-before-launch" {
				severity = is.Severity
				if is.Count != tc.early {
					t.Errorf("%+v: %d times", tc, is.Count)
				}
			}
		}
		if severity != tc.severity {
			t.Errorf("%+v: severity %q", tc, severity)
		}
	}
}
