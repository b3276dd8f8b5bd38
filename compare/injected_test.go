package compare_test

import (
	"strings"
	"testing"

	"assay/compare"
	"assay/internal/test/loggen"
	"assay/internal/test/rankgen"
	"assay/internal/test/tracegen"
	"assay/summary"
)

// A change is one injected change: both sides, and what the headline must have, in this
// order.
type change struct {
	name      string
	base, new *summary.Summary
	want      []string
}

// server is the log of SGLang with a number of tokens a second.
func server(t *testing.T, path string, tokens, usage float64, queued int) *summary.Summary {
	return logOf(t, path, loggen.Each(40, 5, func(int) loggen.Line {
		return loggen.Line{Running: 8, Queued: queued, Usage: usage, Tokens: tokens, Transfer: -1}
	}).SGLang())
}

// serving is the result of SGLang's bench_serving.
func serving(t *testing.T, path, tokens, p99 string) *summary.Summary {
	return benchOf(t, path, `{"backend":"sglang","dataset_name":"random","request_rate":4.0,"random_input_len":512,"random_output_len":128,"random_range_ratio":0.0,"duration":100.0,"completed":400,"total_input_tokens":204800,"total_output_tokens":51200,"request_throughput":4.0,"output_throughput":`+
		tokens+`,"median_ttft_ms":100.0,"p99_ttft_ms":`+p99+`,"median_tpot_ms":14.0}`+"\n")
}

// table is a profile of functions with self times in ns.
func table(parse, wait int64) *summary.Summary {
	rows := []summary.TableRow{{Name: "parse", Values: []*int64{&parse}}, {Name: "wait", Values: []*int64{&wait}}}
	return &summary.Summary{Inputs: []summary.Input{{Path: "p"}}, Tables: []summary.Table{{
		Tool: "yappi", Name: "functions", Of: summary.OfFunction, Clock: summary.ClockWall,
		Columns: []summary.TableColumn{{Name: "self", Unit: "ns", Adds: summary.AddsSelf}}, Rows: rows,
	}}}
}

// snapshot is a memory snapshot with two allocation sites.
func snapshot(cache int64) *summary.Summary {
	return &summary.Summary{Inputs: []summary.Input{{Path: "s"}}, Snapshots: []summary.Snapshot{{
		OwnersAt: "end", OwnersBytes: 1<<30 + cache, Owners: []summary.Owner{{Kind: "weights", Bytes: 1 << 30}, {Kind: "kv-cache", Frame: "alloc.py(7): reserve", Bytes: cache}},
	}}}
}

// decode is a step of 24 short kernels: replayed by one graph, or launched one by one with a
// pause after each.
func decode(graph bool) []tracegen.Segment {
	var out []tracegen.Segment
	for i := range 24 {
		op := tracegen.Op{Kind: tracegen.Compute, Name: []string{gemm, fused}[i%2], Stream: 7}
		if graph {
			op.Graph = 1
		} else {
			op.Host = []string{"aten::linear"}
		}
		out = append(out, tracegen.Segment{NS: 8 * us, Ops: []tracegen.Op{op}})
		if !graph {
			out = append(out, tracegen.Segment{NS: 20 * us})
		}
	}
	return append(out, tracegen.Segment{NS: 50 * us})
}

// counted is a profile of Nsight Compute.
func counted(ns int64) *summary.Summary {
	return &summary.Summary{Inputs: []summary.Input{{Path: "n"}}, Counters: []summary.Counter{{Kernel: gemm, Launches: 4, Timed: 4, TotalNS: 4 * ns}, {Kernel: fused, Launches: 1, Timed: 1, TotalNS: 50}}}
}

