package operators

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// A tensor is one in a test: its type and dimensions.
type tensor struct {
	dtype   string
	dims    []int64
	strides []int64
}

// callOf returns a call as a capture has it. Arguments are tensors, lists of tensors and
// values.
func callOf(op string, args ...any) Call {
	var dims, types, strides, values []any
	for _, a := range args {
		var d, s any = []int64{}, []int64{}
		dtype, value := "", ""
		switch a := a.(type) {
		case tensor:
			d, dtype = append([]int64{}, a.dims...), a.dtype
			s = append([]int64{}, a.strides...)
			if a.strides == nil {
				s = dense(a.dims)
			}
		case []tensor:
			ds, ss := [][]int64{}, [][]int64{}
			for _, x := range a {
				ds, ss = append(ds, append([]int64{}, x.dims...)), append(ss, dense(x.dims))
			}
			d, s, dtype = ds, ss, "TensorList"
		case bool:
			dtype, value = "Scalar", strings.ToUpper(fmt.Sprint(a)[:1])+fmt.Sprint(a)[1:]
		case int:
			dtype, value = "Scalar", fmt.Sprint(a)
		case string:
			value = a
			if strings.HasPrefix(a, "[") {
				dtype = "ScalarList"
			}
		}
		dims, types, strides, values = append(dims, d), append(types, dtype), append(strides, s), append(values, value)
	}
	text := func(x any) string {
		b, err := json.Marshal(x)
		if err != nil {
			panic(err)
		}
		return string(b)
	}
	return ParseCall(op, text(dims), text(types), text(strides), text(values))
}

func dense(dims []int64) []int64 {
	strides := make([]int64, len(dims))
	n := int64(1)
	for i := len(dims) - 1; i >= 0; i-- {
		strides[i] = n
		n *= dims[i]
	}
	return strides
}

func bf16(dims ...int64) tensor { return tensor{dtype: "c10::BFloat16", dims: dims} }
func f32(dims ...int64) tensor  { return tensor{dtype: "float", dims: dims} }
func of(dtype string, dims ...int64) tensor {
	return tensor{dtype: dtype, dims: dims}
}

// do returns the work of a call, which must have a model that fits.
func do(t *testing.T, op string, args ...any) Work {
	t.Helper()
	c := callOf(op, args...)
	m := Lookup(op)
	if m == nil {
		t.Fatalf("%s: no model", op)
	}
	w, ok := m.Work(&c)
	if !ok {
		t.Fatalf("%s %+v: %+v", op, c.Args, w)
	}
	return w
}

