package analyze_test

import (
	"strings"
	"testing"
)

// TestGraphAnnotations: kernels of a graph have the name and the collective that the program gave to their part of the
// graph when it captured it; PyTorch writes numbers of such annotations as texts. Names in the arguments of other
// kernels are none.
func TestGraphAnnotations(t *testing.T) {
	kernel := func(name, more string, corr int) string {
		return strings.Replace(ranAt(7, corr, float64(100*corr), 50, more), `"k"`, `"`+name+`"`, 1)
	}
	s := measured(t, list(
		kernel("gemm_a", `,"graph node id":4294967301,"name":"layers.0.mlp"`, 1), kernel("gemm_a", `,"graph node id":4294967302,"name":"layers.1.mlp"`, 2),
		kernel("gemm_b", `,"name":"no graph"`, 3), kernel("gemm_c", `,"graph node id":4294967303`, 4),
		kernel("ncclDevKernel_Generic_1", `,"graph node id":4294967304,"name":"tp","Collective name":"_reduce_scatter_base","Group size":"4","In msg nelems":"64","Out msg nelems":"16","dtype":"BFloat16"`, 5),
	))
	got := map[string]string{}
	for _, k := range s.Kernels {
		got[k.Name] += k.Category + " of " + k.Op + "; "
	}
	for name, want := range map[string]string{
		"gemm_a": "gemm of layers.0.mlp; gemm of layers.1.mlp; ", "gemm_b": "gemm of ; ", "gemm_c": "gemm of ; ", "ncclDevKernel_Generic_1": "reduce-scatter of tp; ",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}
