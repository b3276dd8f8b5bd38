package classify

import (
	"strings"
	"testing"
)

// TestBuiltIn: the text shown to users is the one that decides.
func TestBuiltIn(t *testing.T) {
	rules, err := Parse(strings.NewReader(BuiltIn()), "kernels.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ncclDevKernel_AllReduce_Sum_bf16", "ampere_sgemm_128x64_tn", "my_own_kernel"} {
		if got, want := rules.Kernel(name), Default().Kernel(name); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
}
