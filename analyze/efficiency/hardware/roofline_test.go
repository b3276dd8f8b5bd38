package hardware

import (
	"assay/analyze/efficiency/operators"
	"math"
	"math/rand/v2"
	"testing"
)

func h100() Peaks { return Catalog{}.Peaks(Properties{Name: "NVIDIA H100 80GB HBM3"}) }

func TestPeakType(t *testing.T) {
	for _, c := range []struct {
		unit          operators.Unit
		dtype, kernel string
		want          Figure
	}{
		{operators.Matrix, "c10::BFloat16", "", BF16},
		{operators.Matrix, "c10::Half", "ampere_fp16_s1688gemm", FP16},
		{operators.Matrix, "c10::Float8_e4m3fnuz", "", FP8},
		{operators.Matrix, "c10::Float4_e2m1fn_x2", "", FP4},
		{operators.Matrix, "signed char", "", INT8},
		{operators.Matrix, "unsigned char", "", NoFigure}, // packed values of fewer bits
		{operators.Matrix, "float", "ampere_sgemm_128x64_nn", FP32},
		{operators.Matrix, "float", "cutlass_80_tensorop_s1688gemm_256x128", TF32},
		{operators.Matrix, "float", "sm80_xmma_fprop_implicit_gemm_TF32tf32_f32", TF32},
		{operators.Matrix, "float", "Cijk_Alik_Bljk_S_MX_B_Bias_XF32", TF32},
		{operators.Matrix, "float", "nvjet_sss_128x64_64x4_1x2_h_bz_NNT", NoFigure}, // TF32 or not
		{operators.Matrix, "float", "triton_tem_fused_mm_0", NoFigure},
		{operators.Matrix, "c10::BFloat16", "nvjet_tst_128x64_64x4_1x2_h_bz_NNT", BF16},
		{operators.Matrix, "double", "", FP64},
		{operators.Matrix, "c10::complex<float>", "", NoFigure},
		{operators.Matrix, "", "", NoFigure},
		{operators.Vector, "c10::BFloat16", "", FP32},
		{operators.None, "", "", FP32},
	} {
		if got := PeakType(c.unit, c.dtype, c.kernel); got != c.want {
			t.Errorf("%v %q %q: %s, want %s", c.unit, c.dtype, c.kernel, got, c.want)
		}
	}
}

func TestRoofline(t *testing.T) {
	p := h100()
	n := func(v int64) operators.Count { return operators.Count{N: v} }
	unknown := operators.Count{Why: operators.NoShapes}
	for _, c := range []struct {
		name string
		t    Totals
		want Roofline
		ok   bool
	}{
		// 48 calls of mm: 2475914428416 FLOPs at 989.4 TFLOP/s.
		{"compute", Totals{operators.Matrix, BF16, HBM, 48, n(2475914428416), n(3573940224)}, Roofline{2502440, ComputeBound}, true},
		// 1 GB at 3352 GB/s.
		{"memory", Totals{operators.Vector, FP32, HBM, 1, n(1e6), n(1e9)}, Roofline{298329, MemoryBound}, true},
		{"link", Totals{operators.None, FP32, PCIe, 1, n(0), n(63e6)}, Roofline{1000000, LinkBound}, true},
		{"latency", Totals{operators.Vector, FP32, HBM, 1000, n(1000), n(3352 * 1000)}, Roofline{1000, LatencyBound}, true},
		{"2 µs per call", Totals{operators.Vector, FP32, HBM, 10, n(0), n(3352 * 20000)}, Roofline{20000, MemoryBound}, true},
		{"vector FLOPs unknown", Totals{operators.Vector, FP32, HBM, 1, unknown, n(1e9)}, Roofline{298329, MemoryBound}, true},
		{"matrix FLOPs unknown", Totals{operators.Matrix, BF16, HBM, 1, unknown, n(1e9)}, Roofline{}, false},
		{"bytes unknown", Totals{operators.Matrix, BF16, HBM, 1, n(1e9), unknown}, Roofline{}, false},
		{"type unknown", Totals{operators.Matrix, NoFigure, HBM, 1, n(1e9), n(1e9)}, Roofline{}, false},
		{"vector rate unknown", Totals{operators.Vector, NoFigure, HBM, 1, n(1e6), n(1e9)}, Roofline{298329, MemoryBound}, true},
		{"peak unknown", Totals{operators.Matrix, FP4, HBM, 1, n(1e9), n(1e9)}, Roofline{}, false},
	} {
		if got, ok := p.Roofline(c.t, c.t.Calls*5_000); got != c.want || ok != c.ok {
			t.Errorf("%s: %+v, %v, want %+v, %v", c.name, got, ok, c.want, c.ok)
		}
	}
	// The ridge: 989.4 TFLOP/s over 3352 GB/s is 295 FLOPs per byte.
	for intensity, want := range map[int64]Bound{290: MemoryBound, 300: ComputeBound} {
		if got, _ := p.Roofline(Totals{operators.Matrix, BF16, HBM, 1, n(1e9 * intensity), n(1e9)}, 1e9); got.Bound != want {
			t.Errorf("intensity %d: %s, want %s", intensity, got.Bound, want)
		}
	}
}