// TestInjectedChanges: pairs that differ in one thing. The headline names it. The pairs of
// [TestHeadline] and [TestRanksHeadline] are further ones.
func TestInjectedChanges(t *testing.T) {
	rl := func(generation, training, sync, data int64) *summary.Summary {
		return rlTrace(t, generation, training, sync, data)
	}
	scene := func(f func([]tracegen.Segment) []tracegen.Segment) *summary.Summary {
		return measured(t, scenario(f(scene())))
	}
	same := func(p []tracegen.Segment) []tracegen.Segment { return p }
	pause := func(host, call string) func([]tracegen.Segment) []tracegen.Segment {
		return func(p []tracegen.Segment) []tracegen.Segment {
			return append(p[:11:11], append([]tracegen.Segment{{NS: 300 * us, Ops: []tracegen.Op{{Kind: tracegen.HostOnly, Host: []string{host}, Call: call}}}}, p[11:]...)...)
		}
	}
	slowerBy := func(percent int64) func([]tracegen.Segment) []tracegen.Segment {
		return func(p []tracegen.Segment) []tracegen.Segment {
			for _, name := range []string{gemm, fused} {
				each(p, name, func(s *tracegen.Segment, _ *tracegen.Op) { s.NS += s.NS * percent / 100 })
			}
			return p
		}
	}
	for _, c := range []change{
		{"phase: generation", rl(30000, 12000, 5000, 1600), rl(39000, 12000, 5000, 1600), []string{"step 48.6 → 57.6 s (+9.0 s): generation +9.0 s"}},
		{"phase: training", rl(30000, 12000, 5000, 1600), rl(30000, 18000, 5000, 1600), []string{"(+6.0 s): training +6.0 s"}},
		{"phase: weight sync", rl(30000, 12000, 5000, 1600), rl(30000, 12000, 2000, 1600), []string{"(-3.0 s): weight sync -3.0 s"}},
		{"phase: loader", rl(30000, 12000, 5000, 1600), rl(30000, 12000, 5000, 5600), []string{"(+4.0 s): data +4.0 s"}},
		{"phase of a log", rlLog(t, "a", 9, 30, 12, 5), rlLog(t, "b", 9, 30, 15, 5), []string{"step 47.0 → 50.0 s (+3.0 s): training +3.0 s"}},
		{"rank", runOf(t, "a", rankgen.Even(8, 4)), runOf(t, "b", rankgen.SlowGPU(8, 4, 6)), []string{"rank 6 became the straggler"}},
		{"loader of a rank", runOf(t, "a", rankgen.Even(4, 4)), runOf(t, "b", rankgen.SlowHost(4, 4, 3)), []string{"rank 3 became the straggler", "data loading"}},
		{"straggler moved", runOf(t, "a", rankgen.SlowHost(4, 4, 3)), runOf(t, "b", rankgen.SlowHost(4, 4, 0)), []string{"the straggler moved from rank 3 to rank 0"}},
		{"network", runOf(t, "a", rankgen.Even(4, 4)), runOf(t, "b", rankgen.SlowNetwork(4, 4)), []string{"transfers +", "AllReduce"}},
		{"clock", scene(same), scene(slowerBy(10)), []string{"step 1.29 → 1.41 ms (+0.12 ms): compute +0.12 ms", gemm, "mean 110 µs, was 100 µs"}},
		{"operator on the host", scene(same), scene(pause("aten::nonzero_static", "")), []string{"idle +0.30 ms, mainly host wait: CPU operator", "aten::nonzero_static"}},
		{"synchronization", scene(same), scene(pause("aten::item", "cudaStreamSynchronize")), []string{"idle +0.30 ms, mainly host wait: synchronization"}},
		{"graph lost", measured(t, scenario(decode(true))), measured(t, scenario(decode(false))), []string{"step 242 → 722 µs (+480 µs): idle +480 µs", "CUDA graphs are no longer replayed (per step: graph launches 1 → 0, launch calls 1 → 24)"}},
		{"graph added", measured(t, scenario(decode(false))), measured(t, scenario(decode(true))), []string{"step 722 → 242 µs (-480 µs): idle -480 µs", "CUDA graphs now launch the kernels (per step: graph launches 0 → 1, launch calls 24 → 1)"}},
		{"shape", scene(same), scene(func(p []tracegen.Segment) []tracegen.Segment {
			each(p, gemm, func(_ *tracegen.Segment, op *tracegen.Op) { op.Dims = [][]int64{{512, 1000}, {1000, 1024}} })
			return p
		}), []string{"step unchanged: 1.29 ms", "the runs do different work: aten::mm with [[512, 1000], [1000, 1024], []], was [[512, 1024], [1024, 1024], []]"}},
		{"kernel by its counters", counted(1500), counted(1800), []string{gemm + "\" per launch 1.50 → 1.80 µs (+0.30 µs)"}},
		{"function added", table(0, 1_000_000_000), table(500_000_000, 1_000_000_000), []string{"1.00 → 1.50 s (+0.50 s): \"parse\" +0.50 s"}},
		{"functions that offset each other", table(4_000_000_000, 1_000_000_000), table(3_000_000_000, 2_000_000_000), []string{"self time of functions unchanged: 5.00 s (0.00 s), but its parts changed: ", "\"parse\" -1.00 s", "\"wait\" +1.00 s"}},
		{"throughput of a server", server(t, "a", 1000, 0.5, 0), server(t, "b", 700, 0.5, 0), []string{"throughput.output_tokens", "1,000/s → 700/s (-30.0%, worse)"}},
		{"queue of a server", server(t, "a", 1000, 0.5, 4), server(t, "b", 1000, 0.5, 40), []string{"requests.queued", "4 → 40 (×10, worse)"}},
		{"throughput of a benchmark", serving(t, "a", "4000", "300"), serving(t, "b", "5000", "300"), []string{"throughput.output_tokens 4,000/s → 5,000/s (+25.0%, better)"}},
		{"latency percentile", serving(t, "a", "4000", "300"), serving(t, "b", "4000", "600"), []string{"serving.ttft p99 300 ms → 600 ms (+100.0%, worse)"}},
		{"function", table(4_000_000_000, 1_000_000_000), table(7_000_000_000, 1_000_000_000), []string{"self time of functions 5.00 → 8.00 s (+3.00 s): \"parse\" +3.00 s"}},
		{"memory", snapshot(1 << 30), snapshot(3 << 30), []string{"memory of device 0 at the end 2.00 → 4.00 GiB (+2.00 GiB): \"kv-cache: alloc.py(7): reserve\" +2.00 GiB"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := compare.Summaries(c.base, c.new, compare.Options{})
			if err != nil {
				t.Fatal(err)
			}
			checkPhases(t, got)
			rest := got.Headline
			for _, want := range c.want {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("headline %q\nlacks %q", got.Headline, want)
				}
				rest = after
			}
		})
	}
}