// TestClosedForms checks formulas with results worked by hand.
func TestClosedForms(t *testing.T) {
	for _, x := range []struct {
		op           string
		args         []any
		flops, bytes int64 // -1: unknown
	}{
		{"aten::mm", []any{bf16(2, 3), bf16(3, 5)}, 60, 12 + 30 + 20},
		{"aten::mm", []any{bf16(2, 3), bf16(3, 5), f32(2, 5)}, 60, 12 + 30 + 40},
		{"aten::mm", []any{bf16(2, 3), bf16(3, 5), 6}, 60, 12 + 30 + 40},
		{"aten::addmm", []any{bf16(5), bf16(2, 3), bf16(3, 5), 1, 1}, 60 + 10, 10 + 12 + 30 + 20},
		{"aten::bmm", []any{f32(4, 2, 3), f32(4, 3, 5)}, 240, 96 + 240 + 160},
		{"aten::baddbmm", []any{f32(4, 2, 5), f32(4, 2, 3), f32(4, 3, 5)}, 280, 160 + 96 + 240 + 160},
		{"aten::linear", []any{bf16(7, 2, 3), bf16(5, 3), bf16(5)}, 7 * 70, 84 + 30 + 10 + 140},
		{"aten::mv", []any{f32(3, 4), f32(4)}, 24, 48 + 16 + 12},
		{"aten::_int_mm", []any{of("signed char", 32, 8), of("signed char", 8, 8)}, 4096, 256 + 64 + 1024},
		{"aten::_scaled_mm", []any{of("c10::Float8_e4m3fn", 16, 32), of("c10::Float8_e4m3fn", 32, 8), f32(), f32(), "", "", 15, true}, 2 * 16 * 32 * 8, 512 + 256 + 256},
		{"aten::_scaled_mm", []any{of("c10::Float4_e2m1fn_x2", 16, 32), of("c10::Float4_e2m1fn_x2", 32, 8), of("c10::Float8_e4m3fn", 16, 4), of("c10::Float8_e4m3fn", 8, 4), bf16(8), "", 15}, 4*16*32*8 + 128, 512 + 256 + 64 + 32 + 16 + 256},
		{"_C::cutlass_scaled_mm", []any{bf16(16, 8), of("c10::Float8_e4m3fn", 16, 32), of("c10::Float8_e4m3fn", 32, 8), f32(1), f32(1), ""}, 8192, 256 + 512 + 256},
		{"_C::cutlass_scaled_fp4_mm", []any{bf16(16, 8), of("unsigned char", 16, 32), of("unsigned char", 8, 32), of("c10::Float8_e4m3fn", 128, 4), of("c10::Float8_e4m3fn", 128, 4), f32(1)}, 2 * 16 * 64 * 8, 256 + 512 + 256 + 512 + 512},
		{"_C::gptq_marlin_gemm", []any{bf16(4, 128), "", of("int", 8, 128), "", bf16(1, 64), "", "", "", "", of("int", 256), 1, 4, 64, 128, true}, 2 * 4 * 64 * 128, 1024 + 4096 + 128 + 512},
		{"_C::awq_gemm", []any{of("c10::Half", 4, 128), of("int", 128, 8), of("c10::Half", 1, 64), of("int", 1, 8), 8}, 65536, 1024 + 4096 + 128 + 32 + 512},
		{"aten::_grouped_mm", []any{bf16(12, 8), bf16(3, 8, 4), of("int", 3)}, 768, -1},
		{"sglang::deep_gemm_fp8_fp8_bf16_nt", []any{of("c10::Float8_e4m3fn", 4, 256), f32(4, 2), of("c10::Float8_e4m3fn", 128, 256), f32(1, 2), bf16(4, 128)}, 2 * 4 * 256 * 128, 1024 + 32 + 32768 + 8 + 1024},
		{"aten::convolution", []any{f32(2, 3, 8, 8), f32(4, 3, 3, 3), "", "[2, 2]", "[1, 1]", "[1, 1]", false, "[0, 0]", 1}, 2 * 2 * 4 * 16 * 27, 4 * (384 + 108 + 128)},
		{"aten::convolution", []any{f32(2, 4, 8, 8), f32(4, 2, 3, 3), f32(4), "[1]", "[0]", "[1]", false, "[0]", 2}, 2*2*4*36*18 + 288, 4 * (512 + 72 + 4 + 288)},
		{"aten::convolution", []any{f32(1, 3, 4, 4), f32(3, 5, 2, 2), "", "[2, 2]", "[0, 0]", "[1, 1]", true, "[1, 1]", 1}, 2 * 48 * 20, 4 * (48 + 60 + 5*81)},
		{"aten::native_layer_norm", []any{f32(6, 10), "[10]", f32(10), f32(10)}, 480, 240 + 40 + 40 + 240},
		{"aten::native_layer_norm_backward", []any{f32(6, 10), f32(6, 10), "[10]", f32(6, 1), f32(6, 1), f32(10), f32(10), "[True, True, False]"}, 720, 3*240 + 24 + 24 + 40 + 40 + 40},
		{"aten::_softmax", []any{bf16(3, 7), -1, true}, 105, 42 + 84},
		{"aten::_log_softmax_backward_data", []any{f32(3, 7), f32(3, 7), 1, 6}, 84, 3 * 84},
		{"ScaledUpperTriangMaskedSoftmax", []any{bf16(2, 4, 4)}, 5 * 20, 40 + 64},
		{"aten::add", []any{bf16(2, 1), f32(3), 1}, 6, 4 + 12 + 24},
		{"aten::add", []any{of("c10::Half", 4), bf16(4), 1}, 4, 8 + 8 + 16},
		{"aten::mul", []any{bf16(4), f32()}, 4, 8 + 8},
		{"aten::mul", []any{of("long int", 4), f32()}, 4, 32 + 16},
		{"aten::add_", []any{bf16(4), f32(4), 1}, 4, 8 + 16 + 8},
		{"aten::div", []any{of("int", 4), of("int", 4)}, 4, 16 + 16 + 16},
		{"aten::div", []any{of("long", 4), of("long", 4), "floor"}, 4, 32 + 32 + 32},
		{"aten::eq", []any{f32(4), f32(4)}, 4, 16 + 16 + 4},
		{"aten::sqrt", []any{of("long", 4)}, 4, 32 + 16},
		{"aten::where", []any{of("bool", 4), f32(4), f32()}, 0, 4 + 16 + 16},
		{"aten::addcmul_", []any{f32(4), f32(4), f32(4), 1}, 12, 64},
		{"aten::sum", []any{f32(4, 5), "[-1]", false, ""}, 20, 80 + 16},
		{"aten::sum", []any{of("int", 4, 5), ""}, 20, 80 + 8},
		{"aten::sum", []any{bf16(4, 5), "[0]", true, 6}, 20, 40 + 20},
		{"aten::max", []any{f32(4, 5), 1, false}, 20, 80 + 4*12},
		{"aten::max", []any{f32(4, 5)}, 20, 80 + 4},
		{"aten::any", []any{of("bool", 4, 5)}, 0, 20 + 1},
		{"aten::argmax", []any{bf16(4, 5), -1, false}, 20, 40 + 32},
		{"aten::linalg_vector_norm", []any{f32(4, 5), 2, "", false, ""}, 20, 80 + 4},
		{"aten::cumsum", []any{of("int", 4), 0, ""}, 4, 16 + 32},
		{"aten::copy_", []any{f32(4), bf16(4), false}, 0, 16 + 8},
		{"aten::fill_", []any{of("bool", 9), 1}, 0, 9},
		{"aten::embedding", []any{f32(100, 8), of("long", 3)}, 0, 24 + 2*3*8*4},
		{"aten::index_select", []any{f32(100, 8), 1, of("long", 3)}, 0, 24 + 2*300*4},
		{"aten::gather", []any{f32(100, 8), 1, of("long", 100, 1)}, 0, 800 + 800},
		{"aten::nll_loss_forward", []any{f32(7, 100), of("long", 7), "", 1, -100}, 7, 56 + 28 + 4},
		{"aten::max_pool2d_with_indices", []any{bf16(1, 2, 8, 8), "[2, 2]", "[]", "[0, 0]", "[1, 1]", false}, 32 * 4, 256 + 32*10},
		{"aten::index", []any{f32(4, 5), ""}, 0, -1},
		{"aten::arange", []any{0, 10, 3, of("long", 0)}, 0, 32},
		{"_C::rms_norm", []any{bf16(2, 8), bf16(2, 8), bf16(8), "1e-06"}, 64, 32 + 32 + 16},
		{"_C::fused_add_rms_norm", []any{bf16(2, 8), bf16(2, 8), bf16(8), "1e-06"}, 80, 128 + 16},
		{"_C::silu_and_mul", []any{bf16(2, 8), bf16(2, 16)}, 32, 32 + 64},
		{"_C::rotary_embedding", []any{of("long", 2), bf16(2, 16), bf16(2, 8), 8, bf16(50, 8), true}, 144, 2*(64+32) + 16 + 2*8*2},
		{"_C_cache_ops::reshape_and_cache_flash", []any{bf16(2, 4, 8), bf16(2, 4, 8), of("c10::Float8_e4m3fn", 9, 16, 4, 8), of("c10::Float8_e4m3fn", 9, 16, 4, 8), of("long", 2), "fp8"}, 0, 256 + 16 + 128},
		{"_C::dynamic_scaled_fp8_quant", []any{of("c10::Float8_e4m3fn", 2, 8), bf16(2, 8), f32(1)}, 16, 16 + 32 + 4},
		{"vllm::inplace_fused_experts", []any{bf16(6, 4), bf16(8, 10, 4), bf16(8, 4, 5), f32(6, 2), of("int", 6, 2)}, 2 * 6 * 2 * 60, -1},
		{"vllm::inplace_fused_experts", []any{bf16(1, 4), bf16(8, 10, 4), bf16(8, 4, 5), f32(1, 2), of("int", 1, 2)}, 2 * 2 * 60, 16 + 2*60*2},
		{"fbgemm::FloatToFP8RowwiseQuantized", []any{f32(3, 16), true}, 48, 192 + 48 + 24},
		{"fbgemm::permute_2D_sparse_data", []any{of("int", 5), of("int", 4, 8), of("int", 100), "", ""}, 0, -1},
		{"triton_poi_fused_add_0", []any{bf16(2, 8), bf16(1000), 16}, -1, 32 + 32},
	} {
		w := do(t, x.op, x.args...)
		for _, c := range []struct {
			name string
			got  Count
			want int64
		}{{"FLOPs", w.FLOPs, x.flops}, {"bytes", w.Bytes, x.bytes}} {
			if c.want >= 0 && c.got != (Count{N: c.want}) || c.want < 0 && c.got.Why == Known {
				t.Errorf("%s %v: %s %v, want %d", x.op, x.args, c.name, c.got, c.want)
			}
		}
	}
}

