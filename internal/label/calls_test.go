package label

import "testing"

func TestIsCall(t *testing.T) {
	for name, want := range map[string]bool{
		"cudaLaunchKernel": true, "cuLaunchKernelEx": true, "hipMemcpyAsync": true, "urEnqueueKernelLaunch": true,
		"zeCommandListAppendMemoryCopy": true, "musaStreamSynchronize": true, "aclOpExecute": true,
		"cuda": false, "cumsum": false, "cudaGraph replay": false, "urllib": false, "zeros": false, "cuBLAS::gemm": false, "hipBLAS<float>": false,
		"Cudafoo": false, "aten::cuLinear": false,
	} {
		if got := IsCall(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
