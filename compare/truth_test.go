package compare_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"assay/analyze"
	"assay/compare"
	"assay/internal/test/tracegen"
	"assay/summary"
	"assay/trace"
)

const (
	us    = int64(1_000)
	ms    = int64(1_000_000)
	steps = 4

	gemm   = "nvjet_tst_256x128_64x4_1x2_h_bz_coopA_TNT"
	fused  = "triton_poi_fused_add_gelu_12"
	gather = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
	upload = "Memcpy HtoD (Pinned -> Device)"
)

// measured returns the summary of a scenario.
func measured(t testing.TB, sc tracegen.Scenario) *summary.Summary {
	t.Helper()
	var b bytes.Buffer
	if _, err := tracegen.Generate(&b, sc, 0); err != nil {
		t.Fatal(err)
	}
	tr, err := trace.Read(&b, sc.Name, analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Trace(tr, summary.Input{Path: sc.Name, Format: "kineto", Complete: true}, analyze.DefaultOptions())
}

// scene returns a step whose lengths are known: an upload, ten rounds of a
// matrix product and a fused kernel, and communication that is overlapped by
// the products.
//
//	copy    ####
//	compute     ######## # ######## # ...   10 rounds of 100 and 20 µs
//	comm        ########                    in the first round
//	idle                                 ## 50 µs
func scene() []tracegen.Segment {
	kernel := func(ns int64, name string, dims [][]int64, host ...string) tracegen.Segment {
		return tracegen.Segment{NS: ns, Ops: []tracegen.Op{{Kind: tracegen.Compute, Name: name, Stream: 7, Host: host, Dims: dims}}}
	}
	out := []tracegen.Segment{{NS: 40 * us, Ops: []tracegen.Op{{Kind: tracegen.Copy, Name: upload, Stream: 16, Bytes: 1 << 20, Host: []string{"aten::to", "aten::copy_"}}}}}
	for range 10 {
		out = append(out,
			kernel(100*us, gemm, [][]int64{{512, 1024}, {1024, 1024}}, "aten::linear", "aten::mm"),
			kernel(20*us, fused, [][]int64{{512, 1024}}, "triton_launch"))
	}
	out[1].Ops = append(out[1].Ops, tracegen.Op{Kind: tracegen.Comm, Name: gather, Stream: 20, Host: []string{"record_param_comms"}})
	return append(out, tracegen.Segment{NS: 50 * us})
}

func scenario(program []tracegen.Segment) tracegen.Scenario {
	return tracegen.Scenario{
		Name: "scene", Seed: 1, Steps: steps, FirstStep: 2, LagNS: 20 * us, HostNS: 12 * us, GapNS: 0, Dialect: tracegen.Dialect{Shapes: true},
		Devices: []tracegen.Device{{Name: "NVIDIA H100 80GB HBM3", Program: program}},
	}
}

// each calls f with every op of a program of the given name, and its segment.
func each(program []tracegen.Segment, name string, f func(*tracegen.Segment, *tracegen.Op)) {
	for i := range program {
		for j := range program[i].Ops {
			if program[i].Ops[j].Name == name {
				f(&program[i], &program[i].Ops[j])
			}
		}
	}
}

// An injection is one change of the scene and the expected headline.
type injection struct {
	name   string
	change func([]tracegen.Segment) []tracegen.Segment
	delta  int64    // per step, by construction
	want   []string // in the headline, in this order
}

func injections() []injection {
	rename := func(old, new string) func([]tracegen.Segment) []tracegen.Segment {
		return func(p []tracegen.Segment) []tracegen.Segment {
			each(p, old, func(_ *tracegen.Segment, op *tracegen.Op) { op.Name = new })
			return p
		}
	}
	same := func(p []tracegen.Segment) []tracegen.Segment { return p }
	return []injection{
		{"nothing", same, 0, []string{"step unchanged: 1.29 ms"}},
		{"slower kernel", func(p []tracegen.Segment) []tracegen.Segment {
			each(p, fused, func(s *tracegen.Segment, _ *tracegen.Op) { s.NS += 15 * us })
			return p
		}, 150 * us, []string{"step 1.29 → 1.44 ms (+0.15 ms): compute +0.15 ms", fused, "mean 35 µs, was 20 µs (+0.15 ms)"}},
		{"faster kernel", func(p []tracegen.Segment) []tracegen.Segment {
			each(p, gemm, func(s *tracegen.Segment, _ *tracegen.Op) { s.NS -= 30 * us })
			return p
		}, -300 * us, []string{"step 1.29 → 0.99 ms (-0.30 ms): compute -0.30 ms", gemm, "mean 70 µs, was 100 µs (-0.30 ms)"}},
		{"more launches", func(p []tracegen.Segment) []tracegen.Segment {
			last := p[len(p)-2]
			return slices.Insert(p, len(p)-1, last, last, last, last, last)
		}, 100 * us, []string{"(+0.10 ms): compute +0.10 ms", fused, "15 times per step, was 10 times (+0.10 ms)"}},
		{"new kernel", func(p []tracegen.Segment) []tracegen.Segment {
			seg := tracegen.Segment{NS: 200 * us, Ops: []tracegen.Op{{Kind: tracegen.Compute, Name: "check_finite", Stream: 7, Host: []string{"aten::isfinite"}}}}
			return slices.Insert(p, 5, seg)
		}, 200 * us, []string{"(+0.20 ms): compute +0.20 ms", "check_finite", "added: once per step (+0.20 ms)"}},
		{"gone kernel", func(p []tracegen.Segment) []tracegen.Segment {
			return slices.DeleteFunc(p, func(s tracegen.Segment) bool { return len(s.Ops) > 0 && s.Ops[0].Name == fused })
		}, -200 * us, []string{"(-0.20 ms): compute -0.20 ms", fused, "removed: was 10 times per step (-0.20 ms)"}},
		{"lost overlap", func(p []tracegen.Segment) []tracegen.Segment {
			comm := p[1].Ops[1]
			p[1].Ops = p[1].Ops[:1]
			return slices.Insert(p, 1, tracegen.Segment{NS: 100 * us, Ops: []tracegen.Op{comm}})
		}, 100 * us, []string{"(+0.10 ms): exposed communication +0.10 ms, because compute overlaps 0.0% of it, was 100.0%"}},
		{"slower copy", func(p []tracegen.Segment) []tracegen.Segment {
			each(p, upload, func(s *tracegen.Segment, _ *tracegen.Op) { s.NS += 60 * us })
			return p
		}, 60 * us, []string{"(+0.060 ms): exposed copies +0.060 ms", upload, "mean 100 µs, was 40 µs (+0.060 ms)"}},
		{"new gap", func(p []tracegen.Segment) []tracegen.Segment {
			wait := tracegen.Segment{NS: 300 * us, Ops: []tracegen.Op{{Kind: tracegen.HostOnly, Host: []string{"aten::item"}, Call: "cudaStreamSynchronize"}}}
			return slices.Insert(p, 11, wait)
		}, 300 * us, []string{"(+0.30 ms): idle +0.30 ms, mainly host wait: synchronization", "cudaStreamSynchronize"}},
		{"renamed kernels", rename(fused, "triton_poi_fused_add_gelu_31"), 0,
			[]string{"step unchanged: 1.29 ms", "1 kernel was renamed", "triton_poi_fused_add_gelu_31", fused}},
		{"another tile", rename(gemm, "nvjet_tst_128x256_64x6_2x1_v_bz_coopB_TNT"), 0,
			[]string{"step unchanged: 1.29 ms", "1 kernel was renamed", "nvjet_tst_128x256_64x6_2x1_v_bz_coopB_TNT", gemm}},
		{"another library", func(p []tracegen.Segment) []tracegen.Segment {
			each(p, gemm, func(s *tracegen.Segment, op *tracegen.Op) {
				s.NS += 10 * us
				op.Name = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_cublas"
			})
			return p
		}, 100 * us, []string{"(+0.10 ms): compute +0.10 ms", "sm90_xmma_gemm", "which replaces", gemm, "mean 110 µs, was 100 µs"}},
		{"another batch", func(p []tracegen.Segment) []tracegen.Segment {
			each(p, gemm, func(s *tracegen.Segment, op *tracegen.Op) { s.NS *= 2; op.Dims = [][]int64{{1024, 1024}, {1024, 1024}} })
			return p
		}, 1000 * us, []string{"step 1.29 → 2.29 ms (+1.00 ms): compute +1.00 ms", gemm, "the runs do different work: aten::mm with [[1024, 1024], [1024, 1024], []], was [[512, 1024], [1024, 1024], []]"}},
	}
}

// TestHeadline injects one change at a time, whose effect is known by
// construction. The headline must name it with its numbers.
func TestHeadline(t *testing.T) {
	base := measured(t, scenario(scene()))
	for _, in := range injections() {
		t.Run(in.name, func(t *testing.T) {
			new := measured(t, scenario(in.change(scene())))
			c, err := compare.Summaries(base, new, compare.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if c.Per != compare.PerStep || c.Base.Parts != steps {
				t.Fatalf("per %s of %d, want per step of %d", c.Per, c.Base.Parts, steps)
			}
			if c.Budget.DeltaNS != in.delta {
				t.Errorf("delta %d ns, want %d", c.Budget.DeltaNS, in.delta)
			}
			rest := c.Headline
			for _, want := range in.want {
				_, after, found := strings.Cut(rest, want)
				if !found {
					t.Fatalf("headline %q\nlacks %q", c.Headline, want)
				}
				rest = after
			}
			checkSums(t, c, base, new)
		})
	}
}
