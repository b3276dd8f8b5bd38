package fusion_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze"
	"assay/summary"
	"assay/trace"
)

// An op is one call of an operator with one kernel, or a copy.
type op struct {
	name, dims, types string
	kernel            string
	us                int64
	stream            int64
	copyBytes         int64
}

// Kernels whose names tell their category.
const (
	pointwise = "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float> >(int)"
	reduce    = "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float> >(int)"
	layerNorm = "void at::native::vectorized_layer_norm_kernel<float, float>(int)"
	product   = "ampere_sgemm_128x64_nn"
)

// savings measures a trace in which a device with 1,000 GB/s runs some operators one after the other.
func savings(t *testing.T, list []op) []summary.Saving {
	t.Helper()
	var events []string
	at := int64(0)
	for i, o := range list {
		args := fmt.Sprintf(`"External id":%d`, i+1)
		if o.dims != "" {
			args += fmt.Sprintf(`,"Input Dims":%s,"Input type":%s`, o.dims, o.types)
		}
		stream := max(o.stream, 7)
		if o.copyBytes == 0 {
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"cpu_op","name":%q,"pid":1,"tid":1,"ts":%d,"dur":4,"args":{%s}}`, o.name, 10*i, args),
				fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":%d}}`, 10*i+1, i+1),
				fmt.Sprintf(`{"ph":"X","cat":"kernel","name":%q,"pid":0,"tid":%d,"ts":%d,"dur":%d,"args":{"device":0,"stream":%d,"correlation":%d}}`, o.kernel, stream, 10_000+at, o.us, stream, i+1))
		} else {
			events = append(events, fmt.Sprintf(`{"ph":"X","cat":"gpu_memcpy","name":%q,"pid":0,"tid":%d,"ts":%d,"dur":%d,"args":{"device":0,"stream":%d,"correlation":%d,"bytes":%d}}`, o.name, stream, 10_000+at, o.us, stream, i+1, o.copyBytes))
		}
		at += o.us + 1
	}
	tr, err := trace.Read(strings.NewReader(`{"deviceProperties":[{"id":0,"name":"NVIDIA A100","numSms":108,"memoryBandwidth":1000000000000}],"traceEvents":[`+strings.Join(events, ",")+"]}"), "t.json", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	return analyze.Trace(tr, summary.Input{}, analyze.DefaultOptions()).Efficiency.Savings
}

const (
	two   = `[[1000,1000],[1000,1000]]`
	one   = `[[1000,1000]]`
	other = `[[500,1000],[500,1000]]`
	f32   = `["float","float"]`
)

