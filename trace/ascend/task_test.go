package ascend

import (
	"testing"

	"assay/trace"
)

// TestTaskOf: what tasks are by their names. The number of an instance is no part of the name of a kernel.
func TestTaskOf(t *testing.T) {
	for _, tc := range []struct {
		name, operator string
		want           trace.Meaning
	}{
		{"aclnnMm_MatMulCommon_MatMulV2", "", trace.Meaning{Kind: trace.Kernel, Name: "aclnnMm_MatMulCommon_MatMulV2"}},
		{"aclnnMm_MatMulCommon_MatMulV2", "MatMulV2", trace.Meaning{Kind: trace.Kernel, Name: "aclnnMm_MatMulCommon_MatMulV2"}},
		{"Cast66", "", trace.Meaning{Kind: trace.Kernel, Name: "Cast"}},
		{"Conv2D1", "", trace.Meaning{Kind: trace.Kernel, Name: "Conv2D"}},
		{"MatMulV2", "MatMulV2", trace.Meaning{Kind: trace.Kernel, Name: "MatMulV2"}},
		{"MatMulV2", "", trace.Meaning{Kind: trace.Kernel, Name: "MatMulV2"}},
		{"MatMulV212", "", trace.Meaning{Kind: trace.Kernel, Name: "MatMulV2"}},
		{"trans_TransData_8", "", trace.Meaning{Kind: trace.Kernel, Name: "TransData"}},
		{"model/layer_3/attn/FlashAttentionScore", "FlashAttentionScore", trace.Meaning{Kind: trace.Kernel, Name: "FlashAttentionScore"}},
		{"hcom_allReduce__501_3_1", "", trace.Meaning{Kind: trace.Kernel, Name: "hcom_allReduce", Collective: "allreduce", Group: "501"}},
		{"hcom_broadcast__445_0", "hcom_broadcast_", trace.Meaning{Kind: trace.Kernel, Name: "hcom_broadcast", Collective: "broadcast", Group: "445"}},
		{"hcom_allReduce_AicpuKernel", "", trace.Meaning{Kind: trace.Kernel, Name: "hcom_allReduce_AicpuKernel", Collective: "other"}},
		{"MEMCPY_ASYNC", "", trace.Meaning{Kind: trace.Memcpy, Name: "MEMCPY_ASYNC"}},
		{"EVENT_WAIT", "", trace.Meaning{Kind: trace.Sync, Name: "EVENT_WAIT"}},
		{"Notify_Wait", "", trace.Meaning{Kind: trace.Sync, Name: "Notify_Wait"}},
	} {
		if got := taskOf(tc.name, tc.operator); got != tc.want {
			t.Errorf("%s (%s): %+v, want %+v", tc.name, tc.operator, got, tc.want)
		}
	}
}
