package compare

import "testing"

func TestCanonical(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		same bool
	}{
		{"triton_poi_fused_add_12", "triton_poi_fused_add_7", true},
		{"triton_poi_fused_add_12_0d1d2de", "triton_poi_fused_add_3_0d1d2", true},
		{"triton_poi_fused_add_12", "triton_poi_fused_mul_12", false},
		{"triton_red_fused_sum_1", "triton_per_fused_sum_1", false},
		{"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "nvjet_tst_128x256_64x6_1x2_h_bz_TNN", true},
		{"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "nvjet_tst_192x192_64x4_2x1_v_bz_coopB_NTN", false},
		{"nvjet_tst_192x192_64x4_2x1_v_bz_coopB_TNN", "nvjet_hsh_192x192_64x4_2x1_v_bz_coopB_TNN", false},
		{"ampere_sgemm_128x64_tn", "volta_sgemm_32x128_tn", true},
		{"ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_nn", false},
		{"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_128x256_64x3_nt_align8>(Params)",
			"void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_bf16_256x128_32x4_nt_align8>(Params)", true},
		{"cutlass_80_tensorop_f16_s16816gemm_f16_128x256_64x3_nt_align8", "cutlass_80_tensorop_f32_s16816gemm_f32_128x256_64x3_nt_align8", false},
		{"Cijk_Alik_Bljk_BBS_BH_MT256x256x64_MI16x16x1_SN", "Cijk_Alik_Bljk_BBS_BH_MT128x64x64_MI32x32x1_SN", true},
		{"Cijk_Alik_Bljk_BBS_BH_MT256x256x64_MI16", "Cijk_Ailk_Bljk_BBS_BH_MT256x256x64_MI16", false},
		{"fp8_e4m3_kernel", "fp8_e5m2_kernel", false},
		{"add<float, 4>", "add<int, 4>", false},
	} {
		if got := canonical(tc.a) == canonical(tc.b); got != tc.same {
			t.Errorf("%q and %q are the same: %t (%q, %q), want %t", tc.a, tc.b, got, canonical(tc.a), canonical(tc.b), tc.same)
		}
	}
}