// TestChain: what one kernel would not write and read again, at 1,000 GB/s. A tensor has 4 MB.
func TestChain(t *testing.T) {
	add := op{"aten::add", two, f32, pointwise, 30, 0, 0}
	gelu := op{"aten::gelu", one, `["float"]`, pointwise, 20, 0, 0}
	mul := op{"aten::mul", two, f32, pointwise, 30, 0, 0}
	norm := op{"aten::layer_norm", `[[1000,1000],[],[1000],[1000]]`, `["float","ScalarList","float","float"]`, layerNorm, 40, 0, 0}
	mm := op{"aten::mm", two, f32, product, 500, 0, 0}
	mean := op{"aten::mean", one, `["float"]`, reduce, 10, 0, 0}
	rows := op{"aten::rsqrt", `[[1000,1]]`, `["float"]`, pointwise, 4, 0, 0}
	scale := op{"aten::mul", `[[1000,1000],[1000,1]]`, f32, pointwise, 20, 0, 0}
	half := op{"aten::sigmoid", other, f32, pointwise, 20, 0, 0}
	silu := op{"aten::silu", one, `["float"]`, pointwise, 20, 0, 0}
	gated := op{"aten::mul", two, f32, pointwise, 30, 0, 0}
	up := op{"aten::mm", `[[1000,300],[300,1000]]`, f32, product, 500, 0, 0}
	projection := up
	neg := op{"aten::neg", `[[500,1000]]`, `["float"]`, pointwise, 8, 0, 0}
	cat := op{"aten::cat", `[[[500,1000],[500,1000]],[]]`, `["TensorList","Scalar"]`, "void at::native::CatArrayBatchedCopy<float, 2>(float*)", 25, 0, 0}
	// A rotary embedding of queries, then of keys, which are slices of one product: the last operator reads the keys.
	wide := op{"aten::mm", `[[1000,300],[300,3000]]`, f32, product, 900, 0, 0}
	rotate := op{"aten::mul", `[[1000,1000],[1,1000]]`, f32, pointwise, 25, 0, 0}
	both := op{"aten::add", two, f32, pointwise, 30, 0, 0}
	whole := cat
	for _, tc := range []struct {
		name  string
		list  []op
		names string // of the chain; "" if there is none
		count int64
		bytes int64
		gain  int64
	}{
		{"add and gelu", []op{add, gelu}, "aten::add aten::gelu", 1, 8_000_000, 8_000},
		{"twice, between products", []op{add, gelu, mm, add, gelu}, "aten::add aten::gelu", 2, 16_000_000, 16_000},
		{"three", []op{mul, add, norm}, "aten::mul aten::add aten::layer_norm", 1, 16_000_000, 16_000},
		{"a sum has a small result", []op{gelu, mean, rows, scale}, "aten::gelu aten::mean aten::rsqrt aten::mul", 1, 8_008_000, 8_008},
		{"no longer than the shorter kernel", []op{add, {"aten::relu", one, `["float"]`, pointwise, 3, 0, 0}}, "aten::add aten::relu", 1, 8_000_000, 3_000},
		{"a product between", []op{add, mm, gelu}, "", 0, 0, 0},
		{"another shape", []op{add, half}, "", 0, 0, 0},
		{"the same operator on other tensors", []op{add, add, add}, "", 0, 0, 0},
		{"a gate with a product between", []op{silu, up, gated}, "aten::silu aten::mul", 1, 8_000_000, 8_000},
		{"a product between that reads the result", []op{silu, {"aten::mm", `[[1000,1000],[1000,3000]]`, f32, product, 500, 0, 0}, gated}, "", 0, 0, 0},
		{"halves that become whole", []op{neg, cat}, "aten::neg aten::cat", 1, 4_000_000, 4_000},
		{"an operator of unknown inputs between", []op{silu, {"custom::op", "", "", product, 50, 0, 0}, gated}, "", 0, 0, 0},
		// Two results of one size wait for a reader with one input of that size: it reads either.
		{"three products and a sum, one of which is read", []op{projection, projection, projection, add, scale}, "", 0, 0, 0},
		{"slices of one product", []op{wide, rotate, neg, whole, rotate, both, rotate}, "aten::neg aten::cat", 1, 4_000_000, 4_000},
		{"three products of one input", []op{gelu, up, up, up, rotate, neg, whole, rotate, both, rotate}, "", 0, 0, 0},
		{"both are read", []op{projection, add, mul}, "aten::add aten::mul", 1, 8_000_000, 8_000},
		{"another type", []op{add, {"aten::gelu", one, `["c10::BFloat16"]`, pointwise, 20, 0, 0}}, "", 0, 0, 0},
		{"two normalizations", []op{norm, norm}, "", 0, 0, 0},
		{"another stream", []op{add, {"aten::gelu", one, `["float"]`, pointwise, 20, 9, 0}}, "", 0, 0, 0},
		{"a fused kernel of a library", []op{add, {"vllm::rms_norm", one, `["float"]`, layerNorm, 20, 0, 0}}, "", 0, 0, 0},
	} {
		var got *summary.Saving
		rows := savings(t, tc.list)
		for i := range rows {
			if rows[i].Kind == summary.SavingFuse {
				got = &rows[i]
			}
		}
		switch {
		case got == nil && tc.names == "":
		case got == nil || tc.names == "":
			t.Errorf("%s: %+v", tc.name, rows)
		case strings.Join(got.Names, " ") != tc.names || got.Count != tc.count || *got.Bytes != tc.bytes || got.GainNS != tc.gain || got.GainFrom != summary.GainOfBytes:
			t.Errorf("%s: %+v with %d bytes", tc.name, got, *got.Bytes)
		}
	}
}

