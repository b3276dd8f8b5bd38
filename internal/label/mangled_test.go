package label

import (
	"fmt"
	"strings"
	"testing"
)

func TestMangledNames(t *testing.T) {
	for name, want := range map[string]string{
		"_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_27X":                                             "ck_tile::kentry<…>",
		"_ZN5aiter24add_rmsnorm_quant_kernelIDF16bDF16bLi64ELi8EEvPT0_":                               "aiter::add_rmsnorm_quant_kernel<…>",
		"_ZN2ck16tensor_operation6device12_GLOBAL__N_139kernel_grouped_conv_fwd_xdl_cshuffle_v3INS_2": "ck::tensor_operation::device::kernel_grouped_conv_fwd_xdl_cshuffle_v3<…>",
		"_ZN2at6native6reduceEPfi": "at::native::reduce",
		"_Z6kernelPfi":             "kernel",
		"_Z6kernelIfEvPT_":         "kernel<…>",
		"_ZSt4swapIiEvRT_S1_":      "std::swap<…>",
		// Names that only look mangled stay.
		"_Z":                             "_Z",
		"_ZN":                            "_ZN",
		"_Z9short":                       "_Z9short",
		"_Z99999999999999999999999999xx": "_Z99999999999999999999999999xx",
		"_Z0":                            "_Z0",
		"_Zebra":                         "_Zebra",
	} {
		if got := TidyKernel(name); got != want {
			t.Errorf("%s is tidied to %q, want %q", name, got, want)
		}
	}
}

// TestMangledTwins: kernels of one template keep what can be read of their
// names and show where they differ.
func TestMangledTwins(t *testing.T) {
	twin := func(n int) string {
		return fmt.Sprintf("_ZN7ck_tile6kentryI%sLi%dEEvv", strings.Repeat("Li1ENS_12Rmsnorm2dFwdE", 8), n)
	}
	got := kernelLabels([]string{twin(3), twin(4), "gemm"}, 40)
	for i, n := range []string{"3", "4"} {
		if !strings.HasPrefix(got[i], "ck_tile::kentry<") || !strings.Contains(got[i], n) || Width(got[i]) > 40 {
			t.Errorf("the kernel with %s is labelled %q", n, got[i])
		}
	}
}

func TestTensileNames(t *testing.T) {
	name := func(tile, wave string) string {
		return "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT" + tile + "_MI16x16x1_SN_LDSB1_AFC1_AFEM1_CLR1_CADS0_DTVA0_DTVB0_EPS0_MIWT" + wave + "_MO40_NTn1"
	}
	for _, tc := range []struct {
		columns int
		in      string
		want    string
	}{
		{30, name("32x32x256", "1_1"), "Cijk_Alik_Bljk_BB…MT32x32x256…"},
		{24, name("256x192x64", "1_1"), "Cijk_Alik_…MT256x192x64…"},
		{60, name("16x16x64", "1_1"), "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT16x16x64_MI1…"},
		{200, name("16x16x64", "1_1"), name("16x16x64", "1_1")},
		{12, name("16x16x64", "1_1"), "Cijk_Alik_B…"},
		{12, "Cijk_without_a_tile", "Cijk_wi…tile"},
	} {
		if got := kernelLabels([]string{tc.in}, tc.columns)[0]; got != tc.want {
			t.Errorf("%d columns: got %q, want %q", tc.columns, got, tc.want)
		}
	}
	got := kernelLabels([]string{name("32x32x256", "1_1"), name("32x32x256", "1_2"), name("64x32x256", "1_1")}, 36)
	if got[0] == got[1] || !strings.HasSuffix(got[0], "1_MO40_NTn1") || !strings.Contains(got[0], "MT32x32x256…") || !strings.Contains(got[2], "MT64x32x256") {
		t.Errorf("labels are %q", got)
	}
}
