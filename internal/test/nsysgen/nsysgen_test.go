package nsysgen

import (
	"testing"

	"assay/internal/test/tracegen"
)

// TestNames compares names with those in exports of Nsight Systems.
func TestNames(t *testing.T) {
	for _, tc := range []struct{ got, want string }{
		{shortName("nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN"), "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN"},
		{shortName("void at::native::(anonymous namespace)::cunn_SoftMaxForward<8, float, at::(anonymous namespace)::E>(float*)"), "cunn_SoftMaxForward"},
		{shortName("void cutlass::Kernel2<a::b>(a::b::Params)"), "Kernel2"},
		{shortName("ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)"), "ncclDevKernel_AllGather_RING_LL"},
		{operatorText(tracegen.HostEvent{Name: "aten::view", External: 314290}), "aten::view, op_id = 314290"},
		{operatorText(tracegen.HostEvent{Name: "aten::mm", External: 7, Sequence: 5, Dims: [][]int64{{1, 2}, {2}}}), "aten::mm, seq = 5, op_id = 7, sizes = [[1, 2], [2], []]"},
		{versioned(tracegen.HostEvent{Name: "cudaLaunchKernel"}), "cudaLaunchKernel_v7000"},
		{versioned(tracegen.HostEvent{Name: "cudaStreamSynchronize"}), "cudaStreamSynchronize_v3020"},
		{versioned(tracegen.HostEvent{Name: "cuLaunchKernelEx", Driver: true}), "cuLaunchKernelEx"},
	} {
		if tc.got != tc.want {
			t.Errorf("%q, want %q", tc.got, tc.want)
		}
	}
	if c, err := copyOf("Memcpy DtoH (Device -> Pinned)"); err != nil || c != (copying{2, 2, 1}) {
		t.Errorf("%v, %v", c, err)
	}
	if _, err := memoryOf("Memset (Somewhere)"); err == nil {
		t.Error("a memset of no known memory is accepted")
	}
	if _, err := copyOf("Memcpy Sideways (Pageable -> Device)"); err == nil {
		t.Error("there is no such copy, and no error")
	}
}
