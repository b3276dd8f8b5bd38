package forecast_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze/critical"
	"assay/analyze/critical/graph"
)

// whyOf returns the causes of the start of GPU work at a time in µs, each as a line: kind, delay, typical
// delay, slack, and what bound.
func whyOf(t *testing.T, g critical.Starts, input int, stream int64, at float64, name string) (v int32, lines string) {
	t.Helper()
	v, ok := g.Find(input, 0, stream, int64(at*1000), name)
	if !ok {
		t.Fatalf("no %s at %g µs", name, at)
	}
	var out []string
	for _, c := range g.Causes(v) {
		line := fmt.Sprintf("%s ready %g delay %g typical %g slack %g", c.Kind, us(c.Ready), us(c.Delay), us(c.Typical), us(c.Spare))
		if c.Inferred {
			line += " inferred"
		}
		if c.Binds {
			line += " bound"
		}
		if c.Unexplained > 0 {
			line += fmt.Sprintf(" unexplained %g", us(c.Unexplained))
		}
		out = append(out, line)
	}
	return v, strings.Join(out, "\n")
}

func us(ns int64) float64 { return float64(ns) / 1000 }

func chainOf(g critical.Starts, v int32, most int, since int64) (out []string) {
	for _, l := range g.Chain(critical.Bound(g.Causes(v)), most, since) {
		p := g.Place(l.First)
		out = append(out, fmt.Sprintf("rank %d %s %g-%g, %d", p.Rank, p.Name, us(l.Span.Start), us(l.Span.End), l.Nodes))
	}
	return out
}

func same(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s\nwant\n%s", what, got, want)
	}
}

// The kernel on stream 8 was launched at 20 (4 µs, and 2 until an idle stream starts it) and waits for that of
// stream 3, which runs from 16 to 116: it could start at 117.3 (no kernel was queued, so the gap is 1.3), and starts at 118.
// The launch could have come 118 - 26 = 92 µs later.
func TestWhyEvent(t *testing.T) {
	for _, recorded := range []bool{true, false} {
		var p tape
		p.step(0, 40)
		p.launch(10, 4, 1)
		p.work("embed_fwd", 3, 16, 100, 1)
		p.call("cudaEventRecord", 15, 1, 50)
		p.call("cudaStreamWaitEvent", 17, 1, 51)
		p.launch(20, 4, 2)
		p.work("topk_route", 8, 118, 50, 2)
		mark := " inferred"
		if recorded {
			mark = ""
			p.add("cuda_sync", "Stream Wait Event", 8, 17, 0, object{"device": 0, "stream": 8, "correlation": 51,
				"wait_on_stream": 3, "wait_on_cuda_event_record_corr_id": 50})
		}
		g := critical.Starts{Program: p.graph(t, 0).Program}
		v, causes := whyOf(t, g, 0, 8, 118, "topk_route")
		same(t, "causes", causes, "launch ready 20 delay 98 typical 6 slack 92\nevent ready 116 delay 2 typical 1.3 slack 0"+mark+" bound")
		same(t, "chain", strings.Join(chainOf(g, v, 9, 0), "\n"), "rank 0 embed_fwd 16-116, 1\nrank 0 ProfilerStep#4 0-10, 2")
		if path, verdict := g.StepOf(g.Paths(), v); path == nil || !g.On(path, v) || verdict.Level == critical.Abstain {
			t.Errorf("path %v, verdict %v", path, verdict)
		}
	}
}

// Three kernels in a row on one stream, gap 1 µs; the host is far ahead. The third waits for its stream; the run of the
// two before it goes back to the launch of the first. A fourth, after a device wait, is launched late: its stream was free 31 µs
// before it could be used, so the launch could come no later.
func TestWhyStreamThenLaunch(t *testing.T) {
	var p tape
	p.step(0, 240)
	for i := range 3 {
		p.launch(10+4*float64(i), 4, i+1)
		p.work("ln_fwd", 5, 17+51*float64(i), 50, i+1)
	}
	p.call("cudaDeviceSynchronize", 30, 143, 9)
	p.launch(200, 4, 4)
	p.work("ln_bwd", 5, 207, 10, 4)
	g := critical.Starts{Program: p.graph(t, 0).Program}
	v, causes := whyOf(t, g, 0, 5, 119, "ln_fwd")
	same(t, "third", causes, "launch ready 18 delay 101 typical 6 slack 95\nstream ready 118 delay 1 typical 1.3 slack 0 bound")
	same(t, "its chain", strings.Join(chainOf(g, v, 9, 0), "\n"), "rank 0 ln_fwd 17-118, 2\nrank 0 ProfilerStep#4 0-10, 2")

	v, causes = whyOf(t, g, 0, 5, 207, "ln_bwd")
	same(t, "fourth", causes, "launch ready 200 delay 7 typical 6 slack 0 bound\nstream ready 169 delay 38 typical 1.3 slack 36.7")
	same(t, "its chain", strings.Join(chainOf(g, v, 2, 0), "\n"), "rank 0 cudaDeviceSynchronize 173-200, 3\nrank 0 ln_fwd 17-169, 3")
	same(t, "all of it", fmt.Sprint(len(chainOf(g, v, 9, 0))), "3")
}

