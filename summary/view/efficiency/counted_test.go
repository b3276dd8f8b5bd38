package efficiency_test

import (
	"encoding/json"
	"testing"

	"assay/summary"
	"assay/summary/view/efficiency"
)

// TestWithCounters: counters belong to an operator if kernel, grid and block are the same,
// the operator launches nothing else, and no other operator or input makes this launch.
func TestWithCounters(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	at := func(x int64) *[3]int64 { return &[3]int64{x, 1, 1} }
	row := func(op, dims, kernel string, grid int64, ns, flops, bytes int64) summary.EfficiencyRow {
		r := summary.EfficiencyRow{Op: op, Dims: json.RawMessage(dims), Unit: "matrix", Dtype: "bf16", Kernel: kernel, Count: 4, GPUNS: ns, FLOPs: n(flops), Bytes: n(bytes)}
		if grid > 0 {
			r.Grid, r.Block = at(grid), at(128)
		}
		return r
	}
	shape := func(grid, launches int64, bytes *int64, flops map[string]int64) summary.CounterShape {
		return summary.CounterShape{Grid: *at(grid), Block: *at(128), Launches: launches, DRAMBytes: bytes, FLOPs: flops}
	}
	s := &summary.Summary{}
	s.Efficiency.Rows = []summary.EfficiencyRow{
		row("mm", "[[1]]", "void ns::gemm<4>(float*)", 8, 100, 400, 4000),
		row("mm", "[[2]]", "other", 8, 200, 800, 8000),    // the same launch as the next
		row("mm", "[[3]]", "other", 8, 200, 1600, 8000),   // other inputs
		row("mm", "[[4]]", "several", 8, 900, 400, 4000),  // the next may launch it too
		row("conv", "[[5]]", "several", 0, 300, 400, 400), // with other kernels
		row("mm", "[[6]]", "plain", 8, 300, 400, 4000),
		row("mm", "[[7]]", "uncounted", 8, 300, 400, 4000),
	}
	s.Counters = []summary.Counter{
		{Kernel: "gemm<4>", Device: 0, ByShape: []summary.CounterShape{shape(8, 2, n(2200), map[string]int64{"tensor": 150}), shape(16, 9, n(1), nil)}},
		{Kernel: "gemm<4>", Device: 1, ByShape: []summary.CounterShape{shape(8, 1, n(1100), map[string]int64{"tensor": 75})}},
		{Kernel: "other", ByShape: []summary.CounterShape{shape(8, 1, n(1), nil)}},
		{Kernel: "several", ByShape: []summary.CounterShape{shape(8, 1, n(1), nil)}},
		{Kernel: "plain", ByShape: []summary.CounterShape{shape(8, 1, n(1000), map[string]int64{"tensor": 0, "fp16": 10, "fp32": 90, "fp64": 0})}},
		{Kernel: "uncounted", ByShape: []summary.CounterShape{shape(8, 1, nil, map[string]int64{"fp32": 90})}},
	}
	got := efficiency.WithCounters(s)
	if len(got) != 2 || got[0].Kernel != "plain" || got[1].Kernel != "void ns::gemm<4>(float*)" {
		t.Fatalf("got %+v", got)
	}
	plain, gemm := got[0], got[1]
	if *plain.FLOPs != 100 || *plain.CountedFLOPs != 100 || *plain.Bytes != 1000 || *plain.CountedBytes != 1000 || plain.Launches != 1 || plain.Calls != 4 {
		t.Errorf("plain: %+v", plain)
	}
	if *gemm.FLOPs != 100 || *gemm.CountedFLOPs != 75 || *gemm.Bytes != 1000 || *gemm.CountedBytes != 1100 || gemm.Launches != 3 {
		t.Errorf("gemm: %+v", gemm)
	}
	for _, x := range []struct {
		c            efficiency.Counted
		flops, bytes bool
	}{{plain, false, false}, {gemm, true, false}} {
		if f, b := efficiency.Differ(x.c.FLOPs, x.c.CountedFLOPs, efficiency.FLOPsMargin), efficiency.Differ(x.c.Bytes, x.c.CountedBytes, efficiency.BytesMargin); f != x.flops || b != x.bytes {
			t.Errorf("%s: FLOPs differ %v, bytes %v", x.c.Kernel, f, b)
		}
	}
	if efficiency.Differ(nil, plain.FLOPs, 0) || !efficiency.Differ(gemm.Bytes, gemm.CountedBytes, 0.09) {
		t.Error("Differ is wrong")
	}
}