// TestLists checks operators whose types only the kernel tells.
func TestLists(t *testing.T) {
	p := []tensor{f32(10), f32(2, 5)}
	for _, x := range []struct {
		op, kernel string
		args       []any
		bytes      int64
	}{
		{"aten::_fused_adamw_", "multi_tensor_apply_kernel<FusedAdamMathFunctor<float, 4, 0, false>>", []any{p, p, p, p, []tensor{}, []tensor{f32(), f32()}}, 7 * 20 * 4},
		{"aten::_fused_sgd_", "FusedSgdMathFunctor<float, 2>", []any{p, p, []tensor{}}, 3 * 20 * 4},
		{"aten::_foreach_add_", "BinaryOpListAlphaFunctor<c10::Half, 2>", []any{p, p, 1}, 3 * 20 * 2},
		{"aten::_foreach_norm", "LpNormFunctor<float, 1>", []any{p, 2}, 20 * 4},
		{"aten::_foreach_copy_", "multi_tensor_apply_kernel<TensorListMetadata<2>, at::native::UnaryOpFunctor<long, 2, 1, 1>, at::native::Copy<long, int> >(x)", []any{p, p, false}, 20 * (8 + 4)},
		{"aten::cat", "CatArrayBatchedCopy<(anonymous namespace)::OpaqueType<2u>, unsigned int>", []any{p, 0}, 2 * 20 * 2},
		{"aten::cat", "void CatArrayBatchedCopy<float, unsigned int, 1, 128, 1>(float*)", []any{p, 0}, 2 * 20 * 4},
	} {
		c := callOf(x.op, x.args...)
		c.Kernel = x.kernel
		m := Lookup(x.op)
		if w, ok := m.Work(&c); !ok || w.Bytes != (Count{N: x.bytes}) || !m.NeedsKernel() {
			t.Errorf("%s: %+v, %t, want %d", x.op, w, ok, x.bytes)
		}
		c.Kernel = "other"
		if w, ok := m.Work(&c); ok || w.Bytes.Why != TypeOfList {
			t.Errorf("%s without a type: %+v, %t", x.op, w, ok)
		}
	}
	c := callOf("aten::cat", []tensor{}, 0) // as a long list is recorded
	c.Kernel = "CatArrayBatchedCopy<OpaqueType<2u>>"
	if w, ok := Lookup(c.Op).Work(&c); ok || w.Bytes.Why != TypeOfList {
		t.Errorf("a list that is not recorded: %+v", w)
	}
}

