package judge

import (
	"testing"

	"assay/judge/rule"
)

// labelledCopyKernels are runs of a busy GPU whose rounds have products of 800 µs and kernels that only copy.
func labelledCopyKernels() []labelled {
	with := func(list ...grid) []grid {
		for i, tile := range []string{"128x128", "256x128", "128x256", "192x128"} {
			list = append(list, grid{"nvjet_tst_" + tile + "_64x4_1x2_h_bz_TNT", 200, 132 * 80 * int64(i+1), 7})
		}
		return list
	}
	const (
		us     = int64(1000)
		direct = "void at::native::elementwise_kernel<128, 2, void at::native::gpu_kernel_impl_nocast<at::native::direct_copy_kernel_cuda(at::TensorIteratorBase&)"
		cast   = "void at::native::unrolled_elementwise_kernel<at::native::bfloat16_copy_kernel_cuda(at::TensorIteratorBase&)"
		format = "void cudnn::ops::nchwToNhwcKernel<__half, __half, float, false, true, (cudnnKernelDataType_t)0>"
		gelu   = "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl"
	)
	return []labelled{
		{name: "layout copies of a fifth", label: rule.CopyKernels, num: 50 * 200 * us, den: 50 * 1000 * us,
			in: rounds(132, 0, with(grid{direct, 200, 132 * 90, 7})...)},
		{name: "casts", label: rule.CopyKernels, num: 50 * 160 * us, den: 50 * 960 * us,
			in: rounds(132, 0, with(grid{cast, 100, 132 * 90, 7}, grid{direct, 60, 132 * 90, 7})...)},
		{name: "changes of the layout of images", label: rule.CopyKernels, num: 50 * 100 * us, den: 50 * 900 * us,
			in: rounds(132, 0, with(grid{format, 100, 132 * 90, 7})...)},

		{name: "few layout copies", label: rule.ComputeBound, near: rule.CopyKernels,
			in: rounds(132, 0, with(grid{direct, 40, 132 * 90, 7})...)},
		{name: "elementwise kernels that compute", label: rule.ComputeBound, near: rule.CopyKernels,
			in: rounds(132, 0, with(grid{gelu, 200, 132 * 90, 7})...)},
		{name: "layout copies between pauses", label: rule.GPUIdle, near: rule.CopyKernels,
			in: rounds(132, 600, with(grid{direct, 200, 132 * 90, 7})...)},
	}
}

// TestCopyKernelAdvice: the advice follows from what most of these kernels do.
func TestCopyKernelAdvice(t *testing.T) {
	for _, run := range labelledCopyKernels() {
		if run.label != rule.CopyKernels {
			continue
		}
		want := map[string]string{"layout copies of a fifth": "write-in-place", "casts": "keep-one-type", "changes of the layout of images": "keep-channels-last"}[run.name]
		s := run.in(t)
		withFile("torch/nn/modules/module.py")(s)
		f := find(t, Judge(s, rule.DefaultThresholds()), rule.CopyKernels)
		if len(f.Next) != 1 || f.Next[0].ID != want {
			t.Errorf("%s: %v, want %q", run.name, f.Next, want)
		}
	}
}