// TestLongCalls: a call that takes 10 µs or more is not bound by its launch, however little it
// does: 100 calls that read and write 10 kB each need 298 ns in all.
func TestLongCalls(t *testing.T) {
	p, of := h100(), Totals{operators.Vector, FP32, HBM, 100, operators.Count{N: 100}, operators.Count{N: 1_000_000}}
	for ns, want := range map[int64]Bound{999_999: LatencyBound, 1_000_000: MemoryBound, 5_000_000: MemoryBound} {
		if got, ok := p.Roofline(of, ns); !ok || got.Bound != want || got.NS != 298 {
			t.Errorf("%d ns: %+v, want %s", ns, got, want)
		}
	}
	of = Totals{operators.Matrix, BF16, HBM, 1, operators.Count{N: 1e9}, operators.Count{N: 1000}} // 1.01 µs at the peak
	if got, _ := p.Roofline(of, 43_000); got.Bound != ComputeBound {
		t.Errorf("%+v", got)
	}
}

// TestRooflineProperties: nothing is faster than its roofline allows, and the roofline of sums
// is at most the sum of rooflines.
func TestRooflineProperties(t *testing.T) {
	p, rng := h100(), rand.New(rand.NewPCG(1, 2))
	random := func() Totals {
		return Totals{operators.Matrix, BF16, HBM, 1 + rng.Int64N(100), operators.Count{N: rng.Int64N(1 << 45)}, operators.Count{N: rng.Int64N(1 << 35)}}
	}
	for range 1000 {
		a, b := random(), random()
		ra, _ := p.Roofline(a, 1)
		rb, _ := p.Roofline(b, 1)
		sum, ok := p.Roofline(Totals{operators.Matrix, BF16, HBM, a.Calls + b.Calls, operators.Count{N: a.FLOPs.N + b.FLOPs.N}, operators.Count{N: a.Bytes.N + b.Bytes.N}}, 1)
		if !ok || sum.NS > ra.NS+rb.NS+2 || sum.NS < max(ra.NS, rb.NS) {
			t.Fatalf("%+v and %+v: %d and %d, together %d", a, b, ra.NS, rb.NS, sum.NS)
		}
		if got := p.Excess(a, ra.NS+1); got != NoExcess {
			t.Fatalf("%+v in its roofline %d: excess %d", a, ra.NS, got)
		}
		if ra.Recoverable(ra.NS) != 0 || ra.Recoverable(ra.NS+5) != 5 || ra.Recoverable(0) != 0 {
			t.Fatal("recoverable")
		}
	}
}