// TestWithoutShapes: the gain is at most all but the longest of the kernels.
func TestWithoutShapes(t *testing.T) {
	rows := savings(t, []op{{"aten::add", "", "", pointwise, 30, 0, 0}, {"aten::gelu", "", "", pointwise, 20, 0, 0}, {"aten::mul", "", "", pointwise, 25, 0, 0}})
	if len(rows) != 1 || rows[0].GainNS != 45_000 || rows[0].GainFrom != summary.GainAtMost || rows[0].Bytes != nil || rows[0].TotalNS != 75_000 {
		t.Errorf("%+v", rows)
	}
}

// TestCopies: a copy to another type and one to another layout, alone, could be left out; in a chain they are part of it.
func TestCopies(t *testing.T) {
	mm := op{"aten::mm", two, f32, product, 500, 0, 0}
	half := op{"aten::mm", `[[1000,1000],[1000,500]]`, `["c10::BFloat16","c10::BFloat16"]`, product, 500, 0, 0}
	cast := op{"aten::copy_", two, `["c10::BFloat16","float"]`, pointwise, 12, 0, 0}
	layout := op{"aten::copy_", two, f32, pointwise, 15, 0, 0}
	gelu := op{"aten::gelu", one, `["c10::BFloat16"]`, pointwise, 20, 0, 0}
	got := map[string]string{}
	for _, r := range savings(t, []op{cast, half, layout, layout, mm, cast, gelu}) {
		got[r.Kind] += fmt.Sprintf("%s ×%d %d ns %d bytes", strings.Join(r.Names, " "), r.Count, r.GainNS, *r.Bytes)
	}
	want := map[string]string{
		summary.SavingCast:   "aten::copy_ ×1 12000 ns 6000000 bytes",
		summary.SavingLayout: "aten::copy_ ×2 30000 ns 16000000 bytes",
		summary.SavingFuse:   "aten::copy_ aten::gelu ×1 4000 ns 4000000 bytes", // 2 MB written and read
	}
	for kind, text := range want {
		if got[kind] != text {
			t.Errorf("%s: %q, want %q", kind, got[kind], text)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v", got)
	}
}

// TestHostCopies: as many bytes to the host and back are probably the same data; other sizes, the other order and a few
// numbers are not.
func TestHostCopies(t *testing.T) {
	down := func(n int64) op { return op{name: "Memcpy DtoH (Device -> Pageable)", us: 20, copyBytes: n} }
	up := func(n int64) op { return op{name: "Memcpy HtoD (Pageable -> Device)", us: 10, copyBytes: n} }
	for _, tc := range []struct {
		list  []op
		count int64
	}{
		{[]op{down(1 << 20), up(1 << 20)}, 1},
		{[]op{down(1 << 20), up(1 << 20), down(1 << 20), up(1 << 20)}, 2},
		{[]op{down(1 << 20), up(1 << 19), up(1 << 20)}, 0},
		{[]op{down(1 << 20), down(1 << 19), up(1 << 20)}, 0},
		{[]op{up(1 << 20), down(1 << 20)}, 0},
		{[]op{down(8), up(8)}, 0},
	} {
		rows := savings(t, tc.list)
		switch {
		case tc.count == 0 && len(rows) == 0:
		case len(rows) != 1 || rows[0].Kind != summary.SavingHost || rows[0].Count != tc.count || rows[0].GainNS != 30_000*tc.count || *rows[0].Bytes != tc.count<<21:
			t.Errorf("%d copies: %+v, want %d", len(tc.list), rows, tc.count)
		}
	}
}
