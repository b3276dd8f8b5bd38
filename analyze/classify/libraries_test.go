package classify

import (
	"os"
	"strings"
	"testing"
)

// TestLibraries: the categories of kernels of the libraries that engineers meet, and of names with a misleading word.
func TestLibraries(t *testing.T) {
	src, err := os.ReadFile("testdata/libraries.tsv")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, line := range strings.Split(strings.TrimSpace(string(src)), "\n") {
		name, want, ok := strings.Cut(line, "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if got := Default().Kernel(name); !ok || got.Category != want {
			t.Errorf("%.110s\n is %s (rule %s), want %s", name, got.Category, got.Rule, want)
		}
		if seen[name] {
			t.Errorf("twice: %.110s", name)
		}
		seen[name] = true
	}
}

// TestSpelled: words of mangled names keep their order and their brackets begin where arguments do.
func TestSpelled(t *testing.T) {
	for _, tc := range []struct{ name, want string }{
		{"volta_sgemm_128x32_nt", "volta_sgemm_128x32_nt"},
		{"_Z9my_kernelPfS_i", "my_kernel<"},
		{"_ZL9my_kernelPKfi", "my_kernel<"},
		{"_ZN2at6native12_GLOBAL__N_18im2col_kIfEEvlPKT_", "at::native::im2col_k<"},
		{"_ZN2at6native8fill_allILi128ENS0_4FillILin1EEEEEvT0_S3_", "at::native::fill_all<::Fill<"},
		{"_Z5scaleIDF16_14__hip_bfloat16EvPT_", "scale<::__hip_bfloat16"},
		{"_ZN4nccl3runIN5other10AllRed", "nccl::run<::other::AllRed"}, // cut by a tool
		{"_Zulu", "_Zulu"},
		{"_Z99", "_Z99"},
	} {
		if got := spelled(tc.name); got != tc.want {
			t.Errorf("spelled(%q)\n got %q\nwant %q", tc.name, got, tc.want)
		}
	}
}
