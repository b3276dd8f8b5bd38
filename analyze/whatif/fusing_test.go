package whatif

import (
	"fmt"
	"testing"

	"assay/analyze/critical/change"
	"assay/trace"
)

// threeKernels is a program that the GPU limits: in each of three steps the operators sub, exp and mul launch a kernel of
// 100 µs each, 1 µs apart on the GPU, and the CPU runs ahead.
func threeKernels(t *testing.T) *trace.Trace {
	var events []string
	gpu := 20
	for step := range 3 {
		host := 10 + 40*step
		events = append(events, event("user_annotation", fmt.Sprintf("ProfilerStep#%d", step), 3, 3, host, 40, ""))
		for i, op := range []string{"aten::sub", "aten::exp", "aten::mul"} {
			at, id := host+1+12*i, 10*step+i+1
			events = append(events, event("cpu_op", op, 3, 3, at, 8, fmt.Sprintf(`"External id":%d`, id)),
				event("cuda_runtime", "cudaLaunchKernel", 3, 3, at+2, 4, fmt.Sprintf(`"correlation":%d`, id)),
				event("kernel", op[len("aten::"):]+"_kernel", 0, 7, gpu, 100, fmt.Sprintf(`"device":0,"stream":7,"correlation":%d`, id)))
			gpu += 101
		}
	}
	return read(t, events...)
}

// TestFusedChain: of a chain only operators in its order become one work, in one step: two kernels of 100 µs and the gap
// between them become one kernel of 100 or 50 µs.
func TestFusedChain(t *testing.T) {
	tr := threeKernels(t)
	for value, want := range map[string]int64{
		"chain~aten::sub,aten::exp=0.5":            202, // 100 + 100 and two gaps of 1
		"chain~aten::exp,aten::mul=0.25":           152,
		"chain~aten::sub,aten::exp,aten::mul=0.5":  151,
		"chain~aten::mul,aten::sub,aten::exp=0.5":  202, // mul is in the step before
		"chain~aten::exp,aten::sub=0.5":            303, // in another order
		"chain~aten::mul,aten::sub=0.5":            303, // never in one step
		"chain~aten::sub,aten::mul=0.5":            303, // not neighbors
		"chain~aten::sub,aten::exp,aten::sqrt=0.5": 303,
		"sub|exp=0.5": 202,
	} {
		a, err := Of([]Input{{Trace: tr}}, Question{Changes: []change.Change{{Kind: "fuse", Value: value}}})
		if err != nil || len(a.Forecasts) != 3 {
			t.Fatal(err, value)
		}
		for _, f := range a.Forecasts[1:] {
			if f.MeasuredNS != 303_000 || f.ForecastNS == nil || *f.ForecastNS != 1000*want {
				t.Errorf("%s: %s: %d, want %d µs: %+v", value, f.Step, f.MeasuredNS, want, f)
			}
		}
	}
	for _, value := range []string{"chain~aten::sub=0.5", "chain~a,,b=1", "chain~=1", "chain~a,b"} {
		if (change.Change{Kind: "fuse", Value: value}).Check() == nil {
			t.Errorf("%q is accepted", value)
		}
	}
}
