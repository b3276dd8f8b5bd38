package advice

import (
	"strings"
	"testing"

	"assay/judge/finding"
	"assay/judge/rule"
	"assay/summary"
)

func TestKernelAdvice(t *testing.T) {
	for want, k := range map[string]summary.Kernel{
		"scaled_dot_product_attention": {Name: "attn_scores_kernel", Class: "compute", Category: "attention"},
		"Nsight Compute":               {Class: "compute", Category: "elementwise"},
		"Profile every rank":           {Class: "comm", Category: "gemm"},
	} {
		if got := rule.Text(KernelAdvice(k, finding.Advise("give-all-ranks"))[0]); !strings.Contains(got, want) {
			t.Errorf("%+v: first advice is %q, want %q", k, got, want)
		}
	}
	for name, already := range map[string]bool{
		"cutlass_80_tensorop_s1688gemm_128x128_16x4_nn_align4":              true,
		"sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64":       true,
		"nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT":                         true,
		"ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_32x5_nn":       true,
		"Cijk_Ailk_Bljk_BBS_BH_Bias_HAS_SAV_MT128x128x32_MI16x16x1_SN":      true,
		"void cutlass::device_kernel<flash::GmmaWgmma>(Params)":             true,
		"void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_nn>()":      false,
		"ampere_sgemm_128x64_tn":                                            false,
		"sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_stage3_ffma": false,
		"awq_gemm_forward_4bit_cuda":                                        true, "void machete::kernel<Schedule>": true, "_w8a8_block_matmul": true, // quantized by design
		"gemma_linear": false,
		"my_gemm":      false,
	} {
		next := ""
		for _, s := range KernelAdvice(summary.Kernel{Name: name, Class: "compute", Category: "gemm"}, finding.Advise("give-all-ranks")) {
			next += rule.Text(s) + "\n"
		}
		if got := !strings.Contains(next, "tensor cores"); got != already {
			t.Errorf("%s: advice %q, tensor cores already: %v", name, next, already)
		}
		if !strings.Contains(next, "ncu") {
			t.Errorf("%s: advice %q does not name ncu", name, next)
		}
	}
}
