package efficiency_test

import (
	"fmt"
	"testing"

	"assay/analyze/efficiency/hardware"
	"assay/summary"
)

// TestGridBytes: without shapes, 7 blocks of 512 elements of three tensors of 4 bytes are the
// bytes of an addition, and 3 those of another. A call that runs a second kernel, and one with
// shapes, have none of this.
func TestGridBytes(t *testing.T) {
	const add = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, at::detail::Array<char*, 3> >(int)"
	s := new(script)
	launch := func(at, blocks int) {
		s.id++
		s.host("cuda_runtime", "cudaLaunchKernel", at, 1, fmt.Sprintf(`"correlation":%d`, s.id))
		s.event("kernel", add, at+50, 10, `0,"tid":7`, fmt.Sprintf(`"device":0,"stream":7,"correlation":%d,"grid":[%d,1,1],"block":[128,1,1]`, s.id, blocks))
	}
	for i, blocks := range []int{7, 3} {
		s.host("cpu_op", "aten::add", 100*i, 4, "")
		launch(100*i+1, blocks)
	}
	s.host("cpu_op", "aten::add", 300, 9, "")
	launch(301, 5)
	s.kernel("other", 303, 370, 10, 7)
	s.host("cpu_op", "aten::add", 400, 4, `"Input Dims":[[600],[600],[]],"Input type":["float","float","Scalar"]`)
	launch(401, 2)

	e := s.measure(t, hardware.ModelFLOPs{}).Efficiency
	found := map[string]summary.EfficiencyRow{}
	for _, r := range e.Rows {
		found[r.BytesIs] = r
	}
	if r := found["estimate"]; r.Bytes == nil || *r.Bytes != 10*512*12 || r.Count != 2 || r.GPUNS != 20_000 || r.FLOPs != nil || r.Unknown != "no shapes" || r.Kernel != add {
		t.Errorf("the estimate is %+v", r)
	}
	if r := found[""]; r.Bytes != nil || r.Count != 1 || r.GPUNS != 20_000 || r.Unknown != "no shapes" {
		t.Errorf("the call of two kernels is %+v", r)
	}
	if r := found["exact"]; r.Bytes == nil || *r.Bytes != 3*600*4 || r.Count != 1 {
		t.Errorf("the call with shapes is %+v", r)
	}
	if d := &e.Devices[0]; len(e.Rows) != 3 || d.BytesKnownNS != 30_000 || d.FLOPsKnownNS != 10_000 || d.GPUNS != 50_000 {
		t.Errorf("%d rows, sums %+v", len(e.Rows), d.EfficiencySums)
	}
}
