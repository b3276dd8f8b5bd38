package analyze_test

import (
	"strings"
	"testing"
)

// TestGenericCollective: a communication kernel whose name does not tell its collective has the one that
// the profiler recorded with it, and other kernels keep the category of their name.
func TestGenericCollective(t *testing.T) {
	kernel := func(name, recorded string, corr int) string {
		more := ""
		if recorded != "" {
			more = `,"Collective name":"` + recorded + `","dtype":"Float","In msg nelems":10,"Out msg nelems":10,"Group size":4`
		}
		return strings.Replace(ranAt(7, corr, float64(100*corr), 50, more), `"k"`, `"`+name+`"`, 1)
	}
	s := measured(t, list(
		kernel("ncclDevKernel_Generic_4", "_allgather_base", 1), kernel("ncclDevKernel_Generic_4", "_reduce_scatter_base", 2),
		kernel("rcclGenericKernel", "allreduce", 3), kernel("ncclDevKernel_Generic_2", "", 4),
		kernel("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "", 5), kernel("elementwise_kernel", "allreduce", 6),
	))
	got := map[string]string{}
	for _, k := range s.Kernels {
		got[k.Name] += k.Category + " "
	}
	for name, want := range map[string]string{
		"ncclDevKernel_Generic_4": "all-gather reduce-scatter ", "rcclGenericKernel": "all-reduce ", "ncclDevKernel_Generic_2": "comm-other ",
		"ncclDevKernel_AllReduce_Sum_f32_RING_LL": "all-reduce ", "elementwise_kernel": "elementwise ",
	} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}