func TestExcess(t *testing.T) {
	p := h100()
	n := func(v int64) operators.Count { return operators.Count{N: v} }
	for _, c := range []struct {
		name string
		t    Totals
		ns   int64
		want Excess
	}{
		{"at the clock's maximum", Totals{operators.Matrix, BF16, HBM, 1, n(1070e9), n(1)}, 1e6, NoExcess},
		{"over it", Totals{operators.Matrix, BF16, HBM, 1, n(1200e9), n(1)}, 1e6, OverCompute},
		{"in the cache", Totals{operators.Vector, FP32, HBM, 1, n(0), n(20e6)}, 4000, Cached},
		{"more than the cache", Totals{operators.Vector, FP32, HBM, 1, n(0), n(20e9)}, 4e6, OverMemory},
		{"each call in the cache", Totals{operators.Vector, FP32, HBM, 1000, n(0), n(20e9)}, 4e6, Cached},
		{"over the link", Totals{operators.None, FP32, PCIe, 1, n(0), n(70e6)}, 1e6, OverMemory},
		{"unknown", Totals{operators.Matrix, BF16, HBM, 1, operators.Count{Why: operators.Routing}, operators.Count{Why: operators.Routing}}, 1, NoExcess},
	} {
		if got := p.Excess(c.t, c.ns); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	p.Cache = 0
	for bytes, want := range map[int64]Excess{13e9: NoExcess, 15e9: Cached, 20e9: OverMemory} {
		if got := p.Excess(Totals{operators.Vector, FP32, HBM, 1, n(0), n(bytes)}, 4e6); got != want {
			t.Errorf("%d bytes, unknown cache: %d, want %d", bytes, got, want)
		}
	}
	p.Figures[HBM] = 0.001 // 4e18 bytes take 4e21 ns
	if r, ok := p.Roofline(Totals{operators.None, FP32, HBM, 1, n(0), n(4e18)}, 1e5); ok {
		t.Errorf("a roofline that does not fit: %+v", r)
	}
}

// TestUtilization checks MFU in closed form: 5497558138880 FLOPs of bf16 in 12549032 ns are
// 438.1 TFLOP/s, 33.5 % of an MI300X.
func TestUtilization(t *testing.T) {
	p := Catalog{}.Peaks(Properties{Name: "AMD Instinct MI300X"})
	if got, ok := p.Utilization(Tally{BF16: 5497558138880}, 12549032); !ok || math.Abs(got-0.3351) > 0.0001 {
		t.Errorf("%v, %v", got, ok)
	}
	// Half of the time at each of two peaks is the peak.
	both := Tally{BF16: 1307.4e6, FP8: 2614.9e6}
	if got, ok := p.Utilization(both, 2000); !ok || math.Abs(got-1) > 1e-9 {
		t.Errorf("two types: %v, %v", got, ok)
	}
	if ns, all := p.PeakNS(Tally{BF16: 1307.4e6, FP4: 1}); !near(ns, 1000, 1e-9) || all {
		t.Errorf("a type without a peak: %v, %v", ns, all)
	}
	for name, tally := range map[string]Tally{"no FLOPs": {}, "no peak": {FP4: 1e12}, "no type": {NoFigure: 1e12}} {
		if got, ok := p.Utilization(tally, 1e6); ok {
			t.Errorf("%s: %v", name, got)
		}
	}
	// Weights and KV cache of a decode step: 19970539520 bytes in 9.931 ms are 2011 GB/s.
	if got, ok := p.Decode(15136194560+4834344960, 9931000); !ok || math.Abs(got-0.378) > 0.0005 {
		t.Errorf("decode: %v, %v", got, ok)
	}
}

func TestLane(t *testing.T) {
	p, gh := h100(), Catalog{}.Peaks(Properties{Name: "NVIDIA GH200 480GB"})
	for kernel, want := range map[string][2]Figure{
		"Memcpy HtoD (Pinned -> Device)":           {PCIe, C2C},
		"Memcpy DtoH (Device -> Pageable)":         {PCIe, C2C},
		"Memcpy DtoD (Device -> Device)":           {HBM, HBM},
		"void at::native::Memcpy HtoD":             {HBM, HBM},
		"Memcpy HostToDevice (Host -> Device)":     {PCIe, C2C},
		"void at::native::vectorized_elementwise_": {HBM, HBM},
	} {
		if got := [2]Figure{p.LaneOf(kernel), gh.LaneOf(kernel)}; got != want {
			t.Errorf("%s: %v, want %v", kernel, got, want)
		}
	}
}
