package efficiency

import (
	"testing"

	"assay/summary"
)

func number(n int64) *int64 { return &n }

func float(v float64) *float64 { return &v }

// machine is one GPU of 20 TFLOP/s in fp32, 160 in TF32 and 2000 GB/s.
func machine(rows ...summary.EfficiencyRow) *summary.Summary {
	return &summary.Summary{Efficiency: summary.Efficiency{Rows: rows,
		Devices: []summary.EfficiencyDevice{{PeakTFLOPS: map[string]float64{"fp32": 20, "tf32": 160}, HBMGBPS: float(2000)}}}}
}

// TestFullPrecision: 16 TFLOP that took 1 s need 100 ms in TF32, unless the memory needs
// longer: 1 TB takes 500 ms. A kernel whose name does not say that it uses vector units,
// another type, and a GPU without TF32 count nothing.
func TestFullPrecision(t *testing.T) {
	mm := summary.EfficiencyRow{Op: "aten::mm", Unit: "matrix", Dtype: "fp32", Count: 3, GPUNS: 1e9, FLOPs: number(16e12), Kernel: "ampere_sgemm_128x64_nn"}
	slow, conv, tensor, half, attention := mm, mm, mm, mm, mm
	slow.Bytes, slow.Kernel = number(1e12), "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(params)"
	conv.Op, conv.Kernel = "aten::convolution", "void implicit_convolve_sgemm<float, float, 128, 5, 5, 3, 3, 3, 1, false, true>"
	tensor.Kernel, half.Dtype, attention.Op = "nvjet_sss_128x64", "fp16", "aten::_scaled_dot_product_efficient_attention"
	product, convolution := FullPrecision(machine(mm, slow, conv, tensor, half, attention))
	if want := (Part{NS: 2e9, Count: 6, SavedNS: 900e6 + 500e6}); product != want {
		t.Errorf("products %+v, want %+v", product, want)
	}
	if want := (Part{NS: 1e9, Count: 3, SavedNS: 900e6}); convolution != want {
		t.Errorf("convolutions %+v, want %+v", convolution, want)
	}
	s := machine(mm)
	s.Efficiency.Devices[0].PeakTFLOPS["tf32"] = 20 // as on GPUs whose TF32 is no faster
	if product, _ := FullPrecision(s); product != (Part{}) {
		t.Errorf("a GPU whose TF32 is as fast as fp32: %+v", product)
	}
}

// TestFusible: what is one kernel already is not in it, and neither are matrix operators
// and operators that something else bounds.
func TestFusible(t *testing.T) {
	mul := summary.EfficiencyRow{Op: "aten::mul", Unit: "vector", Bound: summary.BoundMemory, Count: 2, GPUNS: 700}
	norm, short, list, optimizer, mm, fused := mul, mul, mul, mul, mul, mul
	norm.Op, norm.GPUNS = "aten::native_layer_norm", 300
	short.Bound, list.Op, optimizer.Op, mm.Unit, fused.Op = summary.BoundLatency, "aten::_foreach_add_", "aten::_fused_adamw_", "matrix", "triton_poi_fused_mul_0"
	if got, want := Fusible(machine(mul, norm, short, list, optimizer, mm, fused)), (Part{NS: 1000, Count: 4}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestLogged: rates of the whole job add up over places, rates per GPU have a median, and
// without a rate the tokens and the times of steps give one. Places apart are no job.
func TestLogged(t *testing.T) {
	row := func(input int, metric string, median float64) summary.Series {
		return summary.Series{Input: input, Metric: metric, Producer: "trainer", N: 4, Median: &median}
	}
	of := func(rows ...summary.Series) []Log {
		return Logged(&summary.Summary{Inputs: []summary.Input{{Path: "a.log"}, {Path: "b.log"}}, Series: rows})
	}
	pooled := row(0, "throughput.tokens", 100)
	pooled.Pooled, pooled.Together = 2, float(210)
	tokens, times := row(1, "train.tokens_per_step", 9), row(1, "step.time", 9)
	tokens.Sum, times.Sum = float(8000), float(2e9)
	got := of(row(0, "throughput.tokens", 90), row(0, "throughput.tokens", 110), pooled, row(0, "gpu.mfu", 0.4), tokens, times)
	if len(got) != 2 || got[0] != (Log{Path: "a.log", Producer: "trainer", Tokens: 210, MFU: 0.4}) || got[1] != (Log{Path: "b.log", Producer: "trainer", Tokens: 4000}) {
		t.Errorf("%+v", got)
	}
	times.N = 5
	if got := of(row(0, "throughput.tokens_per_gpu", 90), row(0, "throughput.tokens_per_gpu", 110), tokens, times); got != nil {
		t.Errorf("places apart, and steps without a time: %+v", got)
	}
}
