package operators

import (
	"strconv"
	"strings"
)

// A blockSize says how many elements a block of an elementwise kernel has.
type blockSize struct {
	kernel   string // how the name begins, without "void "
	array    string // how the name writes the type of the list of tensors
	threads  int64  // threads per block
	elements int64
}

// blockSizes has the kernels of PyTorch for which the number is the same in all versions. Those
// whose list is a std::array are of later versions, in which it also depends on the version, the
// types and the GPU: 512, 1024 or 2048 elements on NVIDIA GPUs, and a capture does not record which.
var blockSizes = []blockSize{
	{"at::native::vectorized_elementwise_kernel<2, ", "at::detail::Array<char*, ", 128, 512},
	{"at::native::vectorized_elementwise_kernel<4, ", "at::detail::Array<char*, ", 128, 512},
}

// A Grid computes the bytes of an elementwise kernel from its name and the number of its blocks. For the
// zero Grid they are unknown.
type Grid struct {
	threads  int64
	perBlock int64 // bytes of a full block
}

// GridOf returns the Grid of a kernel by its name.
func GridOf(kernel string) Grid {
	name := strings.TrimPrefix(kernel, "void ")
	for _, b := range blockSizes {
		rest, ok := strings.CutPrefix(name, b.kernel)
		if !ok {
			continue
		}
		functor, rest, ok := strings.Cut(rest, ", "+b.array)
		count, _, closed := strings.Cut(rest, ">")
		tensors, err := strconv.Atoi(strings.TrimSuffix(count, "ul"))
		if width := functorWidth(functor, tensors); ok && closed && err == nil && width > 0 {
			return Grid{b.threads, b.elements * width}
		}
	}
	return Grid{}
}

// Bytes returns an estimate of the bytes that a launch moved, which is too large by less than
// those of a block, or false.
func (g Grid) Bytes(grid, block [3]int64) (int64, bool) {
	if g.perBlock == 0 || block != [3]int64{g.threads, 1, 1} || grid[0] <= 0 || grid[0] > 1<<31 || grid[1] != 1 || grid[2] != 1 {
		return 0, false
	}
	return grid[0] * g.perBlock, true
}

// A functor has the types of the tensors of an elementwise kernel. Digits refer to arguments of its
// template, the result first; b is bool.
type functor struct{ name, tensors string }

// functors has the functors that name their types.
var functors = []functor{
	{"FillFunctor", "0"}, {"CUDAFunctor_add", "000"}, {"CUDAFunctorOnSelf_add", "00"}, {"CUDAFunctorOnOther_add", "00"},
	{"BinaryFunctor", "201"}, {"AUnaryFunctor", "21"}, {"BUnaryFunctor", "20"}, {"CompareFunctor", "b00"},
}

// sameType has functions whose functor is a lambda with results of the type of its argument.
var sameType = []string{
	"launch_clamp_scalar(", "pow_tensor_scalar_kernel_impl<", "silu_kernel(", "GeluCUDAKernelImpl(", "exp_kernel_cuda(", "log_kernel_cuda(", "log2_kernel_cuda(",
	"cos_kernel_cuda(", "sin_kernel_cuda(", "neg_kernel_cuda(", "rsqrt_kernel_cuda(", "sqrt_kernel_cuda(", "tanh_kernel_cuda(", "sigmoid_kernel_cuda(",
	"nan_to_num_kernel_cuda(", "sigmoid_backward_kernel_cuda(", "tanh_backward_kernel_cuda(",
}

// functorWidth returns the bytes of one element of each tensor together, or 0.
func functorWidth(text string, tensors int) (width int64) {
	text = strings.ReplaceAll(strings.ReplaceAll(text, "(anonymous namespace)::", ""), "at::native::", "")
	name, args, _ := strings.Cut(text, "<")
	for _, f := range functors {
		if f.name != name || len(f.tensors) != tensors {
			continue
		}
		types := strings.Split(args, ", ")
		for _, t := range f.tensors {
			at := int(t - '0')
			switch {
			case t == 'b':
				width++
				continue
			case at >= len(types):
				return 0
			}
			w := dtypes[strings.TrimRight(types[at], "> ")].width
			if w == 0 {
				return 0
			}
			width += w
		}
		return width
	}
	for _, f := range sameType {
		if strings.HasPrefix(text, f) {
			return lambdaWidth(text, tensors)
		}
	}
	return 0
}

// lambdaWidth returns the same of a lambda whose arguments and result have one type.
func lambdaWidth(text string, tensors int) int64 {
	_, args, _ := strings.Cut(text[strings.LastIndex(text, "{")+1:], "lambda(")
	args, _, closed := strings.Cut(args, ")")
	types := strings.Split(args, ", ")
	if !closed || len(types) != tensors-1 {
		return 0
	}
	for _, t := range types {
		if t != types[0] {
			return 0
		}
	}
	return int64(tensors) * dtypes[types[0]].width
}
