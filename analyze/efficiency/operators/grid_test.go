package operators

import "testing"

// TestGrid checks the bytes of a block of 512 elements, by hand, and what has none.
func TestGrid(t *testing.T) {
	const add = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3>)"
	grid, block := [3]int64{7, 1, 1}, [3]int64{128, 1, 1}
	for _, x := range []struct {
		functor string
		tensors string
		want    int64 // bytes of an element; 0: unknown
	}{
		{"at::native::CUDAFunctor_add<float>", "3", 12},
		{"at::native::FillFunctor<c10::Half>", "1", 2},
		{"at::native::CUDAFunctorOnSelf_add<long>", "2", 16},
		{"at::native::BinaryFunctor<float, float, float, at::native::binary_internal::MulFunctor<float> >", "3", 12},
		{"at::native::BinaryFunctor<long, long, bool, at::native::(anonymous namespace)::CompareEqFunctor<long> >", "3", 17},
		{"at::native::AUnaryFunctor<int, int, bool, at::native::(anonymous namespace)::CompareEqFunctor<int> >", "2", 5},
		{"at::native::(anonymous namespace)::CompareFunctor<long>", "3", 17},
		{"at::native::(anonymous namespace)::launch_clamp_scalar(at::TensorIteratorBase&, c10::Scalar)::{lambda()#1}::operator()() const::{lambda()#7}::operator()() const::{lambda(float)#1}", "2", 8},
		{"at::native::tanh_backward_kernel_cuda(at::TensorIteratorBase&)::{lambda()#2}::operator()() const::{lambda(double, double)#1}", "3", 24},
		{"at::native::compare_scalar_kernel<float>(at::TensorIteratorBase&, float)::{lambda(float)#1}", "2", 0}, // the result is bool
		{"at::native::where_kernel_impl(at::TensorIterator&)::{lambda(bool, float, float)#1}", "4", 0},
		{"at::native::CUDAFunctor_add<float>", "2", 0},
		{"at::native::CUDAFunctor_add<c10::complex<float> >", "3", 0},
		{"at::native::BinaryFunctor<float", "3", 0},
		{"", "x", 0},
	} {
		name := "void at::native::vectorized_elementwise_kernel<4, " + x.functor + ", at::detail::Array<char*, " + x.tensors + "> >(int)"
		if got, ok := GridOf(name).Bytes(grid, block); got != 7*512*x.want || ok != (x.want > 0) {
			t.Errorf("%s: %d, %t, want 7 blocks of 512 elements of %d bytes", name, got, ok, x.want)
		}
	}
	g := GridOf(add)
	for _, x := range [][2][3]int64{{{7, 2, 1}, block}, {{0, 0, 0}, {0, 0, 0}}, {grid, {256, 1, 1}}, {grid, {128, 2, 1}}, {{1 << 40, 1, 1}, block}} {
		if n, ok := g.Bytes(x[0], x[1]); ok {
			t.Errorf("grid %v of blocks %v: %d", x[0], x[1], n)
		}
	}
	for _, name := range []string{
		"", "gemm", "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)",
		"void at::native::unrolled_elementwise_kernel<at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int)",
	} {
		if GridOf(name) != (Grid{}) {
			t.Errorf("%q tells bytes", name)
		}
	}
}