// TestHostCopy checks that a copy over the host link counts once.
func TestHostCopy(t *testing.T) {
	c := callOf("aten::copy_", f32(4), bf16(4), false)
	c.Kernel = "Memcpy DtoH (Device -> Pinned)"
	if w, _ := Lookup(c.Op).Work(&c); w.Bytes != (Count{N: 16}) {
		t.Errorf("%+v", w)
	}
}

// TestGemmSplits checks that the FLOPs of a product are those of its halves, along each
// dimension, and that batches add up.
func TestGemmSplits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	size := func() int64 { return 1 + r.Int64N(1000) }
	mm := func(m, k, n int64) int64 { return do(t, "aten::mm", bf16(m, k), bf16(k, n)).FLOPs.N }
	for range 200 {
		m, k, n, b := size(), size(), size(), size()
		m1, k1, n1 := size(), size(), size()
		whole := mm(m+m1, k+k1, n+n1)
		if mm(m, k+k1, n+n1)+mm(m1, k+k1, n+n1) != whole || mm(m+m1, k, n+n1)+mm(m+m1, k1, n+n1) != whole || mm(m+m1, k+k1, n)+mm(m+m1, k+k1, n1) != whole {
			t.Errorf("[%d+%d,%d+%d,%d+%d] does not add up", m, m1, k, k1, n, n1)
		}
		w := do(t, "aten::bmm", bf16(b, m, k), bf16(b, k, n))
		one := do(t, "aten::mm", bf16(m, k), bf16(k, n))
		if w.FLOPs.N != b*one.FLOPs.N || w.Bytes.N != b*one.Bytes.N {
			t.Errorf("a batch of %d products [%d,%d,%d] does not add up", b, m, k, n)
		}
		// The two products of a backward pass have the FLOPs of the forward pass each.
		if mm(m, n, k) != one.FLOPs.N || mm(k, m, n) != one.FLOPs.N {
			t.Errorf("[%d,%d,%d]: a product of the backward pass differs", m, k, n)
		}
	}
}

