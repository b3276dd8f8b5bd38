package efficiency_test

import (
	"fmt"
	"strings"
	"testing"

	"assay/analyze"
	"assay/analyze/efficiency/hardware"
	"assay/summary"
	"assay/summary/view/efficiency"
	"assay/trace"
)

// A script writes a trace of Kineto, with times in µs.
type script struct {
	events []string
	id     int
}

func (s *script) event(category, name string, start, dur int, thread string, args string) {
	s.events = append(s.events, fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"ts":%d,"dur":%d,"pid":%s,"args":{%s}}`, category, name, start, dur, thread, args))
}

// host adds an event of a CPU thread.
func (s *script) host(category, name string, start, dur int, args string) {
	s.event(category, name, start, dur, `1,"tid":1`, args)
}

// mm adds a product of two bf16 matrices of 4096 × 4096: its operator, launch and kernel.
func (s *script) mm(at, kernel, dur int) {
	s.host("cpu_op", "aten::mm", at, 4, `"Input Dims":[[4096,4096],[4096,4096]],"Input type":["c10::BFloat16","c10::BFloat16"]`)
	s.kernel("gemm", at+1, kernel, dur, 7)
}

// kernel adds a kernel with its launch.
func (s *script) kernel(name string, launch, start, dur, stream int) {
	s.id++
	s.host("cuda_runtime", "cudaLaunchKernel", launch, 1, fmt.Sprintf(`"correlation":%d`, s.id))
	s.event("kernel", name, start, dur, fmt.Sprintf(`0,"tid":%d`, stream), fmt.Sprintf(`"device":0,"stream":%d,"correlation":%d`, stream, s.id))
}

// measure returns the summary of the trace on an H100.
func (s *script) measure(t *testing.T, model hardware.ModelFLOPs) *summary.Summary {
	t.Helper()
	text := `{"deviceProperties":[{"id":0,"name":"NVIDIA H100 80GB HBM3","numSms":132,"computeMajor":9}],"traceEvents":[` + strings.Join(s.events, ",\n") + `]}`
	tr, err := trace.Read(strings.NewReader(text), "small", analyze.Needs())
	if err != nil {
		t.Fatal(err)
	}
	opt := analyze.DefaultOptions()
	opt.Model = model
	return analyze.Trace(tr, summary.Input{}, opt)
}

// product is 2·4096³, the FLOPs of one mm.
const product = 137_438_953_472

// two has two steps of 2 ms. The first runs the product forward, a second time for a
// checkpoint and once in the backward pass; the second step runs it once.
func two() *script {
	s := new(script)
	s.host("user_annotation", "ProfilerStep#1", 0, 2000, "")
	s.mm(10, 100, 200)
	s.host("cpu_op", "autograd::engine::evaluate_function: CheckpointFunctionBackward", 300, 100, "")
	s.host("cpu_op", "CheckpointFunctionBackward", 301, 98, "")
	s.mm(310, 400, 200)
	s.host("cpu_op", "autograd::engine::evaluate_function: MmBackward0", 330, 20, "")
	s.host("cpu_op", "MmBackward0", 331, 18, "")
	s.mm(335, 700, 250)
	s.host("user_annotation", "ProfilerStep#2", 2000, 2000, "")
	s.mm(2010, 2100, 200)
	return s
}

// near reports whether a share is the given one.
func near(got *float64, want float64) bool {
	return got != nil && *got > want*(1-1e-9) && *got < want*(1+1e-9)
}

// TestRecomputed: a product that a checkpoint runs again counts for HFU and not for MFU; what
// the backward pass runs counts for both.
func TestRecomputed(t *testing.T) {
	s := two().measure(t, hardware.ModelFLOPs{})
	if len(s.Efficiency.Rows) != 1 {
		t.Fatalf("%d rows, want 1", len(s.Efficiency.Rows))
	}
	r := &s.Efficiency.Rows[0]
	if r.Count != 4 || r.GPUNS != 850_000 || r.FLOPs == nil || *r.FLOPs != 4*product || r.Model == nil || *r.Model != 3*product || *r.Bytes != 4*3*2*4096*4096 {
		t.Errorf("the row is %+v", *r)
	}
	// 2·4096³ take 138,911 ns of 989.4 TFLOP/s, and 3·2·4096² bytes 30,031 ns of 3352 GB/s.
	if r.Bound != summary.BoundCompute || *r.RooflineNS != 555_646 {
		t.Errorf("bound %s, roofline %d ns", r.Bound, *r.RooflineNS)
	}
	d := &s.Efficiency.Devices[0]
	wall := 2200e3 // from the first kernel to the end of the last
	if !near(d.HFU, 4*product/989.4e3/wall) || !near(d.MFU, 3*product/989.4e3/wall) || d.ModelFLOPs != 3*product || d.MatrixFLOPs != 4*product {
		t.Errorf("MFU %v, HFU %v of %+v", *d.MFU, *d.HFU, *d)
	}
}

// TestSteps: MFU and HFU of a step are over its length, of the work that starts in it.
func TestSteps(t *testing.T) {
	s := two().measure(t, hardware.ModelFLOPs{})
	if len(s.Steps) != 2 || len(s.Efficiency.Steps) != 2 {
		t.Fatalf("%d steps, %d with efficiency, want 2", len(s.Steps), len(s.Efficiency.Steps))
	}
	for i, want := range []struct{ executed, model, gpu int64 }{{3, 2, 650_000}, {1, 1, 200_000}} {
		st, wall := &s.Efficiency.Steps[i], s.Steps[i].WallNS
		if st.WallNS != wall || st.GPUNS != want.gpu || st.MatrixFLOPs != summary.Sum(want.executed*product) || st.ModelFLOPs != summary.Sum(want.model*product) {
			t.Errorf("step %d: %+v", i, *st)
		}
		if !near(st.HFU, float64(want.executed)*product/989.4e3/float64(wall)) || !near(st.MFU, float64(want.model)*product/989.4e3/float64(wall)) {
			t.Errorf("step %d of %d ns: MFU %v, HFU %v", i, wall, *st.MFU, *st.HFU)
		}
	}
	// The user's FLOPs per step replace those of the operators in MFU, not in HFU.
	s = two().measure(t, hardware.ModelFLOPs{PerStep: 1e11, Type: hardware.BF16})
	if st := &s.Efficiency.Steps[0]; !near(st.MFU, 1e11/989.4e3/float64(st.WallNS)) || !near(st.HFU, 3*product/989.4e3/float64(st.WallNS)) {
		t.Errorf("with FLOPs of the user: MFU %v, HFU %v", *st.MFU, *st.HFU)
	}
}

// TestForwardInBackward: a function of the checkpoint module, or an operator that no backward
// pass calls, runs the forward pass again.
func TestForwardInBackward(t *testing.T) {
	attention := `"Input Dims":[[1,8,128,64],[1,8,128,64],[1,8,128,64],[],[],[],[]],"Input type":["c10::Half","c10::Half","c10::Half","Scalar","Scalar","Scalar",""],` +
		`"Concrete Inputs":["","","","0.","True","False",""]`
	for name, tt := range map[string]struct {
		script  func(*script)
		flops   summary.Sum
		counted bool
	}{
		"recompute_fn": {func(s *script) {
			s.host("python_function", "torch/utils/checkpoint.py(1): recompute_fn", 5, 30, `"Python id":1,"Python thread":0`)
			s.mm(10, 100, 200)
		}, product, false},
		"another function": {func(s *script) {
			s.host("python_function", "model.py(1): forward", 5, 30, `"Python id":1,"Python thread":0`)
			s.mm(10, 100, 200)
		}, product, true},
		// 128 queries and keys have 128·129/2 pairs below the diagonal, in 8 heads of 64 + 64.
		"attention": {func(s *script) {
			s.host("cpu_op", "autograd::engine::evaluate_function: torch::nn::Block", 1, 50, "")
			s.host("cpu_op", "aten::_scaled_dot_product_flash_attention", 10, 10, attention)
			s.kernel("flash_fwd", 12, 100, 20, 7)
		}, 2 * 8 * 8256 * 128, false},
		"attention of the forward pass": {func(s *script) {
			s.host("cpu_op", "aten::_scaled_dot_product_flash_attention", 10, 10, attention)
			s.kernel("flash_fwd", 12, 100, 20, 7)
		}, 2 * 8 * 8256 * 128, true},
	} {
		s := new(script)
		tt.script(s)
		d := s.measure(t, hardware.ModelFLOPs{}).Efficiency.Devices[0]
		want := summary.Sum(0)
		if tt.counted {
			want = tt.flops
		}
		if d.MatrixFLOPs != tt.flops || d.ModelFLOPs != want {
			t.Errorf("%s: %d FLOPs, %d of the model, want %d and %d", name, d.MatrixFLOPs, d.ModelFLOPs, tt.flops, want)
		}
	}
}

// TestOverlap: the part of a product during which communication ran on another stream is
// stated, and the product keeps all its time. Communication alone is no overlap.
func TestOverlap(t *testing.T) {
	s := new(script)
	s.mm(10, 100, 200)                                                    // to 300
	s.mm(20, 400, 100)                                                    // to 500
	s.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 30, 250, 190, 9) // 50 of the first, 40 of the second
	s.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 35, 600, 50, 9)
	e := s.measure(t, hardware.ModelFLOPs{}).Efficiency
	found := false
	for _, r := range e.Rows {
		if r.Op == "aten::mm" {
			found = r.GPUNS == 300_000 && r.OverlapNS == 90_000 && r.Count == 2
		}
	}
	if d := e.Devices[0]; !found || d.CommNS != 240_000 || d.NoOperatorNS != 240_000 || d.GPUNS != 540_000 {
		t.Errorf("rows %+v, sums %+v", e.Rows, d.EfficiencySums)
	}
}

// TestCommunicationWithoutOperator: collectives whose operator is not recorded are communication,
// and no other work is.
func TestCommunicationWithoutOperator(t *testing.T) {
	s := new(script)
	s.mm(10, 100, 200)
	s.kernel("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 50, 300, 70, 20)
	s.kernel("gemm", 60, 400, 30, 7)
	got := s.measure(t, hardware.ModelFLOPs{})
	sums := got.Efficiency.Devices[0].EfficiencySums
	if sums.NoOperatorNS != 100_000 || sums.NoOperatorCommNS != 70_000 || sums.CommNS != 70_000 {
		t.Fatalf("%d ns without an operator, %d of communication, of all %d", sums.NoOperatorNS, sums.NoOperatorCommNS, sums.CommNS)
	}
	reasons := map[string]int64{}
	for _, u := range efficiency.Unknowns(got) {
		reasons[u.Reason] = u.NS
	}
	if reasons[efficiency.NoOperator] != 30_000 || reasons[efficiency.Communication] != 70_000 {
		t.Errorf("%v", reasons)
	}
}
