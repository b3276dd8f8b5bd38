package efficiency_test

import (
	"fmt"
	"testing"

	"assay/analyze/efficiency/hardware"
)

// TestSingle: a row has the grid and the block of its kernel if each call launches this kernel
// only, always with the same ones.
func TestSingle(t *testing.T) {
	s := new(script)
	at := 0
	call := func(op string, kernels ...[3]int) {
		s.host("cpu_op", op, at, 50, `"Input Dims":[[64]],"Input type":["float"]`)
		for i, k := range kernels {
			s.id++
			s.host("cuda_runtime", "cudaLaunchKernel", at+2+i, 1, fmt.Sprintf(`"correlation":%d`, s.id))
			s.event("kernel", fmt.Sprint("kernel", k[0]), at+10+10*i, 5, `0,"tid":7`,
				fmt.Sprintf(`"device":0,"stream":7,"correlation":%d,"grid":[%d,1,1],"block":[%d,1,1]`, s.id, k[1], k[2]))
		}
		at += 100
	}
	for range 2 {
		call("aten::abs", [3]int{1, 8, 32})
		call("aten::neg", [3]int{1, 8, 32}, [3]int{2, 8, 32})
	}
	call("aten::exp", [3]int{1, 8, 32})
	call("aten::exp", [3]int{1, 16, 32})
	call("aten::log", [3]int{1, 8, 32})
	call("aten::log", [3]int{2, 8, 32})
	for _, r := range s.measure(t, hardware.ModelFLOPs{}).Efficiency.Rows {
		if single := r.Op == "aten::abs"; (r.Grid != nil) != single || (r.Block != nil) != single {
			t.Errorf("%s: grid %v, block %v", r.Op, r.Grid, r.Block)
		} else if single && (*r.Grid != [3]int64{8, 1, 1} || *r.Block != [3]int64{32, 1, 1}) {
			t.Errorf("%s: grid %v, block %v", r.Op, *r.Grid, *r.Block)
		}
	}
}