// TestConvolutionIsGemm checks that a convolution with windows of one element is a
// product, and that its backward pass is two.
func TestConvolutionIsGemm(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		b, in, out, h, w := 1+r.Int64N(9), 1+r.Int64N(99), 1+r.Int64N(99), 1+r.Int64N(30), 1+r.Int64N(30)
		conv := do(t, "aten::convolution", bf16(b, in, h, w), bf16(out, in, 1, 1), "", "[1, 1]", "[0, 0]", "[1, 1]", false, "[0, 0]", 1)
		mm := do(t, "aten::mm", bf16(b*h*w, in), bf16(in, out))
		if conv.FLOPs != mm.FLOPs || conv.Bytes != mm.Bytes {
			t.Errorf("convolution %+v, product %+v", conv, mm)
		}
		back := func(mask string) Work {
			return do(t, "aten::convolution_backward", bf16(b, out, h, w), bf16(b, in, h, w), bf16(out, in, 1, 1), "[0]", "[1, 1]", "[0, 0]", "[1, 1]", false, "[0, 0]", 1, mask)
		}
		if both := back("[True, True, False]"); both.FLOPs.N != 2*mm.FLOPs.N || both.FLOPs != both.Model {
			t.Errorf("backward %+v, forward %+v", both, mm)
		}
		if x := back("[True, False, False]"); x.FLOPs != mm.FLOPs || x.Bytes != mm.Bytes {
			t.Errorf("gradient of x %+v, forward %+v", x, mm)
		}
	}
}

// TestTransposedConvolution checks that the output of a transposed convolution, put
// through a convolution, has the size of its input.
func TestTransposedConvolution(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	var o operands
	for range 1000 {
		x, kernel, stride, pad, dilation := 1+r.Int64N(50), 1+r.Int64N(7), 1+r.Int64N(4), r.Int64N(3), 1+r.Int64N(3)
		if (x-1)*stride+dilation*(kernel-1)+1-2*pad <= 0 {
			continue
		}
		y := extent(&o, true, x, kernel, stride, pad, dilation, 0)
		if back := extent(&o, false, y, kernel, stride, pad, dilation, 0); back != x || o.why != Known {
			t.Fatalf("%d became %d and then %d (%v)", x, y, back, o.why)
		}
	}
}