// A kernel starts 80 µs after all that it is known to wait for: nothing is named as the cause, and the chain ends.
func TestWhyUnexplained(t *testing.T) {
	var p tape
	p.step(0, 2000)
	p.launch(10, 4, 1)
	p.work("pack", 2, 16, 20, 1)
	p.launch(100, 4, 2)
	p.work("unpack", 2, 186, 20, 2)
	p.launch(300, 4, 3)
	p.work("scatter", 2, 306, 20, 3)
	g := critical.Starts{Program: p.graph(t, 0).Program}
	v, causes := whyOf(t, g, 0, 2, 186, "unpack")
	same(t, "causes", causes, "launch ready 100 delay 86 typical 6 slack 0 bound unexplained 80\nstream ready 36 delay 150 typical 1.3 slack 148.7")
	if got := chainOf(g, v, 9, 0); len(got) != 0 {
		t.Errorf("the chain goes on over a wait that nothing explains: %v", got)
	}
	if v, causes := whyOf(t, g, 0, 2, 306, "scatter"); !strings.HasPrefix(causes, "launch ready 300 delay 6 typical 6 slack 0 bound\n") || len(chainOf(g, v, 9, 0)) == 0 {
		t.Errorf("a start that its launch explains: %s", causes)
	}
}

// Work without a launch in the trace has its stream only; the first work has nothing.
func TestWhyWithoutLaunch(t *testing.T) {
	var p tape
	p.step(0, 100)
	p.work("decode", 6, 10, 20, 0)
	p.work("decode", 6, 31, 20, 0)
	g := critical.Starts{Program: p.graph(t, 0).Program}
	v, causes := whyOf(t, g, 0, 6, 10, "decode")
	same(t, "first", causes, "")
	if c := critical.Bound(g.Causes(v)); c != nil || len(g.Chain(c, 5, 0)) != 0 || g.Place(v).Launched {
		t.Error("nothing is known of the first")
	}
	_, causes = whyOf(t, g, 0, 6, 31, "decode")
	same(t, "second", causes, "stream ready 30 delay 1 typical 1.3 slack 0 bound")
	if _, ok := g.Find(0, 0, 6, 11_000, "decode"); ok {
		t.Error("no work starts then")
	}
	if _, ok := g.Find(0, 1, 6, 10_000, "decode"); ok {
		t.Error("no such GPU")
	}
}

// Rank 6 comes to the collective at 127, rank 4 at 47, and its transfer takes 20 µs. What follows on rank 4 waits for rank 6.
func TestWhyOtherRank(t *testing.T) {
	record := func(rank int, compute float64) *graph.Graph {
		var p tape
		p.step(0, 30)
		p.launch(10, 4, 1)
		p.work("ffn", 7, 16, compute, 1)
		p.launch(18, 4, 2)
		p.work("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 7, 17+compute, 147-17-compute, 2)
		p.launch(24, 4, 3)
		p.work("norm", 7, 148, 10, 3)
		return p.rank(t, rank)
	}
	joined, _ := joined([]*graph.Graph{record(4, 30), record(6, 110)})
	g := critical.Starts{Program: joined.Program}
	v, causes := whyOf(t, g, 0, 7, 148, "norm")
	same(t, "causes", causes, "launch ready 24 delay 124 typical 6 slack 118\nstream ready 147 delay 1 typical 1.3 slack 0 bound")
	same(t, "chain", strings.Join(chainOf(g, v, 4, 0), "\n"), "rank 4 ncclDevKernel_AllReduce_Sum_bf16_RING_LL 127-147, 1\n"+
		"rank 6 ffn 16-127, 2\nrank 6 ProfilerStep#4 0-10, 2")
	coll, _ := whyOf(t, g, 1, 7, 127, "ncclDevKernel_AllReduce_Sum_bf16_RING_LL")
	if path, _ := g.StepOf(g.Paths(), coll); path == nil || !g.On(path, coll) {
		t.Error("the path leads through the transfer")
	}
}

// The batch comes from another process: the chain ends there, and says so.
func TestWhyArrival(t *testing.T) {
	var p tape
	p.step(0, 160)
	p.host("user_annotation", "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", 10, 80)
	p.launch(95, 4, 1)
	p.work("Memcpy HtoD (Pinned -> Device)", 7, 101, 20, 1)
	g := critical.Starts{Program: p.graph(t, 0).Program}
	v, _ := whyOf(t, g, 0, 7, 101, "Memcpy HtoD (Pinned -> Device)")
	chain := g.Chain(critical.Bound(g.Causes(v)), 9, 0)
	if len(chain) != 1 || critical.Bound(chain[0].Causes).Kind != "arrival" || us(chain[0].Span.Start) != 90 {
		t.Errorf("%+v", chain)
	}
}
